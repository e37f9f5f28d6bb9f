/* way.h - many stacks as one: the way through them on which most of the time was spent.
 * SPDX-License-Identifier: MIT
 *
 * From the outermost frame on, as far as at least half of the time goes the same way; each frame with the share of the time it was there. Of stacks with
 * JavaScript in them only that is shown. Pure. */
#ifndef RAY_VIEW_WAY_H
#define RAY_VIEW_WAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct ray_way_stack {
	const char *text; /* a line for each frame, the innermost first */
	uint64_t ns;
};

/* "   97%  spin (/app/a.js:3:5)": the innermost first, cut to width (0: not at all). False: there was no memory. */
bool ray_way_print(const struct ray_way_stack *stacks, size_t count, size_t width, struct ray_text *out);

#endif
