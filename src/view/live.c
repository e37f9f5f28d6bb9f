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
	if (!l->cells)
		return &ray_enomem;
	if (!chosen || *chosen == '+')
		err = choose_all(l, defaults);
	if (!err && chosen)
		err = choose_all(l, chosen + (*chosen == '+'));
	if (err)
		return err;
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

void ray_live_add(struct ray_live *l, const char *text)
{
	if (l->next < l->count && text)
		ray_text_add_safe(&l->cells[l->next], text, strlen(text));
	l->next++;
}

void ray_live_printf(struct ray_live *l, const char *fmt, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	ray_live_add(l, text);
	free(text);
}

static void pad(struct ray_text *line, size_t n)
{
	ray_text_printf(line, "%*s", (int)n, "");
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
		pad(line, c->width - width);
	ray_text_add(line, text);
	if (c->align == RAY_ALIGN_LEFT && width < c->width && !is_last)
		pad(line, c->width - width);
}

static void add_line(const struct ray_live *l, bool is_heading, struct ray_text *out)
{
	ray_auto_text line = { 0 };

	for (size_t i = 0; i < l->chosen.n; i++) {
		const struct ray_live_column *c = &l->columns[l->chosen.at[i]];

		if (i)
			ray_text_add(&line, " ");
		add_cell(&line, c, is_heading ? c->title : ray_text_get(&l->cells[l->chosen.at[i]]),
			 i + 1 == l->chosen.n);
	}
	while (line.length && line.bytes[line.length - 1] == ' ')
		line.bytes[--line.length] = '\0';
	ray_view_cut(out, ray_text_get(&line), l->width, l->width ? RAY_CUT_END : RAY_CUT_NEVER);
	ray_text_add(out, "\n");
	out->failed |= line.failed;
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
	for (size_t i = 0; i < l->count; i++)
		ray_text_clear(&l->cells[i]);
	l->next = 0;
}

const char *ray_view_clock(uint64_t epoch_ns, int digits, char out[32])
{
	time_t seconds = (time_t)(epoch_ns / 1000000000);
	uint64_t fraction = epoch_ns % 1000000000;
	struct tm tm;
	size_t n;

	digits = digits < 0 ? 0 : digits > 9 ? 9 : digits;
	for (int i = digits; i < 9; i++)
		fraction /= 10;
	localtime_r(&seconds, &tm);
	n = strftime(out, 16, "%H:%M:%S", &tm);
	if (digits)
		snprintf(out + n, 32 - n, ".%0*u", digits, (unsigned int)fraction);
	return out;
}
