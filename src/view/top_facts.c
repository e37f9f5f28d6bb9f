/* top_facts.c - loops, collections and requests, as scripts/top.d tells them, cut into slices. See top.h. SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "view/quantile.h"
#include "view/top_internal.h"

/* A maximum of nothing, since it was cleared, is less than 0. */
static uint64_t number(const struct ray_fact *f, const char *name)
{
	int64_t value = ray_fact_number(f, name);

	return value > 0 ? (uint64_t)value : 0;
}

static struct ray_top_loop_state *loop_get(struct ray_top *t, uint32_t pid, uint32_t tid)
{
	struct ray_top_loop_state new = { .pid = pid, .tid = tid, .work.end_ns = t->last_epoch_ns };

	for (size_t i = 0; i < t->loops.n; i++)
		if (t->loops.at[i].pid == pid && t->loops.at[i].tid == tid)
			return &t->loops.at[i];
	if (ray_vec_push(&t->loops, new))
		return &t->loops.at[t->loops.n - 1];
	t->failed = true;
	return NULL;
}

static void take_loop(struct ray_top *t, const struct ray_fact *f)
{
	struct ray_top_loop_state *l = loop_get(t, (uint32_t)number(f, "pid"), (uint32_t)number(f, "tid"));

	if (!l)
		return;
	l->work.awake = number(f, "awake");
	l->work.asleep = number(f, "asleep");
	l->work.busy = number(f, "busy");
	if (!ray_lag_take(&l->bins, ray_fact_histogram(f, "lag"), number(f, "longest")))
		t->failed = true;
}

static void take_gc(struct ray_top *t, const struct ray_fact *f)
{
	struct ray_top_pauses new = { .pid = f->pid, .tid = f->tid };
	struct ray_top_pauses *p = NULL;
	uint64_t ns = number(f, "ns");

	for (size_t i = 0; i < t->collectors.n && !p; i++)
		if (t->collectors.at[i].pid == f->pid && t->collectors.at[i].tid == f->tid)
			p = &t->collectors.at[i];
	if (!p && ray_vec_push(&t->collectors, new))
		p = &t->collectors.at[t->collectors.n - 1];
	if (!p) {
		t->failed = true;
		return;
	}
	p->count++;
	p->ns += ns;
	if (ns > p->longest)
		p->longest = ns;
	if (number(f, "after"))
		p->heap = number(f, "after");
}

/* A thread that has ended may come back under the same number, as another. */
static void take_gone(struct ray_top *t, uint32_t tid)
{
	for (size_t i = t->loops.n; i-- > 0;) {
		if (t->loops.at[i].tid != tid)
			continue;
		ray_lag_free(&t->loops.at[i].bins);
		t->loops.at[i] = t->loops.at[--t->loops.n];
	}
	for (size_t i = t->collectors.n; i-- > 0;) /* its last collections count in this slice */
		if (t->collectors.at[i].tid == tid)
			t->collectors.at[i].heap = 0;
}

void ray_top_take(struct ray_top *t, const struct ray_fact *f)
{
	if (f->is_end)
		return;
	if (ray_fact_is(f, "loop"))
		take_loop(t, f);
	else if (ray_fact_is(f, "gc"))
		take_gc(t, f);
	else if (ray_fact_is(f, "requests"))
		t->requests = number(f, "count");
	else if (ray_fact_is(f, "gone"))
		take_gone(t, (uint32_t)number(f, "tid"));
}

/* ---- slices ---- */

static void end_loops(struct ray_top *t, struct ray_top_slice *slice, uint64_t epoch_ns)
{
	for (size_t i = 0; i < t->loops.n; i++) {
		struct ray_top_loop_state *l = &t->loops.at[i];
		struct ray_top_lap lap = {
			.pid = l->pid, .tid = l->tid, .longest = l->bins.longest, .shape = l->bins.shape
		};

		lap.share = ray_lag_work_end(&l->work, epoch_ns);
		lap.bins = ray_lag_difference(&l->bins);
		ray_lag_pass(&l->bins);
		if (ray_vec_push(&slice->laps, lap))
			continue;
		free(lap.bins);
		t->failed = true;
	}
}

static void end_collections(struct ray_top *t, struct ray_top_slice *slice)
{
	for (size_t i = 0; i < t->collectors.n; i++) {
		struct ray_top_pauses *p = &t->collectors.at[i];

		if (p->count && !ray_vec_push(&slice->pauses, *p))
			t->failed = true;
		p->count = p->ns = p->longest = 0;
	}
	for (size_t i = t->collectors.n; i-- > 0;) /* of threads that are gone */
		if (!t->collectors.at[i].heap)
			t->collectors.at[i] = t->collectors.at[--t->collectors.n];
}

void ray_top_facts_end(struct ray_top *t, struct ray_top_slice *slice, uint64_t epoch_ns)
{
	end_loops(t, slice, epoch_ns);
	end_collections(t, slice);
	slice->requests = t->requests > t->requests_before ? t->requests - t->requests_before : 0;
	t->requests_before = t->requests;
}

/* What is counted in the kernel goes on. */
void ray_top_facts_reset(struct ray_top *t)
{
	for (size_t i = 0; i < t->loops.n; i++) {
		ray_lag_work_end(&t->loops.at[i].work, t->last_epoch_ns);
		ray_lag_pass(&t->loops.at[i].bins);
	}
	for (size_t i = 0; i < t->collectors.n; i++)
		t->collectors.at[i].count = t->collectors.at[i].ns = t->collectors.at[i].longest = 0;
	t->requests_before = t->requests;
}

void ray_top_facts_free(struct ray_top *t)
{
	for (size_t i = 0; i < t->loops.n; i++)
		ray_lag_free(&t->loops.at[i].bins);
	ray_vec_free(&t->loops);
	ray_vec_free(&t->collectors);
}

/* ---- a loop over a window ---- */

/* Adds the laps of one loop; false without memory. */
static bool add_lap(struct ray_histogram *sum, int64_t **bins, const struct ray_top_lap *lap)
{
	if (!lap->bins)
		return true;
	if (!*bins) {
		*sum = lap->shape;
		*bins = calloc(lap->shape.count, sizeof(**bins));
		if (!*bins)
			return false;
	}
	for (size_t i = 0; i < sum->count && i < lap->shape.count; i++)
		(*bins)[i] += lap->bins[i];
	return true;
}

static void finish_loop(struct ray_histogram *sum, const int64_t *bins, struct ray_top_loop *ret)
{
	uint64_t highest;

	if (!bins)
		return;
	sum->bins = bins;
	ret->iterations = ray_histogram_count(sum);
	highest = ret->iterations ? ray_lag_highest(sum) : 0;
	if (highest > ret->max)
		ret->max = highest;
	ret->p50 = ray_histogram_percentile(sum, 50, ret->max);
	ret->p99 = ray_histogram_percentile(sum, 99, ret->max);
}

bool ray_top_loop_make(const struct ray_top_past *past, size_t first, uint32_t pid, uint32_t tid,
		       struct ray_top_loop *ret)
{
	ray_auto_memory int64_t *bins = NULL;
	struct ray_histogram sum = { 0 };
	uint64_t length = 0, busy = 0;

	*ret = (struct ray_top_loop){ 0 };
	for (size_t i = first; i < past->slices.n; i++) {
		for (size_t k = 0; k < past->slices.at[i]->laps.n; k++) {
			const struct ray_top_lap *lap = &past->slices.at[i]->laps.at[k];
			uint64_t longest = lap->longest > lap->share.so_far_ns ? lap->longest : lap->share.so_far_ns;

			if (lap->pid != pid || lap->tid != tid)
				continue;
			length += lap->share.length_ns;
			busy += lap->share.busy_ns;
			if (longest > ret->max)
				ret->max = longest;
			if (!add_lap(&sum, &bins, lap))
				return false;
		}
	}
	ret->is_known = length > 0;
	ret->utilization = length ? (double)busy / (double)length : 0;
	finish_loop(&sum, bins, ret);
	return true;
}
