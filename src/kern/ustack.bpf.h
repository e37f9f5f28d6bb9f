/* ustack.bpf.h - what generated code asks of the walker: a stack's id, its depth, its caller. SPDX-License-Identifier: MIT
 *
 * A stack that is new to user space is sent whole, once. See docs/internals/stacks-in-the-kernel.md. */
#ifndef RAY_KERN_USTACK_BPF_H
#define RAY_KERN_USTACK_BPF_H

#include "kern/walk.bpf.h"

enum { RAY_WAKE_NS = 5000000 };

/* Only user space asks for the contexts' types, so they are read only when it will. */
static long ray_walk_context_of(__u32 i, struct ray_walk_context *c)
{
	struct ray_walk_frame *f;

	if (!c->w || i >= c->w->record.count || i >= RAY_STACK_FRAMES)
		return 1;
	f = &c->w->record.frames[i];
	if (f->flags & RAY_FRAME_HAS_FUNCTION && !bpf_probe_read_user(&f->context_map, 8, (void *)(f->words[4] - 1)))
		f->flags |= RAY_FRAME_HAS_CONTEXT;
	return 0;
}

/* To wake somebody costs more than the walk. Who looks now and then anyway is not woken again so soon. */
static __always_inline __u64 ray_walk_wakes(__u64 now)
{
	struct ray_state *state = ray_state_get();

	if (!state || !RAY_CONST(RING_FLAGS))
		return BPF_RB_FORCE_WAKEUP;
	if (now - state->stack_woke < RAY_WAKE_NS)
		return BPF_RB_NO_WAKEUP;
	state->stack_woke = now;
	return BPF_RB_FORCE_WAKEUP;
}

/* A stack that user space has not seen yet, on its way at once: objects it names may move any moment. */
static __noinline void ray_walk_send(struct ray_slot *s, struct ray_walker *w, __u64 id)
{
	struct ray_record_stack *r = &w->record;
	__u64 now = bpf_ktime_get_ns(), pid_tgid = bpf_get_current_pid_tgid(), epoch, *known;
	__u32 count = r->count, size;
	struct ray_walk_context context;
	struct ray_state *state = ray_state_get();

	if (!state || count > RAY_STACK_FRAMES)
		return;
	epoch = *(volatile __u64 *)&state->stack_epoch;
	known = bpf_map_lookup_elem(RAY_MAP(STACKIDS), &id);
	if (known && *known == epoch)
		return;
	/* Whoever was first on another CPU sends it. */
	if (bpf_map_update_elem(RAY_MAP(STACKIDS), &id, &epoch, known ? BPF_ANY : BPF_NOEXIST))
		return;
	context.w = w;
	bpf_loop(count, ray_walk_context_of, &context, 0);
	size = sizeof(*r) + count * sizeof(r->frames[0]);
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
	bpf_map_delete_elem(RAY_MAP(STACKIDS), &id);
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
	if (w && w->record.count) {
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

	return w ? w->record.count : 0;
}

/* Where the current user function was called from. */
RAY_RUNTIME __u64 ray_ucaller(__u64 slot)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_walker *w = s ? ray_walk_run(s, 2) : 0;

	return w && w->record.count > 1 ? w->record.frames[1].pc : 0;
}

#endif
