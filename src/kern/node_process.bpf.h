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

/* libuv turns to something that no socket's bytes have caused: timers, setImmediate(), works that are done. Which request was handled before is past. */
RAY_RUNTIME __u64 ray_on_turn(__u64 slot, __u64 step)
{
	struct ray_node_thread *thread = step || !ray_slot_get(slot) ? 0 : ray_node_thread_known();

	if (thread)
		ray_node_thread_idle(thread);
	return 0;
}

#endif
