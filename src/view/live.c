/* live.c - see live.h. SPDX-License-Identifier: MIT */
#include "view/live.h"

#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "base/vec.h"

struct ray_live {
	const struct ray_live_column *columns;
	size_t count, width;
	RAY_VEC(size_t) chosen; /* numbers of columns */
	struct ray_text *cells; /* by column, of the event that is being added */
	bool *is_shown;		/* by column: cells that nobody sees are not made */
	size_t next;
	bool has_heading;
};

static struct ray_error *choose(struct ray_live *l, const char *name, size_t length)
{
	for (size_t i = 0; i < l->count; i++)
		if (strlen(l->columns[i].name) == length && memcmp(l->columns[i].name, name, length) == 0)
			return ray_vec_push(&l->chosen, i) ? NULL : &ray_enomem;
	ray_auto_text all = { 0 };
	for (size_t i = 0; i < l->count; i++)
		ray_text_printf(&all, "%s%s", i ? ", " : "", l->columns[i].name);
	return ray_error_remedy(ray_error_new(RAY_USAGE, "there is no column '%.*s'", (int)length, name),
				"columns are %s", ray_text_get(&all));
}

/* -o help. */
static struct ray_error *list(const struct ray_live *l)
{
	ray_auto_text all = { 0 };
	size_t longest = 0;

	for (size_t i = 0; i < l->count; i++)
		if (strlen(l->columns[i].name) > longest)
			longest = strlen(l->columns[i].name);
	for (size_t i = 0; i < l->count; i++)
		ray_text_printf(&all, "%s%-*s  %s", i ? "\n" : "", (int)longest, l->columns[i].name,
				l->columns[i].help);
	return ray_error_new(RAY_DONE, "%s", ray_text_get(&all));
}

static struct ray_error *choose_all(struct ray_live *l, const char *list)
{
	struct ray_error *err = NULL;

	while (!err) {
		size_t n = strcspn(list, ",");

		err = choose(l, list, n);
		if (!list[n])
			break;
		list += n + 1;
	}
	return err;
}

struct ray_error *ray_live_create(const struct ray_live_column *columns, size_t count, const char *defaults,
				  const char *chosen, size_t width, struct ray_live **ret)
{
	ray_auto(ray_live, l) = calloc(1, sizeof(*l));
	struct ray_error *err = NULL;

	if (!l)
		return &ray_enomem;
	*l = (struct ray_live){ .columns = columns, .count = count, .width = width };
	l->cells = calloc(count, sizeof(*l->cells));
	l->is_shown = calloc(count, sizeof(*l->is_shown));
	if (!l->cells || !l->is_shown)
		return &ray_enomem;
	if (chosen && strcmp(chosen, "help") == 0)
		return list(l);
	if (!chosen || *chosen == '+')
		err = choose_all(l, defaults);
	if (!err && chosen)
		err = choose_all(l, chosen + (*chosen == '+'));
	if (err)
		return err;
	for (size_t i = 0; i < l->chosen.n; i++)
		l->is_shown[l->chosen.at[i]] = true;
	*ret = ray_take(l);
	return NULL;
}

void ray_live_free(struct ray_live *l)
{
	if (!l)
		return;
	for (size_t i = 0; l->cells && i < l->count; i++)
		ray_text_deinit(&l->cells[i]);
	free(l->cells);
	free(l->is_shown);
	ray_vec_free(&l->chosen);
	free(l);
}

bool ray_live_shows(const struct ray_live *l, const char *name)
{
	for (size_t i = 0; i < l->chosen.n; i++)
		if (strcmp(l->columns[l->chosen.at[i]].name, name) == 0)
			return true;
	return false;
}

size_t ray_live_room(const struct ray_live *l)
{
	size_t taken = 0;

	for (size_t i = 0; i + 1 < l->chosen.n; i++)
		taken += l->columns[l->chosen.at[i]].width + 1;
	if (!l->width)
		return SIZE_MAX;
	return l->width > taken + 8 ? l->width - taken : 8;
}

struct ray_text *ray_live_cell(struct ray_live *l)
{
	size_t column = l->next++;

	return column < l->count && l->is_shown[column] ? &l->cells[column] : NULL;
}

void ray_live_add(struct ray_live *l, const char *text)
{
	struct ray_text *cell = ray_live_cell(l);

	if (cell && text)
		ray_text_add_safe(cell, text, strlen(text));
}

void ray_live_number(struct ray_live *l, int64_t number)
{
	struct ray_text *cell = ray_live_cell(l);

	if (cell)
		ray_text_add_signed(cell, number);
}

void ray_live_printf(struct ray_live *l, const char *fmt, ...)
{
	struct ray_text *cell = ray_live_cell(l);
	char few[128], *text = few;
	va_list args;
	int n;

	if (!cell)
		return;
	va_start(args, fmt);
	n = vsnprintf(few, sizeof(few), fmt, args);
	va_end(args);
	if (n >= (int)sizeof(few)) {
		va_start(args, fmt);
		n = vasprintf(&text, fmt, args);
		va_end(args);
	}
	if (n >= 0)
		ray_text_add_safe(cell, text, (size_t)n);
	else
		cell->failed = 1;
	if (n >= 0 && text != few)
		free(text);
}

/* One cell at the end of the line. is_last: what follows it need not be aligned. */
static void add_cell(struct ray_text *line, const struct ray_live_column *c, const char *text, bool is_last)
{
	ray_auto_text cut = { 0 };
	size_t width = ray_text_width(text);

	if (c->width && width > c->width && c->cut != RAY_CUT_NEVER) {
		ray_view_cut(&cut, text, c->width, c->cut);
		text = ray_text_get(&cut);
		width = ray_text_width(text);
	}
	if (c->align == RAY_ALIGN_RIGHT && width < c->width)
		ray_text_pad(line, c->width - width);
	ray_text_add(line, text);
	if (c->align == RAY_ALIGN_LEFT && width < c->width && !is_last)
		ray_text_pad(line, c->width - width);
}

/* What was added from `start` on, no wider than the screen. */
static void cut_line(struct ray_text *out, size_t start, size_t width)
{
	ray_auto_text whole = { 0 };

	if (!width || out->length <= start || ray_text_width(out->bytes + start) <= width)
		return;
	ray_text_add_bytes(&whole, out->bytes + start, out->length - start);
	out->length = start;
	ray_view_cut(out, ray_text_get(&whole), width, RAY_CUT_END);
	out->failed |= whole.failed;
}

static void add_line(const struct ray_live *l, bool is_heading, struct ray_text *out)
{
	size_t start = out->length;

	for (size_t i = 0; i < l->chosen.n; i++) {
		const struct ray_live_column *c = &l->columns[l->chosen.at[i]];

		if (i)
			ray_text_add(out, " ");
		add_cell(out, c, is_heading ? c->title : ray_text_get(&l->cells[l->chosen.at[i]]),
			 i + 1 == l->chosen.n);
	}
	while (out->length > start && out->bytes[out->length - 1] == ' ')
		out->bytes[--out->length] = '\0';
	cut_line(out, start, l->width);
	ray_text_add(out, "\n");
}

void ray_live_heading(struct ray_live *l, struct ray_text *out)
{
	if (!l->has_heading)
		add_line(l, true, out);
	l->has_heading = true;
}

void ray_live_end(struct ray_live *l, struct ray_text *out)
{
	ray_live_heading(l, out);
	add_line(l, false, out);
	for (size_t i = 0; i < l->chosen.n; i++)
		ray_text_clear(&l->cells[l->chosen.at[i]]);
	l->next = 0;
}

/* Most lines are of the same second as the one before: the time zone is asked once for all of them. */
static const char *clock_of_second(time_t second)
{
	static _Thread_local char text[16];
	static _Thread_local time_t last;
	struct tm tm;

	if (second == last && *text)
		return text;
	localtime_r(&second, &tm);
	if (!strftime(text, sizeof(text), "%H:%M:%S", &tm))
		*text = '\0';
	last = second;
	return text;
}

const char *ray_view_clock(uint64_t epoch_ns, int digits, char out[32])
{
	uint64_t fraction = epoch_ns % 1000000000;
	char *at;

	digits = digits < 0 ? 0 : digits > 9 ? 9 : digits;
	for (int i = digits; i < 9; i++)
		fraction /= 10;
	at = stpcpy(out, clock_of_second((time_t)(epoch_ns / 1000000000)));
	if (digits) {
		*at++ = '.';
		at[digits] = '\0';
	}
	for (int i = digits; i-- > 0; fraction /= 10)
		at[i] = (char)('0' + fraction % 10);
	return out;
}
