/* memory.bpf.h - reading at addresses as D sees them. SPDX-License-Identifier: MIT */
#ifndef RAY_KERN_MEMORY_BPF_H
#define RAY_KERN_MEMORY_BPF_H

#include "kern/base.bpf.h"

/* An integer of `size` bytes (1, 2, 4 or 8), zero-extended. A fault, and 0, when it cannot be read. */
RAY_RUNTIME __u64 ray_load(__u64 slot, __u64 address, __u64 size)
{
	struct ray_slot *s = ray_slot_get(slot);
	__u64 value = 0;
	__u64 offset;

	if (!s)
		return 0;
	if (size > 8 || size == 0)
		size = 8;
	if ((address & RAY_SCRATCH_MASK) == RAY_SCRATCH) {
		offset = address & RAY_CONST(SLOT_MASK);
		if (bpf_probe_read_kernel(&value, size, (char *)s + offset))
			ray_fault_set(s, RAY_FAULT_BADADDR, address);
	} else if ((__s64)address < 0 ? bpf_probe_read_kernel(&value, size, (void *)address) :
					bpf_probe_read_user(&value, size, (void *)address)) {
		ray_fault_set(s, RAY_FAULT_BADADDR, address);
		return 0;
	}
	return value;
}

#endif
