/* unwind.h - from one native frame to its caller, by the call frame information in .eh_frame.
 * SPDX-License-Identifier: MIT
 *
 * One step at a time over anybody's memory; knows no process and no JavaScript. x86-64 only: for
 * other machines no row is ever found. Foreign bytes: a broken table gives a result, never a crash,
 * and a step takes bounded time. */
#ifndef RAY_ELF_UNWIND_H
#define RAY_ELF_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/reader.h"
#include "elf/elf.h"

enum { RAY_UNWIND_REGS = 17, RAY_UNWIND_RBP = 6, RAY_UNWIND_RSP = 7, RAY_UNWIND_PC = 16 };

/* DWARF numbering: 0 rax 1 rdx 2 rcx 3 rbx 4 rsi 5 rdi 6 rbp 7 rsp 8..15 r8..r15 16 pc. */
struct ray_unwind_regs {
	uint64_t reg[RAY_UNWIND_REGS];
	uint32_t valid; /* bit i: reg i is known */
};

enum ray_unwind_result {
	RAY_UNWIND_OK,
	RAY_UNWIND_NO_ROW, /* no call frame information covers the pc */
	RAY_UNWIND_END,	   /* outermost frame: the return address is undefined, or zero */
	RAY_UNWIND_FAULT,  /* memory could not be read */
	RAY_UNWIND_BAD,	   /* broken tables, a register that is not known, or a caller not above us */
};

/* vaddr is the pc in the file's terms; for a caller's frame give pc - 1, since a call may be the
 * last instruction of its function. The exception: if this function said that the frame below is a
 * signal frame, the pc is exact. bias is what to add to a vaddr to get a process address.
 *
 * regs holds this frame's registers, and on RAY_UNWIND_OK the caller's: callee-saved ones keep
 * their value unless the tables say where they lie, others become unknown. On any other result
 * they stay as they were. is_signal_frame_ret tells whether the frame at vaddr is the trampoline
 * that the kernel put below a signal handler; set on RAY_UNWIND_OK only; may be NULL. */
enum ray_unwind_result ray_unwind_step(struct ray_elf *e, uint64_t vaddr, uint64_t bias,
				       const struct ray_reader *memory, struct ray_unwind_regs *regs,
				       bool *is_signal_frame_ret);

/* Does any call frame information cover vaddr? */
bool ray_unwind_has_row(struct ray_elf *e, uint64_t vaddr);
/* The stretch of code that one entry of the tables describes and vaddr lies in: a function, or the cold part of one. A stripped
 * file has no other list of its functions. */
bool ray_unwind_function(struct ray_elf *e, uint64_t vaddr, uint64_t *start_ret, uint64_t *end_ret);

#endif
