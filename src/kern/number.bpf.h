/* number.bpf.h - numbers as text, and in which part of a distribution a number falls. SPDX-License-Identifier: MIT */
#ifndef RAY_KERN_NUMBER_BPF_H
#define RAY_KERN_NUMBER_BPF_H

#include "kern/string.bpf.h"

enum { RAY_DIGITS = 72 }; /* sign or 0x, 64 digits, NUL */

struct ray_digits {
	__u64 left, base;
	__u64 at; /* of the first character in text */
	char text[RAY_DIGITS];
};

static __always_inline void ray_digit_put(struct ray_digits *d, char c)
{
	__u64 at = d->at - 1;

	RAY_OPAQUE(at);
	if (at >= RAY_DIGITS)
		return;
	d->text[at] = c;
	d->at = at;
}

static long ray_digit_step(__u64 i, struct ray_slot **c)
{
	struct ray_digits *d = ray_work(*c);
	__u64 digit = d->left % d->base;

	(void)i;
	ray_digit_put(d, digit < 10 ? '0' + digit : 'a' + digit - 10);
	d->left /= d->base;
	return !d->left;
}

/* base 0: 10. Only base 10 knows negative numbers; 8 and 16 begin with 0 and 0x. */
RAY_RUNTIME __u64 ray_lltostr(__u64 slot, __u64 dst, __s64 value, __u64 base)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_digits *d;

	if (!s)
		return 0;
	if (base == 0)
		base = 10;
	if (base < 2 || base > 36) {
		ray_fault_set(s, RAY_FAULT_ILLOP, base);
		return 0;
	}
	d = ray_work(s);
	d->left = base == 10 && value < 0 ? -(__u64)value : value;
	d->base = base;
	d->at = RAY_DIGITS - 1;
	d->text[RAY_DIGITS - 1] = 0;
	bpf_loop(64, ray_digit_step, &s, 0);
	if (base == 10 && value < 0)
		ray_digit_put(d, '-');
	if (base == 16 && value)
		ray_digit_put(d, 'x');
	if ((base == 16 || base == 8) && value)
		ray_digit_put(d, '0');
	return ray_result(s, dst, RAY_CONST(WORK_AT) + __builtin_offsetof(struct ray_digits, text) + d->at,
			  RAY_CONST(STRSIZE));
}

/* ---- distributions ---- */

static __always_inline __u64 ray_log2(__u64 v)
{
	__u64 log = 0;

#pragma unroll
	for (int shift = 32; shift; shift >>= 1) {
		if (v >> shift) {
			v >>= shift;
			log += shift;
		}
	}
	return log;
}

/* 127 words: powers of two below 0, 0 in the middle, powers of two above. */
RAY_RUNTIME __u64 ray_quantize_bin(__s64 value)
{
	__u64 log;

	if (!value)
		return 63;
	log = ray_log2(value < 0 ? -(__u64)value : value);
	if (value > 0)
		return 64 + log;
	return log > 62 ? 0 : 62 - log;
}

/* Word 0 is below low, the last one from high on. */
RAY_RUNTIME __u64 ray_lquantize_bin(__s64 value, __s64 low, __s64 high, __s64 step)
{
	__u64 levels;

	if (step <= 0 || high <= low)
		return 0;
	if (value < low)
		return 0;
	levels = (__u64)(high - low) / (__u64)step;
	if (value >= high)
		return levels + 1;
	return (__u64)(value - low) / (__u64)step + 1;
}

struct ray_power_loop {
	__u64 value, factor, max;
	__u64 magnitude, low, high;
};

/* max becomes factor to the power of low, and then goes up until it is more than value. */
static long ray_power_step(__u64 i, struct ray_power_loop *c)
{
	if (i >= c->low) {
		if (c->value < c->max || c->magnitude > c->high)
			return 1;
		c->magnitude++;
	}
	c->max *= c->factor;
	return 0;
}

/* Powers of factor from low to high, each in `steps` parts; below 0 mirrored; what is smaller than all in the middle. */
RAY_RUNTIME __u64 ray_llquantize_bin(__s64 value, __u64 factor, __u64 low, __u64 high, __u64 steps)
{
	struct ray_power_loop c = { .value = value < 0 ? -(__u64)value : value,
				    .factor = factor,
				    .max = 1,
				    .magnitude = low,
				    .low = low,
				    .high = high };
	__u64 overlap, each, middle, distance, part = 0;

	if (factor < 2 || steps < 1 || high < low || high > 63)
		return 0;
	overlap = steps / factor; /* the parts of one power that the power below has, too */
	each = steps - overlap;
	middle = 1 + (high - low + 1) * each;
	bpf_loop(66, ray_power_step, &c, 0);
	if (c.magnitude == low)
		return middle;
	c.magnitude--; /* the one it is in, or the one behind the last */
	if (c.magnitude <= high && c.value < c.max) {
		if (c.magnitude)
			part = c.max / steps ? c.value / (c.max / steps) : 0;
		else
			part = c.max ? c.value * steps / c.max : 0;
		part -= overlap;
	} else {
		c.magnitude = high + 1;
	}
	distance = (c.magnitude - low) * each + part + 1;
	return value < 0 ? middle - distance : middle + distance;
}

/* The same with factor 2 and 1 << shift steps (shift at least 1, high below 63), without a loop. */
RAY_RUNTIME __u64 ray_llquantize_shift(__s64 value, __u64 low, __u64 high, __u64 shift)
{
	__u64 size = value < 0 ? -(__u64)value : value, each = 1ULL << ((shift - 1) & 63), log, distance;
	__u64 middle = 1 + (high - low + 1) * each;

	log = ray_log2(size);
	if (!size || log < low)
		return middle;
	if (log > high) {
		distance = (high + 1 - low) * each + 1;
	} else {
		/* The power is cut into parts: the first half of them are those of the power below. */
		if (!log)
			size = each;
		else
			size = log + 1 >= shift ? size >> ((log + 1 - shift) & 63) : 0;
		distance = (log - low) * each + size - each + 1;
	}
	return value < 0 ? middle - distance : middle + distance;
}

#endif
