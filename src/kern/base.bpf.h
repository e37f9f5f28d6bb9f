/* base.bpf.h - what every part of the runtime uses: maps, constants, slots, faults. SPDX-License-Identifier: MIT */
#ifndef RAY_KERN_BASE_BPF_H
#define RAY_KERN_BASE_BPF_H

#include "kern/wire.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

/* The linker replaces these numbers: by a map, or by a constant that the verifier then knows. */
#define RAY_LINK(name)                                                            \
	({                                                                        \
		__u64 linked_;                                                    \
		asm("%0 = %1 ll" : "=r"(linked_) : "i"(RAY_MAGIC | RAY_LINK_##name)); \
		linked_;                                                          \
	})
#define RAY_MAP(name) ((void *)RAY_LINK(name))
#define RAY_CONST(name) RAY_LINK(name)

/* A function that generated code may call. */
#define RAY_RUNTIME __attribute__((noinline, used))

static __always_inline struct ray_slot *ray_slot_get(__u64 index)
{
	__u32 key = index;

	return bpf_map_lookup_elem(RAY_MAP(SLOTS), &key);
}

static __always_inline void ray_fault_set(struct ray_slot *s, __u32 fault, __u64 value)
{
	s->fault = fault;
	s->fault_value = value;
}

#endif
