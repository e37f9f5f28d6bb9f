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
	/* What each argument is, a word each, and after " = " what it returns if that is not a plain number: view/syscall.h has the words;
	 * flags:NAME and enum:NAME are lists of syscall_names.c. */
	const char *shown;
	const char *classes; /* letters of ray_syscall_is_of(), besides those that the arguments say */
};

extern const struct ray_syscall ray_syscalls[]; /* by number */
extern const size_t ray_syscall_count;

/* By either of its names; NULL if there is none. */
const struct ray_syscall *ray_syscall_find(const char *name, size_t length);

/* Whether it belongs to a class: file (it takes a path), desc (a descriptor), network, process, memory, signal, clock, ipc, creds. -1: there is no such
 * class. */
int ray_syscall_is_of(const struct ray_syscall *call, const char *class_name, size_t length);

enum { RAY_SYSCALL_LIMIT = 512 }; /* all numbers are below */

#endif
