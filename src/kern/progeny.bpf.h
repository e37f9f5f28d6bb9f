/* progeny.bpf.h - which processes probes fire in: those that were asked for, and what they start. SPDX-License-Identifier: MIT
 *
 * User space puts the first ones into TARGETS; here children are added as they come, before they run, and taken out when they are gone. */
#ifndef RAY_KERN_PROGENY_BPF_H
#define RAY_KERN_PROGENY_BPF_H

#include "kern/task.bpf.h"

/* At sched_process_fork: the current process has made the task `child`. */
RAY_RUNTIME __u64 ray_progeny_fork(__u64 child)
{
	__u32 parent = bpf_get_current_pid_tgid() >> 32;
	__u32 tgid = ray_kernel_word(child + RAY_CONST(TASK_TGID));
	struct ray_state *state;

	if (tgid == parent || !bpf_map_lookup_elem(RAY_MAP(TARGETS), &parent))
		return 0;
	if (!bpf_map_update_elem(RAY_MAP(TARGETS), &tgid, &parent, BPF_ANY))
		return 0;
	state = ray_state_get();
	if (state)
		__sync_fetch_and_add(&state->target_drops, 1);
	return 0;
}

/* At sched_process_free. The first thread of a process is the last to go. */
RAY_RUNTIME __u64 ray_progeny_free(__u64 task)
{
	__u32 tgid = ray_kernel_word(task + RAY_CONST(TASK_TGID));

	if (ray_kernel_word(task + RAY_CONST(TASK_PID)) == tgid)
		bpf_map_delete_elem(RAY_MAP(TARGETS), &tgid);
	return 0;
}

#endif
