/* recorder.c - see recorder.h. SPDX-License-Identifier: MIT */
#include "view/recorder.h"

#include <stdlib.h>
#include <string.h>

#include "view/recorder_internal.h"

enum {
	MOST_SAMPLES = 1000000,
	MOST_TRIES = 12, /* to name a thread; each comes twice as long after the one before */
};

/* What is known of a thread beside its entry in the profile. */
struct thread {
	uint32_t index; /* in the profile */
	uint32_t pid, tid;
	bool is_named;
	uint32_t tries;	     /* to name it that were in vain */
	uint64_t next_round; /* when it is tried again */
	size_t last;	     /* its last sample, plus 1; 0: there is none */
	uint64_t off_ns;     /* since the epoch: when it left its CPU; 0: it is not known to be off */
	uint32_t off_node;
};

struct ray_recorder {
	struct ray_recorder_options options;
	struct ray_profile *profile;
	struct ray_recorder_stacks stacks;
	struct ray_recorder_table by_id; /* pid, tid -> number of the thread + 1 */
	RAY_VEC(struct thread) threads;
	struct ray_recorder_table sums; /* node, thread -> number of the sample + 1; when times are no longer kept */
	bool is_summed, has_nameless, is_thinned;
	uint64_t start_ns; /* since the epoch */
	uint64_t rounds;   /* of naming threads */
	uint64_t count;
};

struct ray_recorder *ray_recorder_create(const struct ray_recorder_options *options)
{
	ray_auto(ray_recorder, r) = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->options = *options;
	if (!r->options.most_samples)
		r->options.most_samples = MOST_SAMPLES;
	if (!r->options.sample_weight)
		r->options.sample_weight = 1;
	r->profile = ray_profile_create();
	if (!r->profile)
		return NULL;
	r->profile->unit = options->unit;
	r->profile->period_ns = options->period_ns;
	r->profile->has_times = true;
	return ray_take(r);
}

void ray_recorder_free(struct ray_recorder *r)
{
	if (!r)
		return;
	ray_profile_free(r->profile);
	ray_recorder_stacks_deinit(&r->stacks);
	ray_recorder_table_deinit(&r->by_id);
	ray_recorder_table_deinit(&r->sums);
	ray_vec_free(&r->threads);
	free(r);
}

void ray_recorder_start(struct ray_recorder *r, uint64_t epoch_ns)
{
	r->start_ns = r->profile->start_ns = epoch_ns;
}

/* ---- threads ---- */

static bool name_thread(struct ray_recorder *r, struct thread *t)
{
	ray_auto_text name = { 0 }, process = { 0 };

	if (!r->options.name_thread || !r->options.name_thread(r->options.arg, t->pid, t->tid, &name, &process))
		return false;
	ray_profile_thread(r->profile, &(struct ray_profile_thread){ .pid = t->pid,
								     .tid = t->tid,
								     .name = ray_text_get(&name),
								     .process = ray_text_get(&process) });
	return name.length > 0;
}

void ray_recorder_name_threads(struct ray_recorder *r)
{
	r->rounds++;
	if (!r->has_nameless)
		return;
	r->has_nameless = false;
	for (size_t i = 0; i < r->threads.n; i++) {
		struct thread *t = &r->threads.at[i];

		if (t->is_named || t->tries >= MOST_TRIES)
			continue;
		if (r->rounds >= t->next_round) {
			t->is_named = name_thread(r, t);
			t->next_round = r->rounds + (1ULL << t->tries++);
		}
		r->has_nameless |= !t->is_named;
	}
}

/* NULL without memory. */
static struct thread *thread_get(struct ray_recorder *r, uint32_t pid, uint32_t tid)
{
	struct ray_recorder_row *row = ray_recorder_table_get(&r->by_id, (uint64_t[4]){ pid, tid });
	struct thread new = { .pid = pid, .tid = tid };

	if (row && row->value)
		return &r->threads.at[row->value - 1];
	new.index = ray_profile_thread(r->profile, &(struct ray_profile_thread){ .pid = pid, .tid = tid });
	if (!row || r->profile->failed || !ray_vec_push(&r->threads, new)) {
		r->profile->failed = true;
		return NULL;
	}
	row->value = (uint32_t)r->threads.n;
	r->has_nameless = true;
	return &r->threads.at[r->threads.n - 1];
}

/* ---- samples ---- */

/* Which one it became a part of, plus 1; 0 without memory. */
static size_t sum_up(struct ray_recorder *r, const struct ray_profile_sample *s)
{
	struct ray_recorder_row *row = ray_recorder_table_get(&r->sums, (uint64_t[4]){ s->node, s->thread });
	struct ray_profile_sample *known;

	if (!row) {
		r->profile->failed = true;
		return 0;
	}
	if (row->value) {
		known = &r->profile->samples.at[row->value - 1];
		known->weight += s->weight;
		known->count += s->count;
		return row->value;
	}
	ray_profile_add(r->profile, s);
	row->value = (uint32_t)r->profile->samples.n;
	r->profile->samples.at[r->profile->samples.n - 1].time_ns = 0;
	return row->value;
}

/* Too many to keep each: from now on those of a stack and thread are one, and nobody knows when they were. */
static void forget_times(struct ray_recorder *r)
{
	size_t count = r->profile->samples.n;

	r->is_summed = true;
	r->profile->has_times = false;
	for (size_t i = 0; i < r->threads.n; i++)
		r->threads.at[i].last = 0;
	r->profile->samples.n = 0;
	/* What is written is never beyond what is read. */
	for (size_t i = 0; i < count && !r->profile->failed; i++) {
		struct ray_profile_sample s = r->profile->samples.at[i];

		sum_up(r, &s);
	}
}

static void add_sample(struct ray_recorder *r, struct thread *t, uint64_t epoch_ns, uint32_t node, int64_t weight)
{
	struct ray_profile_sample s = { .node = node, .thread = t->index, .weight = weight, .count = 1 };

	if (!r->start_ns)
		ray_recorder_start(r, epoch_ns);
	s.time_ns = epoch_ns > r->start_ns ? epoch_ns - r->start_ns : 0;
	r->count++;
	if (!r->is_summed && r->profile->samples.n >= r->options.most_samples)
		forget_times(r);
	if (r->is_summed) {
		t->last = sum_up(r, &s);
	} else {
		ray_profile_add(r->profile, &s);
		t->last = r->profile->samples.n;
	}
}

static bool is_too_large(const struct ray_recorder *r)
{
	const struct ray_recorder_options *o = &r->options;

	return (o->most_nodes && r->profile->nodes.n > o->most_nodes) ||
	       (o->most_functions && r->profile->functions.n > o->most_functions);
}

static void thin_out(struct ray_recorder *r)
{
	uint32_t *nodes;

	if (!ray_recorder_prune(&r->stacks, r->profile, r->options.most_nodes, r->options.most_functions, &nodes)) {
		r->profile->failed = true;
		return;
	}
	r->is_thinned = true;
	for (size_t i = 0; i < r->threads.n; i++)
		r->threads.at[i].off_node = nodes[r->threads.at[i].off_node];
	free(nodes);
	if (r->is_summed) {
		ray_recorder_table_deinit(&r->sums);
		forget_times(r);
	}
}

/* What could not be had of the stack. */
static void count_losses(struct ray_recorder *r, const struct ray_recorder_sample *s)
{
	if (!s->user)
		return;
	if (s->user->is_lost)
		r->profile->lost_samples++;
	else if (s->user->is_cut)
		r->profile->cut_stacks++;
	r->profile->unnamed_frames += s->user->unnamed;
}

void ray_recorder_add(struct ray_recorder *r, const struct ray_recorder_sample *s)
{
	struct thread *t = thread_get(r, s->pid, s->tid);

	if (!t)
		return;
	count_losses(r, s);
	if (is_too_large(r))
		thin_out(r);
	add_sample(r, t, s->time_ns, ray_recorder_node(&r->stacks, r->profile, s), s->weight);
}

/* ---- facts ---- */

static struct ray_recorder_sample sample_of(const struct ray_fact *fact)
{
	struct ray_recorder_sample s = { .time_ns = fact->time_ns, .pid = fact->pid, .tid = fact->tid };
	const char *root = ray_fact_text(fact, "root"), *leaf = ray_fact_text(fact, "leaf");

	s.kernel = ray_fact_stack(fact, "kernel");
	s.user = ray_fact_stack(fact, "user");
	s.root = *root ? root : NULL;
	s.leaf = *leaf ? leaf : NULL;
	return s;
}

static void take_sample(struct ray_recorder *r, const struct ray_fact *fact)
{
	struct ray_recorder_sample s = sample_of(fact);
	ray_auto_text leaf = { 0 };

	s.weight = ray_fact_find(fact, "weight") ? ray_fact_number(fact, "weight") : (int64_t)r->options.sample_weight;
	if (r->options.tells_heaps)
		s.root = ray_recorder_heap_of(s.user, ray_fact_number(fact, "hint") != 0);
	if (r->options.tells_collections) {
		ray_text_printf(&leaf, "%s: %s", ray_fact_text(fact, "type"), ray_fact_text(fact, "reason"));
		s.leaf = ray_text_get(&leaf);
		s.is_collection = true;
	}
	ray_recorder_add(r, &s);
}

/* V8 gives back what it did not need, before it takes more. */
static void take_trim(struct ray_recorder *r, const struct ray_fact *fact)
{
	struct thread *t = thread_get(r, fact->pid, fact->tid);

	if (t && t->last)
		r->profile->samples.at[t->last - 1].weight -= ray_fact_number(fact, "weight");
}

static void take_off(struct ray_recorder *r, const struct ray_fact *fact)
{
	struct ray_recorder_sample s = sample_of(fact);
	struct thread *t = thread_get(r, fact->pid, fact->tid);

	if (!t)
		return;
	/* It will never come back. */
	if (ray_recorder_is_last_wait(s.kernel)) {
		t->off_ns = 0;
		return;
	}
	s.is_waiting = true;
	count_losses(r, &s);
	if (is_too_large(r))
		thin_out(r);
	t->off_ns = fact->time_ns;
	t->off_node = ray_recorder_node(&r->stacks, r->profile, &s);
}

static void take_on(struct ray_recorder *r, struct thread *t, uint64_t epoch_ns)
{
	if (!t || !t->off_ns)
		return;
	if (epoch_ns > t->off_ns)
		add_sample(r, t, t->off_ns, t->off_node, (int64_t)(epoch_ns - t->off_ns));
	t->off_ns = 0;
}

void ray_recorder_take(struct ray_recorder *r, const struct ray_fact *fact)
{
	if (ray_fact_is(fact, "sample"))
		take_sample(r, fact);
	else if (ray_fact_is(fact, "off"))
		take_off(r, fact);
	else if (ray_fact_is(fact, "trim"))
		take_trim(r, fact);
	else if (ray_fact_is(fact, "on"))
		take_on(r, thread_get(r, fact->pid, fact->tid), fact->time_ns);
}

/* ---- results ---- */

uint64_t ray_recorder_count(const struct ray_recorder *r)
{
	return r->count;
}

bool ray_recorder_is_thinned(const struct ray_recorder *r)
{
	return r->is_thinned;
}

struct ray_profile *ray_recorder_profile(struct ray_recorder *r)
{
	return r->profile;
}

static int by_time(const void *a, const void *b)
{
	const struct ray_profile_sample *x = a, *y = b;

	return x->time_ns != y->time_ns ? (x->time_ns < y->time_ns ? -1 : 1) :
					  (x->thread > y->thread) - (x->thread < y->thread);
}

struct ray_profile *ray_recorder_finish(struct ray_recorder *r, uint64_t epoch_ns)
{
	struct ray_profile *p = r->profile;

	for (size_t i = 0; i < r->threads.n; i++)
		take_on(r, &r->threads.at[i], epoch_ns);
	for (size_t i = 0; i < r->threads.n; i++)
		r->threads.at[i].next_round = 0; /* the last chance */
	ray_recorder_name_threads(r);
	if (p->has_times && p->samples.n)
		qsort(p->samples.at, p->samples.n, sizeof(*p->samples.at), by_time);
	if (!r->start_ns)
		ray_recorder_start(r, epoch_ns);
	p->duration_ns = epoch_ns > r->start_ns ? epoch_ns - r->start_ns : 0;
	r->profile = NULL;
	return p;
}
