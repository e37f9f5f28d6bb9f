/* screen.h - a page that is drawn again and again: on a terminal in place, elsewhere one after the other.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_VIEW_SCREEN_H
#define RAY_VIEW_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Before each page. On a terminal: to the top left corner, and what was there goes; else an empty line between two pages. */
void ray_screen_begin(FILE *out, bool is_first);
/* Lines that fit on the terminal, less `taken`; SIZE_MAX where there is none. */
size_t ray_screen_lines(FILE *out, size_t taken);

#endif
