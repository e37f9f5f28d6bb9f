/* task.bpf.h - who runs, and which probe fired. SPDX-License-Identifier: MIT */
#ifndef RAY_KERN_TASK_BPF_H
#define RAY_KERN_TASK_BPF_H

#include "kern/string.bpf.h"

RAY_RUNTIME __u64 ray_execname(__u64 slot, __u64 dst)
{
	struct ray_slot *s = ray_slot_get(slot);

	if (!s)
		return 0;
	bpf_get_current_comm(ray_at(s, dst), 16);
	return RAY_SCRATCH | dst;
}

/* which: 0 provider, 1 module, 2 function, 3 name. */
RAY_RUNTIME __u64 ray_probe_part(__u64 slot, __u64 dst, __u64 which)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_name_offsets *names;
	__u32 first = 0;
	char *strings;
	__u32 key;

	if (!s)
		return 0;
	*ray_at(s, dst) = 0;
	key = s->probe;
	names = bpf_map_lookup_elem(RAY_MAP(PROBES), &key);
	strings = bpf_map_lookup_elem(RAY_MAP(STRINGS), &first);
	if (names && strings)
		bpf_probe_read_kernel_str(ray_at(s, dst), ray_string_size(),
					  strings + (names->at[which & 3] & 0xfffffff));
	return RAY_SCRATCH | dst;
}

#endif
