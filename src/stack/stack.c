/* stack.c - see stack.h. SPDX-License-Identifier: MIT */
#include "stack/stack.h"

#include <string.h>

#include "stack/name.h"
#include "stack/pin.h"

static bool is_wanted(struct ray_target *t, const struct ray_thread *thread)
{
	return !ray_target_only_tid(t) || thread->tid == ray_target_only_tid(t);
}

static struct ray_error *take_one(struct ray_stacks *s, const struct ray_thread *thread, struct ray_stack *stack)
{
	struct ray_error *err;
	struct ray_walk walk;

	err = ray_walk_thread(s->js, thread, &walk);
	if (!err)
		err = ray_name_frames(s->js, &walk, s->arena, stack);
	stack->end = walk.end;
	stack->guessed_fp = walk.guessed_fp;
	ray_walk_deinit(&walk);
	return err;
}

/* The mangled names of a thread's native frames, for the table of roles. */
static bool list_symbols(struct ray_stacks *s, const struct ray_stack *stack, struct ray_role_frames *ret)
{
	const char **symbols = ray_arena_alloc(s->arena, (stack->count + 1) * sizeof(*symbols));

	if (!symbols)
		return false;
	for (size_t i = 0; i < stack->count; i++)
		symbols[i] = stack->frames[i].symbol;
	*ret = (struct ray_role_frames){ symbols, stack->count };
	return true;
}

static struct ray_error *find_roles(struct ray_stacks *s)
{
	struct ray_role_frames *frames = ray_arena_alloc(s->arena, (s->count + 1) * sizeof(*frames));
	struct ray_role_info *roles = ray_arena_alloc(s->arena, (s->count + 1) * sizeof(*roles));
	struct ray_error *err;

	if (!frames || !roles)
		return &ray_enomem;
	if (s->js->blind) {
		for (size_t i = 0; i < s->count; i++)
			ray_role_unknown(s->js->target, s->at[i].thread, &s->at[i].role);
		return NULL;
	}
	for (size_t i = 0; i < s->count; i++) {
		if (!list_symbols(s, &s->at[i], &frames[i]))
			return &ray_enomem;
	}
	err = ray_role_find(s->js->target, &s->js->node, frames, roles);
	for (size_t i = 0; i < s->count && !err; i++)
		s->at[i].role = roles[i];
	return err;
}

/* Naming reads the heap while the target runs on; that of a worker goes with its thread. */
static bool has_ended(struct ray_target *t, const struct ray_thread *thread)
{
	char path[64];

	if (ray_target_kind(t) != RAY_TARGET_PROCESS)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task/%d", ray_target_pid(t), thread->tid);
	return access(path, F_OK) != 0;
}

static struct ray_error *take_all(struct ray_stacks *s, struct ray_target *t)
{
	const struct ray_thread *threads;
	struct ray_error *err = NULL;

	if (s->js->cache)
		ray_cache_start(s->js->cache);
	threads = ray_target_threads(t, &s->count);
	s->at = calloc(s->count + 1, sizeof(*s->at));
	if (!s->at)
		return &ray_enomem;
	for (size_t i = 0; i < s->count && !err; i++) {
		s->at[i].thread = &threads[i];
		s->at[i].wanted = is_wanted(t, &threads[i]);
		if (s->at[i].wanted)
			err = take_one(s, &threads[i], &s->at[i]);
		s->at[i].ended = s->at[i].wanted && has_ended(t, &threads[i]);
	}
	return err ? err : find_roles(s);
}

/* A core without its executable still has threads, registers and stacks. */
static struct ray_error *open_js(struct ray_target *t, struct ray_js **ret)
{
	struct ray_error *err = ray_js_open(t, ret), *blind;

	if (ray_error_code(err) != RAY_UNREADABLE || ray_target_kind(t) != RAY_TARGET_CORE)
		return err;
	blind = ray_js_open_blind(t, ray_error_text(err), ret);
	ray_error_free(err);
	return blind;
}

struct ray_error *ray_stacks_take(struct ray_target *t, bool nonblocking, struct ray_stacks **ret)
{
	ray_auto(ray_stacks, s) = calloc(1, sizeof(*s));
	struct ray_freeze_options freeze = { .nonblocking = nonblocking, .while_stopped = ray_pin_objects };
	struct ray_symbol unused;
	struct ray_error *err;

	if (!s)
		return &ray_enomem;
	s->arena = ray_arena_create();
	if (!s->arena)
		return &ray_enomem;
	/* Everything that can be known beforehand is, so that the pause holds nothing but copying. */
	err = open_js(t, &s->js);
	if (err)
		return err;
	if (s->js->node.module)
		ray_elf_symbol_at(s->js->node.module->elf, 0, &unused);
	freeze.arg = s->js;
	err = ray_target_freeze(t, &freeze, &s->report);
	if (!err)
		err = take_all(s, t);
	if (err)
		return err;
	*ret = ray_take(s);
	return NULL;
}

void ray_stacks_free(struct ray_stacks *s)
{
	if (!s)
		return;
	ray_js_close(s->js);
	ray_arena_free(s->arena);
	free(s->at);
	free(s);
}
