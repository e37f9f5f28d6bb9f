/* top_batch.h - what `noderay top` knows, as text without a screen: a table, or an object of JSON, for each interval.
 * SPDX-License-Identifier: MIT
 *
 * Pure, but that it writes to the stream it was given (JSON: to stdout). */
#ifndef RAY_VIEW_TOP_BATCH_H
#define RAY_VIEW_TOP_BATCH_H

#include <stdio.h>

#include "view/top_screen.h"

struct ray_top_batch {
	FILE *out;
	bool is_json;
	size_t rows;  /* functions at most; 0: all */
	size_t width; /* of lines; 0: no limit */
};

/* The screen says what is chosen: order, filter, and where samples come from. epoch_ns: the end of the interval. False without memory. */
bool ray_top_batch_print(const struct ray_top_batch *b, struct ray_top_screen *s, const struct ray_top_answer *a,
			 uint64_t epoch_ns, bool is_first);

#endif
