/* unwind.c - applies the rules of one row to a frame's registers. See unwind.h.
 * SPDX-License-Identifier: MIT */
#include "elf/unwind.h"

#include "elf/cfi.h"

/* What a function must hand back unchanged: rbx, rbp, r12 to r15. */
enum { CALLEE_SAVED = 1 << 3 | 1 << 6 | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 15 };

struct step {
	uint64_t bias, cfa;
	const struct ray_reader *memory;
	const struct ray_unwind_regs *regs; /* this frame's */
};

static enum ray_unwind_result find_cfa(struct step *s, const struct ray_cfi_rule *rule)
{
	switch (rule->kind) {
	case RAY_CFI_REGISTER:
		if (!(s->regs->valid >> rule->reg & 1))
			return RAY_UNWIND_BAD;
		s->cfa = s->regs->reg[rule->reg] + (uint64_t)rule->offset;
		return RAY_UNWIND_OK;
	case RAY_CFI_VAL_EXPR:
		return ray_expr_run(rule->expr, rule->expr_size, s->regs, s->bias, s->memory, NULL, &s->cfa);
	default:
		return RAY_UNWIND_BAD;
	}
}

static enum ray_unwind_result load(const struct step *s, uint64_t address, uint64_t *ret)
{
	return ray_read_u64(s->memory, address, ret) ? RAY_UNWIND_OK : RAY_UNWIND_FAULT;
}

static enum ray_unwind_result copy(const struct step *s, uint32_t reg, uint64_t *ret)
{
	if (!(s->regs->valid >> reg & 1))
		return RAY_UNWIND_BAD;
	*ret = s->regs->reg[reg];
	return RAY_UNWIND_OK;
}

/* RAY_UNWIND_END when the register is undefined. */
static enum ray_unwind_result recover(const struct step *s, uint32_t reg, const struct ray_cfi_rule *rule,
				      uint64_t *ret)
{
	enum ray_unwind_result result;
	uint64_t address;

	switch (rule->kind) {
	case RAY_CFI_OFFSET:
		return load(s, s->cfa + (uint64_t)rule->offset, ret);
	case RAY_CFI_VAL_OFFSET:
		*ret = s->cfa + (uint64_t)rule->offset;
		return RAY_UNWIND_OK;
	case RAY_CFI_REGISTER:
		return copy(s, rule->reg, ret);
	case RAY_CFI_SAME:
		return copy(s, reg, ret);
	case RAY_CFI_EXPR:
		result = ray_expr_run(rule->expr, rule->expr_size, s->regs, s->bias, s->memory, &s->cfa, &address);
		return result == RAY_UNWIND_OK ? load(s, address, ret) : result;
	case RAY_CFI_VAL_EXPR:
		return ray_expr_run(rule->expr, rule->expr_size, s->regs, s->bias, s->memory, &s->cfa, ret);
	case RAY_CFI_UNSPECIFIED:
		if (reg == RAY_UNWIND_RSP) {
			*ret = s->cfa;
			return RAY_UNWIND_OK;
		}
		return CALLEE_SAVED >> reg & 1 ? copy(s, reg, ret) : RAY_UNWIND_END;
	case RAY_CFI_UNDEFINED:
		break;
	}
	return RAY_UNWIND_END;
}

enum ray_unwind_result ray_unwind_step(struct ray_elf *e, uint64_t vaddr, uint64_t bias,
				       const struct ray_reader *memory, struct ray_unwind_regs *regs,
				       bool *is_signal_frame_ret)
{
	struct step s = { .bias = bias, .memory = memory, .regs = regs };
	struct ray_unwind_regs caller = { 0 };
	struct ray_cfi_row row;
	enum ray_unwind_result result = ray_cfi_find(e, vaddr, &row);

	if (result == RAY_UNWIND_OK)
		result = find_cfa(&s, &row.cfa);
	if (result != RAY_UNWIND_OK)
		return result;
	/* The stack grows down: only a signal may have come in on another one. */
	if (!row.is_signal_frame && regs->valid >> RAY_UNWIND_RSP & 1 && s.cfa <= regs->reg[RAY_UNWIND_RSP])
		return RAY_UNWIND_BAD;
	result = recover(&s, row.return_column, &row.reg[row.return_column], &caller.reg[RAY_UNWIND_PC]);
	if (result != RAY_UNWIND_OK)
		return result;
	if (!caller.reg[RAY_UNWIND_PC])
		return RAY_UNWIND_END;
	caller.valid = 1u << RAY_UNWIND_PC;
	/* A register that cannot be had is not worth the frame: it is left unknown. */
	for (uint32_t i = 0; i < RAY_UNWIND_PC; i++)
		if (recover(&s, i, &row.reg[i], &caller.reg[i]) == RAY_UNWIND_OK)
			caller.valid |= 1u << i;
	*regs = caller;
	if (is_signal_frame_ret)
		*is_signal_frame_ret = row.is_signal_frame;
	return RAY_UNWIND_OK;
}

bool ray_unwind_has_row(struct ray_elf *e, uint64_t vaddr)
{
	struct ray_cfi_row row;

	return ray_cfi_find(e, vaddr, &row) == RAY_UNWIND_OK;
}
