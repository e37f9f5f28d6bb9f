/* kin.bpf.h - a process that becomes a program we know is watched from its first instruction on.
 * SPDX-License-Identifier: MIT
 *
 * User space is told of new processes, too, but some tens of milliseconds later. It keeps elements of NODES ready (struct ray_kin), each with the numbers
 * of probes that no process has yet; here one is taken for the process, and user space gives its probes their names when it comes to it. */
#ifndef RAY_KERN_KIN_BPF_H
#define RAY_KERN_KIN_BPF_H

#include "kern/progeny.bpf.h"

struct ray_kin_loop {
	struct ray_program_key program;
	__u32 tgid;
	__u32 pad;
};

static __always_inline __u64 *ray_kin_word(__u32 tgid)
{
	__u32 zero = 0;
	__u64 *words = bpf_map_lookup_elem(RAY_MAP(NODE_BITS), &zero);
	__u64 at = tgid / 64 & (RAY_TARGET_WORDS - 1);

	RAY_OPAQUE(at);
	return words ? words + (at & (RAY_TARGET_WORDS - 1)) : words;
}

static long ray_kin_step(__u64 i, struct ray_kin_loop *c)
{
	__u32 key = i;
	struct ray_kin *kin = bpf_map_lookup_elem(RAY_MAP(NODE_KIN), &key);
	struct ray_state *state = ray_state_get();
	__u64 *word = ray_kin_word(c->tgid);

	if (!kin || !state || !word)
		return 1;
	if (kin->inode != c->program.inode || kin->dev != c->program.dev)
		return 0;
	if (__sync_val_compare_and_swap(&kin->tgid, 0, c->tgid))
		return 0;
	kin->born = bpf_ktime_get_ns();
	bpf_map_update_elem(RAY_MAP(NODES), &c->tgid, &kin->node, BPF_ANY);
	__sync_fetch_and_add(&state->nodes_version, 1);
	__sync_fetch_and_or(word, 1ULL << c->tgid % 64);
	__sync_fetch_and_add(&state->kin_taken, 1);
	return 1;
}

/* At sched_process_exec, in the process. What was watched in it before is another program's. */
RAY_RUNTIME __u64 ray_kin_exec(__u64 task)
{
	struct ray_kin_loop c = { .tgid = bpf_get_current_pid_tgid() >> 32 };
	struct ray_state *state = ray_state_get();
	__u64 *word = ray_kin_word(c.tgid);

	if (!word || !state)
		return 0;
	__sync_fetch_and_add(&state->doubts, 1); /* descriptors may have been closed */
	if (*word >> c.tgid % 64 & 1) {
		bpf_map_delete_elem(RAY_MAP(NODES), &c.tgid);
		__sync_fetch_and_add(&state->nodes_version, 1);
		__sync_fetch_and_and(word, ~(1ULL << c.tgid % 64));
	}
	ray_program_key(task, &c.program);
	if (c.program.inode)
		bpf_loop(RAY_KIN_COUNT, ray_kin_step, &c, 0);
	return 0;
}

/* The same where only some processes are followed: it is one of those, or what was watched stays as it is. */
RAY_RUNTIME __u64 ray_kin_exec_followed(__u64 task)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	__u64 *word = ray_progeny_word(tgid);

	return word && *word >> tgid % 64 & 1 ? ray_kin_exec(task) : 0;
}

#endif
