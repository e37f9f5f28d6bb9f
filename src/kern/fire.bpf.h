/* fire.bpf.h - what an entry program leaves to the runtime: telling a fault, arguments by a point's rules.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_KERN_FIRE_BPF_H
#define RAY_KERN_FIRE_BPF_H

#include "kern/base.bpf.h"

/* What a clause calls when it cannot go on: says why and where. kind 0: a function of the runtime has said why. The name is the one that listings of DTrace
 * show at these places. */
static __attribute__((noinline, used)) __u64 dt_probe_error(struct ray_slot *s, __u64 value, __u32 kind, __u32 pc,
							    __u32 action)
{
	if (kind) {
		s->fault = kind;
		s->fault_value = value;
	}
	s->fault_pc = pc;
	s->fault_action = action;
	return 0;
}

/* Tells that slot->clause has faulted. */
RAY_RUNTIME __u64 ray_fault_send(__u64 slot)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_record_error record = {};
	struct ray_state *state;
	__u64 pid_tgid;
	__u32 zero = 0;

	state = bpf_map_lookup_elem(RAY_MAP(STATE), &zero);
	if (!s || !state)
		return 0;
	pid_tgid = bpf_get_current_pid_tgid();
	record.head.kind = RAY_RECORD_ERROR;
	record.head.clause = s->clause;
	record.head.probe = s->probe;
	record.head.cpu = bpf_get_smp_processor_id();
	record.head.tid = pid_tgid;
	record.head.tgid = pid_tgid >> 32;
	record.head.size = sizeof(record);
	record.head.time = bpf_ktime_get_ns();
	record.fault = s->fault;
	record.action = s->fault_action;
	record.pc = s->fault_pc;
	record.value = s->fault_value;
	if (bpf_ringbuf_output(RAY_MAP(RING), &record, sizeof(record), 0))
		__sync_fetch_and_add(&state->drops[record.head.cpu & (RAY_DROP_CPUS - 1)], 1);
	return 0;
}

/* A register of the interrupted code: the entry has copied all of them to the spills. */
static __always_inline __u64 ray_fetch_reg(const struct ray_slot *s, __u32 reg)
{
	return reg < 21 ? s->spills[reg & 31] : 0;
}

static __always_inline __u64 ray_fetch_one(const struct ray_slot *s, const struct ray_fetch *f)
{
	__u64 value = f->value;
	__u64 bits;

	if (f->kind == RAY_FETCH_REG) {
		value = ray_fetch_reg(s, f->reg) >> (f->scale & 8); /* 8: the second byte, %ah */
	} else if (f->kind == RAY_FETCH_MEM) {
		__u64 address = f->value + ray_fetch_reg(s, f->reg) + (ray_fetch_reg(s, f->index) << (f->scale & 3));
		__u32 size = f->size;

		value = 0;
		if (size == 0 || size > 8)
			size = 8;
		bpf_probe_read_user(&value, size, (void *)address);
	} else if (f->kind != RAY_FETCH_CONST) {
		return 0;
	}
	if (f->size >= 8 || !f->size)
		return value;
	bits = 64 - 8 * f->size;
	return f->flags & 1 ? (__u64)((__s64)(value << bits) >> bits) : value << bits >> bits;
}

/* Fills those of slot->args that `needed` has bits for, by the rules of the point. */
RAY_RUNTIME __u64 ray_fetch_args(__u64 slot, __u64 point, __u64 needed)
{
	struct ray_slot *s = ray_slot_get(slot);
	__u32 key = point;
	struct ray_point *p = bpf_map_lookup_elem(RAY_MAP(POINTS), &key);

	if (!s || !p)
		return 0;
	for (__u32 i = 0; i < RAY_POINT_ARGS; i++)
		if (i < p->fetch_count && needed >> i & 1)
			s->args[i] = ray_fetch_one(s, &p->fetch[i]);
	return 0;
}

#endif
