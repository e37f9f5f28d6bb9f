/* speculation.bpf.h - speculations: ids, and what becomes of them. SPDX-License-Identifier: MIT
 *
 * Speculative records go to user space at once, marked with the id; they are held there until a record says what becomes of them. User
 * space frees the id when it has seen that record: until then it is busy. */
#ifndef RAY_KERN_SPECULATION_BPF_H
#define RAY_KERN_SPECULATION_BPF_H

#include "kern/record.bpf.h"

enum { RAY_SPEC_FREE, RAY_SPEC_ACTIVE, RAY_SPEC_ENDING, RAY_SPEC_MAX = 64 };

/* The state of an id, or NULL when there is no such. */
static __always_inline __u32 *ray_spec_state(struct ray_state *state, __u64 id)
{
	__u64 i = id - 1;

	if (i >= RAY_SPEC_MAX || i >= RAY_CONST(NSPEC))
		return (void *)0;
	RAY_OPAQUE(i);
	return &state->spec_state[i & (RAY_SPEC_MAX - 1)];
}

/* A new id, or 0: all are in use. */
RAY_RUNTIME __u64 ray_speculation(__u64 slot)
{
	struct ray_state *state = ray_state_get();
	int is_busy = 0;

	(void)slot;
	if (!state)
		return 0;
	for (__u64 i = 1; i <= RAY_SPEC_MAX; i++) {
		__u32 *at = ray_spec_state(state, i);

		if (!at)
			break;
		if (__sync_val_compare_and_swap(at, RAY_SPEC_FREE, RAY_SPEC_ACTIVE) == RAY_SPEC_FREE)
			return i;
		is_busy |= *at == RAY_SPEC_ENDING;
	}
	__sync_fetch_and_add(is_busy ? &state->spec_busy : &state->spec_unavailable, 1);
	return 0;
}

/* From here on the clause records for this id; for one that is none what it records is dropped, and the result is 0. */
RAY_RUNTIME __u64 ray_speculate(__u64 slot, __u64 id)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_state *state = ray_state_get();
	__u32 *at;

	if (!s || !state)
		return 0;
	at = ray_spec_state(state, id);
	s->speculation = at && *at == RAY_SPEC_ACTIVE ? id : RAY_SPECULATION_NONE;
	return s->speculation != RAY_SPECULATION_NONE;
}

static __always_inline __u64 ray_spec_end(__u64 slot, __u64 id, __u32 kind)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_state *state = ray_state_get();
	struct ray_record *r;
	__u32 *at;

	if (!s || !state)
		return 0;
	at = ray_spec_state(state, id);
	if (!at && id) /* 0 is what speculation() gives when there is none */
		s->fault = RAY_FAULT_ILLOP;
	if (!at || __sync_val_compare_and_swap(at, RAY_SPEC_ACTIVE, RAY_SPEC_ENDING) != RAY_SPEC_ACTIVE)
		return 0;
	r = (struct ray_record *)((char *)s + RAY_CONST(WORK_AT));
	ray_record_fill(s, r, sizeof(*r));
	r->kind = kind;
	r->speculation = id;
	if (bpf_ringbuf_output(RAY_MAP(RING), r, sizeof(*r), 0)) {
		*at = RAY_SPEC_ACTIVE;
		__sync_fetch_and_add(&state->spec_drops, 1);
	}
	return 0;
}

RAY_RUNTIME __u64 ray_commit(__u64 slot, __u64 id)
{
	return ray_spec_end(slot, id, RAY_RECORD_COMMIT);
}

RAY_RUNTIME __u64 ray_discard(__u64 slot, __u64 id)
{
	return ray_spec_end(slot, id, RAY_RECORD_DISCARD);
}

#endif
