/* gen_arith.c - integer arithmetic and comparison, with C's rules on eBPF's registers.
 * SPDX-License-Identifier: MIT
 *
 * eBPF before its fourth version has only unsigned division: signed operands are made positive first, the sign is put
 * back after. INT64_MIN / -1 is INT64_MIN, as two's complement has it. A divisor of 0 is a fault. */
#include <string.h>

#include "engine/gen.h"

bool ray_gen_fits_imm(const struct ray_expr *e)
{
	return e->kind == RAY_EXPR_INTEGER && (int64_t)e->value == (int32_t)e->value;
}

static bool is_signed_operation(const struct ray_type *type)
{
	return !ray_type_is_pointer(type) && ray_type_is_signed(type);
}

/* Without jumps, which the verifier would have to follow: mask is 0, or -1 for a negative number. */
static void sign_mask(struct ray_gen *g, uint8_t mask, uint8_t reg)
{
	ray_gen_emit(g, RAY_MOV_REG(mask, reg));
	ray_gen_emit(g, RAY_ALU_IMM(BPF_ARSH, mask, 63));
}

static void negate_if(struct ray_gen *g, uint8_t mask, uint8_t reg)
{
	ray_gen_emit(g, RAY_ALU_REG(BPF_XOR, reg, mask));
	ray_gen_emit(g, RAY_ALU_REG(BPF_SUB, reg, mask));
}

/* a /= b or a %= b; b is a copy that may be changed. */
static void divide(struct ray_gen *g, uint8_t op, bool is_signed, uint8_t a, uint8_t b)
{
	uint32_t fine = ray_piece_label(g->c);

	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JNE, b, 0), fine);
	ray_gen_emit(g, RAY_MOV_IMM(R1, 0));
	ray_piece_jump(g->c, RAY_JUMP_ALWAYS, ray_gen_fault_label(g, RAY_FAULT_DIVZERO));
	ray_piece_place(g->c, fine);
	if (!is_signed) {
		ray_gen_emit(g, RAY_ALU_REG(op, a, b));
		return;
	}
	sign_mask(g, R3, a);
	negate_if(g, R3, a);
	sign_mask(g, R5, b);
	negate_if(g, R5, b);
	ray_gen_emit(g, RAY_ALU_REG(op, a, b));
	if (op == BPF_DIV) /* the sign of a remainder is the dividend's */
		ray_gen_emit(g, RAY_ALU_REG(BPF_XOR, R3, R5));
	negate_if(g, R3, a);
}

static void divide_constant(struct ray_gen *g, uint8_t op, bool is_signed, uint8_t a, int32_t b)
{
	if (!is_signed && b > 0) {
		ray_gen_emit(g, RAY_ALU_IMM(op, a, b));
	} else if (is_signed && b > 0) {
		sign_mask(g, R3, a);
		negate_if(g, R3, a);
		ray_gen_emit(g, RAY_ALU_IMM(op, a, b));
		negate_if(g, R3, a);
	} else {
		ray_gen_emit(g, RAY_MOV_IMM(R2, b));
		divide(g, op, is_signed, a, R2);
	}
}

static uint8_t alu_of(enum ray_op op, bool is_signed)
{
	switch (op) {
	case RAY_OP_ADD:
		return BPF_ADD;
	case RAY_OP_SUB:
		return BPF_SUB;
	case RAY_OP_MUL:
		return BPF_MUL;
	case RAY_OP_DIV:
		return BPF_DIV;
	case RAY_OP_MOD:
		return BPF_MOD;
	case RAY_OP_AND:
		return BPF_AND;
	case RAY_OP_OR:
		return BPF_OR;
	case RAY_OP_XOR:
		return BPF_XOR;
	case RAY_OP_SHL:
		return BPF_LSH;
	default:
		return is_signed ? BPF_ARSH : BPF_RSH;
	}
}

void ray_gen_arith(struct ray_gen *g, enum ray_op op, const struct ray_type *type, unsigned d, struct ray_gen_operand b)
{
	bool is_signed = is_signed_operation(type);
	bool divides = op == RAY_OP_DIV || op == RAY_OP_MOD;
	uint8_t alu = alu_of(op, is_signed);
	uint8_t a = ray_gen_get(g, d, R4);
	uint8_t other;

	if (b.is_constant && divides) {
		divide_constant(g, alu, is_signed, a, b.constant);
	} else if (b.is_constant) {
		bool shifts = op == RAY_OP_SHL || op == RAY_OP_SHR;

		ray_gen_emit(g, RAY_ALU_IMM(alu, a, shifts ? b.constant & 63 : b.constant));
	} else if (divides) {
		ray_gen_get_into(g, b.d, R2);
		divide(g, alu, is_signed, a, R2);
	} else {
		other = ray_gen_get(g, b.d, R2);
		ray_gen_emit(g, RAY_ALU_REG(alu, a, other));
	}
	ray_gen_normalise(g, a, type);
	ray_gen_set(g, d, a);
}

/* ---- comparison ---- */

static enum ray_op opposite(enum ray_op op)
{
	switch (op) {
	case RAY_OP_EQ:
		return RAY_OP_NE;
	case RAY_OP_NE:
		return RAY_OP_EQ;
	case RAY_OP_LT:
		return RAY_OP_GE;
	case RAY_OP_LE:
		return RAY_OP_GT;
	case RAY_OP_GT:
		return RAY_OP_LE;
	default:
		return RAY_OP_LT;
	}
}

static uint8_t jump_of(enum ray_op op, bool is_signed)
{
	switch (op) {
	case RAY_OP_EQ:
		return BPF_JEQ;
	case RAY_OP_NE:
		return BPF_JNE;
	case RAY_OP_LT:
		return is_signed ? BPF_JSLT : BPF_JLT;
	case RAY_OP_LE:
		return is_signed ? BPF_JSLE : BPF_JLE;
	case RAY_OP_GT:
		return is_signed ? BPF_JSGT : BPF_JGT;
	default:
		return is_signed ? BPF_JSGE : BPF_JGE;
	}
}

static bool is_null(const struct ray_expr *e)
{
	while (e->kind == RAY_EXPR_CAST)
		e = e->a;
	return e->kind == RAY_EXPR_INTEGER && e->value == 0;
}

/* Both at their positions; NULL is no string's equal and sorts before all. */
static void compare_strings(struct ray_gen *g, unsigned d)
{
	ray_gen_get_into(g, d, R2);
	ray_gen_get_into(g, d + 1, R3);
	ray_gen_call(g, "ray_strcmp");
	ray_gen_check_fault(g);
}

static bool is_execname(const struct ray_expr *e)
{
	return e->kind == RAY_EXPR_VARIABLE && e->variable->scope == RAY_SCOPE_BUILTIN &&
	       e->variable->builtin == RAY_BUILTIN_EXECNAME;
}

/* execname == "node": two words, without a loop over bytes. It is what most predicates ask. */
static bool compare_execname(struct ray_gen *g, const struct ray_expr *e, bool if_true, uint32_t label)
{
	const struct ray_expr *text = is_execname(e->a) ? e->b : e->a;
	bool if_equal = (e->op == RAY_OP_EQ) == if_true;
	uint64_t words[2] = { 0, 0 };
	uint32_t at, differs;

	if ((e->op != RAY_OP_EQ && e->op != RAY_OP_NE) || (!is_execname(e->a) && !is_execname(e->b)) ||
	    text->kind != RAY_EXPR_STRING || text->length >= sizeof(words))
		return false;
	memcpy(words, text->text, text->length);
	at = ray_gen_temp(g);
	differs = if_equal ? ray_piece_label(g->c) : label;
	ray_piece_load_u64(g->c, R2, at);
	ray_gen_call(g, "ray_process_name");
	for (int i = 0; i < 2; i++) {
		ray_gen_slot_load(g, BPF_DW, R1, at + 8 * i);
		ray_piece_load_u64(g->c, R2, words[i]);
		if (i == 1 && if_equal)
			ray_piece_jump(g->c, RAY_JUMP_REG(BPF_JEQ, R1, R2), label);
		else
			ray_piece_jump(g->c, RAY_JUMP_REG(BPF_JNE, R1, R2), differs);
	}
	if (if_equal)
		ray_piece_place(g->c, differs);
	return true;
}

void ray_gen_compare_branch(struct ray_gen *g, const struct ray_expr *e, unsigned d, bool if_true, uint32_t label)
{
	enum ray_op op = if_true ? e->op : opposite(e->op);
	bool is_string = ray_type_is_string(e->a->type) || ray_type_is_string(e->b->type);
	bool is_signed = is_signed_operation(e->a->type) && is_signed_operation(e->b->type);
	uint8_t a;

	if (is_string && compare_execname(g, e, if_true, label))
		return;
	ray_gen_expr(g, e->a, d);
	if (is_string && !is_null(e->a) && !is_null(e->b)) {
		ray_gen_expr(g, e->b, d + 1);
		compare_strings(g, d);
		ray_piece_jump(g->c, RAY_JUMP_IMM(jump_of(op, true), R0, 0), label);
		return;
	}
	if (ray_gen_fits_imm(e->b)) {
		a = ray_gen_get(g, d, R1);
		ray_piece_jump(g->c, RAY_JUMP_IMM(jump_of(op, is_signed), a, (int32_t)e->b->value), label);
		return;
	}
	ray_gen_expr(g, e->b, d + 1);
	a = ray_gen_get(g, d, R1);
	ray_piece_jump(g->c, RAY_JUMP_REG(jump_of(op, is_signed), a, ray_gen_get(g, d + 1, R2)), label);
}
