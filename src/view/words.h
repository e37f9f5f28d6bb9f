/* words.h - lists of NUL-ended strings, and quoting them for a shell.
 * SPDX-License-Identifier: MIT
 *
 * The form in which the kernel gives arguments and environments. Pure. */
#ifndef RAY_VIEW_WORDS_H
#define RAY_VIEW_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

struct ray_word {
	const char *bytes; /* not NUL-terminated if the list is cut */
	size_t length;
};

/* The next word of a list; *at starts at 0. False past the last. */
bool ray_view_next_word(const char *list, size_t size, size_t *at, struct ray_word *ret);

/* As a shell (with $'...') reads it back to the same bytes. Control bytes and broken UTF-8 are written
 * in octal, so it is safe to show. */
void ray_view_quote(struct ray_text *out, const struct ray_word *word);

#endif
