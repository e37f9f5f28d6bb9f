/* page.h - a screen as lines of styled text, of any size.
 * SPDX-License-Identifier: MIT
 *
 * What a live view draws into, from the top left to the bottom right. No line is ever wider than the page, and there are never more of them than it
 * is high, whatever is put there; widths are terminal columns. Text may be untrusted: it is made safe on the way in. How styles look is decided here: with colours,
 * with bold and reverse letters alone (NO_COLOR), or not at all. Pure: knows no terminal. */
#ifndef RAY_VIEW_PAGE_H
#define RAY_VIEW_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "profile/profile.h"
#include "view/table.h"

enum ray_page_looks { RAY_LOOKS_PLAIN, RAY_LOOKS_BOLD, RAY_LOOKS_COLOR };

enum ray_style {
	RAY_STYLE_NONE,
	RAY_STYLE_STRONG,
	RAY_STYLE_FAINT,
	RAY_STYLE_HEADING,
	RAY_STYLE_SELECTED,
	RAY_STYLE_GOOD,
	RAY_STYLE_WARN,
	RAY_STYLE_BAD,
	RAY_STYLE_KIND,					 /* + enum ray_profile_kind: letters in the kind's colour */
	RAY_STYLE_BOX = RAY_STYLE_KIND + RAY_KIND_COUNT, /* + enum ray_profile_kind: on a ground of that colour */
	RAY_STYLE_COUNT = RAY_STYLE_BOX + RAY_KIND_COUNT,
};

struct ray_page {
	size_t width, height;
	enum ray_page_looks looks;
	struct ray_text *lines; /* of height; those from `line` on are empty */
	size_t line, column;	/* where the next text goes */
	int style;		/* that is on */
	bool failed;		/* no memory: something is missing */
};

/* Empties it, for another size too. False: no memory, and then it has no lines. */
bool ray_page_start(struct ray_page *p, size_t width, size_t height, enum ray_page_looks looks);
void ray_page_deinit(struct ray_page *p);
size_t ray_page_lines_left(const struct ray_page *p);
size_t ray_page_columns_left(const struct ray_page *p);

/* Appends to the line, up to the page's edge; what does not fit is cut, with an ellipsis. */
void ray_page_put(struct ray_page *p, int style, const char *text);
void ray_page_printf(struct ray_page *p, int style, const char *fmt, ...) RAY_PRINTF(3, 4);
/* A cell of exactly that width (or what is left of it), cut and aligned. */
void ray_page_cell(struct ray_page *p, int style, const char *text, size_t width, enum ray_align align,
		   enum ray_cut cut);
void ray_page_fill(struct ray_page *p, int style, size_t column); /* blanks up to that column */
void ray_page_end_line(struct ray_page *p);
/* The style to the end of the line, and then ends it. */
void ray_page_end_filled(struct ray_page *p, int style);

#endif
