/* process.h - the code that is mapped into one process, for the providers that put probes into it.
 * SPDX-License-Identifier: MIT
 *
 * A process is looked at once per catalogue and again when asked to; its modules' symbols are read when a description needs them. */
#ifndef RAY_PROBE_PROCESS_H
#define RAY_PROBE_PROCESS_H

#include "probe/provider.h"
#include "target/target.h"

/* A file with code. */
struct ray_code_module {
	const char *name; /* basename: "libc.so.6" */
	const char *path; /* by which we can open it, for the kernel to put probes in: /proc/PID/root/... */
	bool is_program;  /* also called a.out */
	uint64_t inode;
	dev_t dev;
	struct ray_target *target; /* the process it is mapped into */
	uint64_t start;		   /* where */
};

struct ray_code_process {
	pid_t pid;
	struct ray_target *target;
	RAY_VEC(struct ray_code_module *) modules; /* in the catalogue's arena: probes keep pointers to them */
	bool is_stale;				   /* it has mapped other files since: only kept for those pointers */
};

/* "failed to grab process 12: No such process" when there is none. */
RAY_MUST_USE struct ray_error *ray_code_process_get(struct ray_catalogue *c, pid_t pid,
						    const struct ray_code_process **ret);
/* take() for every process but ourselves. What fails in one of them (it has ended, it is another user's) is nothing that it has. */
RAY_MUST_USE struct ray_error *ray_code_process_each(struct ray_catalogue *c,
						     struct ray_error *(*take)(pid_t pid, void *arg), void *arg);
/* Looks again: it has mapped more, or become another program. */
void ray_code_process_forget(struct ray_catalogue *c, pid_t pid);
/* Opened when first asked for; NULL if it cannot be. */
struct ray_elf *ray_code_module_elf(const struct ray_code_module *m);
/* A module by what a description calls it: its name, "a.out", or its name up to ".so" (libc for libc.so.6); globs too. */
bool ray_code_module_is(const struct ray_code_module *m, const char *pattern);

void ray_code_process_free(struct ray_code_process *p); /* the catalogue's */

#endif
