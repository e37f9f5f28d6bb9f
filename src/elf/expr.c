/* expr.c - evaluates the DWARF expressions that .eh_frame uses (PLT entries, signal frames, aligned stacks).
 * SPDX-License-Identifier: MIT
 *
 * Only what makes sense in call frame information. Jumps may go backwards, so steps are counted. */
#include <dwarf.h>
#include <string.h>

#include "elf/cfi.h"
#include "elf/cursor.h"

enum { STACK_MAX = 64, STEPS_MAX = 1000 };

struct machine {
	struct ray_cursor code;
	const uint8_t *start;
	const struct ray_unwind_regs *regs;
	uint64_t bias;
	const struct ray_reader *memory;
	uint64_t stack[STACK_MAX];
	size_t depth;
	enum ray_unwind_result result;
};

static void fail(struct machine *m, enum ray_unwind_result result)
{
	if (m->result == RAY_UNWIND_OK)
		m->result = result;
}

static void push(struct machine *m, uint64_t value)
{
	if (m->depth == STACK_MAX)
		fail(m, RAY_UNWIND_BAD);
	else
		m->stack[m->depth++] = value;
}

static uint64_t pop(struct machine *m)
{
	if (!m->depth) {
		fail(m, RAY_UNWIND_BAD);
		return 0;
	}
	return m->stack[--m->depth];
}

/* The value that lies `down` places below the top. */
static uint64_t peek(struct machine *m, uint64_t down)
{
	if (down >= m->depth) {
		fail(m, RAY_UNWIND_BAD);
		return 0;
	}
	return m->stack[m->depth - 1 - down];
}

static uint64_t get_register(struct machine *m, uint64_t reg)
{
	if (reg >= RAY_UNWIND_REGS || !(m->regs->valid >> reg & 1)) {
		fail(m, RAY_UNWIND_BAD);
		return 0;
	}
	return m->regs->reg[reg];
}

static uint64_t load(struct machine *m, uint64_t address, uint64_t size)
{
	uint64_t value = 0;

	if (size < 1 || size > 8)
		fail(m, RAY_UNWIND_BAD);
	else if (m->result == RAY_UNWIND_OK && !ray_read(m->memory, address, &value, size))
		fail(m, RAY_UNWIND_FAULT);
	return value;
}

static void jump(struct machine *m, int64_t distance, bool taken)
{
	int64_t at = m->code.at - m->start + distance;

	if (!taken)
		return;
	if (at < 0 || at > m->code.end - m->start)
		fail(m, RAY_UNWIND_BAD);
	else
		m->code.at = m->start + at;
}

/* Constants, registers and memory; true if it was one of them. */
static bool run_push(struct machine *m, uint8_t op)
{
	struct ray_cursor *c = &m->code;

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
		push(m, op - DW_OP_lit0);
		return true;
	}
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		push(m, get_register(m, op - DW_OP_breg0) + (uint64_t)ray_cursor_sleb(c));
		return true;
	}
	switch (op) {
	case DW_OP_addr:
		push(m, ray_cursor_fixed(c, 8) + m->bias);
		return true;
	case DW_OP_const1u:
		push(m, ray_cursor_fixed(c, 1));
		return true;
	case DW_OP_const1s:
		push(m, (uint64_t)ray_cursor_fixed_signed(c, 1));
		return true;
	case DW_OP_const2u:
		push(m, ray_cursor_fixed(c, 2));
		return true;
	case DW_OP_const2s:
		push(m, (uint64_t)ray_cursor_fixed_signed(c, 2));
		return true;
	case DW_OP_const4u:
		push(m, ray_cursor_fixed(c, 4));
		return true;
	case DW_OP_const4s:
		push(m, (uint64_t)ray_cursor_fixed_signed(c, 4));
		return true;
	case DW_OP_const8u:
	case DW_OP_const8s:
		push(m, ray_cursor_fixed(c, 8));
		return true;
	case DW_OP_constu:
		push(m, ray_cursor_uleb(c));
		return true;
	case DW_OP_consts:
		push(m, (uint64_t)ray_cursor_sleb(c));
		return true;
	case DW_OP_bregx: {
		uint64_t reg = ray_cursor_uleb(c);

		push(m, get_register(m, reg) + (uint64_t)ray_cursor_sleb(c));
		return true;
	}
	case DW_OP_deref:
		push(m, load(m, pop(m), 8));
		return true;
	case DW_OP_deref_size: {
		uint64_t size = ray_cursor_fixed(c, 1);

		push(m, load(m, pop(m), size));
		return true;
	}
	default:
		return false;
	}
}

/* Moving values about, jumping, and arithmetic on one; true if it was one of them. */
static bool run_stack(struct machine *m, uint8_t op)
{
	uint64_t a, b, c;

	switch (op) {
	case DW_OP_dup:
		push(m, peek(m, 0));
		return true;
	case DW_OP_drop:
		pop(m);
		return true;
	case DW_OP_over:
		push(m, peek(m, 1));
		return true;
	case DW_OP_pick:
		push(m, peek(m, ray_cursor_fixed(&m->code, 1)));
		return true;
	case DW_OP_swap:
		a = pop(m);
		b = pop(m);
		push(m, a);
		push(m, b);
		return true;
	case DW_OP_rot:
		a = pop(m);
		b = pop(m);
		c = pop(m);
		push(m, a);
		push(m, c);
		push(m, b);
		return true;
	case DW_OP_abs:
		a = pop(m);
		push(m, (int64_t)a < 0 ? -a : a);
		return true;
	case DW_OP_neg:
		push(m, -pop(m));
		return true;
	case DW_OP_not:
		push(m, ~pop(m));
		return true;
	case DW_OP_plus_uconst:
		push(m, pop(m) + ray_cursor_uleb(&m->code));
		return true;
	case DW_OP_skip:
		jump(m, ray_cursor_fixed_signed(&m->code, 2), true);
		return true;
	case DW_OP_bra:
		jump(m, ray_cursor_fixed_signed(&m->code, 2), pop(m) != 0);
		return true;
	case DW_OP_nop:
		return true;
	default:
		return false;
	}
}

static uint64_t divide(struct machine *m, uint64_t a, uint64_t b)
{
	if (!b) {
		fail(m, RAY_UNWIND_BAD);
		return 0;
	}
	return (int64_t)b == -1 ? -a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t modulo(struct machine *m, uint64_t a, uint64_t b)
{
	if (!b) {
		fail(m, RAY_UNWIND_BAD);
		return 0;
	}
	return a % b;
}

static uint64_t shift_arithmetic(uint64_t a, uint64_t by)
{
	return (uint64_t)((int64_t)a >> (by < 64 ? by : 63));
}

static uint64_t run_binary(struct machine *m, uint8_t op)
{
	uint64_t b = pop(m), a = pop(m);
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (op) {
	case DW_OP_plus:
		return a + b;
	case DW_OP_minus:
		return a - b;
	case DW_OP_mul:
		return a * b;
	case DW_OP_div:
		return divide(m, a, b);
	case DW_OP_mod:
		return modulo(m, a, b);
	case DW_OP_and:
		return a & b;
	case DW_OP_or:
		return a | b;
	case DW_OP_xor:
		return a ^ b;
	case DW_OP_shl:
		return b < 64 ? a << b : 0;
	case DW_OP_shr:
		return b < 64 ? a >> b : 0;
	case DW_OP_shra:
		return shift_arithmetic(a, b);
	case DW_OP_eq:
		return sa == sb;
	case DW_OP_ne:
		return sa != sb;
	case DW_OP_ge:
		return sa >= sb;
	case DW_OP_gt:
		return sa > sb;
	case DW_OP_le:
		return sa <= sb;
	case DW_OP_lt:
		return sa < sb;
	default:
		fail(m, RAY_UNWIND_BAD);
		return 0;
	}
}

enum ray_unwind_result ray_expr_run(const uint8_t *bytes, size_t size, const struct ray_unwind_regs *regs,
				    uint64_t bias, const struct ray_reader *memory, const uint64_t *initial,
				    uint64_t *ret)
{
	struct machine m;
	uint64_t value;

	m.code = (struct ray_cursor){ bytes, bytes + size, false };
	m.start = bytes;
	m.regs = regs;
	m.bias = bias;
	m.memory = memory;
	m.depth = 0;
	m.result = RAY_UNWIND_OK;
	if (initial)
		push(&m, *initial);
	for (int steps = 0; m.code.at < m.code.end && m.result == RAY_UNWIND_OK; steps++) {
		uint8_t op = (uint8_t)ray_cursor_fixed(&m.code, 1);

		if (!run_push(&m, op) && !run_stack(&m, op))
			push(&m, run_binary(&m, op));
		if (m.code.bad || steps == STEPS_MAX)
			fail(&m, RAY_UNWIND_BAD);
	}
	value = pop(&m);
	if (m.result == RAY_UNWIND_OK)
		*ret = value;
	return m.result;
}
