/* ustack.bpf.h - what generated code asks of the walker: a stack's id, its depth, its caller. SPDX-License-Identifier: MIT
 *
 * A stack that is new to user space is sent whole, once. See docs/internals/stacks-in-the-kernel.md. */
#ifndef RAY_KERN_USTACK_BPF_H
#define RAY_KERN_USTACK_BPF_H

#include "kern/walk.bpf.h"

enum { RAY_WAKE_NS = 5000000 };

/* Only user space asks for the contexts' types, so they are read only when it will. It asks whether a frame's context is one: so what was one before is
 * not read again for as long as names are believed, even if a collection of garbage may have put another one in its place. */
static __always_inline int ray_walk_context(struct ray_walker *w, __u64 object, __u64 *to)
{
	struct ray_known_map *known = &w->contexts[(object >> 4 ^ object >> 8) & (RAY_KNOWN_CONTEXTS - 1)];
	__u64 check = object ^ w->contexts_tag;

	if (!ray_is_tagged(object))
		return 0;
	if (known->object != check) {
		known->object = 0;
		if (bpf_probe_read_user(&known->map, 8, (void *)(object - 1)))
			return 0;
		ray_walk_follow(&known->map);
		known->object = check;
	}
	*to = known->map;
	return 1;
}

static long ray_walk_context_of(__u32 i __attribute__((unused)), struct ray_walk_context *c)
{
	struct ray_walk_frame *f;
	__u64 at = (__u64)c->w->functions - 1;

	RAY_OPAQUE(at);
	if (at > RAY_STACK_BYTES - sizeof(*f))
		return 1;
	f = (struct ray_walk_frame *)&c->w->frames[at];
	if (ray_walk_context(c->w, f->words[4], &f->context_map))
		f->flags |= RAY_FRAME_HAS_CONTEXT;
	c->w->functions = f->inner;
	return 0;
}

/* To wake somebody costs as much as the walk. Who looks soon anyway is not woken, nor twice in a row. */
static __always_inline __u64 ray_walk_wakes(__u64 now)
{
	struct ray_state *state = ray_state_get();

	if (!state || !RAY_CONST(RING_FLAGS))
		return BPF_RB_FORCE_WAKEUP;
	if (now < *(volatile __u64 *)&state->stack_wake_at)
		return BPF_RB_NO_WAKEUP;
	state->stack_wake_at = now + RAY_WAKE_NS;
	return BPF_RB_FORCE_WAKEUP;
}

/* Where to note that this stack was sent in this epoch; NULL: it was. */
static __always_inline __u64 *ray_walk_new(__u64 mark)
{
	__u32 key = mark >> 8 & (RAY_STACKID_SETS - 1);
	struct ray_stackid_set *set = bpf_map_lookup_elem(RAY_MAP(STACKIDS), &key);
	__u64 *free = 0;

	if (!set)
		return 0;
	for (int i = 0; i < RAY_STACKID_WAYS; i++) {
		if (set->sent[i] == mark)
			return 0;
		if (!set->sent[i])
			free = &set->sent[i];
	}
	/* Any of them: most are of earlier epochs. */
	return free ? free : &set->sent[mark >> 32 & (RAY_STACKID_WAYS - 1)];
}

/* A stack that user space has not seen yet, on its way at once: objects it names may move any moment. */
static __noinline void ray_walk_send(struct ray_slot *s, struct ray_walker *w, __u64 id)
{
	struct ray_record_stack *r = &w->record;
	__u64 now, pid_tgid, epoch, mark, before, *sent;
	struct ray_walk_context context = { w };
	__u32 size = w->bytes;
	struct ray_state *state = ray_state_get();

	if (!state || size > RAY_STACK_BYTES)
		return;
	epoch = *(volatile __u64 *)&state->stack_epoch;
	mark = ray_hash_add(id, epoch) | 1;
	sent = ray_walk_new(mark);
	if (!sent)
		return;
	/* Whoever was first on another CPU sends it. */
	before = *(volatile __u64 *)sent;
	if (before == mark || __sync_val_compare_and_swap(sent, before, mark) == mark)
		return;
	now = bpf_ktime_get_ns();
	pid_tgid = bpf_get_current_pid_tgid();
	w->contexts_tag = ray_hash_add(w->tag, epoch);
	bpf_loop(w->count, ray_walk_context_of, &context, 0);
	r->count = w->count;
	r->bytes = size;
	size += sizeof(*r);
	r->id = id;
	r->head.kind = RAY_RECORD_STACK;
	r->head.clause = s->clause;
	r->head.probe = s->probe;
	r->head.cpu = bpf_get_smp_processor_id();
	r->head.speculation = 0;
	r->head.tid = (__u32)pid_tgid;
	r->head.tgid = pid_tgid >> 32;
	r->head.size = size;
	r->head.time = now;
	if (!bpf_ringbuf_output(RAY_MAP(RING), r, size, ray_walk_wakes(now)))
		return;
	/* The next time may have better luck. */
	__sync_val_compare_and_swap(sent, mark, 0);
	__sync_fetch_and_add(&state->stack_drops, 1);
}

/* Walks at most `frames` frames and writes a struct ray_stack_ref at dst. kind is 1 when plumbing will be hidden: then more are walked. */
RAY_RUNTIME __u64 ray_ustack(__u64 slot, __u64 dst, __u64 frames, __u64 kind)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_stack_ref *ref;
	struct ray_walker *w;
	__u64 id = 0;
	__u32 walked = frames < RAY_STACK_FRAMES ? frames : RAY_STACK_FRAMES;

	if (!s)
		return 0;
	if (kind)
		walked = walked * 4 + 32;
	w = ray_walk_run(s, walked);
	if (w && w->count) {
		id = ray_hash_add(w->hash, w->record.stop);
		id = id ? id : 1;
		ray_walk_send(s, w, id);
	}
	ref = (struct ray_stack_ref *)ray_at(s, dst);
	ref->id = id;
	ref->tgid = bpf_get_current_pid_tgid() >> 32;
	ref->frames = frames;
	return 0;
}

RAY_RUNTIME __u64 ray_ustackdepth(__u64 slot)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_walker *w = s ? ray_walk_run(s, RAY_STACK_FRAMES) : 0;

	return w ? w->count : 0;
}

/* Where the current user function was called from. */
RAY_RUNTIME __u64 ray_ucaller(__u64 slot)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_walker *w = s ? ray_walk_run(s, 2) : 0;

	const struct ray_walk_frame *first;

	if (!w || w->count < 2)
		return 0;
	first = (struct ray_walk_frame *)w->frames;
	return ((struct ray_walk_frame *)((char *)first + ray_walk_frame_size(first->flags)))->pc;
}

#endif
