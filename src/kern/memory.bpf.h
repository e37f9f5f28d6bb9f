/* memory.bpf.h - reading and writing at addresses as D sees them (kern/wire.h). SPDX-License-Identifier: MIT
 *
 * A script may calculate with addresses: those of the slot are checked against the areas it may see, all others by the kernel. */
#ifndef RAY_KERN_MEMORY_BPF_H
#define RAY_KERN_MEMORY_BPF_H

#include "kern/base.bpf.h"

/* Whether [offset, offset + size) was given out by alloca() and its like in this clause. */
static __always_inline int ray_is_allocated(const struct ray_slot *s, __u64 offset, __u64 size)
{
	__u64 start = RAY_CONST(SCRATCH_START);

	return offset >= start && size <= s->scratch_used && offset - start <= s->scratch_used - size;
}

/* What a script may read in the slot: what alloca() gave, and strings and variables, which lie below; between them is nothing. */
static __always_inline int ray_is_readable(const struct ray_slot *s, __u64 offset, __u64 size)
{
	__u64 end = RAY_CONST(SCRATCH_START) - RAY_SCRATCH_GUARD;

	if (offset >= end)
		return ray_is_allocated(s, offset, size);
	return offset >= sizeof(struct ray_slot) && size <= end - offset;
}

/* Where arguments of the node provider point to, as the kernel sees it; 0: address is something else. node's own probes of old gave addresses
 * in the process, and scripts copy them in. */
static __always_inline __u64 ray_event_place(struct ray_slot *s, __u64 address, __u64 size)
{
	__u64 offset = ray_offset(address) - RAY_CONST(EVENT_AT);

	if (!RAY_CONST(WATCHED))
		return 0;
	if (ray_is_scratch(address) && offset < sizeof(struct ray_node_area) &&
	    size <= sizeof(struct ray_node_area) - offset)
		return (__u64)ray_at(s, ray_offset(address));
	offset = address - s->lent;
	return offset < sizeof(struct ray_node_conn) && size <= sizeof(struct ray_node_conn) - offset ? address : 0;
}

/* The one way in for data: dst has room for size bytes. Not 0 when it cannot be read: a fault is set. */
static __always_inline long ray_read(struct ray_slot *s, char *dst, __u64 size, __u64 address)
{
	__u64 offset = ray_offset(address);
	long err;

	if (ray_is_scratch(address))
		err = ray_is_readable(s, offset, size) ? bpf_probe_read_kernel(dst, size, ray_at(s, offset)) : -1;
	else if ((__s64)address < 0)
		err = bpf_probe_read_kernel(dst, size, (void *)address);
	else
		err = bpf_probe_read_user(dst, size, (void *)address);
	if (err)
		ray_fault_set(s, RAY_FAULT_BADADDR, address);
	return err;
}

/* A string of the process: bytes with the NUL, or less than 0. Linux 6.1 says 0 of an empty one. */
static __always_inline long ray_read_user_string(char *dst, __u64 size, __u64 address)
{
	long got = bpf_probe_read_user_str(dst, size, (void *)address);

	return got || !size ? got : 1;
}

/* And for strings: bytes with the NUL, or less than 0. */
static __always_inline long ray_read_string(struct ray_slot *s, char *dst, __u64 size, __u64 address)
{
	__u64 offset = ray_offset(address);
	long got;

	if (ray_is_scratch(address))
		got = ray_is_readable(s, offset, 1) ? bpf_probe_read_kernel_str(dst, size, ray_at(s, offset)) : -1;
	else if ((__s64)address < 0)
		got = bpf_probe_read_kernel_str(dst, size, (void *)address);
	else
		got = ray_read_user_string(dst, size, address);
	if (got < 0)
		ray_fault_set(s, RAY_FAULT_BADADDR, address);
	return got;
}

/* An integer of `size` bytes (1, 2, 4 or 8), zero-extended. A fault, and 0, when it cannot be read. */
RAY_RUNTIME __u64 ray_load(__u64 slot, __u64 address, __u64 size)
{
	struct ray_slot *s = ray_slot_get(slot);
	__u64 value = 0;

	if (!s)
		return 0;
	if (size > 8 || size == 0)
		size = 8;
	if (ray_read(s, (char *)&value, size, address))
		return 0;
	return value;
}

/* To memory that alloca() and its like gave. */
RAY_RUNTIME __u64 ray_store(__u64 slot, __u64 address, __u64 size, __u64 value)
{
	struct ray_slot *s = ray_slot_get(slot);
	char *at;

	if (!s)
		return 0;
	if (!ray_is_scratch(address) || !ray_is_allocated(s, ray_offset(address), size)) {
		ray_fault_set(s, RAY_FAULT_BADADDR, address);
		return 0;
	}
	at = ray_at(s, ray_offset(address));
	if (size == 1)
		*(__u8 *)at = value;
	else if (size == 2)
		*(__u16 *)at = value;
	else if (size == 4)
		*(__u32 *)at = value;
	else
		*(__u64 *)at = value;
	return 0;
}

/* From any address to the slot. */
RAY_RUNTIME __u64 ray_copy(__u64 slot, __u64 dst, __u64 address, __u64 size)
{
	struct ray_slot *s = ray_slot_get(slot);

	if (!s)
		return 0;
	if (size > RAY_CONST(BLOCK)) {
		ray_fault_set(s, RAY_FAULT_BADSIZE, size);
		return 0;
	}
	ray_read(s, ray_at(s, dst), size, address);
	return 0;
}

/* From a place in the slot to memory that alloca() gave. */
RAY_RUNTIME __u64 ray_copy_to(__u64 slot, __u64 address, __u64 src, __u64 size)
{
	struct ray_slot *s = ray_slot_get(slot);

	if (!s)
		return 0;
	if (size > RAY_CONST(BLOCK) || !ray_is_scratch(address) || !ray_is_allocated(s, ray_offset(address), size)) {
		ray_fault_set(s, RAY_FAULT_BADADDR, address);
		return 0;
	}
	bpf_probe_read_kernel(ray_at(s, ray_offset(address)), size, ray_at(s, src));
	return 0;
}

/* ---- without faults: what is not there is told as such ---- */

/* The word at an address of the process; 0 where there is none. */
RAY_RUNTIME __u64 ray_peek(__u64 slot, __u64 address)
{
	__u64 value = 0;

	(void)slot;
	bpf_probe_read_user(&value, sizeof(value), (void *)address);
	return value;
}

/* ---- memory for one clause ---- */

/* 0, and a fault, when there is not so much. */
static __always_inline __u64 ray_allocate(struct ray_slot *s, __u64 size)
{
	__u64 limit = RAY_CONST(SCRATCH_SIZE);
	__u64 used = ((__u64)s->scratch_used + 7) & ~7ULL;

	if (used > limit || size > limit - used) {
		ray_fault_set(s, RAY_FAULT_NOSCRATCH, size);
		return 0;
	}
	s->scratch_used = used + size;
	return RAY_CONST(SCRATCH_START) + used;
}

RAY_RUNTIME __u64 ray_alloca(__u64 slot, __u64 size)
{
	struct ray_slot *s = ray_slot_get(slot);
	__u64 offset;

	if (!s)
		return 0;
	offset = ray_allocate(s, size);
	if (!offset)
		return 0;
	if (size <= RAY_CONST(BLOCK))
		ray_clear(ray_at(s, offset), size);
	return RAY_SCRATCH | offset;
}

RAY_RUNTIME __u64 ray_copyin(__u64 slot, __u64 address, __u64 size)
{
	struct ray_slot *s = ray_slot_get(slot);
	__u64 offset, place;

	if (!s)
		return 0;
	offset = ray_allocate(s, size);
	if (!offset)
		return 0;
	if (size <= RAY_CONST(BLOCK) && !bpf_probe_read_user(ray_at(s, offset), size, (void *)address))
		return RAY_SCRATCH | offset;
	place = ray_event_place(s, address, size);
	if (size <= RAY_CONST(BLOCK) && place && !bpf_probe_read_kernel(ray_at(s, offset), size, (void *)place))
		return RAY_SCRATCH | offset;
	ray_fault_set(s, RAY_FAULT_BADADDR, address);
	return 0;
}

RAY_RUNTIME __u64 ray_copyinto(__u64 slot, __u64 from, __u64 size, __u64 address)
{
	struct ray_slot *s = ray_slot_get(slot);

	if (!s)
		return 0;
	if (size > RAY_CONST(BLOCK) || !ray_is_scratch(address) || !ray_is_allocated(s, ray_offset(address), size))
		ray_fault_set(s, RAY_FAULT_BADADDR, address);
	else if (bpf_probe_read_user(ray_at(s, ray_offset(address)), size, (void *)from))
		ray_fault_set(s, RAY_FAULT_BADADDR, from);
	return 0;
}

/* ---- copying within D's memory ---- */

struct ray_move_loop {
	struct ray_slot *s;
	__u64 from, to, size;
};

static long ray_move_step(__u64 i, struct ray_move_loop *c)
{
	*ray_at(c->s, c->to + c->size - 1 - i) = *ray_at(c->s, c->from + c->size - 1 - i);
	return 0;
}

/* Apart, since the verifier of 6.1 goes on with what two checks of one register say against each other. */
RAY_RUNTIME __u64 ray_can_read(__u64 slot, __u64 address, __u64 size)
{
	struct ray_slot *s = ray_slot_get(slot);

	return s && ray_is_readable(s, ray_offset(address), size);
}

RAY_RUNTIME __u64 ray_bcopy(__u64 slot, __u64 from, __u64 to, __u64 size)
{
	struct ray_move_loop c = {
		.s = ray_slot_get(slot), .from = ray_offset(from), .to = ray_offset(to), .size = size
	};

	if (!c.s)
		return 0;
	/* What begins well and is too long has a bad size; from or to. */
	if (!ray_is_scratch(to) || !ray_is_allocated(c.s, ray_offset(to), 1)) {
		ray_fault_set(c.s, RAY_FAULT_BADADDR, to);
		return 0;
	}
	if (size > RAY_CONST(BLOCK) || !ray_is_allocated(c.s, ray_offset(to), size)) {
		ray_fault_set(c.s, RAY_FAULT_BADSIZE, size);
		return 0;
	}
	if (ray_is_scratch(from) && ray_can_read(slot, from, 1) && !ray_can_read(slot, from, size)) {
		ray_fault_set(c.s, RAY_FAULT_BADSIZE, size);
		return 0;
	}
	/* The kernel copies forwards; onto bytes that are still to be read it must be the other way. */
	if (to <= from || to - from >= size)
		ray_read(c.s, ray_at(c.s, ray_offset(to)), size, from);
	else if (ray_offset(from) < RAY_CONST(SCRATCH_START))
		ray_fault_set(c.s, RAY_FAULT_BADADDR, from);
	else
		bpf_loop(size, ray_move_step, &c, 0);
	return 0;
}

#endif
