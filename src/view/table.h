/* table.h - rows and columns for people.
 * SPDX-License-Identifier: MIT
 *
 * Collects cells, then prints them aligned. Widths are terminal columns, not bytes. Knows nothing
 * of what it shows and reads nothing. Cells may hold untrusted text: they are made safe on the way in. */
#ifndef RAY_VIEW_TABLE_H
#define RAY_VIEW_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/auto.h"
#include "base/text.h"

enum ray_align { RAY_ALIGN_LEFT, RAY_ALIGN_RIGHT };

/* What may be taken away, marked with an ellipsis, when a line would be too long. */
enum ray_cut { RAY_CUT_NEVER, RAY_CUT_END, RAY_CUT_START };

struct ray_column {
	const char *title; /* as in the heading */
	enum ray_align align;
	enum ray_cut cut;
	size_t least; /* a column that is cut keeps this many (0: 8) */
};

struct ray_table;

/* columns is not copied: it is a static table of the caller's. NULL when there is no memory. */
struct ray_table *ray_table_create(const struct ray_column *columns, size_t count);
void ray_table_free(struct ray_table *t);
RAY_DEFINE_AUTO(ray_table, ray_table_free)

/* Adds the next cell; a row is full after count of them. NULL counts as "". */
void ray_table_add(struct ray_table *t, const char *text);
/* The same for a cell that is cut in another way than its column. */
void ray_table_add_cut(struct ray_table *t, const char *text, enum ray_cut cut);
void ray_table_printf(struct ray_table *t, const char *fmt, ...) RAY_PRINTF(2, 3);
size_t ray_table_rows(const struct ray_table *t);

struct ray_table_print {
	size_t width;  /* longest line; 0: whatever it takes */
	size_t indent; /* blanks before each line */
	size_t gap;    /* blanks between columns; 0: 2 */
	bool no_heading;
};

/* Prints heading and rows. False when memory ran out somewhere and cells are missing. */
bool ray_table_print(struct ray_table *t, const struct ray_table_print *how, FILE *out);

/* The width a person sees: $COLUMNS if set, else that of the terminal, else 80; 0 (no limit) when
 * out is neither: a file or a pipe gets everything. */
size_t ray_view_width(FILE *out);

/* Appends clean UTF-8 text, cut to width terminal columns with an ellipsis. */
void ray_view_cut(struct ray_text *out, const char *text, size_t width, enum ray_cut cut);

#endif
