/* record.bpf.h - sending records to user space. SPDX-License-Identifier: MIT */
#ifndef RAY_KERN_RECORD_BPF_H
#define RAY_KERN_RECORD_BPF_H

#include "kern/string.bpf.h"

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

/* ---- values as long as they are: behind the record's fixed part, one after the other ---- */

/* Where the next one goes, from the start of the record: its size so far. */
static __always_inline struct ray_record *ray_pack_record(struct ray_slot *s)
{
	return (struct ray_record *)ray_at(s, RAY_CONST(RECORD_AT));
}

static __always_inline char *ray_pack_place(struct ray_slot *s)
{
	return ray_at(s, RAY_CONST(RECORD_AT) + ray_pack_record(s)->size);
}

/* `size` bytes are there, and belong to the value whose place is `field`. */
static __always_inline void ray_pack_keep(struct ray_slot *s, __u64 field, __u64 size)
{
	struct ray_record *r = ray_pack_record(s);
	struct ray_packed *p = (struct ray_packed *)ray_at(s, field);

	p->at = r->size;
	p->size = size;
	r->size += (size + 7) & ~7ULL;
}

/* A string with its NUL, at most `size` bytes. */
RAY_RUNTIME __u64 ray_str_pack(__u64 slot, __u64 field, __u64 address, __u64 size)
{
	struct ray_slot *s = ray_slot_get(slot);
	long got;

	if (!s)
		return 0;
	if (size > RAY_CONST(BLOCK))
		size = RAY_CONST(BLOCK);
	if (size > ray_string_size())
		size = ray_string_size();
	got = ray_read_string(s, ray_pack_place(s), size, address);
	if (got >= 0)
		ray_pack_keep(s, field, got);
	return 0;
}

/* At dst: how many bytes there are, the smaller of size and length; -1: they cannot be read. Behind it the place of a packed value. */
RAY_RUNTIME __u64 ray_trace_bytes(__u64 slot, __u64 dst, __u64 address, __u64 size, __u64 length)
{
	struct ray_slot *s = ray_slot_get(slot);
	__s64 got;

	if (!s)
		return 0;
	if (size > length)
		size = length;
	if (size > RAY_CONST(BLOCK))
		size = RAY_CONST(BLOCK);
	got = size;
	if (size && bpf_probe_read_user(ray_pack_place(s), size, (void *)address))
		got = -1;
	*(__s64 *)ray_at(s, dst) = got;
	ray_pack_keep(s, dst + 8, got < 0 ? 0 : got);
	return 0;
}

/* The same for a string, without its NUL; `size` if it is longer: the last of them is 0 then. */
RAY_RUNTIME __u64 ray_trace_text(__u64 slot, __u64 dst, __u64 address, __u64 size)
{
	struct ray_slot *s = ray_slot_get(slot);
	long got;

	if (!s)
		return 0;
	if (size > RAY_CONST(BLOCK))
		size = RAY_CONST(BLOCK);
	got = ray_read_user_string(ray_pack_place(s), size, address);
	*(__s64 *)ray_at(s, dst) = got <= 0 ? -1 : got == (long)size ? got : got - 1;
	ray_pack_keep(s, dst + 8, got <= 0 ? 0 : got);
	return 0;
}

/* ---- sending ---- */

/* Sends the record at `offset` of the slot; size 0: as long as what was packed has made it. The caller has set its kind; who, where and when is
 * filled in here. What finds no room is counted. */
RAY_RUNTIME __u64 ray_record_send(__u64 slot, __u64 offset, __u64 size)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_state *state;
	struct ray_record *r;

	if (!s || s->speculation == RAY_SPECULATION_NONE)
		return 0;
	r = (struct ray_record *)ray_at(s, offset);
	if (!size)
		size = r->size;
	if (size > RAY_CONST(BLOCK))
		size = RAY_CONST(BLOCK);
	ray_record_fill(s, r, size);
	if (!bpf_ringbuf_output(RAY_MAP(RING), r, size, RAY_CONST(RING_FLAGS)))
		return 0;
	state = ray_state_get();
	if (state)
		__sync_fetch_and_add(&state->drops[r->cpu & (RAY_DROP_CPUS - 1)], 1);
	return 1;
}

#endif
