/* timeline.c - see timeline.h. SPDX-License-Identifier: MIT */
#include "profile/timeline.h"

#include <stdlib.h>

#include "base/text.h"

enum { MICROSECOND = 1000, MILLISECOND = 1000000 };

/* Lengths and their sum stay far below what a number can hold, whatever a file said. */
static const uint64_t longest = (uint64_t)1 << 53, latest = (uint64_t)1 << 61;

void ray_timeline_deinit(struct ray_timeline *t)
{
	free(t->at);
	free(t->first);
}

bool ray_timeline_is_time(const struct ray_profile *p)
{
	return p->unit == RAY_UNIT_NS || (p->period_ns && p->unit == RAY_UNIT_SAMPLES);
}

int64_t ray_timeline_weight(const struct ray_profile *p, double length_ns)
{
	double weight = length_ns;

	if (p->unit == RAY_UNIT_SAMPLES)
		weight /= p->period_ns ? (double)p->period_ns : MILLISECOND;
	else if (p->unit != RAY_UNIT_NS)
		weight /= MICROSECOND;
	return weight < 1 ? 1 : weight < (double)longest ? (int64_t)(weight + 0.5) : (int64_t)longest;
}

/* One of weight, by the unit alone. */
static uint64_t scaled(const struct ray_profile *p, int64_t weight)
{
	uint64_t unit = MICROSECOND, length;

	if (p->unit == RAY_UNIT_NS)
		unit = 1;
	else if (p->unit == RAY_UNIT_SAMPLES)
		unit = p->period_ns ? p->period_ns : MILLISECOND;
	if (__builtin_mul_overflow((uint64_t)weight, unit, &length) || length > longest)
		length = longest;
	return length;
}

/* ---- one stretch ---- */

struct builder {
	const struct ray_profile *p;
	enum ray_timeline_kind kind;
	uint64_t end; /* of the last stretch */
};

/* next: of the same thread; NULL after the last. */
static uint64_t until_next(const struct ray_profile_sample *s, const struct ray_profile_sample *next)
{
	return next && next->time_ns > s->time_ns ? next->time_ns - s->time_ns : 0;
}

static struct ray_stretch by_time(struct builder *b, const struct ray_profile_sample *s,
				  const struct ray_profile_sample *next)
{
	uint64_t length = scaled(b->p, s->weight), gap = until_next(s, next), start = s->time_ns;

	if (b->p->unit == RAY_UNIT_NS)
		start = start > length ? start - length : 0;
	else if (!ray_timeline_is_time(b->p))
		length = gap && gap < MILLISECOND ? gap : MILLISECOND;
	else if (gap && gap < length + length / 2)
		length = gap;
	if (start < b->end)
		start = b->end;
	return (struct ray_stretch){ start, length ? length : 1, s->node, s->count, s->weight };
}

static struct ray_stretch stretch(struct builder *b, const struct ray_profile_sample *s,
				  const struct ray_profile_sample *next)
{
	bool is_timed = b->p->has_times && (b->kind == RAY_TIMELINE_TIME || ray_timeline_is_time(b->p));
	struct ray_stretch made;

	if (is_timed)
		made = by_time(b, s, next);
	else
		made = (struct ray_stretch){ b->end, scaled(b->p, s->weight), s->node, s->count, s->weight };
	if (made.start_ns > latest)
		made.start_ns = latest;
	b->end = made.start_ns + made.length_ns;
	return made;
}

/* ---- all of them ---- */

/* Numbers of samples, thread by thread, each in its order. */
static bool sort_by_thread(const struct ray_profile *p, size_t *first, uint32_t **ret)
{
	uint32_t *order = calloc(p->samples.n + 1, sizeof(*order));

	if (!order)
		return false;
	for (size_t i = 0; i < p->samples.n; i++)
		if (p->samples.at[i].weight > 0)
			first[p->samples.at[i].thread + 1]++;
	for (size_t i = 0; i < p->threads.n; i++)
		first[i + 1] += first[i];
	for (size_t i = 0; i < p->samples.n; i++)
		if (p->samples.at[i].weight > 0)
			order[first[p->samples.at[i].thread]++] = (uint32_t)i;
	/* Each has moved to where the next begins. */
	for (size_t i = p->threads.n; i > 0; i--)
		first[i] = first[i - 1];
	first[0] = 0;
	*ret = order;
	return true;
}

bool ray_timeline_create(const struct ray_profile *p, enum ray_timeline_kind kind, struct ray_timeline *ret)
{
	ray_auto_memory uint32_t *order = NULL;
	ray_auto_memory size_t *first = calloc(p->threads.n + 2, sizeof(*first));
	ray_auto_memory struct ray_stretch *at = calloc(p->samples.n + 1, sizeof(*at));

	if (!first || !at || !sort_by_thread(p, first, &order))
		return false;
	for (size_t thread = 0; thread < p->threads.n; thread++) {
		struct builder b = { p, kind, 0 };

		for (size_t i = first[thread]; i < first[thread + 1]; i++)
			at[i] = stretch(&b, &p->samples.at[order[i]],
					i + 1 < first[thread + 1] ? &p->samples.at[order[i + 1]] : NULL);
	}
	ret->at = ray_take(at);
	ret->first = ray_take(first);
	return true;
}

/* ---- names ---- */

static bool has_several_processes(const struct ray_profile *p)
{
	for (size_t i = 1; i < p->threads.n; i++)
		if (p->threads.at[i].pid != p->threads.at[0].pid)
			return true;
	return false;
}

void ray_timeline_thread(const struct ray_profile *p, uint32_t thread, struct ray_text *out)
{
	const struct ray_profile_thread *t = &p->threads.at[thread];

	if (has_several_processes(p))
		ray_text_printf(out, "%s (%u): ", *t->process ? t->process : "process", t->pid);
	ray_text_add(out, *t->name ? t->name : "thread");
	if (t->tid)
		ray_text_printf(out, " (%u)", t->tid);
}
