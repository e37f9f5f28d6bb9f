/* syscall.h - the table of system calls. SPDX-License-Identifier: MIT */
#ifndef RAY_PROBE_SYSCALL_H
#define RAY_PROBE_SYSCALL_H

#include <stddef.h>
#include <stdint.h>

struct ray_syscall {
	uint32_t number;
	const char *name;
	const char *alias;	/* a description may say this instead; NULL if none */
	const char *parameters; /* as C declares them, with ", " between */
};

extern const struct ray_syscall ray_syscalls[]; /* by number */
extern const size_t ray_syscall_count;

enum { RAY_SYSCALL_LIMIT = 512 }; /* all numbers are below */

#endif
