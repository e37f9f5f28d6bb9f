/* base.bpf.h - what every part of the runtime uses: maps, constants, slots, faults. SPDX-License-Identifier: MIT */
#ifndef RAY_KERN_BASE_BPF_H
#define RAY_KERN_BASE_BPF_H

#include "kern/wire.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

/* The linker replaces these numbers: by a map, or by a constant that the verifier then knows. */
#define RAY_LINK(name)                                                                \
	({                                                                            \
		__u64 linked_;                                                        \
		asm("%0 = %1 ll" : "=r"(linked_) : "i"(RAY_MAGIC | RAY_LINK_##name)); \
		linked_;                                                              \
	})
#define RAY_MAP(name) ((void *)RAY_LINK(name))
#define RAY_CONST(name) RAY_LINK(name)

/* A function that generated code may call. */
#define RAY_RUNTIME __attribute__((noinline, used))

/* The compiler must not remember what it knows of x: the verifier would be shown a check of one register and a use of another. */
#define RAY_OPAQUE(x) asm volatile("" : "+r"(x))

/* Eight characters as they lie in memory. */
#define RAY_WORD(a, b, c, d, e, f, g, h)                                                                            \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32 | (__u64)(f) << 40 | \
	 (__u64)(g) << 48 | (__u64)(h) << 56)

/* Eight bytes at once, wherever they lie. Through functions: what the compiler knows to be an array of bytes it reads and writes byte by byte. */
static __always_inline __u64 ray_word_at(const void *at)
{
	return *(const __u64 *)at;
}

static __always_inline void ray_word_put(void *at, __u64 word)
{
	*(__u64 *)at = word;
}

/* Before a call of a function that is not inlined: the verifier takes all five arguments for used, and follows each way here on its own if it left
 * something else in them. */
#define RAY_FORGET() asm volatile("r2 = 0; r3 = 0; r4 = 0; r5 = 0" : : : "r2", "r3", "r4", "r5")

/* At the end of a function that is not inlined and returns nothing: the verifier looks at what happens to be in its place. */
#define RAY_NOTHING() asm volatile("r0 = 0" : : : "r0")

static __always_inline struct ray_slot *ray_slot_get(__u64 index)
{
	__u32 key = index;

	return bpf_map_lookup_elem(RAY_MAP(SLOTS), &key);
}

static __always_inline struct ray_state *ray_state_get(void)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(RAY_MAP(STATE), &key);
}

static __always_inline void ray_fault_set(struct ray_slot *s, __u32 fault, __u64 value)
{
	s->fault = fault;
	s->fault_value = value;
}

/* A place in the slot, whatever the offset. BLOCK bytes can be had from there on. */
static __always_inline char *ray_at(struct ray_slot *s, __u64 offset)
{
	__u64 masked = offset & RAY_CONST(SLOT_MASK);

	RAY_OPAQUE(masked);
	return (char *)s + masked;
}

static __always_inline int ray_is_scratch(__u64 address)
{
	return (address & RAY_SCRATCH_MASK) == RAY_SCRATCH;
}

static __always_inline __u32 ray_offset(__u64 address)
{
	return (__u32)address;
}

/* All bytes 0: a read that fails clears its destination, and does so fast. */
static __always_inline void ray_clear(char *at, __u64 size)
{
	bpf_probe_read_kernel(at, size, (void *)0);
}

#endif
