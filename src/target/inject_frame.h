/* inject_frame.h - signal frames that restore a thread's registers without anybody's help.
 * SPDX-License-Identifier: MIT
 *
 * Pure: registers in, bytes out. The layout is what rt_sigreturn(2) of 64-bit x86 reads. */
#ifndef RAY_TARGET_INJECT_FRAME_H
#define RAY_TARGET_INJECT_FRAME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

struct ray_frame {
	const struct user_regs_struct *registers;
	uint64_t mask;	    /* blocked signals */
	uint64_t sigreturn; /* where rt_sigreturn is called */
	const void *xstate; /* as PTRACE_GETREGSET has it; NULL: none, they are reset */
	size_t xstate_size;
};

/* How much room a frame takes at most. */
size_t ray_frame_size(size_t xstate_size);
/* Writes it for address at, a multiple of 64. The stack pointer must be at `at` when a `ret` is run. */
void ray_frame_build(const struct ray_frame *f, uint64_t at, unsigned char *out);
/* What the kernel does with an interrupted system call before a thread goes on, as far as registers tell. */
void ray_frame_restart(struct user_regs_struct *r);

#endif
