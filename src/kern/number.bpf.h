/* number.bpf.h - numbers as text, and in which part of a distribution a number falls. SPDX-License-Identifier: MIT */
#ifndef RAY_KERN_NUMBER_BPF_H
#define RAY_KERN_NUMBER_BPF_H

#include "kern/string.bpf.h"

enum { RAY_DIGITS = 66 }; /* sign, 64 digits, NUL */

/* base 0: 10. Only base 10 knows negative numbers; 8 and 16 begin with 0 and 0x. */
RAY_RUNTIME __u64 ray_lltostr(__u64 slot, __u64 dst, __s64 value, __u64 base)
{
	struct ray_slot *s = ray_slot_get(slot);
	__u64 left = value, at = RAY_DIGITS + 1;
	char *text;

	if (!s)
		return 0;
	if (base == 0)
		base = 10;
	if (base < 2 || base > 36) {
		ray_fault_set(s, RAY_FAULT_ILLOP, base);
		return 0;
	}
	if (base == 10 && value < 0)
		left = -left;
	text = ray_work(s);
	text[RAY_DIGITS + 1] = 0;
	for (int i = RAY_DIGITS; i > 2; i--) {
		__u64 digit = left % base;

		text[i] = digit < 10 ? '0' + digit : 'a' + digit - 10;
		at = i;
		left /= base;
		if (!left)
			break;
	}
	at &= 127;
	if ((base == 16 || base == 8) && value && at > 2) {
		if (base == 16)
			text[--at] = 'x';
		text[--at] = '0';
	} else if (base == 10 && value < 0 && at > 1) {
		text[--at] = '-';
	}
	return ray_result(s, dst, RAY_CONST(WORK_AT) + at, RAY_CONST(STRSIZE));
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

/* Powers of factor from low to high, each in `steps` parts; below 0 mirrored; what is smaller than all in the middle. */
RAY_RUNTIME __u64 ray_llquantize_bin(__s64 value, __u64 factor, __u64 low, __u64 high, __u64 steps)
{
	__u64 v = value < 0 ? -(__u64)value : value, max = 1, magnitude = low, part = 0;
	__u64 overlap, each, middle, distance;

	if (factor < 2 || steps < 1 || high < low || high > 63)
		return 0;
	overlap = steps / factor; /* the parts of one power that the power below has, too */
	each = steps - overlap;
	middle = 1 + (high - low + 1) * each;
	for (__u64 i = 0; i < 64 && i < low; i++)
		max *= factor;
	if (v < max)
		return middle;
	for (int i = 0; i < 64; i++) {
		max *= factor;
		if (v < max)
			break;
		if (++magnitude > high)
			break;
	}
	if (magnitude <= high && max) {
		if (magnitude)
			part = max / steps ? v / (max / steps) : 0;
		else
			part = v * steps / max;
		part -= overlap;
	}
	distance = (magnitude - low) * each + part + 1;
	return value < 0 ? middle - distance : middle + distance;
}

#endif
