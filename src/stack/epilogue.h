/* epilogue.h - where a function that has given up its frame will return to. SPDX-License-Identifier: MIT */
#ifndef RAY_STACK_EPILOGUE_H
#define RAY_STACK_EPILOGUE_H

#include "elf/unwind.h"

/* Is the code at pc the end of a function whose frame is gone already: pops, pushes and moves of the stack
 * pointer up to a return, nothing else? Then the address it returns to, and the stack pointer behind it (at
 * least: arguments that are dropped by a register's count are not counted). */
bool ray_epilogue_find(const struct ray_reader *memory, const struct ray_unwind_regs *regs, uint64_t *address_ret,
		       uint64_t *sp_ret);

#endif
