/* pick.c - see pick.h. SPDX-License-Identifier: MIT */
#include "profile/pick.h"

#include <stdlib.h>

#define NOT_YET UINT32_MAX
#define NEEDED (UINT32_MAX - 1)

/* What the numbers of one profile are in the other; NOT_YET where nobody asked. */
struct merge {
	struct ray_profile *into;
	const struct ray_profile *from;
	uint32_t hidden;
	uint32_t *functions, *frames, *nodes, *threads;
	bool *is_wanted; /* by sample */
};

static uint32_t *numbers(size_t count)
{
	uint32_t *list = malloc((count ? count : 1) * sizeof(*list));

	for (size_t i = 0; list && i < count; i++)
		list[i] = NOT_YET;
	return list;
}

static bool begin(struct merge *m)
{
	m->functions = numbers(m->from->functions.n);
	m->frames = numbers(m->from->frames.n);
	m->nodes = numbers(m->from->nodes.n);
	m->threads = numbers(m->from->threads.n);
	m->is_wanted = calloc(m->from->samples.n + 1, sizeof(*m->is_wanted));
	return m->functions && m->frames && m->nodes && m->threads && m->is_wanted;
}

static void end(struct merge *m)
{
	free(m->functions);
	free(m->frames);
	free(m->nodes);
	free(m->threads);
	free(m->is_wanted);
}

static uint32_t frame_of(struct merge *m, uint32_t frame)
{
	struct ray_profile_frame own = m->from->frames.at[frame];

	if (m->frames[frame] != NOT_YET)
		return m->frames[frame];
	if (m->functions[own.function] == NOT_YET)
		m->functions[own.function] = ray_profile_function(m->into, &m->from->functions.at[own.function]);
	own.function = m->functions[own.function];
	return m->frames[frame] = ray_profile_frame(m->into, &own);
}

static enum ray_profile_kind kind_of(const struct ray_profile *p, uint32_t node)
{
	return p->functions.at[p->frames.at[p->nodes.at[node].frame].function].kind;
}

static void need(struct merge *m, uint32_t node)
{
	for (; m->nodes[node] == NOT_YET; node = m->from->nodes.at[node].parent)
		m->nodes[node] = NEEDED;
}

/* A parent's number is smaller than its children's: it has been added before them. */
static void add_nodes(struct merge *m)
{
	for (uint32_t i = 1; i < m->from->nodes.n; i++) {
		const struct ray_profile_node *node = &m->from->nodes.at[i];
		uint32_t parent = m->nodes[node->parent];

		if (m->nodes[i] != NEEDED)
			continue;
		m->nodes[i] = m->hidden & 1u << kind_of(m->from, i) ?
				      parent :
				      ray_profile_node(m->into, parent, frame_of(m, node->frame));
	}
}

static bool is_wanted(const struct ray_profile *from, const struct ray_profile_sample *s, struct ray_profile_pick *pick)
{
	if (!pick)
		return true;
	if (pick->threads && !pick->threads[s->thread])
		return false;
	if (pick->without_idle && s->node && kind_of(from, s->node) == RAY_KIND_IDLE)
		return false;
	if (s->weight >= pick->at_least)
		return true;
	pick->dropped_weight += s->weight;
	return false;
}

static void choose(struct merge *m, struct ray_profile_pick *pick)
{
	m->nodes[0] = 0;
	for (size_t i = 0; i < m->from->samples.n; i++) {
		m->is_wanted[i] = is_wanted(m->from, &m->from->samples.at[i], pick);
		if (m->is_wanted[i])
			need(m, m->from->samples.at[i].node);
	}
}

static void add_samples(struct merge *m)
{
	for (size_t i = 0; i < m->from->samples.n; i++) {
		struct ray_profile_sample s = m->from->samples.at[i];

		if (!m->is_wanted[i])
			continue;
		if (m->threads[s.thread] == NOT_YET)
			m->threads[s.thread] = ray_profile_thread(m->into, &m->from->threads.at[s.thread]);
		s.thread = m->threads[s.thread];
		s.node = m->nodes[s.node];
		s.time_ns = 0;
		ray_profile_add(m->into, &s);
	}
}

bool ray_profile_add_from(struct ray_profile *into, const struct ray_profile *from, struct ray_profile_pick *pick)
{
	struct merge m = { .into = into, .from = from, .hidden = pick ? pick->hidden : 0 };
	bool has_room = begin(&m);

	if (has_room) {
		choose(&m, pick);
		add_nodes(&m);
		add_samples(&m);
	}
	end(&m);
	into->has_times = false;
	into->lost_samples += from->lost_samples;
	into->cut_stacks += from->cut_stacks;
	into->unnamed_frames += from->unnamed_frames;
	if (!has_room || from->failed)
		into->failed = true;
	return !into->failed;
}

static int by_stack(const void *a, const void *b)
{
	const struct ray_profile_sample *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

void ray_profile_unite(struct ray_profile *p)
{
	struct ray_profile_sample *samples = p->samples.at;
	size_t n = 0;

	if (!p->samples.n)
		return;
	qsort(samples, p->samples.n, sizeof(*samples), by_stack);
	for (size_t i = 1; i < p->samples.n; i++) {
		if (by_stack(&samples[n], &samples[i])) {
			samples[++n] = samples[i];
			continue;
		}
		samples[n].weight += samples[i].weight;
		samples[n].count += samples[i].count;
	}
	p->samples.n = n + 1;
	p->has_times = false;
}
