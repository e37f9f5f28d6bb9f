/* epilogue.c - see epilogue.h.
 * SPDX-License-Identifier: MIT
 *
 * V8's functions drop their arguments themselves: leave; pop rcx; lea rsp, [rsp + rax * 8]; push rcx; ret. Between
 * leave and ret rbp is the caller's already (with a cmp and a jump there, when it is ret n if none were added), and the return address is on top of the stack or in a register. The few
 * instructions of such an end are run here, symbolically, from pc on. Anything else is no epilogue. */
#include "stack/epilogue.h"

#include <string.h>

enum { MAX_BYTES = 48, MAX_STEPS = 8, X86_RBP = 5, X86_RSP = 4 };

struct end {
	const struct ray_reader *memory;
	const struct ray_unwind_regs *regs;
	uint64_t sp;
	uint64_t address; /* where it will return to; 0 while that is still on the stack */
	int popped_into;  /* the x86 number of the register that a pop loaded; -1 */
};

/* The number of a register in an instruction, as DWARF counts them. */
static int dwarf_register(int x86)
{
	static const int low[8] = { 0, 2, 1, 3, 7, 6, 4, 5 };

	return x86 < 8 ? low[x86] : x86;
}

static bool pop(struct end *e, int reg)
{
	if (e->address || reg == X86_RBP || reg == X86_RSP || !ray_read_u64(e->memory, e->sp, &e->address))
		return false;
	e->popped_into = reg;
	e->sp += 8;
	return true;
}

/* The address goes back onto the stack, from the register that holds it. */
static bool push(struct end *e, int reg)
{
	int dwarf = dwarf_register(reg);

	if (e->popped_into >= 0)
		return e->popped_into == reg;
	if (e->address || !(e->regs->valid & 1u << dwarf))
		return false;
	e->address = e->regs->reg[dwarf];
	return true;
}

/* lea rsp, [rsp + ...] and add rsp, n: how long the instruction is; 0 when it is neither. */
static size_t moves_stack_pointer(const uint8_t *i)
{
	if (i[0] != 0x48 && i[0] != 0x4a)
		return 0;
	if (i[1] == 0x8d && (i[2] & 0x3f) == 0x24) /* lea rsp, [SIB + disp] */
		return (i[2] >> 6) == 0 ? 4 : (i[2] >> 6) == 1 ? 5 : 8;
	if (i[1] == 0x83 && i[2] == 0xc4)
		return 4;
	return i[1] == 0x81 && i[2] == 0xc4 ? 7 : 0;
}

/* cmp r64, n and a jump on it: how many arguments there are to drop. Both ways return to the same address. */
static size_t compares_or_branches(const uint8_t *i)
{
	if ((i[0] & 0xf0) == 0x70)
		return 2;
	if (i[0] == 0x0f && (i[1] & 0xf0) == 0x80)
		return 6;
	if ((i[0] == 0x48 || i[0] == 0x49) && (i[2] & 0xf8) == 0xf8)
		return i[1] == 0x83 ? 4 : i[1] == 0x81 ? 7 : 0;
	return 0;
}

/* One instruction; its length, or 0 when it does not belong to an epilogue. */
static size_t run_one(struct end *e, const uint8_t *i)
{
	size_t prefix = i[0] == 0x41;
	int reg = (i[prefix] & 7) + (prefix ? 8 : 0);

	if ((i[prefix] & 0xf8) == 0x58)
		return pop(e, reg) ? prefix + 1 : 0;
	if ((i[prefix] & 0xf8) == 0x50)
		return push(e, reg) ? prefix + 1 : 0;
	return moves_stack_pointer(i) ? moves_stack_pointer(i) : compares_or_branches(i);
}

bool ray_epilogue_find(const struct ray_reader *memory, const struct ray_unwind_regs *regs, uint64_t *address_ret,
		       uint64_t *sp_ret)
{
	struct end e = { memory, regs, regs->reg[RAY_UNWIND_RSP], 0, -1 };
	uint8_t code[MAX_BYTES + 8] = { 0 };
	size_t n, at = 0;

	n = memory->read(memory->arg, regs->reg[RAY_UNWIND_PC], code, MAX_BYTES);
	for (int step = 0; step < MAX_STEPS && at < n; step++) {
		size_t length;

		if (code[at] == 0xc3 || code[at] == 0xc2) {
			if (!e.address && !ray_read_u64(memory, e.sp, &e.address))
				return false;
			*address_ret = e.address;
			*sp_ret = e.sp + 8;
			return true;
		}
		length = run_one(&e, code + at);
		if (!length)
			return false;
		at += length;
	}
	return false;
}
