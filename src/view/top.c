/* top.c - see top.h. SPDX-License-Identifier: MIT */
#include "view/top.h"

#include <stdlib.h>
#include <string.h>

#include "profile/pick.h"
#include "view/top_internal.h"

const uint64_t ray_top_windows[] = { 1000000000, 2000000000, 5000000000, 10000000000, 30000000000, 60000000000, 0 };

enum {
	/* Of all slices together: past that, those outside the largest window that is asked for go first. */
	MOST_NODES = 1 << 20,
	/* Of the profile since the start: past that, the rarest stacks go. */
	MOST_TOTAL_NODES = 1 << 17,
	FIRST_UNITE = 4096,
};

static const uint64_t LONGEST_NS = 60000000000;

/* ---- slices ---- */

static void slice_release(struct ray_top_slice *s)
{
	if (!s || --s->references)
		return;
	for (size_t i = 0; i < s->laps.n; i++)
		free(s->laps.at[i].bins);
	ray_vec_free(&s->laps);
	ray_vec_free(&s->uses);
	ray_vec_free(&s->pauses);
	ray_profile_free(s->samples);
	free(s);
}

static void past_free(struct ray_top_past *p)
{
	for (size_t i = 0; i < p->slices.n; i++)
		slice_release(p->slices.at[i]);
	ray_vec_free(&p->slices);
	ray_profile_free(p->total);
	*p = (struct ray_top_past){ 0 };
}

/* The oldest that nobody can ask for; and if there are very many nodes, the oldest at all. */
static void past_trim(struct ray_top_past *p)
{
	uint64_t length = 0;
	size_t nodes = 0, keep = 0, drop;

	while (keep < p->slices.n && length < LONGEST_NS && (nodes < MOST_NODES || !keep)) {
		const struct ray_top_slice *s = p->slices.at[p->slices.n - 1 - keep++];

		length += s->length_ns;
		nodes += s->samples->nodes.n;
	}
	drop = p->slices.n - keep;
	for (size_t i = 0; i < drop; i++)
		slice_release(p->slices.at[i]);
	memmove(p->slices.at, p->slices.at + drop, keep * sizeof(struct ray_top_slice *));
	p->slices.n = keep;
}

/* ---- since the start ---- */

static int by_weight(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* What a stack must weigh to be in the heavier half. */
static int64_t median_weight(const struct ray_profile *p)
{
	ray_auto_memory int64_t *weights = calloc(p->samples.n + 1, sizeof(*weights));

	if (!weights)
		return INT64_MAX;
	for (size_t i = 0; i < p->samples.n; i++)
		weights[i] = p->samples.at[i].weight;
	qsort(weights, p->samples.n, sizeof(*weights), by_weight);
	return weights[p->samples.n / 2] + 1;
}

static void total_prune(struct ray_top *t)
{
	struct ray_profile_pick pick = { 0 };
	struct ray_profile *smaller;

	ray_profile_unite(t->past.total);
	if (t->past.total->nodes.n <= MOST_TOTAL_NODES)
		return;
	pick.at_least = median_weight(t->past.total);
	smaller = ray_profile_create();
	if (!smaller || !ray_profile_add_from(smaller, t->past.total, &pick)) {
		t->failed = true;
		ray_profile_free(smaller);
		return;
	}
	t->past.dropped += pick.dropped_weight;
	ray_profile_free(t->past.total);
	t->past.total = smaller;
}

static void total_add(struct ray_top *t, const struct ray_profile *samples)
{
	struct ray_profile *total = t->past.total;

	if (!ray_profile_add_from(total, samples, NULL))
		t->failed = true;
	if (total->samples.n < 2 * t->total_size + FIRST_UNITE && total->nodes.n <= MOST_TOTAL_NODES)
		return;
	total_prune(t);
	t->total_size = t->past.total->samples.n;
}

/* ---- life ---- */

struct ray_top *ray_top_create(void)
{
	struct ray_top *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->past.total = ray_profile_create();
	if (t->past.total)
		return t;
	free(t);
	return NULL;
}

void ray_top_free(struct ray_top *t)
{
	if (!t)
		return;
	past_free(&t->past);
	past_free(&t->held);
	ray_top_facts_free(t);
	ray_top_threads_free(t);
	free(t);
}

bool ray_top_failed(const struct ray_top *t)
{
	return t->failed;
}

void ray_top_has(struct ray_top *t, bool gc, bool requests)
{
	t->has_gc = gc;
	t->has_requests = requests;
}

void ray_top_begin(struct ray_top *t, const struct ray_top_moment *m)
{
	t->last_ns = m->time_ns;
	t->last_epoch_ns = m->epoch_ns;
	ray_top_threads_see(t, m, NULL);
}

void ray_top_cut(struct ray_top *t, struct ray_profile *samples, const struct ray_top_moment *m)
{
	struct ray_top_slice *slice = calloc(1, sizeof(*slice));

	if (!slice || !ray_vec_push(&t->past.slices, slice)) {
		t->failed = true;
		free(slice);
		ray_profile_free(samples);
		return;
	}
	ray_profile_unite(samples);
	slice->references = 1;
	slice->samples = samples;
	slice->length_ns = m->time_ns > t->last_ns ? m->time_ns - t->last_ns : 0;
	t->past.total_ns += slice->length_ns;
	t->last_ns = m->time_ns;
	ray_top_threads_see(t, m, slice);
	ray_top_facts_end(t, slice, m->epoch_ns);
	t->last_epoch_ns = m->epoch_ns;
	total_add(t, samples);
	past_trim(&t->past);
}

void ray_top_reset(struct ray_top *t)
{
	struct ray_profile *total = ray_profile_create();

	if (!total) {
		t->failed = true;
		return;
	}
	ray_top_hold(t, false);
	past_free(&t->past);
	t->past.total = total;
	t->total_size = 0;
	ray_top_facts_reset(t);
}

/* ---- holding ---- */

static bool past_copy(const struct ray_top_past *from, struct ray_top_past *to)
{
	*to = (struct ray_top_past){ .total_ns = from->total_ns, .dropped = from->dropped };
	to->total = ray_profile_create();
	if (!to->total || !ray_profile_add_from(to->total, from->total, NULL))
		return false;
	for (size_t i = 0; i < from->slices.n; i++) {
		if (!ray_vec_push(&to->slices, from->slices.at[i]))
			return false;
		from->slices.at[i]->references++;
	}
	return true;
}

void ray_top_hold(struct ray_top *t, bool is_held)
{
	if (is_held == t->is_held)
		return;
	t->is_held = is_held;
	if (is_held && past_copy(&t->past, &t->held))
		return;
	if (is_held)
		t->failed = true;
	t->is_held = false;
	past_free(&t->held);
}

bool ray_top_is_held(const struct ray_top *t)
{
	return t->is_held;
}

/* ---- answers ---- */

void ray_top_answer_deinit(struct ray_top_answer *a)
{
	free(a->figures.groups);
	ray_profile_free(a->profile);
	free(a->self);
	free(a->total);
	free(a->rows);
	*a = (struct ray_top_answer){ 0 };
}

/* GC and the compiler call much that is not their own: such a stack is theirs. */
static enum ray_profile_kind stack_kind(const struct ray_profile *p, uint32_t node)
{
	enum ray_profile_kind kind = RAY_KIND_UNKNOWN, here;

	for (bool is_first = true; node; node = p->nodes.at[node].parent, is_first = false) {
		here = p->functions.at[p->frames.at[p->nodes.at[node].frame].function].kind;
		if (is_first)
			kind = here;
		if (here == RAY_KIND_GC || here == RAY_KIND_COMPILER)
			return here;
	}
	return kind;
}

/* What one profile adds, by its threads. */
struct share {
	uint64_t *groups; /* that they are of */
	bool *wanted;
	int64_t *weights; /* without idle ones */
};

static bool share_begin(struct share *s, const struct ray_top *t, const struct ray_profile *p, uint64_t group)
{
	s->groups = calloc(p->threads.n + 1, sizeof(*s->groups));
	s->wanted = calloc(p->threads.n + 1, sizeof(*s->wanted));
	s->weights = calloc(p->threads.n + 1, sizeof(*s->weights));
	if (!s->groups || !s->wanted || !s->weights)
		return false;
	for (size_t i = 0; i < p->threads.n; i++) {
		s->groups[i] = ray_top_group_of(t, p->threads.at[i].pid, p->threads.at[i].tid);
		s->wanted[i] = !group || s->groups[i] == group;
	}
	return true;
}

static void share_end(struct share *s)
{
	free(s->groups);
	free(s->wanted);
	free(s->weights);
}

static void weigh(struct share *share, const struct ray_profile *p, struct ray_top_answer *ret)
{
	for (size_t i = 0; i < p->samples.n; i++) {
		const struct ray_profile_sample *s = &p->samples.at[i];
		enum ray_profile_kind kind = stack_kind(p, s->node);

		if (share->wanted[s->thread])
			ret->kinds[kind] += s->weight;
		if (kind != RAY_KIND_IDLE)
			share->weights[s->thread] += s->weight;
	}
	for (size_t i = 0; i < p->threads.n; i++)
		for (size_t k = 0; k < ret->figures.group_count; k++)
			if (ret->figures.groups[k].id == share->groups[i])
				ret->figures.groups[k].weight += share->weights[i];
}

static bool add_profile(struct ray_top *t, const struct ray_profile *p, const struct ray_top_query *query,
			struct ray_top_answer *ret)
{
	struct share share = { 0 };
	struct ray_profile_pick pick = { .hidden = query->hidden, .without_idle = true };
	bool is_whole = share_begin(&share, t, p, query->group);

	pick.threads = share.wanted;
	is_whole = is_whole && ray_profile_add_from(ret->profile, p, &pick);
	if (is_whole)
		weigh(&share, p, ret);
	share_end(&share);
	return is_whole;
}

/* The first slice of the window: one at least, however long it is. */
static size_t first_slice(const struct ray_top_past *past, uint64_t window_ns, uint64_t *length_ret)
{
	size_t first = past->slices.n;

	*length_ret = 0;
	while (first && (!*length_ret || *length_ret + past->slices.at[first - 1]->length_ns / 2 < window_ns))
		*length_ret += past->slices.at[--first]->length_ns;
	return first;
}

static bool fill(struct ray_top *t, const struct ray_top_past *past, const struct ray_top_query *query,
		 struct ray_top_answer *ret)
{
	uint64_t window_ns;
	size_t first = first_slice(past, query->window_ns, &window_ns);

	ret->profile = ray_profile_create();
	if (!ret->profile || !ray_top_figures_make(t, past, first, &ret->figures))
		return false;
	ret->figures.window_ns = window_ns;
	ret->length_ns = query->is_cumulative ? past->total_ns : window_ns;
	if (query->is_cumulative) {
		ret->dropped = past->dropped;
		if (!add_profile(t, past->total, query, ret))
			return false;
	}
	for (size_t i = first; !query->is_cumulative && i < past->slices.n; i++)
		if (!add_profile(t, past->slices.at[i]->samples, query, ret))
			return false;
	ret->weight = ray_profile_weight(ret->profile);
	ret->lost_samples = ret->profile->lost_samples;
	return ray_profile_sum(ret->profile, UINT32_MAX, &ret->self, &ret->total) &&
	       ray_profile_rank(ret->profile, UINT32_MAX, &ret->rows, &ret->row_count);
}

struct ray_error *ray_top_ask(struct ray_top *t, const struct ray_top_query *query, struct ray_top_answer *ret)
{
	*ret = (struct ray_top_answer){ 0 };
	if (fill(t, t->is_held ? &t->held : &t->past, query, ret))
		return NULL;
	ray_top_answer_deinit(ret);
	return &ray_enomem;
}
