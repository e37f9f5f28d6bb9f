/* lag.h - how long an event loop was kept from polling, interval by interval, out of distributions that go on from the start.
 * SPDX-License-Identifier: MIT
 *
 * Scripts add iterations up in the kernel and tell all of it each time: what happened in an interval is the difference to the one before. Pure. */
#ifndef RAY_VIEW_LAG_H
#define RAY_VIEW_LAG_H

#include <stdbool.h>

#include "view/histogram.h"

/* Counts by bin, from the start, and at the end of the interval before. */
struct ray_lag_bins {
	struct ray_histogram shape; /* bins is not used */
	int64_t *now, *before;
	uint64_t longest; /* of the interval */
};

/* The distribution as it is now, NULL: nothing new; and the longest of the interval. False without memory, or if it is of another shape than before. */
bool ray_lag_take(struct ray_lag_bins *b, const struct ray_histogram *h, uint64_t longest);
/* What the interval added, by bin, shape.count of them; the caller frees it. NULL: nothing is known, or no memory. */
int64_t *ray_lag_difference(const struct ray_lag_bins *b);
void ray_lag_pass(struct ray_lag_bins *b); /* the interval has ended */
void ray_lag_free(struct ray_lag_bins *b);

/* Where the highest bin with something in it begins: one as long as that there was. */
uint64_t ray_lag_highest(const struct ray_histogram *h);

/* Whether a loop works at the moment, as scripts tell it: when one last woke up, when it last went to sleep, and how long it has worked in all. */
struct ray_lag_work {
	uint64_t awake, asleep, busy;
	uint64_t end_ns, end_busy; /* of the interval before, and how busy it had been in all */
};

/* The interval that ends at end_ns: how long it was, how much of that the loop worked, and how long an iteration that has not ended works already. */
struct ray_lag_share {
	uint64_t length_ns, busy_ns, so_far_ns;
};
struct ray_lag_share ray_lag_work_end(struct ray_lag_work *w, uint64_t end_ns);

#endif
