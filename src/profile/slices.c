/* slices.c - see slices.h. SPDX-License-Identifier: MIT */
#include "profile/slices.h"

#include <stdlib.h>

#include "profile/reading.h"
#include "profile/timeline.h"

struct open {
	uint32_t node;
	int64_t end_ns;
};

struct sweep {
	struct ray_profile *p;
	RAY_VEC(struct open) open;
	int64_t base_ns, at_ns; /* up to here all is told */
	uint32_t thread;
	bool is_ours;
};

/* ---- halves ---- */

static int by_thread_and_order(const void *a, const void *b)
{
	const struct ray_slice *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Every B gets the time of its E as its end; one that never ends, that of the last event of its thread. */
static bool join_halves(ray_slices *s)
{
	RAY_VEC(size_t) open = { 0 };
	int64_t last = INT64_MIN;
	bool ok = true;

	for (size_t i = 0; i < s->n && ok; i++) {
		struct ray_slice *slice = &s->at[i];
		bool is_last = i + 1 == s->n || s->at[i + 1].thread != slice->thread;

		last = slice->start_ns > last ? slice->start_ns : last;
		if (slice->type == 'B')
			ok = ray_vec_push(&open, i);
		else if (slice->type == 'E' && open.n)
			s->at[open.at[--open.n]].end_ns = slice->start_ns;
		while (is_last && open.n)
			s->at[open.at[--open.n]].end_ns = last;
		if (is_last)
			last = INT64_MIN;
	}
	ray_vec_free(&open);
	return ok;
}

static void drop_ends(ray_slices *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->at[i].type != 'E' && s->at[i].end_ns >= s->at[i].start_ns)
			s->at[kept++] = s->at[i];
	s->n = kept;
}

/* ---- samples ---- */

static int by_thread_and_time(const void *a, const void *b)
{
	const struct ray_slice *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void add_sample(struct sweep *w, uint32_t node, int64_t from_ns, int64_t to_ns, int64_t weight)
{
	struct ray_profile_sample s = { .node = node, .thread = w->thread, .count = 1, .weight = weight };
	int64_t time = (w->p->unit == RAY_UNIT_NS ? to_ns : from_ns) - w->base_ns;

	s.time_ns = w->p->has_times && time > 0 ? (uint64_t)time : 0;
	ray_profile_add(w->p, &s);
}

/* What is on top has run until then. */
static void run_until(struct sweep *w, int64_t until_ns)
{
	const struct open *top = w->open.n ? &w->open.at[w->open.n - 1] : NULL;
	double length_ns = (double)(until_ns - w->at_ns);

	if (top && until_ns > w->at_ns && (!w->is_ours || ray_timeline_is_time(w->p) || !w->p->has_times))
		add_sample(w, top->node, w->at_ns, until_ns,
			   w->is_ours ? ray_timeline_weight(w->p, length_ns) : ray_reading_weight(length_ns));
	if (until_ns > w->at_ns)
		w->at_ns = until_ns;
}

static void close_until(struct sweep *w, int64_t until_ns)
{
	while (w->open.n && w->open.at[w->open.n - 1].end_ns <= until_ns) {
		run_until(w, w->open.at[w->open.n - 1].end_ns);
		w->open.n--;
	}
}

static const char *add_slice(struct sweep *w, const struct ray_slice *s)
{
	struct open next = { 0, s->end_ns };

	close_until(w, s->start_ns);
	run_until(w, s->start_ns);
	if (w->open.n) {
		const struct open *top = &w->open.at[w->open.n - 1];

		next.node = top->node;
		if (next.end_ns > top->end_ns)
			next.end_ns = top->end_ns;
	} else {
		w->at_ns = s->start_ns;
	}
	if (w->open.n >= RAY_READING_DEPTH)
		return "slices are nested too deeply";
	if (s->function)
		next.node = ray_reading_node(w->p, next.node, s->function, 0, 0);
	if (s->weight && w->is_ours && w->p->has_times)
		add_sample(w, next.node, s->start_ns, s->end_ns, s->weight);
	return ray_vec_push(&w->open, next) ? NULL : "there is no memory";
}

const char *ray_slices_finish(struct ray_profile *p, ray_slices *slices, int64_t base_ns, bool is_ours)
{
	struct sweep w = { .p = p, .base_ns = base_ns, .is_ours = is_ours };
	const char *wrong = NULL;

	if (slices->n)
		qsort(slices->at, slices->n, sizeof(*slices->at), by_thread_and_order);
	if (!join_halves(slices))
		return "there is no memory";
	drop_ends(slices);
	if (slices->n)
		qsort(slices->at, slices->n, sizeof(*slices->at), by_thread_and_time);
	for (size_t i = 0; i < slices->n && !wrong; i++) {
		const struct ray_slice *s = &slices->at[i];

		w.thread = s->thread;
		wrong = add_slice(&w, s);
		if (i + 1 == slices->n || slices->at[i + 1].thread != s->thread)
			close_until(&w, INT64_MAX);
	}
	ray_vec_free(&w.open);
	return wrong;
}
