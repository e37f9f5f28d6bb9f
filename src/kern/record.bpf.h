/* record.bpf.h - sending records to user space. SPDX-License-Identifier: MIT */
#ifndef RAY_KERN_RECORD_BPF_H
#define RAY_KERN_RECORD_BPF_H

#include "kern/base.bpf.h"

static __always_inline void ray_record_fill(struct ray_slot *s, struct ray_record *r, __u32 size)
{
	__u64 id = bpf_get_current_pid_tgid();

	r->clause = s->clause;
	r->probe = s->probe;
	r->speculation = s->speculation;
	r->cpu = bpf_get_smp_processor_id();
	r->tid = id;
	r->tgid = id >> 32;
	r->size = size;
	r->time = bpf_ktime_get_ns();
}

/* Sends the record at `offset` of the slot. The caller has set its kind; who, where and when is filled in here. What finds no room is counted. */
RAY_RUNTIME __u64 ray_record_send(__u64 slot, __u64 offset, __u64 size)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_state *state;
	struct ray_record *r;

	if (!s || s->speculation == RAY_SPECULATION_NONE)
		return 0;
	if (size > RAY_CONST(BLOCK))
		size = RAY_CONST(BLOCK);
	r = (struct ray_record *)ray_at(s, offset);
	ray_record_fill(s, r, size);
	if (!bpf_ringbuf_output(RAY_MAP(RING), r, size, RAY_CONST(RING_FLAGS)))
		return 0;
	state = ray_state_get();
	if (state)
		__sync_fetch_and_add(&state->drops[r->cpu & (RAY_DROP_CPUS - 1)], 1);
	return 1;
}

#endif
