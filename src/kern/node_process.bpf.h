/* node_process.bpf.h - handlers about a process as a whole. SPDX-License-Identifier: MIT */
#ifndef RAY_KERN_NODE_PROCESS_BPF_H
#define RAY_KERN_NODE_PROCESS_BPF_H

#include "kern/node.bpf.h"

/* exit_group(code): not reached when a signal ends the process. */
RAY_RUNTIME __u64 ray_on_exit(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);

	if (!s || step)
		return 0;
	s->args[0] = (__s32)s->hook_args[0];
	return RAY_EVENT_PROCESS_EXIT;
}

#endif
