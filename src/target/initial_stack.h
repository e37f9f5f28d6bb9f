/* initial_stack.h - what the kernel put on the stack before the program began.
 * SPDX-License-Identifier: MIT
 *
 * From low to high: argc, argv[] and NULL, envp[] and NULL, the auxiliary vector, a gap, then the
 * strings of argv, those of envp, and the path that was executed. The program may write to all of
 * it since: libuv writes process.title over the arguments, setenv puts heap pointers into envp and
 * unsetenv moves its entries down. So places are found by what cannot have moved (the auxiliary
 * vector), and strings are taken as the areas they lie in, as /proc/PID/cmdline and environ do. Pure. */
#ifndef RAY_TARGET_INITIAL_STACK_H
#define RAY_TARGET_INITIAL_STACK_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reader.h"

struct ray_initial_stack {
	uint64_t auxv;		 /* address */
	uint64_t argc;		 /* as the kernel put it */
	uint64_t argv, envp;	 /* addresses of the arrays */
	uint64_t args, args_end; /* the strings */
	uint64_t env, env_end;
	bool is_overwritten; /* the arguments are not what the program was started with */
};

/* The stack's mapping is [low, high). False when it is not all there, or does not look like one. */
bool ray_initial_stack_find(const struct ray_reader *r, uint64_t low, uint64_t high, const Elf64_auxv_t *auxv,
			    size_t auxv_count, struct ray_initial_stack *ret);

#endif
