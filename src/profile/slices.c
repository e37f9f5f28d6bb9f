/* slices.c - see slices.h. SPDX-License-Identifier: MIT */
#include "profile/slices.h"

#include <stdlib.h>

#include "profile/reading.h"
#include "profile/timeline.h"

struct open {
	uint32_t node;
	double end_us;
};

struct sweep {
	struct ray_profile *p;
	RAY_VEC(struct open) open;
	double base_us, at_us; /* up to here all is told */
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
	double last = 0;
	bool ok = true;

	for (size_t i = 0; i < s->n && ok; i++) {
		struct ray_slice *slice = &s->at[i];
		bool is_last = i + 1 == s->n || s->at[i + 1].thread != slice->thread;

		last = slice->start_us > last ? slice->start_us : last;
		if (slice->type == 'B')
			ok = ray_vec_push(&open, i);
		else if (slice->type == 'E' && open.n)
			s->at[open.at[--open.n]].end_us = slice->start_us;
		while (is_last && open.n)
			s->at[open.at[--open.n]].end_us = last;
		if (is_last)
			last = 0;
	}
	ray_vec_free(&open);
	return ok;
}

static void drop_ends(ray_slices *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->at[i].type != 'E' && s->at[i].end_us >= s->at[i].start_us)
			s->at[kept++] = s->at[i];
	s->n = kept;
}

/* ---- samples ---- */

static int by_thread_and_time(const void *a, const void *b)
{
	const struct ray_slice *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start_us != y->start_us)
		return x->start_us < y->start_us ? -1 : 1;
	if (x->end_us != y->end_us)
		return x->end_us > y->end_us ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void add_sample(struct sweep *w, uint32_t node, double from_us, double to_us, int64_t weight)
{
	struct ray_profile_sample s = { .node = node, .thread = w->thread, .count = 1, .weight = weight };
	double time = ((w->p->unit == RAY_UNIT_NS ? to_us : from_us) - w->base_us) * 1000;

	s.time_ns = w->p->has_times && time > 0 ? (uint64_t)ray_reading_weight(time) : 0;
	ray_profile_add(w->p, &s);
}

/* What is on top has run until then. */
static void run_until(struct sweep *w, double until_us)
{
	const struct open *top = w->open.n ? &w->open.at[w->open.n - 1] : NULL;
	double length_ns = (until_us - w->at_us) * 1000;

	if (top && until_us > w->at_us && (!w->is_ours || ray_timeline_is_time(w->p) || !w->p->has_times))
		add_sample(w, top->node, w->at_us, until_us,
			   w->is_ours ? ray_timeline_weight(w->p, length_ns) : ray_reading_weight(length_ns));
	if (until_us > w->at_us)
		w->at_us = until_us;
}

static void close_until(struct sweep *w, double until_us)
{
	while (w->open.n && w->open.at[w->open.n - 1].end_us <= until_us) {
		run_until(w, w->open.at[w->open.n - 1].end_us);
		w->open.n--;
	}
}

static const char *add_slice(struct sweep *w, const struct ray_slice *s)
{
	struct open next = { 0, s->end_us };

	close_until(w, s->start_us);
	run_until(w, s->start_us);
	if (w->open.n) {
		const struct open *top = &w->open.at[w->open.n - 1];

		next.node = top->node;
		if (next.end_us > top->end_us)
			next.end_us = top->end_us;
	} else {
		w->at_us = s->start_us;
	}
	if (w->open.n >= RAY_READING_DEPTH)
		return "slices are nested too deeply";
	if (s->function)
		next.node = ray_reading_node(w->p, next.node, s->function, 0, 0);
	if (s->weight && w->is_ours && w->p->has_times)
		add_sample(w, next.node, s->start_us, s->end_us, s->weight);
	return ray_vec_push(&w->open, next) ? NULL : "there is no memory";
}

const char *ray_slices_finish(struct ray_profile *p, ray_slices *slices, double base_us, bool is_ours)
{
	struct sweep w = { .p = p, .base_us = base_us, .is_ours = is_ours };
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
			close_until(&w, 1e300);
	}
	ray_vec_free(&w.open);
	return wrong;
}
