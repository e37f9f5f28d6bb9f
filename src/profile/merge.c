/* merge.c - see merge.h. SPDX-License-Identifier: MIT */
#include "profile/merge.h"

#include <stdlib.h>

/* Where the functions, threads and nodes of one profile are in another. */
struct moved {
	uint32_t *functions, *threads, *nodes;
};

static void free_moved(struct moved *m)
{
	free(m->functions);
	free(m->threads);
	free(m->nodes);
}

/* keep_lines: frames as they are; else one for each function. */
static bool move_stacks(struct ray_profile *to, const struct ray_profile *from, bool keep_lines, struct moved *m)
{
	m->functions = calloc(from->functions.n, sizeof(*m->functions));
	m->threads = calloc(from->threads.n + 1, sizeof(*m->threads));
	m->nodes = calloc(from->nodes.n, sizeof(*m->nodes));
	if (!m->functions || !m->threads || !m->nodes)
		return false;
	for (size_t i = 1; i < from->functions.n; i++)
		m->functions[i] = ray_profile_function(to, &from->functions.at[i]);
	for (size_t i = 0; i < from->threads.n; i++)
		m->threads[i] = ray_profile_thread(to, &from->threads.at[i]);
	for (size_t i = 1; i < from->nodes.n; i++) {
		struct ray_profile_frame frame = from->frames.at[from->nodes.at[i].frame];

		if (!keep_lines)
			frame = (struct ray_profile_frame){ .function = frame.function };
		frame.function = m->functions[frame.function];
		m->nodes[i] = ray_profile_node(to, m->nodes[from->nodes.at[i].parent], ray_profile_frame(to, &frame));
	}
	return !to->failed;
}

static int by_stack(const void *a, const void *b)
{
	const struct ray_profile_sample *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* Samples of the same thread and stack become one. */
static void gather(struct ray_profile *p)
{
	size_t kept = 0;

	if (p->samples.n)
		qsort(p->samples.at, p->samples.n, sizeof(*p->samples.at), by_stack);
	for (size_t i = 0; i < p->samples.n; i++) {
		struct ray_profile_sample *s = &p->samples.at[i], *last = kept ? &p->samples.at[kept - 1] : NULL;

		if (last && !by_stack(last, s)) {
			last->weight += s->weight;
			last->count += s->count;
		} else {
			p->samples.at[kept++] = *s;
		}
	}
	p->samples.n = kept;
}

static void add_samples(struct ray_profile *to, const struct ray_profile *from, const struct moved *m)
{
	for (size_t i = 0; i < from->samples.n; i++) {
		struct ray_profile_sample s = from->samples.at[i];

		s.node = m->nodes[s.node];
		s.thread = m->threads[s.thread];
		s.time_ns = 0;
		ray_profile_add(to, &s);
	}
}

struct ray_profile *ray_profile_merge(const struct ray_profile *p)
{
	ray_auto(ray_profile, to) = ray_profile_create();
	struct moved moved = { 0 };

	if (!to)
		return NULL;
	ray_profile_describe(to, p);
	if (move_stacks(to, p, false, &moved))
		add_samples(to, p, &moved);
	else
		to->failed = true;
	free_moved(&moved);
	if (to->failed)
		return NULL;
	gather(to);
	return ray_take(to);
}

void ray_profile_append(struct ray_profile *p, const struct ray_profile *from)
{
	struct moved moved = { 0 };

	p->has_times = false;
	p->lost_samples += from->lost_samples;
	p->cut_stacks += from->cut_stacks;
	p->unnamed_frames += from->unnamed_frames;
	p->duration_ns += from->duration_ns;
	if (move_stacks(p, from, true, &moved))
		add_samples(p, from, &moved);
	else
		p->failed = true;
	free_moved(&moved);
}
