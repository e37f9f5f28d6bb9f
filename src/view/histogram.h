/* histogram.h - distributions as rows of bars, laid out as DTrace does.
 * SPDX-License-Identifier: MIT
 *
 * Pure: counts per bin in, text out. Knows how the bins of quantize(), lquantize() and llquantize() are numbered,
 * not who fills them. */
#ifndef RAY_VIEW_HISTOGRAM_H
#define RAY_VIEW_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum ray_histogram_kind { RAY_HISTOGRAM_POWERS, RAY_HISTOGRAM_LINEAR, RAY_HISTOGRAM_LOG_LINEAR };
enum { RAY_POWER_BINS = 127, RAY_POWER_ZERO = 63 };

struct ray_histogram {
	enum ray_histogram_kind kind;
	const int64_t *bins; /* may be negative: an increment may */
	size_t count;
	int64_t low, high, step;		      /* LINEAR: the first and the last bin are below and above */
	int64_t factor, low_power, high_power, steps; /* LOG_LINEAR: below, ranges down, around 0, ranges up, above */
	uint64_t normal;			      /* counts are divided by it; not 0 */
};

/* How many bins its parameters ask for; 0 if they make no sense. */
size_t ray_histogram_bins(const struct ray_histogram *h);
/* Starts with a newline and ends with one. Nothing if count does not fit the parameters. */
void ray_histogram_print(const struct ray_histogram *h, struct ray_text *out);
/* What it is sorted by: the sum that its bins stand for, and then what lies at 0. */
long double ray_histogram_sum(const struct ray_histogram *h);
int64_t ray_histogram_at_zero(const struct ray_histogram *h);

#endif
