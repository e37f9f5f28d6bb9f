/* task.bpf.h - who runs, and which probe fired. SPDX-License-Identifier: MIT
 *
 * Where things are in the kernel's structures comes from its own types, at link time. */
#ifndef RAY_KERN_TASK_BPF_H
#define RAY_KERN_TASK_BPF_H

#include "kern/number.bpf.h"
#include "kern/string.bpf.h"

enum { RAY_TGID_DIGITS = 7 };

/* A pointer in the kernel; 0 when it cannot be read. */
static __always_inline __u64 ray_kernel_pointer(__u64 at)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (void *)at);
	return value;
}

static __always_inline __u32 ray_kernel_word(__u64 at)
{
	__u32 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (void *)at);
	return value;
}

/* What self-> is kept by: the thread's number; idle threads, which all are 0, are told apart by their CPU. */
RAY_RUNTIME __u64 ray_thread(void)
{
	__u32 tid = bpf_get_current_pid_tgid();

	return tid ? tid : 1ULL << 32 | bpf_get_smp_processor_id();
}

/* Names that node gives its main thread, from version 24 on: "MainThread", and "node-MainThread" as far as a name goes. */
static __always_inline int ray_is_renamed(__u64 start)
{
	return start == 0x657268546e69614dULL || start == 0x69614d2d65646f6eULL;
}

/* The name of the process, 16 bytes with zeros behind it. That of its first thread, as threads have names of their own; where node
 * has changed that too, the name of its program, so that execname == "node" holds for every version. */
RAY_RUNTIME __u64 ray_process_name(__u64 slot, __u64 dst)
{
	struct ray_slot *s = ray_slot_get(slot);
	__u64 task = bpf_get_current_task();
	__u64 leader = ray_kernel_pointer(task + RAY_CONST(TASK_GROUP_LEADER));
	__u64 name[2] = { 0, 0 };
	__u64 at;

	if (!s)
		return 0;
	bpf_probe_read_kernel(name, sizeof(name), (void *)(leader + RAY_CONST(TASK_COMM)));
	if (ray_is_renamed(name[0])) {
		at = ray_kernel_pointer(task + RAY_CONST(TASK_MM));
		at = at ? ray_kernel_pointer(at + RAY_CONST(MM_EXE_FILE)) : 0;
		at = at ? ray_kernel_pointer(at + RAY_CONST(FILE_PATH) + RAY_CONST(PATH_DENTRY)) : 0;
		at = at ? ray_kernel_pointer(at + RAY_CONST(DENTRY_NAME)) : 0;
		if (at) {
			name[0] = name[1] = 0;
			bpf_probe_read_kernel_str(name, sizeof(name), (void *)at);
		}
	}
	bpf_probe_read_kernel(ray_at(s, dst), sizeof(name), name);
	return 0;
}

RAY_RUNTIME __u64 ray_execname(__u64 slot, __u64 dst)
{
	struct ray_slot *s = ray_slot_get(slot);

	if (!s)
		return 0;
	ray_process_name(slot, RAY_CONST(WORK_AT));
	return ray_result(s, dst, RAY_CONST(WORK_AT), RAY_CONST(STRSIZE));
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
	if (names && strings) {
		__u32 at = names->at[which & 3];
		__s64 size = bpf_probe_read_kernel_str(ray_at(s, dst), ray_string_size(), strings + (at & 0xfffffff));

		/* It is of a process that user space has not named them for yet. */
		if (at & RAY_NAME_NUMBERED && size > 0 && (__u64)size + RAY_TGID_DIGITS <= RAY_CONST(STRSIZE))
			ray_lltostr(slot, dst + size - 1, bpf_get_current_pid_tgid() >> 32, 10);
	}
	return RAY_SCRATCH | dst;
}

RAY_RUNTIME __u64 ray_ppid(__u64 slot)
{
	(void)slot;
	return ray_kernel_word(ray_kernel_pointer(bpf_get_current_task() + RAY_CONST(TASK_REAL_PARENT)) +
			       RAY_CONST(TASK_TGID));
}

/* ---- ancestors ---- */

struct ray_progeny_loop {
	__u64 task;
	__u64 wanted;
	__u64 is_found;
};

static long ray_progeny_step(__u64 i, struct ray_progeny_loop *c)
{
	__u64 parent = ray_kernel_pointer(c->task + RAY_CONST(TASK_REAL_PARENT));

	(void)i;
	if (ray_kernel_word(c->task + RAY_CONST(TASK_TGID)) == (__u32)c->wanted) {
		c->is_found = 1;
		return 1;
	}
	if (!parent || parent == c->task) /* the first task of all is its own parent */
		return 1;
	c->task = parent;
	return 0;
}

/* Whether the process or one of its ancestors has this pid. */
RAY_RUNTIME __u64 ray_progenyof(__u64 slot, __u64 pid)
{
	struct ray_progeny_loop c = { .task = bpf_get_current_task(), .wanted = pid };

	(void)slot;
	bpf_loop(4096, ray_progeny_step, &c, 0);
	return c.is_found;
}

/* Nanoseconds this thread has run. The scheduler keeps it, and brings it up to date when it looks at the thread: at a switch or a tick, so it may
 * be behind by a few milliseconds. */
RAY_RUNTIME __u64 ray_vtimestamp(__u64 slot)
{
	(void)slot;
	return ray_kernel_pointer(bpf_get_current_task() + RAY_CONST(TASK_RUNTIME));
}

RAY_RUNTIME __u64 ray_rand(__u64 slot)
{
	(void)slot;
	return bpf_get_prandom_u32();
}

/* ---- arguments of the process ---- */

struct ray_psargs_loop {
	struct ray_slot *s;
	__u64 at;
	__u64 size;
};

/* The arguments end in NULs: shown as spaces, but for the last. */
static long ray_psargs_step(__u64 i, struct ray_psargs_loop *c)
{
	char *at = ray_at(c->s, c->at + i);

	if (!*at)
		*at = i + 1 < c->size ? ' ' : 0;
	return 0;
}

RAY_RUNTIME __u64 ray_psargs(__u64 slot, __u64 dst)
{
	struct ray_psargs_loop c = { .s = ray_slot_get(slot), .at = dst };
	__u64 mm, start, size;

	if (!c.s)
		return 0;
	mm = ray_kernel_pointer(bpf_get_current_task() + RAY_CONST(TASK_MM));
	start = ray_kernel_pointer(mm + RAY_CONST(MM_ARG_START));
	size = ray_kernel_pointer(mm + RAY_CONST(MM_ARG_END)) - start;
	if (!mm || !start || (__s64)size <= 0)
		return ray_execname(slot, dst); /* a kernel thread, or one that hides them */
	if (size > RAY_CONST(STRSIZE))
		size = RAY_CONST(STRSIZE);
	c.size = size;
	if (bpf_probe_read_user(ray_at(c.s, dst), size, (void *)start))
		return ray_execname(slot, dst);
	bpf_loop(size, ray_psargs_step, &c, 0);
	*ray_at(c.s, dst + size) = 0;
	return RAY_SCRATCH | dst;
}

#endif
