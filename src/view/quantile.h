/* quantile.h - what a distribution says: how many, percentiles, bars with labels for people.
 * SPDX-License-Identifier: MIT
 *
 * For distributions of durations and sizes, which have no negative values: bins below 0 are left out. A value is known to lie in its bin;
 * within it all values are taken to be spread evenly. Pure. */
#ifndef RAY_VIEW_QUANTILE_H
#define RAY_VIEW_QUANTILE_H

#include "view/histogram.h"

/* Where bin i begins; the first that holds values from 0 on, and all above, up to one past the last (which has no end: INT64_MAX). False:
 * the bin is of negative values, or nothing can fall into it. */
int ray_histogram_bin(const struct ray_histogram *h, size_t bin, uint64_t *low_ret, uint64_t *high_ret);
uint64_t ray_histogram_count(const struct ray_histogram *h);
/* percent: 0 to 100. max is the largest value there was, if known (0: not). 0 when there is none. */
uint64_t ray_histogram_percentile(const struct ray_histogram *h, double percent, uint64_t max);

enum ray_quantity { RAY_QUANTITY_NS, RAY_QUANTITY_BYTES, RAY_QUANTITY_NUMBER };
/* A row for each bin from the first to the last with something in it: "4us to 8us |@@@@    | 123  4.5%", within 80 columns. */
void ray_histogram_bars(const struct ray_histogram *h, enum ray_quantity what, struct ray_text *out);

#endif
