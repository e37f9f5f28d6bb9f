/* search.bpf.h - looking for strings and characters in strings. SPDX-License-Identifier: MIT
 *
 * What a loop changes lies in the slot's work area, not on the stack: the verifier would follow each value of a counter on the stack. */
#ifndef RAY_KERN_SEARCH_BPF_H
#define RAY_KERN_SEARCH_BPF_H

#include "kern/string.bpf.h"

enum { RAY_LOOPS_MAX = 1 << 23 }; /* of bpf_loop() */

/* ---- a string in a string ---- */

struct ray_find {
	__s64 at;      /* where it may be */
	__s64 stop;    /* the last place to look at */
	__s64 step;    /* 1 or -1 */
	__u64 matched; /* bytes that agree here */
	__u64 is_found;
};

static long ray_find_step(__u64 i, struct ray_slot **c)
{
	struct ray_slot *s = *c;
	struct ray_find *f = ray_work(s);
	__u8 wanted = ray_byte(s, ray_work_string(1) + f->matched);

	(void)i;
	if (!wanted) {
		f->is_found = 1;
		return 1;
	}
	if (ray_byte(s, ray_work_string(0) + f->at + f->matched) == wanted) {
		f->matched++;
		return 0;
	}
	if (f->at == f->stop)
		return 1;
	f->at += f->step;
	f->matched = 0;
	return 0;
}

/* Looks for work string 1 in work string 0, from start to stop. The place, or -1. */
static __always_inline __s64 ray_find(struct ray_slot *s, __s64 start, __s64 stop, __u64 needle_length)
{
	struct ray_find *f = ray_work(s);
	__u64 loops;

	f->at = start;
	f->stop = stop;
	f->step = start <= stop ? 1 : -1;
	f->matched = 0;
	f->is_found = 0;
	loops = ((start <= stop ? stop - start : start - stop) + 1) * (needle_length + 1);
	bpf_loop(loops < RAY_LOOPS_MAX ? loops : RAY_LOOPS_MAX, ray_find_step, &s, 0);
	return f->is_found ? f->at : -1;
}

/* start INT64_MIN: not given. */
RAY_RUNTIME __s64 ray_index(__u64 slot, __u64 haystack, __u64 needle, __s64 start)
{
	struct ray_slot *s = ray_slot_get(slot);
	__s64 all, length;

	if (!s)
		return -1;
	all = ray_argument(s, 0, haystack);
	length = ray_argument(s, 1, needle);
	if (all < 0 || length < 0)
		return -1;
	if (start < 0)
		start = 0;
	if (!length)
		return start < all ? start : all;
	if (start > all - length)
		return -1;
	return ray_find(s, start, all - length, length);
}

RAY_RUNTIME __s64 ray_rindex(__u64 slot, __u64 haystack, __u64 needle, __s64 start)
{
	struct ray_slot *s = ray_slot_get(slot);
	int is_given = start != (__s64)(1ULL << 63);
	__s64 all, length;

	if (!s)
		return -1;
	all = ray_argument(s, 0, haystack);
	length = ray_argument(s, 1, needle);
	if (all < 0 || length < 0)
		return -1;
	if (!is_given || start > all - length)
		start = all - length;
	if (!length && start < 0)
		return 0;
	if (start < 0)
		return -1;
	return ray_find(s, start, 0, length);
}

RAY_RUNTIME __u64 ray_strstr(__u64 slot, __u64 dst, __u64 haystack, __u64 needle)
{
	struct ray_slot *s = ray_slot_get(slot);
	__s64 all, length, at;

	if (!s)
		return 0;
	all = ray_argument(s, 0, haystack);
	length = ray_argument(s, 1, needle);
	if (all < 0 || length < 0 || length > all)
		return 0;
	at = ray_find(s, 0, all - length, length);
	return at < 0 ? 0 : ray_result(s, dst, ray_work_string(0) + at, RAY_CONST(STRSIZE));
}

/* ---- a character ---- */

struct ray_find_char {
	__u64 wanted;
	__u64 is_last; /* the last one is looked for */
	__s64 at;      /* -1: none yet */
};

static long ray_find_char_step(__u64 i, struct ray_slot **c)
{
	struct ray_slot *s = *c;
	struct ray_find_char *f = ray_work(s);
	__u8 byte = ray_byte(s, ray_work_string(0) + i);

	if (byte == f->wanted)
		f->at = i;
	return !byte || (byte == f->wanted && !f->is_last);
}

static __always_inline __u64 ray_find_char(__u64 slot, __u64 dst, __u64 address, __u8 wanted, int is_last)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_find_char *f;

	if (!s || ray_argument(s, 0, address) < 0)
		return 0;
	f = ray_work(s);
	f->wanted = wanted;
	f->is_last = is_last;
	f->at = -1;
	bpf_loop(ray_string_size(), ray_find_char_step, &s, 0);
	return f->at < 0 ? 0 : ray_result(s, dst, ray_work_string(0) + f->at, RAY_CONST(STRSIZE));
}

RAY_RUNTIME __u64 ray_strchr(__u64 slot, __u64 dst, __u64 address, __u64 wanted)
{
	return ray_find_char(slot, dst, address, wanted, 0);
}

RAY_RUNTIME __u64 ray_strrchr(__u64 slot, __u64 dst, __u64 address, __u64 wanted)
{
	return ray_find_char(slot, dst, address, wanted, 1);
}

/* ---- parts between delimiters ---- */

struct ray_token {
	__u64 set[4]; /* bit c: c is a delimiter */
	__u64 from;   /* offset of what is left */
	__u64 start;  /* of the token, from there, + 1; 0: none yet */
	__u64 end;    /* likewise, behind it */
};

static long ray_token_set_step(__u64 i, struct ray_slot **c)
{
	struct ray_slot *s = *c;
	struct ray_token *t = ray_work(s);
	__u8 byte = ray_byte(s, ray_work_string(1) + i);

	t->set[byte >> 6 & 3] |= 1ULL << (byte & 63);
	return !byte;
}

static long ray_token_step(__u64 i, struct ray_slot **c)
{
	struct ray_slot *s = *c;
	struct ray_token *t = ray_work(s);
	__u8 byte = ray_byte(s, t->from + i);
	int is_delimiter = t->set[byte >> 6 & 3] >> (byte & 63) & 1;

	if (!is_delimiter && !t->start)
		t->start = i + 1;
	if (is_delimiter && t->start) {
		t->end = i + 1;
		return 1;
	}
	return !byte;
}

static __always_inline void ray_token_init(struct ray_token *t, __u64 from)
{
	t->set[0] = t->set[1] = t->set[2] = t->set[3] = 0;
	t->from = from;
	t->start = t->end = 0;
}

/* The string that tokens are taken from stays in work string 2 until another is given. NULL at its end, a fault when there was none. */
RAY_RUNTIME __u64 ray_strtok(__u64 slot, __u64 dst, __u64 address, __u64 delimiters)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_token *t;
	__u64 start;

	if (!s || ray_argument(s, 1, delimiters) < 0)
		return 0;
	if (address) {
		if (ray_argument(s, 2, address) < 0)
			return 0;
		s->strtok_at = 1;
	}
	if (!s->strtok_at) {
		ray_fault_set(s, RAY_FAULT_BADADDR, 0);
		return 0;
	}
	t = ray_work(s);
	ray_token_init(t, ray_work_string(2) + s->strtok_at - 1);
	bpf_loop(ray_string_size(), ray_token_set_step, &s, 0); /* the NUL is one, too */
	bpf_loop(ray_string_size(), ray_token_step, &s, 0);
	start = t->start;
	if (!start || !t->end)
		return 0;
	/* Goes on at the delimiter, which other delimiters may take for a part of the next token. */
	s->strtok_at += t->end - 1;
	return ray_result(s, dst, t->from + start - 1, t->end - start);
}

/* ---- without white space around ---- */

struct ray_strip {
	__u64 start; /* of what is kept, + 1; 0: none yet */
	__u64 end;
};

static long ray_strip_step(__u64 i, struct ray_slot **c)
{
	struct ray_slot *s = *c;
	struct ray_strip *t = ray_work(s);
	__u8 byte = ray_byte(s, ray_work_string(0) + i);

	if (!byte)
		return 1;
	if (byte == ' ' || (byte >= '\t' && byte <= '\r'))
		return 0;
	if (!t->start)
		t->start = i + 1;
	t->end = i + 2;
	return 0;
}

RAY_RUNTIME __u64 ray_strip(__u64 slot, __u64 dst, __u64 address)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_strip *t;

	if (!s || ray_argument(s, 0, address) < 0)
		return 0;
	t = ray_work(s);
	t->start = 0;
	t->end = 0;
	bpf_loop(ray_string_size(), ray_strip_step, &s, 0);
	if (!t->start) {
		*ray_at(s, dst) = 0;
		return RAY_SCRATCH | dst;
	}
	return ray_result(s, dst, ray_work_string(0) + t->start - 1, t->end - t->start);
}

#endif
