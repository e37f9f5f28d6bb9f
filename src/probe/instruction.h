/* instruction.h - where in a function an entry probe costs least, and what is an instruction at all.
 * SPDX-License-Identifier: MIT
 *
 * The kernel puts a breakpoint on the probed instruction. Some kinds it then carries out itself (push, nop, calls and jumps); every other one is
 * copied aside and single-stepped, which costs thirty times as much. So an entry probe moves from the first instruction to the next cheap one, if
 * until there nothing has happened that a script could see: no argument register and not the stack pointer written, no branch, and nothing in the function jumps
 * back to it. x86-64 only; pure. */
#ifndef RAY_PROBE_INSTRUCTION_H
#define RAY_PROBE_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RAY_REGISTER_ARGUMENTS = 6 };

/* Offset of the instruction to probe; 0: the first one. code is the whole function, and arguments how many registers it gets some in (6 if that is
 * not known). The stack is there as it is at the first instruction, so that a probe on the return can hang there too. */
uint64_t ray_instruction_entry(const uint8_t *code, size_t size, int arguments);
/* Where a function knows what a system call has returned, and the registers are as the kernel has left them: a cheap instruction behind each of them.
 * How many there are; 0 also if not each has one, or there are more than `most`. */
size_t ray_instruction_after_calls(const uint8_t *code, size_t size, uint64_t *ret, size_t most);
/* Whether an instruction starts there: a breakpoint anywhere else would break the program. */
bool ray_instruction_starts_at(const uint8_t *code, size_t size, uint64_t offset);
/* Whether the kernel carries it out itself. */
bool ray_instruction_is_cheap(const uint8_t *code, size_t size);

#endif
