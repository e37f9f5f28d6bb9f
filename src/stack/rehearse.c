/* rehearse.c - names frames while the target is stopped, to keep what is read for it.
 * SPDX-License-Identifier: MIT
 *
 * A collection that compacts, right after the pause, moves code, scopes, names and position tables: too many kinds of
 * objects to follow one by one. So the naming of what look like JavaScript frames is done once beforehand, for a few
 * milliseconds at most: the names are thrown away, the bytes that were read are pinned. */
#include "stack/rehearse.h"

#include <string.h>

#include "base/clock.h"
#include "stack/name.h"

enum {
	MAX_STACK = 1 << 20, /* bytes of one stack that are searched */
	BATCH = 8,	     /* frames between two looks at the clock */
	BUDGET_NS = 4000000,
};

struct rehearsal {
	struct ray_js *js;
	struct ray_arena *arena; /* for names nobody will see */
	struct ray_walk walk;
	uint64_t deadline;
};

static void rehearse_batch(struct rehearsal *r)
{
	struct ray_stack unseen = { 0 };

	ray_error_free(ray_name_frames(r->js, &r->walk, r->arena, &unseen));
	r->walk.frames.n = 0;
}

/* False when the time is up. */
static bool rehearse_frame(struct rehearsal *r, uint64_t fp, uint64_t pc, bool exact)
{
	struct ray_raw_frame f = { .pc = pc, .at = exact ? pc : pc - 1, .fp = fp, .exact = exact, .leaf_offset = -1 };
	const struct ray_module *m;
	uint64_t vaddr;

	f.region = ray_walk_region(r->js, f.at, &m, &vaddr);
	if (f.region != RAY_WALK_JIT && f.region != RAY_WALK_BUILTIN)
		return true;
	if (!ray_vec_push(&r->walk.frames, f))
		return false;
	if (r->walk.frames.n < BATCH)
		return true;
	rehearse_batch(r);
	return ray_clock_ns() < r->deadline;
}

/* A link to a frame is a word that points further up the stack, with a return address behind it. V8's frames of
 * functions have two heap objects below: the context and the function. */
static void rehearse_stack(struct rehearsal *r, const struct ray_thread *thread)
{
	const struct ray_map *map = ray_target_find_map(r->js->target, thread->registers.rsp);
	uint64_t sp = thread->registers.rsp & ~7ull, words[514], below[2];
	size_t n;

	if (!map || (!thread->only_pc_sp && !rehearse_frame(r, thread->registers.rbp, thread->registers.rip, true)))
		return;
	for (uint64_t at = sp; at < map->end && at - sp < MAX_STACK; at += (n - 1) * 8) {
		n = ray_target_read(r->js->target, at, words, sizeof(words)) / 8;
		if (n < 2)
			return;
		for (size_t i = 0; i + 1 < n; i++) {
			if (words[i] <= at + i * 8 || words[i] >= map->end || words[i] & 7 ||
			    ray_target_read(r->js->target, words[i] - 16, below, 16) != 16 ||
			    !ray_v8_is_object(below[0]) || !ray_v8_is_object(below[1]))
				continue;
			if (!rehearse_frame(r, words[i], words[i + 1], false))
				return;
		}
	}
}

void ray_rehearse(struct ray_js *js, const struct ray_thread *threads, size_t count)
{
	struct rehearsal r = { .js = js, .arena = ray_arena_create(), .deadline = ray_clock_ns() + BUDGET_NS };

	if (!r.arena)
		return;
	ray_target_keep(js->target, true);
	js->v8.hurry = true;
	for (size_t i = 0; i < count; i++) {
		if (threads[i].has_registers && ray_clock_ns() < r.deadline)
			rehearse_stack(&r, &threads[i]);
	}
	rehearse_batch(&r);
	js->v8.hurry = false;
	ray_target_keep(js->target, false);
	ray_walk_deinit(&r.walk);
	ray_arena_free(r.arena);
}
