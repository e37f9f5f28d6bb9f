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

/* ---- the work area ---- */

static __always_inline void *ray_work(struct ray_slot *s)
{
	return (char *)s + RAY_CONST(WORK_AT);
}

/* Offset of work string i. */
static __always_inline __u64 ray_work_string(int i)
{
	return RAY_CONST(WORK_AT) + RAY_WORK_WORDS * 8 + i * ((RAY_CONST(STRSIZE) + 16) & ~7ULL);
}

static __always_inline __u8 ray_byte(struct ray_slot *s, __u64 offset)
{
	return *(__u8 *)ray_at(s, offset);
}

/* An argument, copied: results may go where it was. Its length, or less than 0 and a fault. */
static __always_inline long ray_argument(struct ray_slot *s, int i, __u64 address)
{
	return ray_read_string(s, ray_at(s, ray_work_string(i)), ray_string_size(), address) - 1;
}

/* A string of the slot to another place in it; `limit` bytes at most. */
static __always_inline __u64 ray_result(struct ray_slot *s, __u64 dst, __u64 src, __u64 limit)
{
	if (limit > RAY_CONST(STRSIZE))
		limit = RAY_CONST(STRSIZE);
	bpf_probe_read_kernel_str(ray_at(s, dst), limit + 1, ray_at(s, src));
	return RAY_SCRATCH | dst;
}

/* ---- reading and storing ---- */

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
	if (size > ray_string_size())
		size = ray_string_size();
	if (address)
		ray_read_string(s, at, size, address);
	return 0;
}

/* As ray_str_store(), but if the string is short only RAY_SHORT_KEY bytes of the place are filled, and the result is 1. */
RAY_RUNTIME __u64 ray_str_key(__u64 slot, __u64 dst, __u64 address, __u64 size)
{
	struct ray_slot *s = ray_slot_get(slot);
	char *at;
	long got;

	if (!s)
		return 0;
	at = ray_at(s, dst);
	for (int i = 0; i < RAY_SHORT_KEY / 8; i++)
		*(__u64 *)(at + 8 * i) = 0;
	if (!address)
		return 1;
	got = ray_read_string(s, at, RAY_SHORT_KEY, address);
	if (got < RAY_SHORT_KEY) /* or it cannot be read: a fault */
		return 1;
	ray_str_store(slot, dst, address, size);
	return 0;
}

RAY_RUNTIME __u64 ray_strlen(__u64 slot, __u64 address)
{
	struct ray_slot *s = ray_slot_get(slot);
	long got;

	if (!s)
		return 0;
	got = ray_argument(s, 0, address);
	return got > 0 ? got : 0;
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

/* ---- from and to the process ---- */

/* At most max bytes. */
RAY_RUNTIME __u64 ray_copyinstr(__u64 slot, __u64 dst, __u64 address, __u64 max)
{
	struct ray_slot *s = ray_slot_get(slot);
	__u64 place;

	if (!s)
		return 0;
	if (max > RAY_CONST(STRSIZE))
		max = RAY_CONST(STRSIZE);
	if (bpf_probe_read_user_str(ray_at(s, dst), max + 1, (void *)address) >= 0)
		return RAY_SCRATCH | dst;
	place = ray_event_place(s, address, 1);
	if (place && bpf_probe_read_kernel_str(ray_at(s, dst), max + 1, (void *)place) >= 0)
		return RAY_SCRATCH | dst;
	ray_fault_set(s, RAY_FAULT_BADADDR, address);
	return 0;
}

/* 0 bytes are none to the verifier of old kernels: it must see that there is one at least. */
static __always_inline void ray_write_user(struct ray_slot *s, __u64 to, __u64 from, __u64 size)
{
	__u64 but_one = size - 1;

	RAY_OPAQUE(but_one);
	if (but_one < RAY_CONST(BLOCK) && bpf_probe_write_user((void *)to, ray_at(s, from), but_one + 1))
		ray_fault_set(s, RAY_FAULT_BADADDR, to);
}

/* From any address to the process. What is not in the slot goes through it, and so is at most a string long. */
RAY_RUNTIME __u64 ray_copyout(__u64 slot, __u64 address, __u64 to, __u64 size)
{
	struct ray_slot *s = ray_slot_get(slot);
	__u64 from = ray_offset(address);

	if (!s)
		return 0;
	if (!ray_is_scratch(address)) {
		from = ray_work_string(0);
		if (size > ray_string_size())
			ray_fault_set(s, RAY_FAULT_BADSIZE, size);
		else
			ray_read(s, ray_at(s, from), size, address);
	} else if (size > RAY_CONST(BLOCK) || !ray_is_readable(s, from, size)) {
		ray_fault_set(s, RAY_FAULT_BADADDR, address);
	}
	if (!s->fault)
		ray_write_user(s, to, from, size);
	return 0;
}

RAY_RUNTIME __u64 ray_copyoutstr(__u64 slot, __u64 address, __u64 to, __u64 max)
{
	struct ray_slot *s = ray_slot_get(slot);
	__u64 size;
	long length;

	if (!s)
		return 0;
	length = ray_argument(s, 0, address);
	if (length < 0)
		return 0;
	size = length + 1;
	if (size > max)
		size = max;
	ray_write_user(s, to, ray_work_string(0), size);
	return 0;
}

/* ---- joining and cutting ---- */

RAY_RUNTIME __u64 ray_strjoin(__u64 slot, __u64 dst, __u64 a, __u64 b)
{
	struct ray_slot *s = ray_slot_get(slot);
	__u64 room;
	long got;

	if (!s || ray_argument(s, 1, b) < 0)
		return 0;
	got = ray_read_string(s, ray_at(s, dst), ray_string_size(), a);
	if (got <= 0)
		return 0;
	room = ray_string_size() - (got - 1);
	if (room > ray_string_size())
		return 0;
	bpf_probe_read_kernel_str(ray_at(s, dst + got - 1), room, ray_at(s, ray_work_string(1)));
	return RAY_SCRATCH | dst;
}

/* As in Perl: what is negative counts from the end. length INT64_MAX: up to the end. */
RAY_RUNTIME __u64 ray_substr(__u64 slot, __u64 dst, __u64 address, __s64 index, __s64 length)
{
	struct ray_slot *s = ray_slot_get(slot);
	__s64 all, start, end;

	if (!s)
		return 0;
	all = ray_argument(s, 0, address);
	if (all < 0)
		return 0;
	start = index < 0 ? all + index : index;
	if (length < 0)
		end = all + length;
	else
		end = length > all - start ? all : start + length;
	if (start < 0)
		start = 0;
	if (end > all)
		end = all;
	if (end <= start) {
		*ray_at(s, dst) = 0;
		return RAY_SCRATCH | dst;
	}
	return ray_result(s, dst, ray_work_string(0) + start, end - start);
}

/* ---- letters, a word at a time ---- */

struct ray_case_loop {
	struct ray_slot *s;
	__u64 from, to;
	__u64 first; /* 'a' or 'A', in each byte */
};

static long ray_case_step(__u64 i, struct ray_case_loop *c)
{
	const __u64 ones = 0x0101010101010101ULL, high = 0x8080808080808080ULL;
	__u64 x = *(__u64 *)ray_at(c->s, c->from + i * 8);
	__u64 low = x & ~high;
	__u64 from_first = low + (0x80 * ones - c->first);
	__u64 after_last = low + (0x80 * ones - c->first - 26 * ones);

	*(__u64 *)ray_at(c->s, c->to + i * 8) = x ^ ((from_first ^ after_last) & ~x & high) >> 2;
	return 0;
}

/* The words are whole ones: they are turned where there is room, and copied. */
static __always_inline __u64 ray_change_case(__u64 slot, __u64 dst, __u64 address, __u8 first)
{
	struct ray_case_loop c = { .s = ray_slot_get(slot), .first = first * 0x0101010101010101ULL };
	long length;

	if (!c.s)
		return 0;
	length = ray_argument(c.s, 0, address);
	if (length < 0)
		return 0;
	c.from = ray_work_string(0);
	c.to = ray_work_string(1);
	bpf_loop(length / 8 + 1, ray_case_step, &c, 0);
	return ray_result(c.s, dst, ray_work_string(1), RAY_CONST(STRSIZE));
}

RAY_RUNTIME __u64 ray_toupper(__u64 slot, __u64 dst, __u64 address)
{
	return ray_change_case(slot, dst, address, 'a');
}

RAY_RUNTIME __u64 ray_tolower(__u64 slot, __u64 dst, __u64 address)
{
	return ray_change_case(slot, dst, address, 'A');
}

#endif
