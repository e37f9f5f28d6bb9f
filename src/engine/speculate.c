/* speculate.c - records that wait for commit() or discard().
 * SPDX-License-Identifier: MIT
 *
 * The kernel sends them at once, marked with their speculation's number; they are kept here in the order they came.
 * One ring keeps them before the commit() that they belong to. The number is free again when it was committed or
 * discarded. */
#include <string.h>

#include "engine/consume.h"

void ray_speculations_free(struct ray_consumer *c)
{
	for (size_t i = 0; i < c->speculations.n; i++)
		free(c->speculations.at[i].bytes);
	ray_vec_free(&c->speculations);
}

static struct ray_speculation *find(struct ray_consumer *c, uint32_t id)
{
	return id && id <= c->speculations.n ? &c->speculations.at[id - 1] : NULL;
}

static bool make_room(struct ray_speculation *s, size_t more)
{
	size_t want = s->room ? s->room : 1024;
	uint8_t *grown;

	while (want < s->size + more)
		want *= 2;
	if (want == s->room)
		return true;
	grown = realloc(s->bytes, want);
	if (!grown)
		return false;
	s->bytes = grown;
	s->room = want;
	return true;
}

void ray_speculation_hold(struct ray_consumer *c, const struct ray_record *r)
{
	const struct ray_plan *plan = c->t->plan;
	size_t size = ((size_t)r->size + 7) & ~(size_t)7;
	/* specsize means strings as long as they may be. */
	size_t counted = (r->clause < plan->program->clauses.n && plan->clauses[r->clause].record_size > r->size ?
				  plan->clauses[r->clause].record_size :
				  r->size) -
			 RAY_RECORD_HEAD_EXTRA;
	struct ray_speculation *s;

	while (c->speculations.n < r->speculation && r->speculation <= c->t->options.nspec)
		if (!ray_vec_push(&c->speculations, (struct ray_speculation){ 0 }))
			break;
	s = find(c, r->speculation);
	if (!s || s->counted + counted > c->t->options.specsize || !make_room(s, size)) {
		c->speculative_drops++;
		return;
	}
	memcpy(s->bytes + s->size, r, r->size);
	s->size += size;
	s->counted += counted;
}

static void release(struct ray_consumer *c, uint32_t id, struct ray_speculation *s)
{
	if (s)
		s->size = s->counted = 0;
	if (c->t->state && id && id <= sizeof(c->t->state->spec_state) / sizeof(c->t->state->spec_state[0]))
		__atomic_store_n(&c->t->state->spec_state[id - 1], 0, __ATOMIC_RELEASE);
}

struct ray_error *ray_speculation_commit(struct ray_consumer *c, uint32_t id)
{
	struct ray_speculation *s = find(c, id);
	struct ray_error *err = NULL;

	for (size_t at = 0; s && at < s->size && !err;) {
		struct ray_record *r = (struct ray_record *)(s->bytes + at);

		at += ((size_t)r->size + 7) & ~(size_t)7;
		err = ray_consume_data(c, r);
	}
	release(c, id, s);
	return err;
}

void ray_speculation_discard(struct ray_consumer *c, uint32_t id)
{
	release(c, id, find(c, id));
}
