/* table.c - see table.h. SPDX-License-Identifier: MIT */
#include "view/table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/arena.h"
#include "base/vec.h"

#define ELLIPSIS "\xe2\x80\xa6"

struct cell {
	const char *text;
	enum ray_cut cut;
};

struct ray_table {
	const struct ray_column *columns;
	size_t count;
	struct ray_arena *arena;
	RAY_VEC(struct cell) cells;
	size_t *width; /* of each column */
	bool failed;
};

struct ray_table *ray_table_create(const struct ray_column *columns, size_t count)
{
	ray_auto(ray_table, t) = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->columns = columns;
	t->count = count;
	t->arena = ray_arena_create();
	t->width = calloc(count ? count : 1, sizeof(*t->width));
	if (!t->arena || !t->width)
		return NULL;
	return ray_take(t);
}

void ray_table_free(struct ray_table *t)
{
	if (!t)
		return;
	ray_vec_free(&t->cells);
	ray_arena_free(t->arena);
	free(t->width);
	free(t);
}

void ray_table_add_cut(struct ray_table *t, const char *text, enum ray_cut cut)
{
	ray_auto_text safe = { 0 };
	const char *copy;

	ray_text_add_safe(&safe, text ? text : "", text ? strlen(text) : 0);
	copy = ray_arena_strdup(t->arena, ray_text_get(&safe));
	if (!copy || safe.failed)
		t->failed = true;
	if (!ray_vec_push(&t->cells, (struct cell){ copy ? copy : "", cut }))
		t->failed = true;
}

void ray_table_add(struct ray_table *t, const char *text)
{
	ray_table_add_cut(t, text, t->columns[t->cells.n % t->count].cut);
}

void ray_table_printf(struct ray_table *t, const char *fmt, ...)
{
	ray_auto_memory char *text = NULL;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0) {
		text = NULL;
		t->failed = true;
	}
	ray_table_add(t, text);
}

size_t ray_table_rows(const struct ray_table *t)
{
	return t->count ? (t->cells.n + t->count - 1) / t->count : 0;
}

static size_t gap_of(const struct ray_table_print *how)
{
	return how->gap ? how->gap : 2;
}

static size_t least_of(const struct ray_column *c)
{
	return c->least ? c->least : 8;
}

/* Takes what is too much from the widest column that may be cut, one column of the screen at a time. */
static void shrink(struct ray_table *t, size_t excess)
{
	size_t i, widest;

	for (; excess; excess--) {
		widest = t->count;
		for (i = 0; i < t->count; i++)
			if (t->columns[i].cut != RAY_CUT_NEVER && t->width[i] > least_of(&t->columns[i]) &&
			    (widest == t->count || t->width[i] > t->width[widest]))
				widest = i;
		if (widest == t->count)
			return;
		t->width[widest]--;
	}
}

static void measure(struct ray_table *t, const struct ray_table_print *how)
{
	size_t i, w, total = how->indent;

	for (i = 0; i < t->count; i++)
		t->width[i] = how->no_heading ? 0 : ray_text_width(t->columns[i].title);
	for (i = 0; i < t->cells.n; i++) {
		w = ray_text_width(t->cells.at[i].text);
		if (w > t->width[i % t->count])
			t->width[i % t->count] = w;
	}
	for (i = 0; i < t->count; i++)
		total += t->width[i] + (i ? gap_of(how) : 0);
	if (how->width && total > how->width)
		shrink(t, total - how->width);
}

static void add_blanks(struct ray_text *line, size_t n)
{
	while (n--)
		ray_text_add_bytes(line, " ", 1);
}

static void add_cell(struct ray_table *t, struct ray_text *line, size_t column, const struct cell *content)
{
	const struct ray_column *c = &t->columns[column];
	ray_auto_text cell = { 0 };
	size_t width;

	ray_view_cut(&cell, content->text, t->width[column], content->cut);
	width = ray_text_width(ray_text_get(&cell));
	width = t->width[column] > width ? t->width[column] - width : 0;
	if (c->align == RAY_ALIGN_RIGHT)
		add_blanks(line, width);
	ray_text_add(line, ray_text_get(&cell));
	if (c->align == RAY_ALIGN_LEFT)
		add_blanks(line, width);
}

static bool print_row(struct ray_table *t, const struct ray_table_print *how, const struct cell *cells, size_t n,
		      FILE *out)
{
	ray_auto_text line = { 0 };
	size_t i;

	add_blanks(&line, how->indent);
	for (i = 0; i < n; i++) {
		if (i)
			add_blanks(&line, gap_of(how));
		add_cell(t, &line, i, &cells[i]);
	}
	while (line.length && line.bytes[line.length - 1] == ' ')
		line.bytes[--line.length] = '\0';
	fprintf(out, "%s\n", ray_text_get(&line));
	return !line.failed;
}

bool ray_table_print(struct ray_table *t, const struct ray_table_print *how, FILE *out)
{
	ray_auto_memory struct cell *titles = calloc(t->count ? t->count : 1, sizeof(*titles));
	bool whole = !t->failed && titles;
	size_t i, n;

	measure(t, how);
	for (i = 0; titles && i < t->count; i++)
		titles[i] = (struct cell){ t->columns[i].title, t->columns[i].cut };
	if (titles && !how->no_heading)
		whole &= print_row(t, how, titles, t->count, out);
	for (i = 0; i < t->cells.n; i += t->count) {
		n = t->cells.n - i < t->count ? t->cells.n - i : t->count;
		whole &= print_row(t, how, t->cells.at + i, n, out);
	}
	return whole;
}

size_t ray_view_width(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size = { 0 };
	long n = columns ? strtol(columns, NULL, 10) : 0;

	if (n >= 20 && n <= 100000)
		return (size_t)n;
	if (!isatty(fileno(out)))
		return 0;
	if (!ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col >= 20)
		return size.ws_col;
	return 80;
}

/* Bytes of the code point at p, and how wide it is. */
static size_t step(const char *p, size_t *width_ret)
{
	char one[8] = { 0 };
	size_t n = 1;

	while ((p[n] & 0xc0) == 0x80 && n < 4)
		n++;
	memcpy(one, p, n);
	*width_ret = ray_text_width(one);
	return n;
}

void ray_view_cut(struct ray_text *out, const char *text, size_t width, enum ray_cut cut)
{
	size_t total = ray_text_width(text), used = 0, drop, n, w;

	if (cut == RAY_CUT_NEVER || total <= width) {
		ray_text_add(out, text);
		return;
	}
	if (!width)
		return;
	if (cut == RAY_CUT_END) {
		while (*text && (n = step(text, &w), used + w <= width - 1)) {
			ray_text_add_bytes(out, text, n);
			used += w;
			text += n;
		}
		ray_text_add(out, ELLIPSIS);
		return;
	}
	drop = total - (width - 1);
	while (*text && used < drop) {
		text += step(text, &w);
		used += w;
	}
	/* A mark without a letter to stand on would join the ellipsis. */
	while (*text && (n = step(text, &w), w == 0))
		text += n;
	ray_text_add(out, ELLIPSIS);
	ray_text_add(out, text);
}
