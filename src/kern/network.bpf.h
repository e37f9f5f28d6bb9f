/* network.bpf.h - addresses of networks as text. SPDX-License-Identifier: MIT */
#ifndef RAY_KERN_NETWORK_BPF_H
#define RAY_KERN_NETWORK_BPF_H

#include "kern/string.bpf.h"

enum {
	RAY_AF_INET = 2,
	RAY_AF_INET6 = 10,
	RAY_ARPHRD_ETHER = 1,
	RAY_ARPHRD_INFINIBAND = 32,
	RAY_ETHER_BYTES = 6,
	RAY_INFINIBAND_BYTES = 20,
};

/* The text is made in the work area, whole, and then copied as far as there is room. The address is there, too. */
struct ray_net_text {
	__u64 length;
	__u64 run, best, best_at;
	__u8 address[32];
	char text[96];
};

static __always_inline void ray_net_put(struct ray_net_text *t, char c)
{
	__u64 at = t->length;

	if (at < sizeof(t->text)) {
		t->text[at] = c;
		t->length = at + 1;
	}
}

static __always_inline char ray_hex_digit(__u8 value)
{
	return value < 10 ? '0' + value : 'a' + value - 10;
}

static __always_inline void ray_net_put_decimal(struct ray_net_text *t, __u8 value)
{
	if (value >= 100)
		ray_net_put(t, '0' + value / 100);
	if (value >= 10)
		ray_net_put(t, '0' + value / 10 % 10);
	ray_net_put(t, '0' + value % 10);
}

static __always_inline void ray_net_put_hex(struct ray_net_text *t, __u16 value)
{
	if (value >> 12)
		ray_net_put(t, ray_hex_digit(value >> 12));
	if (value >> 8)
		ray_net_put(t, ray_hex_digit(value >> 8 & 15));
	if (value >> 4)
		ray_net_put(t, ray_hex_digit(value >> 4 & 15));
	ray_net_put(t, ray_hex_digit(value & 15));
}

/* Loops: the verifier would follow each way through each digit of each byte if they were written out. */
struct ray_net_loop {
	struct ray_slot *s;
	__u64 from;  /* byte of the address */
	__u64 zeros; /* of ray_net_zeros() */
};

static long ray_net_ipv4_step(__u64 i, struct ray_net_loop *c)
{
	struct ray_net_text *t = ray_work(c->s);

	if (i)
		ray_net_put(t, '.');
	ray_net_put_decimal(t, t->address[(c->from + i) & 15]);
	return 0;
}

static __always_inline void ray_net_put_ipv4(struct ray_slot *s, __u64 from)
{
	struct ray_net_loop c = { .s = s, .from = from };

	bpf_loop(4, ray_net_ipv4_step, &c, 0);
}

/* NULL, and a fault, when the address cannot be read. */
static __always_inline struct ray_net_text *ray_net_begin(struct ray_slot *s, __u64 address, __u64 size)
{
	struct ray_net_text *t = ray_work(s);

	t->length = 0;
	return ray_read(s, (char *)t->address, size, address) ? (void *)0 : t;
}

static __always_inline __u64 ray_net_end(struct ray_slot *s, __u64 dst)
{
	struct ray_net_text *t = ray_work(s);
	__u64 at = t->length;

	if (at < sizeof(t->text))
		t->text[at] = 0;
	return ray_result(s, dst, RAY_CONST(WORK_AT) + __builtin_offsetof(struct ray_net_text, text),
			  RAY_CONST(STRSIZE));
}

RAY_RUNTIME __u64 ray_inet_ntoa(__u64 slot, __u64 dst, __u64 address)
{
	struct ray_slot *s = ray_slot_get(slot);

	if (!s || !ray_net_begin(s, address, 4))
		return 0;
	ray_net_put_ipv4(s, 0);
	return ray_net_end(s, dst);
}

/* ---- IPv6 ---- */

static __always_inline __u16 ray_net_group(const struct ray_net_text *t, __u64 i)
{
	return t->address[2 * i & 15] << 8 | t->address[(2 * i + 1) & 15];
}

static long ray_net_zeros_step(__u64 i, struct ray_net_loop *c)
{
	struct ray_net_text *t = ray_work(c->s);

	t->run = ray_net_group(t, i) ? 0 : t->run + 1;
	if (t->run > t->best) {
		t->best = t->run;
		t->best_at = i + 1 - t->run;
	}
	return 0;
}

/* The longest run of groups that are 0, of two at least: its start in the low byte, its length in the next. */
static __always_inline __u64 ray_net_zeros(struct ray_slot *s)
{
	struct ray_net_loop c = { .s = s };
	struct ray_net_text *t = ray_work(s);

	t->run = t->best = t->best_at = 0;
	bpf_loop(8, ray_net_zeros_step, &c, 0);
	return t->best < 2 ? 0 : t->best << 8 | t->best_at;
}

static long ray_net_group_step(__u64 i, struct ray_net_loop *c)
{
	struct ray_net_text *t = ray_work(c->s);
	__u64 first = c->zeros & 15, count = c->zeros >> 8 & 15;

	if (count && i >= first && i < first + count) {
		if (i == first)
			ray_net_put(t, ':');
		if (i == 7)
			ray_net_put(t, ':');
		return 0;
	}
	if (i)
		ray_net_put(t, ':');
	ray_net_put_hex(t, ray_net_group(t, i));
	return 0;
}

/* The text of the 16 bytes that are there. An address of IPv4 in one of IPv6 is shown as such; strict: with what is before it. */
static __always_inline void ray_net_put_ipv6(struct ray_slot *s, int is_strict)
{
	struct ray_net_text *t = ray_work(s);
	struct ray_net_loop c = { .s = s };
	__u64 zeros;
	int is_mapped;

	zeros = ray_net_zeros(s);
	c.zeros = zeros;
	is_mapped = (zeros >> 8) == 5 && !(zeros & 15) && ray_net_group(t, 5) == 0xffff;
	if (!is_mapped && !((zeros >> 8) == 6 && !(zeros & 15))) {
		bpf_loop(8, ray_net_group_step, &c, 0);
		return;
	}
	if (is_strict) {
		ray_net_put(t, ':');
		ray_net_put(t, ':');
		if (is_mapped) {
			ray_net_put_hex(t, 0xffff);
			ray_net_put(t, ':');
		}
	}
	ray_net_put_ipv4(s, 12);
}

static __always_inline __u64 ray_net_ipv6(struct ray_slot *s, __u64 dst, __u64 address, int is_strict)
{
	if (!ray_net_begin(s, address, 16))
		return 0;
	ray_net_put_ipv6(s, is_strict);
	return ray_net_end(s, dst);
}

RAY_RUNTIME __u64 ray_inet_ntoa6(__u64 slot, __u64 dst, __u64 address, __u64 is_strict)
{
	struct ray_slot *s = ray_slot_get(slot);

	return s ? ray_net_ipv6(s, dst, address, is_strict != 0) : 0;
}

RAY_RUNTIME __u64 ray_inet_ntop(__u64 slot, __u64 dst, __u64 family, __u64 address)
{
	struct ray_slot *s = ray_slot_get(slot);

	if (!s)
		return 0;
	if (family == RAY_AF_INET6)
		return ray_net_ipv6(s, dst, address, 1);
	if (family != RAY_AF_INET) {
		ray_fault_set(s, RAY_FAULT_ILLOP, family);
		return 0;
	}
	if (!ray_net_begin(s, address, 4))
		return 0;
	ray_net_put_ipv4(s, 0);
	return ray_net_end(s, dst);
}

/* ---- hardware ---- */

static long ray_net_byte_step(__u64 i, struct ray_net_loop *c)
{
	struct ray_net_text *t = ray_work(c->s);
	__u8 byte = t->address[i & 31];

	if (i)
		ray_net_put(t, ':');
	ray_net_put(t, ray_hex_digit(byte >> 4));
	ray_net_put(t, ray_hex_digit(byte & 15));
	return 0;
}

RAY_RUNTIME __u64 ray_link_ntop(__u64 slot, __u64 dst, __u64 type, __u64 address)
{
	struct ray_net_loop c = { .s = ray_slot_get(slot) };
	__u64 bytes;

	if (!c.s)
		return 0;
	if (type != RAY_ARPHRD_ETHER && type != RAY_ARPHRD_INFINIBAND) {
		ray_fault_set(c.s, RAY_FAULT_ILLOP, type);
		return 0;
	}
	bytes = type == RAY_ARPHRD_ETHER ? RAY_ETHER_BYTES : RAY_INFINIBAND_BYTES;
	if (!ray_net_begin(c.s, address, bytes))
		return 0;
	bpf_loop(bytes, ray_net_byte_step, &c, 0);
	return ray_net_end(c.s, dst);
}

#endif
