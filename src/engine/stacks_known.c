/* stacks_known.c - frames that were named already, by what named them. SPDX-License-Identifier: MIT
 *
 * Most stacks that a sampler meets are new, but only at their inner end: what called that was met many times. Naming a frame of JavaScript takes a hundred
 * reads of the target's memory, so what was made of one is kept for as long as a whole stack is believed (stacks_age.c), under all that the kernel
 * takes into a stack's id for this frame and some more that is at hand. What cannot be told by that is not kept: an innermost frame of V8, whose place
 * is in registers and on top of the stack; whatever could not be named; a frame that V8 is replacing. Where a name came from an object itself and not from its
 * map, the object is a part of the key, too. */
#include <string.h>

#include "engine/stacks.h"

enum {
	MOST = 1 << 17, /* that are kept, where nothing else is ever forgotten */
	WORD_OFFSET = 0,
	WORD_ARRAY = 1,
	WORD_FUNCTION = 3,
	WORD_CONTEXT = 4,
	WORD_RECEIVER = 7,
	FRAME_TYPES = 256, /* what is smaller in the context's place is the type of a frame */
};

bool ray_stack_known_init(struct ray_stack_knowns *k)
{
	memset(k, 0, sizeof(*k));
	k->arena = ray_arena_create();
	return k->arena != NULL;
}

void ray_stack_known_deinit(struct ray_stack_knowns *k)
{
	ray_arena_free(k->arena);
	ray_hashmap_free(&k->map);
	memset(k, 0, sizeof(*k));
}

/* ---- keys: hashes themselves ---- */

/* Return addresses below the frame: of builtins that have no frame of their own, and the function's place when it called them. */
static uint64_t add_below(uint64_t key, const struct ray_stack_process *p, const struct ray_walk_frame *f)
{
	bool is_all = f->flags & RAY_FRAME_IS_REPLACED;

	for (uint32_t i = 0; i < RAY_BELOW_WORDS && (is_all || f->sp + i * 8 < f->fp); i++)
		if (f->below[i] >= p->code_start && f->below[i] < p->code_end)
			key = ray_hash_word(ray_hash_word(key, i), f->below[i]);
	return key;
}

static uint64_t add_words(uint64_t key, const struct ray_stack_process *p, const struct ray_walk_frame *f)
{
	if (f->words[WORD_CONTEXT] < FRAME_TYPES)
		key = ray_hash_word(key, f->words[WORD_CONTEXT]);
	if (!(f->flags & RAY_FRAME_HAS_FUNCTION))
		return key;
	key = ray_hash_word(ray_hash_word(key, f->function[0]), f->function[p->shared_at / 8]);
	if (!(f->words[WORD_OFFSET] & 0xffffffff) && ray_v8_is_object(f->words[WORD_ARRAY]))
		key = ray_hash_word(ray_hash_word(key, f->words[WORD_OFFSET]), f->words[WORD_ARRAY]);
	if (f->flags & RAY_FRAME_HAS_RECEIVER)
		key = ray_hash_word(key, f->receiver_map);
	if (f->flags & RAY_FRAME_HAS_CONTEXT)
		key = ray_hash_word(key, f->context_map);
	return key;
}

/* "new" shows in who called. */
static uint64_t add_caller(uint64_t key, const struct ray_walk_frame *caller)
{
	key = ray_hash_word(key, caller->flags & RAY_FRAME_IS_UNKNOWN);
	if (caller->flags & RAY_FRAME_HAS_WORDS && caller->words[WORD_CONTEXT] < FRAME_TYPES)
		key = ray_hash_word(key, caller->words[WORD_CONTEXT]);
	return key;
}

uint64_t ray_stack_known_key(const struct ray_stack_process *p, const struct ray_walk_frame *f, bool is_innermost,
			     const struct ray_walk_frame *caller)
{
	uint64_t key = ray_hash_word(ray_hash_word(p->space, p->tgid), p->pushed);

	/* Its registers tell where it is, and no row how it is left. */
	if ((is_innermost || f->flags & RAY_FRAME_IS_EXACT) && f->flags & (RAY_FRAME_HAS_WORDS | RAY_FRAME_IS_UNKNOWN))
		return 0;
	if (f->flags & RAY_FRAME_HAS_FUNCTION && p->shared_at / 8 >= RAY_FUNCTION_WORDS)
		return 0;
	key = ray_hash_word(ray_hash_word(key, f->pc), f->flags);
	if (f->flags & RAY_FRAME_HAS_WORDS)
		key = add_words(key, p, f);
	if (f->flags & RAY_FRAME_HAS_BELOW)
		key = add_below(key, p, f);
	if (f->flags & RAY_FRAME_HAS_WORDS && caller)
		key = add_caller(key, caller);
	return key ? key : 1;
}

static uint64_t key_with_objects(uint64_t key, uint8_t by, const struct ray_walk_frame *f)
{
	key = ray_hash_word(key, by);
	if (by & RAY_NAMED_BY_FUNCTION)
		key = ray_hash_word(key, f->words[WORD_FUNCTION]);
	if (by & RAY_NAMED_BY_RECEIVER)
		key = ray_hash_word(key, f->words[WORD_RECEIVER]);
	return key ? key : 1;
}

/* ---- what is known ---- */

static struct ray_stack_known *find(const struct ray_stack_knowns *k, uint64_t key)
{
	struct ray_stack_known **found = ray_hashmap_find(&k->map, key, one, (*one)->key == key);

	return found ? *found : NULL;
}

/* A new one with room for count frames; NULL without memory, or when there is one. */
static struct ray_stack_known *add(struct ray_stack_knowns *k, uint64_t key, size_t count)
{
	struct ray_stack_known *new;
	size_t size = sizeof(*new) + count * sizeof(new->frames[0]);

	if (ray_hashmap_count(&k->map) >= MOST || find(k, key))
		return NULL;
	new = ray_arena_alloc(k->arena, size);
	if (!new || !ray_hashmap_add(&k->map, key, new))
		return NULL;
	memset(new, 0, size);
	new->key = key;
	k->bytes += size;
	return new;
}

const struct ray_stack_known *ray_stack_known_find(const struct ray_stack_knowns *k, uint64_t key,
						   const struct ray_walk_frame *f)
{
	const struct ray_stack_known *e = key ? find(k, key) : NULL;

	return e && e->by ? find(k, key_with_objects(key, e->by, f)) : e;
}

struct ray_stack_known *ray_stack_known_add(struct ray_stack_knowns *k, uint64_t key, uint8_t by,
					    const struct ray_walk_frame *f, size_t count)
{
	struct ray_stack_known *e;

	if (!by)
		return add(k, key, count);
	e = find(k, key);
	if (!e)
		e = add(k, key, 0);
	if (!e || (e->count && !e->by))
		return NULL;
	e->by |= by;
	return add(k, key_with_objects(key, e->by, f), count);
}
