/* pin.c - keeps the objects that stacks point to.
 * SPDX-License-Identifier: MIT
 *
 * A closure that is young when the target is stopped may be moved or gone a millisecond later. So every word on
 * a stack that looks like a heap object is followed: the object, its SharedFunctionInfo if it has one where a
 * function has it, and what that leads to. An object tells its type by its map, so maps are kept too. While a
 * collection moves objects, the address of the new copy stands in the map's place: then the copy is kept, which
 * the next collection may move again. A few rounds, each a few system calls; guesses that are none cost a copied
 * block and do no harm. What this does not reach is left to a rehearsal. */
#include "stack/pin.h"

#include <string.h>

#include "stack/rehearse.h"

enum {
	OBJECT = 64,	      /* bytes of an object that are kept */
	NAMES = 4 * OBJECT,   /* of a ScopeInfo or a string */
	MAX_WORDS = 1 << 19,  /* of one stack: 4 MiB */
	MAX_RANGES = 1 << 16, /* per round */
	SEEN = 1 << 12,	      /* of the last objects, which are most of a deep stack */
};

struct ranges {
	RAY_VEC(struct ray_range) list;
	uint64_t seen[SEEN];
};

static void add(struct ranges *r, uint64_t value, size_t size)
{
	uint64_t *seen = &r->seen[(value >> 3) * 0x9e3779b1u % SEEN];

	if (!ray_v8_is_object(value) || *seen == value || r->list.n >= MAX_RANGES)
		return;
	*seen = value;
	if (!ray_vec_push(&r->list, (struct ray_range){ value - 1, size }))
		return;
}

static void add_stack_words(struct ray_target *t, uint64_t sp, struct ranges *r)
{
	const struct ray_map *map = ray_target_find_map(t, sp);
	uint64_t words[512];
	size_t done = 0, n, most = map ? (size_t)(map->end - sp) / 8 : 0;

	if (most > MAX_WORDS)
		most = MAX_WORDS;
	while (done < most) {
		n = most - done < RAY_COUNT(words) ? most - done : RAY_COUNT(words);
		n = ray_target_read(t, sp + done * 8, words, n * 8) / 8;
		if (!n)
			return;
		for (size_t i = 0; i < n; i++)
			add(r, words[i], OBJECT);
		done += n;
	}
}

/* What the kept objects of one round point to at these fields. */
static void add_fields(struct ray_js *js, const struct ranges *from, const enum ray_v8_field *fields, size_t count,
		       struct ranges *to)
{
	uint64_t value;

	for (size_t i = 0; i < from->list.n; i++) {
		for (size_t k = 0; k < count; k++) {
			if (ray_v8_field(&js->v8, from->list.at[i].start + 1, fields[k], &value))
				add(to, value, fields[k] == RAY_V8_SFI_NAME ? NAMES : OBJECT);
		}
	}
}

/* What stands in place of the map of each: the map, or where the object is now. Words that were no objects lead
 * anywhere: only mapped memory is worth a try. */
static void add_maps(struct ray_js *js, const struct ranges *from, struct ranges *to)
{
	uint64_t word;

	for (size_t i = 0; i < from->list.n; i++) {
		if (!ray_v8_word(&js->v8, from->list.at[i].start + 1, 0, &word))
			continue;
		word |= 1; /* a forwarding address has no tag */
		if (word > 1 && ray_target_find_map(js->target, word - 1))
			add(to, word, OBJECT);
	}
}

/* Keeps what tells the types of the objects: at the most a moved copy, its map, and the map of maps. */
static void pin_types(struct ray_target *t, struct ray_js *js, const struct ranges *objects)
{
	enum { STEPS = 3 };
	struct ranges steps[STEPS] = { 0 };

	for (size_t i = 0; i < STEPS; i++) {
		add_maps(js, i ? &steps[i - 1] : objects, &steps[i]);
		ray_target_pin(t, steps[i].list.at, steps[i].list.n);
	}
	for (size_t i = 0; i < STEPS; i++)
		ray_vec_free(&steps[i].list);
}

/* Every object in the first bytes of these: names of functions stand somewhere in their ScopeInfo. */
static void add_contents(struct ray_js *js, const struct ranges *from, struct ranges *to)
{
	uint64_t words[NAMES / 8];

	for (size_t i = 0; i < from->list.n; i++) {
		const struct ray_range *r = &from->list.at[i];
		size_t n = r->size == NAMES ? ray_target_read(js->target, r->start, words, sizeof(words)) / 8 : 0;

		for (size_t k = 1; k < n; k++)
			if (ray_target_find_map(js->target, words[k]))
				add(to, words[k], OBJECT);
	}
}

void ray_pin_objects(struct ray_target *t, void *arg)
{
	static const enum ray_v8_field of_function[] = { RAY_V8_JSFUNCTION_SHARED };
	static const enum ray_v8_field of_shared[] = { RAY_V8_SFI_NAME, RAY_V8_SFI_SCRIPT, RAY_V8_SFI_DATA };
	static const enum ray_v8_field of_script[] = { RAY_V8_SCRIPT_NAME };
	struct ranges objects = { 0 }, shared = { 0 }, rest = { 0 }, names = { 0 };
	const struct ray_thread *threads;
	struct ray_js *js = arg;
	size_t count;

	if (!js->layout || ray_target_kind(t) != RAY_TARGET_PROCESS)
		return;
	threads = ray_target_threads(t, &count);
	for (size_t i = 0; i < count; i++) {
		if (threads[i].has_registers)
			add_stack_words(t, threads[i].registers.rsp & ~7ull, &objects);
	}
	ray_target_pin(t, objects.list.at, objects.list.n);
	pin_types(t, js, &objects);
	add_fields(js, &objects, of_function, RAY_COUNT(of_function), &shared);
	ray_target_pin(t, shared.list.at, shared.list.n);
	add_fields(js, &shared, of_shared, RAY_COUNT(of_shared), &rest);
	ray_target_pin(t, rest.list.at, rest.list.n);
	add_fields(js, &rest, of_script, RAY_COUNT(of_script), &names);
	add_contents(js, &rest, &names);
	ray_target_pin(t, names.list.at, names.list.n);
	ray_vec_free(&names.list);
	ray_vec_free(&objects.list);
	ray_vec_free(&shared.list);
	ray_vec_free(&rest.list);
	ray_rehearse(js, threads, count);
}
