/* progeny.bpf.h - which processes probes fire in: those that were asked for, and what they start. SPDX-License-Identifier: MIT
 *
 * User space puts the first ones into TARGETS; here children are added as they come, before they run, and taken out when they are gone. */
#ifndef RAY_KERN_PROGENY_BPF_H
#define RAY_KERN_PROGENY_BPF_H

#include "kern/task.bpf.h"

/* Where the bit of a process is. */
static __always_inline __u64 *ray_progeny_word(__u32 tgid)
{
	__u32 zero = 0;
	__u64 *words = bpf_map_lookup_elem(RAY_MAP(TARGETS), &zero);
	__u64 at = tgid / 64 & (RAY_TARGET_WORDS - 1);

	RAY_OPAQUE(at);
	return words ? words + (at & (RAY_TARGET_WORDS - 1)) : words;
}

/* At sched_process_fork: the current process has made the task `child`. */
RAY_RUNTIME __u64 ray_progeny_fork(__u64 child)
{
	__u32 parent = bpf_get_current_pid_tgid() >> 32;
	__u32 tgid = ray_kernel_word(child + RAY_CONST(TASK_TGID));
	__u64 *word = ray_progeny_word(parent);

	if (tgid == parent || !word || !(*word >> parent % 64 & 1))
		return 0;
	word = ray_progeny_word(tgid);
	if (word)
		__sync_fetch_and_or(word, 1ULL << tgid % 64);
	return 0;
}

/* The file that a process runs; its inode is 0 if that cannot be read. */
static __always_inline void ray_program_key(__u64 task, struct ray_program_key *key)
{
	__u64 at = ray_kernel_pointer(task + RAY_CONST(TASK_MM));

	at = at ? ray_kernel_pointer(at + RAY_CONST(MM_EXE_FILE)) : 0;
	at = at ? ray_kernel_pointer(at + RAY_CONST(FILE_INODE)) : 0;
	key->inode = at ? ray_kernel_pointer(at + RAY_CONST(INODE_INO)) : 0;
	at = at ? ray_kernel_pointer(at + RAY_CONST(INODE_SB)) : 0;
	key->dev = at ? ray_kernel_word(at + RAY_CONST(SB_DEV)) : 0;
	key->pad = 0;
}

/* At sched_process_exec, with -x follow=nodes: it runs what others run that are followed. */
RAY_RUNTIME __u64 ray_progeny_exec(__u64 task)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	__u64 *word = ray_progeny_word(tgid);
	struct ray_program_key key;

	ray_program_key(task, &key);
	if (word && key.inode && bpf_map_lookup_elem(RAY_MAP(PROGRAMS), &key))
		__sync_fetch_and_or(word, 1ULL << tgid % 64);
	return 0;
}

/* At sched_process_free. The first thread of a process is the last to go. */
RAY_RUNTIME __u64 ray_progeny_free(__u64 task)
{
	__u32 tgid = ray_kernel_word(task + RAY_CONST(TASK_TGID));
	__u64 *word = ray_progeny_word(tgid);

	if (word && ray_kernel_word(task + RAY_CONST(TASK_PID)) == tgid)
		__sync_fetch_and_and(word, ~(1ULL << tgid % 64));
	return 0;
}

#endif
