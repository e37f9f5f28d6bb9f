/* internal.h - what the kinds of target share; for src/target only.
 * SPDX-License-Identifier: MIT
 *
 * A kind fills struct ray_target with its operations and loads maps and threads; target.c answers
 * everything else from there. Strings that live as long as the target go into its arena. */
#ifndef RAY_TARGET_INTERNAL_H
#define RAY_TARGET_INTERNAL_H

#include <elf.h>

#include "base/arena.h"
#include "base/vec.h"
#include "target/initial_stack.h"
#include "target/pins.h"
#include "target/target.h"

struct ray_target_ops {
	size_t (*read)(struct ray_target *t, uint64_t address, void *buffer, size_t size);
	/* Append to t->maps / t->threads, which are empty at the call. Order does not matter. */
	struct ray_error *(*load_maps)(struct ray_target *t);
	struct ray_error *(*load_threads)(struct ray_target *t);
	struct ray_error *(*args)(struct ray_target *t, char **ret, size_t *size_ret);
	struct ray_error *(*env)(struct ray_target *t, char **ret, size_t *size_ret);
	/* The ELF file behind a mapping with a path. */
	struct ray_error *(*open_module)(struct ray_target *t, const struct ray_map *map, struct ray_elf **ret);
	/* Without its AT_NULL. *ret is the caller's to free. */
	struct ray_error *(*auxv)(struct ray_target *t, Elf64_auxv_t **ret, size_t *count_ret);
	const char *(*note)(struct ray_target *t, const char *name); /* NULL: there are never any */
	/* NULL: everything is there. */
	bool (*dumped_runs)(struct ray_target *t, uint64_t start, uint64_t end, ray_run_fn *each, void *arg);
	/* Reads many ranges in few system calls; NULL: one read() each will do. buffers[i] has room for
	 * ranges[i].size bytes; done[i] becomes how many were read. */
	void (*read_many)(struct ray_target *t, const struct ray_range *ranges, unsigned char *const *buffers,
			  size_t *done, size_t count);
	void (*close)(struct ray_target *t);
};

struct ray_target {
	const struct ray_target_ops *ops;
	enum ray_target_kind kind;
	char *name;
	int pid;
	int only_tid;
	int signal;
	bool force;
	const char *exe_override; /* --exe, or NULL */
	const char *sysroot;	  /* --sysroot, or NULL */
	const char *exe;	  /* "" until known */
	struct ray_arena *arena;
	RAY_VEC(struct ray_map) maps;
	RAY_VEC(struct ray_thread) threads;
	RAY_VEC(struct module_entry *) modules;
	RAY_VEC(const char *) warnings; /* NULL-ended by target.c when asked for */
	struct ray_pins *pins;		/* NULL until something was pinned */
	bool keeping;			/* every small read is pinned */
	const struct ray_overlay_piece *overlay;
	size_t overlay_count;
	void *data; /* the kind's own */
};

struct module_entry {
	struct ray_module module;
	uint64_t inode;
	dev_t dev;
};

/* Called by ray_target_open() once the name was understood. On failure target.c closes t. */
struct ray_error *ray_process_init(struct ray_target *t, int pid);
struct ray_error *ray_core_init(struct ray_target *t, const char *path);

/* Takes one sample of a running thread (registers and up to 64 KiB of stack, copied by the kernel at one
 * moment) without stopping it. False with *why_ret set when none came within about timeout_ms. */
bool ray_sample_thread(int tid, unsigned timeout_ms, struct user_regs_struct *regs, unsigned char **stack_ret,
		       size_t *size_ret, const char **why_ret);

/* False when the stack cannot be read, or is no longer as the kernel made it. */
bool ray_target_initial_stack(struct ray_target *t, struct ray_initial_stack *ret);

/* The kernel starts its threads with neither; a program that jumped to nowhere still has a stack. */
static inline bool ray_thread_looks_kernel(const struct ray_thread *thread)
{
	return !thread->registers.rip && !thread->registers.rsp;
}
void ray_thread_mark_kernel(struct ray_thread *thread);

/* Adds one sentence to the target's warnings, unless it is there already. */
void ray_target_warn(struct ray_target *t, const char *fmt, ...) RAY_PRINTF(2, 3);

#endif
