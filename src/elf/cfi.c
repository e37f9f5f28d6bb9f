/* cfi.c - runs the little programs of .eh_frame that describe how to restore registers at a pc.
 * SPDX-License-Identifier: MIT
 *
 * A program's work is bounded by its length: there are no jumps, remembered states have a fixed
 * number of places, and registers past the return address (vector and x87 ones) are skipped. */
#include "elf/cfi.h"

#include <dwarf.h>

#include "elf/cursor.h"
#include "elf/impl.h"

/* Compilers nest one or two. */
enum { REMEMBERED_MAX = 8, SMALL_WORK = 1 << 20, ENTRY_WORK = 16 };

struct machine {
	const struct ray_unwinder *unwinder;
	const struct ray_fde *fde;
	uint64_t pc, at;
	struct ray_cursor code;
	struct ray_cfi_row row;
	struct ray_cfi_row initial; /* after the CIE's part: what DW_CFA_restore goes back to */
	struct ray_cfi_row remembered[REMEMBERED_MAX];
	size_t depth;
	bool bad;
	bool is_brief; /* of the registers only rbp and the return address matter */
	const uint8_t
		*initial_of; /* the program of the CIE that initial is the result of; NULL: none, or it does more */
};

static void copy_row(const struct machine *m, struct ray_cfi_row *to, const struct ray_cfi_row *from)
{
	uint32_t address = from->return_column;

	if (!m->is_brief) {
		*to = *from;
		return;
	}
	to->cfa = from->cfa;
	to->reg[RAY_UNWIND_RBP] = from->reg[RAY_UNWIND_RBP];
	to->reg[address] = from->reg[address];
	to->return_column = address;
	to->is_signal_frame = from->is_signal_frame;
}

static void set_rule(struct machine *m, uint64_t reg, struct ray_cfi_rule rule)
{
	if (reg < RAY_UNWIND_REGS)
		m->row.reg[reg] = rule;
}

static void restore(struct machine *m, uint64_t reg)
{
	if (reg < RAY_UNWIND_REGS)
		m->row.reg[reg] = m->initial.reg[reg];
}

static void set_offset(struct machine *m, uint64_t reg, enum ray_cfi_kind kind, uint64_t factored)
{
	set_rule(m, reg,
		 (struct ray_cfi_rule){ .kind = kind, .offset = (int64_t)(factored * (uint64_t)m->fde->data_align) });
}

static struct ray_cfi_rule read_block(struct machine *m, enum ray_cfi_kind kind)
{
	uint64_t size = ray_cursor_uleb(&m->code);
	const uint8_t *bytes = ray_cursor_skip(&m->code, size);

	return (struct ray_cfi_rule){ .kind = kind, .expr = bytes, .expr_size = bytes ? size : 0 };
}

static void set_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
	if (reg >= RAY_UNWIND_REGS) {
		m->bad = true;
		return;
	}
	m->row.cfa = (struct ray_cfi_rule){ .kind = RAY_CFI_REGISTER, .reg = (uint32_t)reg, .offset = offset };
}

/* Changes one half of a CFA that must be register + offset already. */
static struct ray_cfi_rule *simple_cfa(struct machine *m)
{
	if (m->row.cfa.kind != RAY_CFI_REGISTER)
		m->bad = true;
	return &m->row.cfa;
}

static void remember(struct machine *m)
{
	if (m->depth == REMEMBERED_MAX)
		m->bad = true;
	else
		copy_row(m, &m->remembered[m->depth++], &m->row);
}

static void recall(struct machine *m)
{
	if (!m->depth)
		m->bad = true;
	else
		copy_row(m, &m->row, &m->remembered[--m->depth]);
}

static void advance(struct machine *m, uint64_t steps)
{
	m->at += steps * m->fde->code_align;
}

/* Instructions that move to the next row; true if it was one. */
static bool run_advance(struct machine *m, uint8_t op)
{
	switch (op) {
	case DW_CFA_set_loc:
		m->at = ray_cfi_address(&m->code, m->fde->encoding, ray_unwinder_vaddr(m->unwinder, m->code.at));
		return true;
	case DW_CFA_advance_loc1:
		advance(m, ray_cursor_fixed(&m->code, 1));
		return true;
	case DW_CFA_advance_loc2:
		advance(m, ray_cursor_fixed(&m->code, 2));
		return true;
	case DW_CFA_advance_loc4:
		advance(m, ray_cursor_fixed(&m->code, 4));
		return true;
	default:
		return false;
	}
}

/* Instructions that say what the CFA is; true if it was one. */
static bool run_cfa(struct machine *m, uint8_t op)
{
	struct ray_cursor *c = &m->code;
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = ray_cursor_uleb(c);
		set_cfa(m, reg, (int64_t)ray_cursor_uleb(c));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = ray_cursor_uleb(c);
		set_cfa(m, reg, (int64_t)((uint64_t)ray_cursor_sleb(c) * (uint64_t)m->fde->data_align));
		return true;
	case DW_CFA_def_cfa_register:
		set_cfa(m, ray_cursor_uleb(c), simple_cfa(m)->offset);
		return true;
	case DW_CFA_def_cfa_offset:
		simple_cfa(m)->offset = (int64_t)ray_cursor_uleb(c);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		simple_cfa(m)->offset = (int64_t)((uint64_t)ray_cursor_sleb(c) * (uint64_t)m->fde->data_align);
		return true;
	case DW_CFA_def_cfa_expression:
		m->row.cfa = read_block(m, RAY_CFI_VAL_EXPR);
		return true;
	default:
		return false;
	}
}

/* The rest: rules of single registers, and the state as a whole. */
static void run_register(struct machine *m, uint8_t op)
{
	struct ray_cursor *c = &m->code;
	/* All of these but the last four begin with a register. */
	uint64_t reg = op == DW_CFA_nop || op == DW_CFA_remember_state || op == DW_CFA_restore_state ||
				       op == DW_CFA_GNU_args_size ?
			       0 :
			       ray_cursor_uleb(c);

	switch (op) {
	case DW_CFA_offset_extended:
		set_offset(m, reg, RAY_CFI_OFFSET, ray_cursor_uleb(c));
		break;
	case DW_CFA_offset_extended_sf:
		set_offset(m, reg, RAY_CFI_OFFSET, (uint64_t)ray_cursor_sleb(c));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		set_offset(m, reg, RAY_CFI_OFFSET, -ray_cursor_uleb(c));
		break;
	case DW_CFA_val_offset:
		set_offset(m, reg, RAY_CFI_VAL_OFFSET, ray_cursor_uleb(c));
		break;
	case DW_CFA_val_offset_sf:
		set_offset(m, reg, RAY_CFI_VAL_OFFSET, (uint64_t)ray_cursor_sleb(c));
		break;
	case DW_CFA_restore_extended:
		restore(m, reg);
		break;
	case DW_CFA_undefined:
		set_rule(m, reg, (struct ray_cfi_rule){ .kind = RAY_CFI_UNDEFINED });
		break;
	case DW_CFA_same_value:
		set_rule(m, reg, (struct ray_cfi_rule){ .kind = RAY_CFI_SAME });
		break;
	case DW_CFA_register: {
		uint64_t other = ray_cursor_uleb(c);

		set_rule(m, reg,
			 (struct ray_cfi_rule){ .kind = other < RAY_UNWIND_REGS ? RAY_CFI_REGISTER : RAY_CFI_UNDEFINED,
						.reg = (uint32_t)other });
		break;
	}
	case DW_CFA_expression:
		set_rule(m, reg, read_block(m, RAY_CFI_EXPR));
		break;
	case DW_CFA_val_expression:
		set_rule(m, reg, read_block(m, RAY_CFI_VAL_EXPR));
		break;
	case DW_CFA_nop:
		break;
	case DW_CFA_remember_state:
		remember(m);
		break;
	case DW_CFA_restore_state:
		recall(m);
		break;
	case DW_CFA_GNU_args_size:
		ray_cursor_uleb(c);
		break;
	default:
		m->bad = true;
	}
}

static void run_one(struct machine *m)
{
	uint8_t op = (uint8_t)ray_cursor_fixed(&m->code, 1);
	uint8_t low = op & 0x3f;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		advance(m, low);
		break;
	case DW_CFA_offset:
		set_offset(m, low, RAY_CFI_OFFSET, ray_cursor_uleb(&m->code));
		break;
	case DW_CFA_restore:
		restore(m, low);
		break;
	default:
		if (!run_advance(m, op) && !run_cfa(m, op))
			run_register(m, op);
	}
	if (m->code.bad)
		m->bad = true;
}

/* Runs until the row that follows the one of pc. The row then holds what was true before. */
static bool run(struct machine *m, const uint8_t *start, const uint8_t *end)
{
	m->code = (struct ray_cursor){ start, end, false };
	while (m->code.at < m->code.end && m->at <= m->pc && !m->bad)
		run_one(m);
	return !m->bad;
}

static void start_machine(struct machine *m, const struct ray_unwinder *u, const struct ray_fde *fde, uint64_t pc)
{
	m->unwinder = u;
	m->fde = fde;
	m->pc = pc;
	m->at = fde->start;
	m->depth = 0;
	m->bad = fde->return_column >= RAY_UNWIND_REGS;
	m->row = (struct ray_cfi_row){ .return_column = (uint32_t)fde->return_column,
				       .is_signal_frame = fde->is_signal_frame };
	m->initial = m->row;
}

enum ray_unwind_result ray_cfi_run(const struct ray_unwinder *u, const struct ray_fde *fde, uint64_t vaddr,
				   struct ray_cfi_row *ret)
{
	struct machine m;

	m.is_brief = false;
	start_machine(&m, u, fde, vaddr);
	if (!run(&m, fde->initial, fde->initial_end))
		return RAY_UNWIND_BAD;
	m.initial = m.row;
	m.depth = 0;
	if (!run(&m, fde->program, fde->program_end))
		return RAY_UNWIND_BAD;
	*ret = m.row;
	return RAY_UNWIND_OK;
}

static struct ray_unwinder *unwinder_of(struct ray_elf *e)
{
	if (!e->unwinder_done) {
		e->unwinder_done = true;
		e->unwinder = ray_unwinder_create(e);
	}
	return e->unwinder;
}

enum ray_unwind_result ray_cfi_find(struct ray_elf *e, uint64_t vaddr, struct ray_cfi_row *ret)
{
	const struct ray_unwinder *u = unwinder_of(e);
	struct ray_fde fde;
	enum ray_unwind_result result;

	if (!u)
		return RAY_UNWIND_NO_ROW;
	result = ray_unwinder_find(u, vaddr, &fde);
	return result == RAY_UNWIND_OK ? ray_cfi_run(u, &fde, vaddr, ret) : result;
}

bool ray_unwind_function(struct ray_elf *e, uint64_t vaddr, uint64_t *start_ret, uint64_t *end_ret)
{
	const struct ray_unwinder *u = unwinder_of(e);
	struct ray_fde fde;

	if (!u || ray_unwinder_find(u, vaddr, &fde) != RAY_UNWIND_OK)
		return false;
	*start_ret = fde.start;
	*end_ret = fde.end;
	return true;
}

/* Up to the entry's own program. Most entries have the CIE of the one before: what comes of that is known. */
static bool begin_entry(struct machine *m, const struct ray_unwinder *u, const struct ray_fde *fde)
{
	if (m->initial_of && m->initial_of == fde->initial) {
		m->at = fde->start;
		m->bad = false;
		copy_row(m, &m->row, &m->initial);
	} else {
		start_machine(m, u, fde, UINT64_MAX);
		m->initial_of = NULL;
		if (!run(m, fde->initial, fde->initial_end))
			return false;
		m->initial = m->row;
		if (m->at == fde->start)
			m->initial_of = fde->initial;
	}
	m->depth = 0;
	m->code = (struct ray_cursor){ fde->program, fde->program_end, false };
	return true;
}

/* The rows of one entry; false when each() has had enough. */
static bool each_of_entry(struct machine *m, const struct ray_unwinder *u, const struct ray_fde *fde,
			  bool (*each)(uint64_t start, uint64_t end, const struct ray_cfi_row *row, void *arg),
			  void *arg)
{
	uint64_t start = fde->start;

	if (!begin_entry(m, u, fde))
		return true;
	while (m->code.at < m->code.end && m->at < fde->end) {
		run_one(m);
		if (m->bad)
			return true;
		/* Nothing but the place changes when a row is finished. */
		if (m->at > start && m->at <= fde->end) {
			if (!each(start, m->at, &m->row, arg))
				return false;
			start = m->at;
		}
	}
	return start >= fde->end || each(start, fde->end, &m->row, arg);
}

void ray_cfi_each(struct ray_elf *e,
		  bool (*each)(uint64_t start, uint64_t end, const struct ray_cfi_row *row, void *arg), void *arg)
{
	const struct ray_unwinder *u = unwinder_of(e);
	struct machine m = { .is_brief = true };
	enum ray_unwind_result result;
	struct ray_fde fde = { 0 };
	size_t left, cost;

	if (!u)
		return;
	/* Sound files have each program once; damaged ones may lead to the same long one again and again. */
	left = ray_unwinder_size(u) * 8 + SMALL_WORK;
	for (size_t i = 0; (result = ray_unwinder_entry(u, i, &fde)) != RAY_UNWIND_NO_ROW; i++) {
		cost = ENTRY_WORK;
		if (result == RAY_UNWIND_OK)
			cost += (size_t)(fde.program_end - fde.program) + (size_t)(fde.initial_end - fde.initial);
		if (cost > left || (result == RAY_UNWIND_OK && !each_of_entry(&m, u, &fde, each, arg)))
			return;
		left -= cost;
	}
}
