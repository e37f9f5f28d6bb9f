/* lag.c - see lag.h. SPDX-License-Identifier: MIT */
#include "view/lag.h"

#include <stdlib.h>
#include <string.h>

#include "view/quantile.h"

bool ray_lag_take(struct ray_lag_bins *b, const struct ray_histogram *h, uint64_t longest)
{
	if (longest > b->longest)
		b->longest = longest;
	if (!h || !h->count)
		return true;
	if (!b->now) {
		b->shape = *h;
		b->shape.bins = NULL;
		b->now = calloc(h->count, sizeof(*b->now));
		b->before = calloc(h->count, sizeof(*b->before));
	}
	if (!b->now || !b->before || h->count != b->shape.count)
		return false;
	memcpy(b->now, h->bins, h->count * sizeof(*b->now));
	return true;
}

int64_t *ray_lag_difference(const struct ray_lag_bins *b)
{
	int64_t *difference = b->now && b->before ? calloc(b->shape.count, sizeof(*difference)) : NULL;

	for (size_t i = 0; difference && i < b->shape.count; i++)
		difference[i] = b->now[i] - b->before[i];
	return difference;
}

void ray_lag_pass(struct ray_lag_bins *b)
{
	if (b->now && b->before)
		memcpy(b->before, b->now, b->shape.count * sizeof(*b->now));
	b->longest = 0;
}

void ray_lag_free(struct ray_lag_bins *b)
{
	free(b->now);
	free(b->before);
	b->now = b->before = NULL;
}

uint64_t ray_lag_highest(const struct ray_histogram *h)
{
	uint64_t low, high;

	for (size_t i = h->count; i; i--)
		if (h->bins[i - 1] > 0 && ray_histogram_bin(h, i - 1, &low, &high))
			return low;
	return 0;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The counts were read some time after the interval ended: up to what happened last. */
struct ray_lag_share ray_lag_work_end(struct ray_lag_work *w, uint64_t end_ns)
{
	uint64_t now = most(end_ns, most(w->awake, w->asleep));
	uint64_t so_far = w->awake > w->asleep ? now - w->awake : 0, busy = w->busy + so_far;
	struct ray_lag_share share = { .length_ns = now > w->end_ns ? now - w->end_ns : 0, .so_far_ns = so_far };

	share.busy_ns = busy > w->end_busy ? busy - w->end_busy : 0;
	if (share.busy_ns > share.length_ns)
		share.busy_ns = share.length_ns;
	w->end_ns = now;
	w->end_busy = busy;
	return share;
}
