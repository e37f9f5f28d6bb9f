/* path.bpf.h - basename(), dirname() and cleanpath(): names only, nothing is looked up. SPDX-License-Identifier: MIT */
#ifndef RAY_KERN_PATH_BPF_H
#define RAY_KERN_PATH_BPF_H

#include "kern/string.bpf.h"

/* ---- the last component, and what is before it ---- */

struct ray_base {
	__u64 start;	  /* of the last component */
	__u64 end;	  /* behind it */
	__u64 before_end; /* behind the component before it: where the directory ends */
	__u64 in_component;
};

static long ray_base_step(__u64 i, struct ray_slot **c)
{
	struct ray_slot *s = *c;
	struct ray_base *b = ray_work(s);
	__u8 byte = ray_byte(s, ray_work_string(0) + i);

	if (!byte)
		return 1;
	if (byte == '/') {
		b->in_component = 0;
		return 0;
	}
	if (!b->in_component) {
		b->in_component = 1;
		b->before_end = b->end;
		b->start = i;
	}
	b->end = i + 1;
	return 0;
}

/* Finds the parts of work string 0. */
static __always_inline struct ray_base *ray_base_find(struct ray_slot *s)
{
	struct ray_base *b = ray_work(s);

	b->start = b->end = b->before_end = b->in_component = 0;
	bpf_loop(ray_string_size(), ray_base_step, &s, 0);
	return b;
}

static __always_inline __u64 ray_result_char(struct ray_slot *s, __u64 dst, char c)
{
	char *at = ray_at(s, dst);

	at[0] = c;
	at[1] = 0;
	return RAY_SCRATCH | dst;
}

RAY_RUNTIME __u64 ray_basename(__u64 slot, __u64 dst, __u64 address)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_base *b;
	long length;

	if (!s)
		return 0;
	length = ray_argument(s, 0, address);
	if (length < 0)
		return 0;
	b = ray_base_find(s);
	if (!b->end)
		return ray_result_char(s, dst, length ? '/' : '.');
	return ray_result(s, dst, ray_work_string(0) + b->start, b->end - b->start);
}

RAY_RUNTIME __u64 ray_dirname(__u64 slot, __u64 dst, __u64 address)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_base *b;

	if (!s || ray_argument(s, 0, address) < 0)
		return 0;
	b = ray_base_find(s);
	if (!b->before_end)
		return ray_result_char(s, dst, ray_byte(s, ray_work_string(0)) == '/' ? '/' : '.');
	return ray_result(s, dst, ray_work_string(0), b->before_end);
}

/* ---- without //, . and .. ---- */

/* The result grows in work string 1, as a stack of components; "name/.." takes one off. */
struct ray_clean {
	__u64 length;	 /* of the result */
	__u64 kept;	 /* of it, leading ".." or "/", which no ".." takes off */
	__u64 start;	 /* where the component that is read began in the result */
	__u64 size;	 /* of that component */
	__u64 dots;	 /* it has only dots so far: so many; else 3 */
	__u64 is_undone; /* the stack is being taken down to the '/' before */
};

static __always_inline void ray_clean_put(struct ray_slot *s, struct ray_clean *p, __u8 byte)
{
	*ray_at(s, ray_work_string(1) + p->length) = byte;
	p->length++;
}

/* A component has ended: it stays, or goes, or takes the one before with it. */
static __always_inline void ray_clean_end(struct ray_slot *s, struct ray_clean *p)
{
	int is_absolute = ray_byte(s, ray_work_string(0)) == '/';

	if (p->size && p->dots == 1) {
		p->length = p->start;
	} else if (p->size && p->dots == 2) {
		if (p->start > p->kept) {
			/* Back to behind the '/' before the component before; bytes are dropped by the next steps. */
			p->length = p->start - 1;
			p->is_undone = 1;
		} else if (is_absolute) {
			p->length = p->start;
		} else {
			ray_clean_put(s, p, '/');
			p->kept = p->length;
		}
	} else if (p->size) {
		ray_clean_put(s, p, '/');
	}
	p->start = p->length;
	p->size = 0;
	p->dots = 0;
}

/* Runs once per byte of input and once per byte that ".." takes off: input waits while is_undone. */
static long ray_clean_step(__u64 i, struct ray_slot **c)
{
	struct ray_slot *s = *c;
	struct ray_clean *p = ray_work(s);
	__u64 *at = (__u64 *)(p + 1); /* in the input */
	__u8 byte;

	(void)i;
	if (p->is_undone) {
		if (p->length <= p->kept || ray_byte(s, ray_work_string(1) + p->length - 1) == '/') {
			p->is_undone = 0;
			p->start = p->length;
		} else {
			p->length--;
		}
		return 0;
	}
	byte = ray_byte(s, ray_work_string(0) + *at);
	if (!byte || byte == '/') {
		ray_clean_end(s, p);
		/* The '/' at the start is the root's own. */
		if (byte && !*at) {
			ray_clean_put(s, p, '/');
			p->kept = p->start = p->length;
		}
		*at += byte != 0; /* the NUL is seen again when the stack is down */
		return !byte && !p->is_undone;
	}
	p->dots = byte == '.' && p->dots == p->size && p->size < 2 ? p->dots + 1 : 3;
	p->size++;
	ray_clean_put(s, p, byte);
	++*at;
	return 0;
}

RAY_RUNTIME __u64 ray_cleanpath(__u64 slot, __u64 dst, __u64 address)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_clean *p;
	long length;

	if (!s)
		return 0;
	length = ray_argument(s, 0, address);
	if (length < 0)
		return 0;
	if (!length) {
		*ray_at(s, dst) = 0;
		return RAY_SCRATCH | dst;
	}
	p = ray_work(s);
	p->length = p->kept = p->start = p->size = p->dots = p->is_undone = 0;
	*(__u64 *)(p + 1) = 0;
	bpf_loop(2 * (RAY_CONST(STRSIZE) + 2), ray_clean_step, &s, 0);
	/* A '/' at the end goes, unless it is the root. */
	if (p->length > 1)
		p->length--;
	if (!p->length)
		return ray_result_char(s, dst, '.');
	return ray_result(s, dst, ray_work_string(1), p->length);
}

#endif
