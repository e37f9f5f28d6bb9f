/* process.h - the code that is mapped into one process, for the providers that put probes into it.
 * SPDX-License-Identifier: MIT
 *
 * A process is looked at once per catalogue and again when asked to; its modules' symbols are read when a description needs them. */
#ifndef RAY_PROBE_PROCESS_H
#define RAY_PROBE_PROCESS_H

#include "probe/provider.h"
#include "target/target.h"

/* One file with code, whoever maps it: it is opened once, and what is indexed in it is indexed once. */
struct ray_code_file {
	uint64_t inode;
	dev_t dev;
	uint64_t size, changed; /* of the file, when it was changed: an inode number may be used again */
	struct ray_elf *elf;	/* NULL until it is asked for, and while it cannot be opened */
};

/* A file as it is mapped into a process. */
struct ray_code_module {
	const char *name; /* basename: "libc.so.6" */
	const char *path; /* by which we can open it, for the kernel to put probes in: /proc/PID/root/... */
	bool is_program;  /* also called a.out */
	uint64_t inode;
	dev_t dev;
	struct ray_code_file *file;
	struct ray_target *target; /* the process it is mapped into; NULL when that was let go */
	uint64_t start;		   /* where */
};

struct ray_node_about;

struct ray_code_process {
	pid_t pid;
	struct ray_arena *arena;   /* of its modules: probes keep pointers to them */
	struct ray_target *target; /* NULL when it was let go */
	RAY_VEC(struct ray_code_module *) modules;
	bool is_stale; /* it has mapped other files since, or was let go: only kept for those pointers */
	/* What node_symbols.c has found out about it. */
	bool is_node_known;
	struct ray_node_about *node; /* NULL: it is none */
};

/* "failed to grab process 12: No such process" when there is none. */
RAY_MUST_USE struct ray_error *ray_code_process_get(struct ray_catalogue *c, pid_t pid,
						    const struct ray_code_process **ret);
/* take() for every process but ourselves. What fails in one of them (it has ended, it is another user's) is nothing that it has. */
RAY_MUST_USE struct ray_error *ray_code_process_each(struct ray_catalogue *c,
						     struct ray_error *(*take)(pid_t pid, void *arg), void *arg);
/* The same for those that are there now; with only_new, for those that were not when the processes were last listed. */
RAY_MUST_USE struct ray_error *ray_code_process_each_now(struct ray_catalogue *c, bool only_new,
							 struct ray_error *(*take)(pid_t pid, void *arg), void *arg);
/* Looks again: it has mapped more, or become another program. */
void ray_code_process_forget(struct ray_catalogue *c, pid_t pid);
/* After that: whether it has become another program. A process that a program starts is at first that program itself. */
bool ray_code_process_is_other(struct ray_catalogue *c, pid_t pid);
/* When all probes of a process have their sites it is let go: its memory and directory are closed, and if it has no probe nothing is kept. Machines
 * start processes all day. */
void ray_code_process_let_go(struct ray_catalogue *c, pid_t pid);
void ray_code_process_let_all_go(struct ray_catalogue *c);
/* Opened when first asked for; NULL if it cannot be. */
struct ray_elf *ray_code_module_elf(const struct ray_code_module *m);
/* A module by what a description calls it: its name, "a.out", or its name up to ".so" (libc for libc.so.6); globs too. */
bool ray_code_module_is(const struct ray_code_module *m, const char *pattern);

void ray_code_process_free(struct ray_code_process *p); /* the catalogue's */
void ray_code_file_free(struct ray_code_file *f);

#endif
