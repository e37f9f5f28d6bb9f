/* aggregate_epoch.c - replaces the elements of an aggregation by new ones without losing a count.
 * SPDX-License-Identifier: MIT
 *
 * min and max must start again after clear(), and keys that trunc() removed must give their memory back. An element cannot
 * be reset or deleted for that while programs update it: a value that arrives between reading and deleting would be lost. So
 * the key of an element carries the epoch in which it was made. To end an epoch, its successor's number is written where
 * programs read it, and then user space waits until no program is running that read the old one. From then on elements of the
 * old epoch do not change: their values are added to those of the groups (`settled`), and they are deleted.
 *
 * The wait takes some 10 ms, so several aggregations share one, and removed keys wait for each other (END_EVERY_NS). */
#include <bpf/libbpf.h>

#include "base/clock.h"
#include "engine/consume.h"

enum { END_EVERY_NS = 500000000 };

void ray_agg_plan_end(struct ray_agg *a)
{
	/* Each CPU may have an element of each key. */
	bool is_short = (uint64_t)a->hidden * (uint64_t)libbpf_num_possible_cpus() * 4 > a->capacity;

	if (!a->plan->has_epochs)
		return;
	if (ray_agg_is_extreme(a->plan->aggregation))
		a->must_end = true;
	else if (a->hidden && (is_short || ray_clock_ns() - a->ended_ns > END_EVERY_NS))
		a->must_end = true;
}

/* The values of elements that do not change any more become those of groups. */
static struct ray_error *settle(struct ray_agg *a)
{
	size_t lane_words = ray_agg_lane_words(a);

	for (size_t i = 0; i < a->groups.n; i++)
		if (!a->groups.at[i].settled && !ray_agg_reset_room(a, &a->groups.at[i].settled))
			return &ray_enomem;
	for (size_t i = 0; i < a->raw.n; i++) {
		struct ray_agg_raw *r = &a->raw.at[i];
		struct ray_agg_group *g = &a->groups.at[r->group];

		for (size_t at = 0; r->is_seen && at < lane_words; at += a->plan->words) {
			if (r->base)
				ray_agg_subtract(a->plan, r->words + at, r->base + at);
			ray_agg_merge(a->plan, g->settled + at, r->words + at);
			if (g->is_hidden)
				g->is_hidden = ray_agg_is_reset(a->plan, r->words + at);
		}
	}
	return ray_agg_forget(a) ? NULL : &ray_enomem;
}

static struct ray_error *end_epoch(struct ray_consumer *c, struct ray_agg *a, uint32_t old)
{
	struct ray_error *err = ray_agg_read(c, a, old, true);

	if (!err)
		err = settle(a);
	a->must_end = false;
	a->ended_ns = ray_clock_ns();
	a->taken_ns = 0;
	return err;
}

/* Records that were sent before the snapshot was taken may still need it. */
static bool may_end(const struct ray_consumer *c, const struct ray_agg *a)
{
	return a->must_end && c->ring.at >= a->taken_at;
}

struct ray_error *ray_aggs_end_epochs(struct ray_consumer *c)
{
	struct ray_trace *t = c->t;
	struct ray_error *err = NULL;
	size_t count = 0;

	for (size_t i = 0; i < c->agg_count; i++) {
		struct ray_agg *a = &c->aggs[i];

		if (!may_end(c, a))
			continue;
		a->epoch = (a->epoch + 1) % RAY_AGG_EPOCHS;
		__atomic_store_n(&t->epochs[a->plan->epoch_at / sizeof(*t->epochs)], ray_agg_owner(a->plan, a->epoch),
				 __ATOMIC_RELEASE);
		count++;
	}
	if (!count)
		return NULL;
	err = ray_barrier_wait(&t->barrier);
	for (size_t i = 0; i < c->agg_count && !err; i++)
		if (may_end(c, &c->aggs[i]))
			err = end_epoch(c, &c->aggs[i], (c->aggs[i].epoch + RAY_AGG_EPOCHS - 1) % RAY_AGG_EPOCHS);
	return err;
}
