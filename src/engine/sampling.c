/* sampling.c - see sampling.h. SPDX-License-Identifier: MIT */
#include "engine/sampling.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "engine/stacks.h"

/* So many stacks are kept; then all are forgotten, and named again as they come. */
enum { MOST_STACKS = 100000 };

struct ray_sampling {
	struct ray_sampling_options options;
	struct ray_sampler *sampler;
	struct ray_stack_table table;
	uint64_t epoch_ns; /* what to add to CLOCK_MONOTONIC */
};

static bool is_known(void *arg, uint64_t id)
{
	struct ray_sampling *s = arg;
	struct ray_stack_table fresh;

	if (ray_hashmap_count(&s->table.stacks) >= MOST_STACKS && ray_stack_table_init(&fresh)) {
		fresh.generation = s->table.generation + 1;
		ray_stack_table_deinit(&s->table);
		s->table = fresh;
	}
	return ray_stack_table_find(&s->table, id);
}

/* Makes it known. NULL without memory. */
static const struct ray_fact_stack *keep(struct ray_sampling *s, const struct ray_sampler_look *look)
{
	ray_auto_memory const struct ray_fact_frame **frames = calloc(look->stack->count + 1, sizeof(const void *));
	struct ray_fact_stack stack = { .id = look->id,
					.count = look->stack->count,
					.is_cut = look->is_cut,
					.unnamed = look->stack->unnamed,
					.no_symbol = look->stack->no_symbol };

	if (!frames)
		return NULL;
	for (size_t i = 0; i < stack.count; i++) {
		frames[i] = ray_stack_table_user_frame(&s->table, &look->stack->frames[i]);
		if (!frames[i])
			return NULL;
	}
	stack.frames = frames;
	if (!ray_stack_table_add(&s->table, &stack, NULL))
		return NULL;
	return ray_stack_table_find(&s->table, look->id)->stack;
}

static const struct ray_fact_stack *find_stack(struct ray_sampling *s, const struct ray_sampler_look *look)
{
	static const struct ray_fact_stack lost = { .is_cut = true, .is_lost = true };
	const struct ray_stack_entry *known;
	const struct ray_fact_stack *stack;

	if (look->is_unreadable)
		return &lost;
	if (look->stack) {
		stack = keep(s, look);
		return stack ? stack : &lost;
	}
	known = ray_stack_table_find(&s->table, look->id);
	return known ? known->stack : &lost;
}

static void on_look(void *arg, const struct ray_sampler_look *look)
{
	struct ray_sampling *s = arg;
	struct ray_fact_field user = {
		.name = "user", .value = { .kind = RAY_VALUE_USTACK, .bytes = "", .stack = find_stack(s, look) }
	};
	struct ray_fact fact = { .name = "sample",
				 .time_ns = look->time_ns + s->epoch_ns,
				 .pid = (uint32_t)look->pid,
				 .tid = (uint32_t)look->tid,
				 .fields = &user,
				 .count = 1 };

	s->options.on_fact(s->options.arg, &fact);
}

struct ray_error *ray_sampling_create(const struct ray_sampling_options *options, struct ray_sampling **ret)
{
	ray_auto(ray_sampling, s) = calloc(1, sizeof(*s));
	struct ray_sampler_options o = { .pids = options->pids,
					 .count = options->count,
					 .hz = options->hz,
					 .follow = options->follow,
					 .thread = options->thread,
					 .script_maps = options->script_maps,
					 .is_known = is_known,
					 .on_look = on_look,
					 .arg = s };
	struct ray_error *err;
	struct timespec now;

	if (!s || !ray_stack_table_init(&s->table))
		return &ray_enomem;
	s->options = *options;
	clock_gettime(CLOCK_REALTIME, &now);
	s->epoch_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec - ray_clock_ns();
	err = ray_sampler_create(&o, &s->sampler);
	if (err)
		return err;
	*ret = ray_take(s);
	return NULL;
}

void ray_sampling_free(struct ray_sampling *s)
{
	if (!s)
		return;
	ray_sampler_free(s->sampler);
	ray_stack_table_deinit(&s->table);
	free(s);
}

struct ray_error *ray_sampling_work(struct ray_sampling *s, int timeout_ms)
{
	return ray_sampler_run(s->sampler, timeout_ms);
}

bool ray_sampling_is_over(struct ray_sampling *s)
{
	return ray_sampler_is_over(s->sampler);
}

const struct ray_role_info *ray_sampling_thread_role(struct ray_sampling *s, uint32_t pid, uint32_t tid)
{
	return ray_sampler_thread_role(s->sampler, (pid_t)pid, (int)tid);
}

struct ray_sampler_report ray_sampling_report(const struct ray_sampling *s)
{
	return ray_sampler_report(s->sampler);
}
