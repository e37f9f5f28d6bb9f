/* gen_expr.c - expressions: a handler for each kind that the checker leaves.
 * SPDX-License-Identifier: MIT */
#include "engine/gen.h"

static void gen_integer(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	ray_gen_set_u64(g, d, e->value);
}

static void gen_string(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	ray_gen_set_u64(g, d, RAY_SCRATCH | ray_plan_string(g->plan, e->text, e->length));
}

static void gen_place_value(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	struct ray_place p;

	ray_gen_place(g, e, d, &p);
	ray_gen_place_load(g, &p, d);
}

static void gen_variable(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	if (e->variable->scope == RAY_SCOPE_BUILTIN)
		ray_gen_builtin(g, e, d);
	else
		gen_place_value(g, e, d);
}

static void gen_element(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	if (e->variable->scope == RAY_SCOPE_BUILTIN)
		ray_gen_uregs(g, e, d);
	else
		gen_place_value(g, e, d);
}

static void read_string(struct ray_gen *g, unsigned d)
{
	ray_gen_get_into(g, d, R3);
	ray_piece_load_u64(g->c, R2, ray_gen_temp(g));
	ray_gen_call(g, "ray_str_read");
	ray_gen_set(g, d, R0);
	ray_gen_check_fault(g);
}

static void gen_arg(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	uint8_t reg = ray_gen_target(d, R1);

	if (e->value >= RAY_ARGS) {
		ray_gen_set_u64(g, d, 0);
		return;
	}
	ray_gen_emit(g, RAY_LOAD(BPF_DW, reg, SLOT, SLOT_AT(args) + (int)e->value * 8));
	ray_gen_normalise(g, reg, e->type);
	ray_gen_set(g, d, reg);
	if (ray_type_is_string(e->type))
		read_string(g, d);
}

/* 0 or 1, from a branch. */
static void gen_truth(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	uint32_t no = ray_piece_label(g->c), end = ray_piece_label(g->c);

	ray_gen_branch(g, e, d, false, no);
	ray_gen_set_u64(g, d, 1);
	ray_piece_jump(g->c, RAY_JUMP_ALWAYS, end);
	ray_piece_place(g->c, no);
	ray_gen_set_u64(g, d, 0);
	ray_piece_place(g->c, end);
}

/* ++ and --: pointers step by their target's size. */
static void gen_step(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	const struct ray_type *type = ray_type_resolve(e->a->type);
	bool is_post = e->op == RAY_OP_POST_INC || e->op == RAY_OP_POST_DEC;
	bool is_down = e->op == RAY_OP_PRE_DEC || e->op == RAY_OP_POST_DEC;
	uint64_t step = type->kind == RAY_TYPE_POINTER ? ray_type_size(type->target) : 1;
	struct ray_gen_operand by = { .is_constant = true, .constant = step ? step : 1 };
	struct ray_place p;
	unsigned next = ray_gen_place(g, e->a, d + 1, &p);

	/* The result waits at d while the new value is stored from `next`. */
	ray_gen_place_load(g, &p, d);
	ray_gen_set(g, next, ray_gen_get(g, d, R1));
	ray_gen_arith(g, is_down ? RAY_OP_SUB : RAY_OP_ADD, e->a->type, next, by);
	if (!is_post)
		ray_gen_set(g, d, ray_gen_get(g, next, R1));
	ray_gen_place_store(g, &p, next, next + 1);
}

static void gen_unary(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	uint8_t reg;

	switch (e->op) {
	case RAY_OP_NOT:
		gen_truth(g, e, d);
		return;
	case RAY_OP_PRE_INC:
	case RAY_OP_PRE_DEC:
	case RAY_OP_POST_INC:
	case RAY_OP_POST_DEC:
		gen_step(g, e, d);
		return;
	default:
		break;
	}
	ray_gen_expr(g, e->a, d);
	if (e->op == RAY_OP_PLUS)
		return;
	reg = ray_gen_get(g, d, R1);
	ray_gen_emit(g, e->op == RAY_OP_NEGATE ? RAY_INSN(BPF_ALU64 | BPF_NEG, reg, 0, 0, 0) :
						 RAY_ALU_IMM(BPF_XOR, reg, -1));
	ray_gen_normalise(g, reg, e->type);
	ray_gen_set(g, d, reg);
}

static void convert(struct ray_gen *g, unsigned d, const struct ray_type *type)
{
	uint8_t reg = ray_gen_get(g, d, R1);

	ray_gen_normalise(g, reg, type);
	ray_gen_set(g, d, reg);
}

/* A constant stays one; all else is evaluated at d. */
static struct ray_gen_operand gen_operand(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	if (ray_gen_fits_imm(e))
		return (struct ray_gen_operand){ .is_constant = true, .constant = (int32_t)e->value };
	ray_gen_expr(g, e, d);
	return (struct ray_gen_operand){ .d = d };
}

static bool is_truth(enum ray_op op)
{
	return op >= RAY_OP_EQ && op <= RAY_OP_LOGIC_XOR;
}

static void gen_binary(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	struct ray_gen_operand b;
	/* A shift's operand decides how its bits come in, whatever the result is called. */
	const struct ray_type *type = e->op == RAY_OP_SHR ? e->a->type : e->type;

	if (is_truth(e->op)) {
		gen_truth(g, e, d);
		return;
	}
	ray_gen_expr(g, e->a, d);
	b = gen_operand(g, e->b, d + 1);
	ray_gen_arith(g, e->op, type, d, b);
	if (type != e->type)
		convert(g, d, e->type);
}

/* a op= b: a is read first. Computed in the type that C's conversions give the two (b has been converted to it), then
 * made a's again. */
static void gen_compound(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	bool is_own = e->op == RAY_OP_SHL || e->op == RAY_OP_SHR || ray_type_is_pointer(e->a->type);
	const struct ray_type *type = is_own ? e->a->type : e->b->type;
	struct ray_gen_operand b;
	struct ray_place p;
	unsigned next = ray_gen_place(g, e->a, d + 1, &p);

	ray_gen_place_load(g, &p, next);
	if (!is_own)
		convert(g, next, type);
	b = gen_operand(g, e->b, next + 1);
	ray_gen_arith(g, e->op, type, next, b);
	if (!is_own)
		convert(g, next, e->a->type);
	ray_gen_set(g, d, ray_gen_get(g, next, R1));
	ray_gen_place_store(g, &p, d, next);
}

static void gen_assign(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	struct ray_place p;
	unsigned next;

	if (e->op != RAY_OP_NONE) {
		gen_compound(g, e, d);
		return;
	}
	ray_gen_expr(g, e->b, d);
	next = ray_gen_place(g, e->a, d + 1, &p);
	if (!ray_type_is_by_reference(e->type))
		convert(g, d, e->a->type);
	ray_gen_place_store(g, &p, d, next);
}

static void gen_cond(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	uint32_t otherwise = ray_piece_label(g->c), end = ray_piece_label(g->c);

	ray_gen_branch(g, e->a, d, false, otherwise);
	ray_gen_expr(g, e->b, d);
	ray_piece_jump(g->c, RAY_JUMP_ALWAYS, end);
	ray_piece_place(g->c, otherwise);
	ray_gen_expr(g, e->c, d);
	ray_piece_place(g->c, end);
}

static void gen_comma(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	ray_gen_expr(g, e->a, d);
	ray_gen_expr(g, e->b, d);
}

static bool is_zero(const struct ray_expr *e)
{
	while (e->kind == RAY_EXPR_CAST)
		e = e->a;
	return e->kind == RAY_EXPR_INTEGER && e->value == 0;
}

static void gen_cast(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	const struct ray_type *to = ray_type_resolve(e->type);
	const struct ray_type *from = ray_type_resolve(e->a->type);
	uint8_t reg;

	if (to->kind == RAY_TYPE_VOID) {
		ray_gen_expr(g, e->a, d);
		return;
	}
	if (to->kind == RAY_TYPE_INTEGER && to->flags & RAY_TYPE_BOOL) {
		uint32_t end = ray_piece_label(g->c);

		ray_gen_expr(g, e->a, d);
		reg = ray_gen_get(g, d, R1);
		ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JEQ, reg, 0), end);
		ray_gen_emit(g, RAY_MOV_IMM(reg, 1));
		ray_piece_place(g->c, end);
		ray_gen_set(g, d, reg);
		return;
	}
	ray_gen_expr(g, e->a, d);
	if (to->kind == RAY_TYPE_STRING) {
		if (from->kind != RAY_TYPE_STRING && !is_zero(e->a))
			read_string(g, d);
		return;
	}
	if (to->size >= 8 || (to->kind != RAY_TYPE_INTEGER && to->kind != RAY_TYPE_ENUM))
		return;
	reg = ray_gen_get(g, d, R1);
	ray_gen_normalise(g, reg, e->type);
	ray_gen_set(g, d, reg);
}

static void gen_address(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	struct ray_place p;

	ray_gen_place(g, e->a, d, &p);
	ray_gen_place_address(g, &p, d);
}

typedef void gen_fn(struct ray_gen *g, const struct ray_expr *e, unsigned d);

static gen_fn *const handlers[] = {
	[RAY_EXPR_INTEGER] = gen_integer,
	[RAY_EXPR_STRING] = gen_string,
	[RAY_EXPR_VARIABLE] = gen_variable,
	[RAY_EXPR_ELEMENT] = gen_element,
	[RAY_EXPR_ARG] = gen_arg,
	[RAY_EXPR_UNARY] = gen_unary,
	[RAY_EXPR_BINARY] = gen_binary,
	[RAY_EXPR_ASSIGN] = gen_assign,
	[RAY_EXPR_COND] = gen_cond,
	[RAY_EXPR_COMMA] = gen_comma,
	[RAY_EXPR_CAST] = gen_cast,
	[RAY_EXPR_DEREF] = gen_place_value,
	[RAY_EXPR_ADDRESS] = gen_address,
	[RAY_EXPR_MEMBER] = gen_place_value,
	[RAY_EXPR_CALL] = ray_gen_subroutine,
};

void ray_gen_expr(struct ray_gen *g, const struct ray_expr *e, unsigned d)
{
	gen_fn *handler = e->kind < sizeof(handlers) / sizeof(handlers[0]) ? handlers[e->kind] : NULL;

	if (g->err)
		return;
	if (!handler)
		ray_gen_fail(g, &e->where, "internal: an expression that was not checked");
	else
		handler(g, e, d);
}

/* a ^^ b: true if exactly one is. */
static void branch_xor(struct ray_gen *g, const struct ray_expr *e, unsigned d, bool if_true, uint32_t label)
{
	gen_truth(g, e->a, d);
	gen_truth(g, e->b, d + 1);
	ray_piece_jump(g->c,
		       RAY_JUMP_REG(if_true ? BPF_JNE : BPF_JEQ, ray_gen_get(g, d, R1), ray_gen_get(g, d + 1, R2)),
		       label);
}

static void branch_and_or(struct ray_gen *g, const struct ray_expr *e, unsigned d, bool if_true, uint32_t label)
{
	bool is_or = e->op == RAY_OP_LOGIC_OR;
	uint32_t skip;

	if (is_or == if_true) { /* the first operand alone can decide for the label */
		ray_gen_branch(g, e->a, d, if_true, label);
		ray_gen_branch(g, e->b, d, if_true, label);
		return;
	}
	skip = ray_piece_label(g->c);
	ray_gen_branch(g, e->a, d, !if_true, skip);
	ray_gen_branch(g, e->b, d, if_true, label);
	ray_piece_place(g->c, skip);
}

void ray_gen_branch(struct ray_gen *g, const struct ray_expr *e, unsigned d, bool if_true, uint32_t label)
{
	if (e->kind == RAY_EXPR_UNARY && e->op == RAY_OP_NOT) {
		ray_gen_branch(g, e->a, d, !if_true, label);
	} else if (e->kind == RAY_EXPR_BINARY && e->op >= RAY_OP_EQ && e->op <= RAY_OP_GE) {
		ray_gen_compare_branch(g, e, d, if_true, label);
	} else if (e->kind == RAY_EXPR_BINARY && e->op == RAY_OP_LOGIC_XOR) {
		branch_xor(g, e, d, if_true, label);
	} else if (e->kind == RAY_EXPR_BINARY && (e->op == RAY_OP_LOGIC_AND || e->op == RAY_OP_LOGIC_OR)) {
		branch_and_or(g, e, d, if_true, label);
	} else {
		/* Constants too: the verifier refuses code that no jump leads to, and removes what is never taken. */
		ray_gen_expr(g, e, d);
		ray_piece_jump(g->c, RAY_JUMP_IMM(if_true ? BPF_JNE : BPF_JEQ, ray_gen_get(g, d, R1), 0), label);
	}
}

static void find_change(void *arg, const struct ray_expr *e)
{
	if (e->kind == RAY_EXPR_ASSIGN ||
	    (e->kind == RAY_EXPR_UNARY && e->op >= RAY_OP_PRE_INC && e->op <= RAY_OP_POST_DEC))
		*(bool *)arg = true;
}

static bool changes_something(const struct ray_expr *e)
{
	bool does = false;

	ray_plan_walk(e, find_change, &does);
	return does;
}

/* x++, x += n on a global: atomic, so that CPUs that count in one variable lose nothing. */
static bool is_atomic_step(const struct ray_expr *e)
{
	const struct ray_expr *a = e->a;
	uint64_t size;

	if (!a || a->kind != RAY_EXPR_VARIABLE || a->variable->scope != RAY_SCOPE_GLOBAL ||
	    ray_type_resolve(a->type)->kind != RAY_TYPE_INTEGER)
		return false;
	size = ray_type_size(a->type);
	if (size != 4 && size != 8)
		return false;
	if (e->kind == RAY_EXPR_ASSIGN)
		return (e->op == RAY_OP_ADD || e->op == RAY_OP_SUB) && !changes_something(e->b);
	return e->kind == RAY_EXPR_UNARY && e->op >= RAY_OP_PRE_INC && e->op <= RAY_OP_POST_DEC;
}

void ray_gen_effect(struct ray_gen *g, const struct ray_expr *e)
{
	bool is_down = e->op == RAY_OP_SUB || e->op == RAY_OP_PRE_DEC || e->op == RAY_OP_POST_DEC;
	uint8_t code;

	if (!is_atomic_step(e)) {
		ray_gen_expr(g, e, 0);
		return;
	}
	if (e->kind == RAY_EXPR_ASSIGN)
		ray_gen_expr(g, e->b, 0);
	else
		ray_gen_set_u64(g, 0, 1);
	if (is_down)
		ray_gen_emit(g, RAY_INSN(BPF_ALU64 | BPF_NEG, R6, 0, 0, 0));
	code = ray_gen_size_code(ray_type_size(e->a->type));
	ray_piece_load_map_value(g->c, R1, g->plan->globals_map,
				 g->plan->variables[RAY_SCOPE_GLOBAL][e->a->variable->id].offset);
	ray_gen_emit(g, RAY_ATOMIC(code, BPF_ADD, R1, R6, 0));
}
