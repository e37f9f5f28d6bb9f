/* terminal.h - the terminal as a screen: drawn in place, read key by key, and given back as it was.
 * SPDX-License-Identifier: MIT
 *
 * There is one. It is left as it was found however the process ends: at its own end, by a signal (twice Ctrl-C too), by a crash; and while it is stopped by Ctrl-Z.
 * What is written to standard error meanwhile is kept, if that is the terminal, and appears there afterwards. */
#ifndef RAY_CMD_TERMINAL_H
#define RAY_CMD_TERMINAL_H

#include "base/error.h"
#include "view/page.h"

/* Whether there is one that can do it: standard input and output are it, and it is not dumb. */
bool ray_terminal_is_there(void);
/* NO_COLOR is respected. */
enum ray_page_looks ray_terminal_looks(void);
RAY_MUST_USE struct ray_error *ray_terminal_open(void);
void ray_terminal_close(void); /* harmless if it is not open */
void ray_terminal_size(size_t *width_ret, size_t *height_ret);
/* Stops with the others if Ctrl-Z was pressed. Whether all must be drawn anew: the size has changed, or somebody else has been on the screen. */
bool ray_terminal_has_changed(void);
/* Writes what differs from the page before, at once. */
void ray_terminal_show(const struct ray_page *page);
uint32_t ray_terminal_key(void); /* enum ray_key; RAY_KEY_NONE: none was pressed */
/* The last line that was written to standard error since it was asked last; false: none. */
bool ray_terminal_note(char *buffer, size_t size);

#endif
