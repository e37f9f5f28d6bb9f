/* live.h - one line per event, as it happens: columns of fixed width, chosen by name.
 * SPDX-License-Identifier: MIT
 *
 * A verb has a table of all columns it knows and a list of those it shows (-o col,...). Every event gives a cell for each column of the table,
 * in its order; only the chosen ones are printed, in the order they were chosen. A cell that is too wide pushes the rest to the right rather than
 * lose anything, but for the columns that say they may be cut. Lines end at the width of the terminal; a file or a pipe gets everything. Pure. */
#ifndef RAY_VIEW_LIVE_H
#define RAY_VIEW_LIVE_H

#include <stdint.h>

#include "base/error.h"
#include "view/table.h"

struct ray_live_column {
	const char *name;  /* as -o has it: "latency" */
	const char *title; /* "LATENCY" */
	size_t width;	   /* 0: as wide as it comes; for the last one */
	enum ray_align align;
	enum ray_cut cut;
	const char *help; /* one line, for `-o help` and the manual */
};

struct ray_live;

/* chosen: names separated by commas, checked; "a,b" or "+c" (the default ones and c). NULL: defaults. The error lists what there is; "help"
 * alone is answered by an "error" with RAY_DONE that says what each column is. columns is not copied. width 0: no limit. */
RAY_MUST_USE struct ray_error *ray_live_create(const struct ray_live_column *columns, size_t count,
					       const char *defaults, const char *chosen, size_t width,
					       struct ray_live **ret);
void ray_live_free(struct ray_live *l);
RAY_DEFINE_AUTO(ray_live, ray_live_free)

bool ray_live_shows(const struct ray_live *l, const char *name); /* is it chosen? What is costly need not be made */
/* How wide the last of the chosen columns may be, if the others are as wide as they should be; SIZE_MAX: no limit. */
size_t ray_live_room(const struct ray_live *l);
/* The next column's cell; untrusted text is made safe. NULL counts as "". */
void ray_live_add(struct ray_live *l, const char *text);
void ray_live_number(struct ray_live *l, int64_t number);
/* The same, for the caller to write: no foreign text. NULL: the column is not shown, so nobody needs it. */
struct ray_text *ray_live_cell(struct ray_live *l);
void ray_live_printf(struct ray_live *l, const char *fmt, ...) RAY_PRINTF(2, 3);
/* Ends the event: appends its line to out, and the heading before the first. */
void ray_live_end(struct ray_live *l, struct ray_text *out);
void ray_live_heading(struct ray_live *l, struct ray_text *out); /* now, if it was not printed yet */

/* "14:03:59.123456": digits of the second's fraction, 0 to 9; local time. */
const char *ray_view_clock(uint64_t epoch_ns, int digits, char out[32]);

#endif
