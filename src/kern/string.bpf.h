/* string.bpf.h - strings: read, stored, compared, measured. SPDX-License-Identifier: MIT
 *
 * A string is at most STRSIZE bytes and a NUL. The kernel's own string reads do the work wherever they can; loops go through bpf_loop(), which the
 * verifier walks once whatever the length. */
#ifndef RAY_KERN_STRING_BPF_H
#define RAY_KERN_STRING_BPF_H

#include "kern/memory.bpf.h"

static __always_inline __u64 ray_string_size(void)
{
	return RAY_CONST(STRSIZE) + 1;
}

/* Any string to a string of our own. */
RAY_RUNTIME __u64 ray_str_read(__u64 slot, __u64 dst, __u64 address)
{
	struct ray_slot *s = ray_slot_get(slot);

	if (!s || ray_read_string(s, ray_at(s, dst), ray_string_size(), address) < 0)
		return 0;
	return RAY_SCRATCH | dst;
}

/* The string and zeros up to size: what records, keys and variables hold. NULL is all zeros. */
RAY_RUNTIME __u64 ray_str_store(__u64 slot, __u64 dst, __u64 address, __u64 size)
{
	struct ray_slot *s = ray_slot_get(slot);
	char *at;

	if (!s)
		return 0;
	if (size > RAY_CONST(BLOCK))
		size = RAY_CONST(BLOCK);
	at = ray_at(s, dst);
	ray_clear(at, size);
	if (address)
		ray_read_string(s, at, size, address);
	return 0;
}

RAY_RUNTIME __u64 ray_strlen(__u64 slot, __u64 address)
{
	struct ray_slot *s = ray_slot_get(slot);
	long got;

	if (!s)
		return 0;
	got = ray_read_string(s, ray_at(s, RAY_CONST(WORK_AT) + RAY_WORK_WORDS * 8), ray_string_size(), address);
	return got > 0 ? got - 1 : 0;
}

/* ---- comparison, a word at a time ---- */

struct ray_compare_loop {
	struct ray_slot *s;
	__u64 a, b;
	__u64 x, y; /* the words that differ or end */
};

static long ray_compare_step(__u64 i, struct ray_compare_loop *c)
{
	__u64 x = *(__u64 *)ray_at(c->s, c->a + i * 8);
	__u64 y = *(__u64 *)ray_at(c->s, c->b + i * 8);
	__u64 zero = (x - 0x0101010101010101ULL) & ~x & 0x8080808080808080ULL;

	c->x = x;
	c->y = y;
	return x != y || zero;
}

static __always_inline __s64 ray_compare_word(__u64 x, __u64 y)
{
	for (int i = 0; i < 64; i += 8) {
		__u8 a = x >> i, b = y >> i;

		if (a != b)
			return a < b ? -1 : 1;
		if (!a)
			break;
	}
	return 0;
}

/* -1, 0 or 1. Both are strings of ours, or NULL, which is like no string but NULL. */
RAY_RUNTIME __s64 ray_strcmp(__u64 slot, __u64 a, __u64 b)
{
	struct ray_compare_loop c = { .s = ray_slot_get(slot), .a = ray_offset(a), .b = ray_offset(b) };

	if (!c.s || a == b)
		return 0;
	if (!a || !b)
		return a ? 1 : -1;
	if (!ray_is_scratch(a) || !ray_is_scratch(b)) {
		ray_fault_set(c.s, RAY_FAULT_BADADDR, ray_is_scratch(a) ? b : a);
		return 0;
	}
	bpf_loop(RAY_CONST(STRSIZE) / 8 + 1, ray_compare_step, &c, 0);
	return ray_compare_word(c.x, c.y);
}

#endif
