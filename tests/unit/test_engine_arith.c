/* test_engine_arith.c - random expressions, computed by generated code and by C.
 * SPDX-License-Identifier: MIT
 *
 * The instructions are run by a small interpreter of eBPF, so that no right and no kernel is needed; tests/node has
 * the same through the kernel. Expressions are made the way the checker leaves them: operands converted to one type,
 * results of that type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/internal.h"

enum { VARIABLES = 16, ROUNDS = 4000, STEPS_MAX = 100000 };

struct bench {
	struct ray_arena *arena;
	struct ray_types *types;
	struct ray_program program;
	struct ray_clause clause;
	struct ray_statement statement;
	struct ray_variable variables[VARIABLES], result;
	uint64_t values[VARIABLES];
	struct ray_trace trace;
	uint8_t *slot;
	uint64_t random;
};

static uint64_t next_random(struct bench *b)
{
	b->random ^= b->random << 13;
	b->random ^= b->random >> 7;
	b->random ^= b->random << 17;
	return b->random;
}

static uint32_t below(struct bench *b, uint32_t n)
{
	return next_random(b) % n;
}

/* ---- the interpreter ---- */

static uint64_t alu(uint8_t op, uint64_t a, uint64_t b)
{
	switch (op) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return b ? a / b : 0;
	case BPF_MOD:
		return b ? a % b : a;
	case BPF_AND:
		return a & b;
	case BPF_OR:
		return a | b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return a << (b & 63);
	case BPF_RSH:
		return a >> (b & 63);
	case BPF_ARSH:
		return (uint64_t)((int64_t)a >> (b & 63));
	case BPF_NEG:
		return -a;
	default:
		assert_int_equal(op, BPF_MOV);
		return b;
	}
}

static bool jumps(uint8_t op, uint64_t a, uint64_t b)
{
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (op) {
	case BPF_JA:
		return true;
	case BPF_JEQ:
		return a == b;
	case BPF_JNE:
		return a != b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	case BPF_JLT:
		return a < b;
	case BPF_JLE:
		return a <= b;
	case BPF_JSGT:
		return sa > sb;
	case BPF_JSGE:
		return sa >= sb;
	case BPF_JSLT:
		return sa < sb;
	default:
		assert_int_equal(op, BPF_JSLE);
		return sa <= sb;
	}
}

static size_t width(uint8_t code)
{
	switch (BPF_SIZE(code)) {
	case BPF_B:
		return 1;
	case BPF_H:
		return 2;
	case BPF_W:
		return 4;
	default:
		return 8;
	}
}

/* Runs the piece over the slot. Of the runtime, arithmetic calls only what tells a fault. */
static void run(const struct ray_piece *p, uint8_t *slot)
{
	uint64_t r[11] = { 0 };
	size_t pc = 0;

	r[2] = (uintptr_t)slot;
	for (int step = 0; step < STEPS_MAX; step++) {
		const struct bpf_insn *i = &p->insns.at[pc++];
		uint64_t operand = BPF_SRC(i->code) == BPF_X ? r[i->src_reg] : (uint64_t)(int64_t)i->imm;

		switch (BPF_CLASS(i->code)) {
		case BPF_ALU64:
			r[i->dst_reg] = alu(BPF_OP(i->code), r[i->dst_reg], operand);
			break;
		case BPF_ALU:
			r[i->dst_reg] = (uint32_t)alu(BPF_OP(i->code), (uint32_t)r[i->dst_reg], (uint32_t)operand);
			break;
		case BPF_LD:
			r[i->dst_reg] = (uint32_t)i->imm | (uint64_t)(uint32_t)p->insns.at[pc++].imm << 32;
			break;
		case BPF_LDX:
			operand = 0;
			memcpy(&operand, (void *)(uintptr_t)(r[i->src_reg] + i->off), width(i->code));
			r[i->dst_reg] = operand;
			break;
		case BPF_STX:
			memcpy((void *)(uintptr_t)(r[i->dst_reg] + i->off), &r[i->src_reg], width(i->code));
			break;
		case BPF_ST:
			operand = (uint64_t)(int64_t)i->imm;
			memcpy((void *)(uintptr_t)(r[i->dst_reg] + i->off), &operand, width(i->code));
			break;
		default:
			if (BPF_OP(i->code) == BPF_EXIT)
				return;
			if (BPF_OP(i->code) == BPF_CALL)
				((struct ray_slot *)slot)->fault = (uint32_t)r[3];
			else if (jumps(BPF_OP(i->code), r[i->dst_reg], operand))
				pc += i->off;
		}
		assert_in_range(pc, 0, p->insns.n - 1);
	}
	fail_msg("the code does not end");
}

/* ---- expressions, as the checker leaves them ---- */

static const enum ray_basic all_types[] = { RAY_BASIC_SCHAR, RAY_BASIC_UCHAR, RAY_BASIC_SHORT, RAY_BASIC_USHORT,
					    RAY_BASIC_INT,   RAY_BASIC_UINT,  RAY_BASIC_LONG,  RAY_BASIC_ULONG };

static const struct ray_type *any_type(struct bench *b)
{
	return ray_type_basic(b->types, all_types[below(b, 8)]);
}

static const struct ray_type *wide_type(struct bench *b)
{
	return ray_type_basic(b->types, all_types[4 + below(b, 4)]);
}

static uint64_t fit(uint64_t value, const struct ray_type *type)
{
	unsigned shift = 64 - 8 * ray_type_size(type);

	return ray_type_is_signed(type) ? (uint64_t)((int64_t)(value << shift) >> shift) : value << shift >> shift;
}

static uint64_t interesting(struct bench *b)
{
	static const uint64_t edges[] = { 0,	      1,	 2,	     UINT64_MAX, INT64_MAX,
					  1ULL << 63, INT32_MAX, 0x80000000, UINT32_MAX, 0x7fffffffff,
					  0x80,	      0xff,	 0x8000,     10 };

	return below(b, 2) ? edges[below(b, sizeof(edges) / sizeof(edges[0]))] : next_random(b) >> below(b, 64);
}

static struct ray_expr *node(struct bench *b, enum ray_expr_kind kind, const struct ray_type *type)
{
	struct ray_expr *e = ray_arena_alloc(b->arena, sizeof(*e));

	e->kind = kind;
	e->type = type;
	return e;
}

static struct ray_expr *make(struct bench *b, const struct ray_type *type, int depth);

static struct ray_expr *make_leaf(struct bench *b, const struct ray_type *type)
{
	struct ray_expr *e, *cast;

	if (below(b, 3) == 0) {
		e = node(b, RAY_EXPR_INTEGER, type);
		e->value = fit(interesting(b), type);
		return e;
	}
	e = node(b, RAY_EXPR_VARIABLE, NULL);
	e->variable = &b->variables[below(b, VARIABLES)];
	e->type = e->variable->type;
	cast = node(b, RAY_EXPR_CAST, type);
	cast->a = e;
	return cast;
}

static struct ray_expr *make_binary(struct bench *b, const struct ray_type *type, int depth)
{
	struct ray_expr *e = node(b, RAY_EXPR_BINARY, type);

	e->op = RAY_OP_ADD + below(b, RAY_OP_SHR - RAY_OP_ADD + 1);
	e->a = make(b, type, depth - 1);
	e->b = make(b, e->op >= RAY_OP_SHL ? wide_type(b) : type, depth - 1);
	return e;
}

static struct ray_expr *make_truth(struct bench *b, int depth)
{
	struct ray_expr *e = node(b, RAY_EXPR_BINARY, ray_type_basic(b->types, RAY_BASIC_INT));
	const struct ray_type *type = wide_type(b);

	e->op = RAY_OP_EQ + below(b, RAY_OP_LOGIC_XOR - RAY_OP_EQ + 1);
	e->a = make(b, type, depth - 1);
	e->b = make(b, e->op >= RAY_OP_LOGIC_AND ? wide_type(b) : type, depth - 1);
	return e;
}

static struct ray_expr *make_lvalue_change(struct bench *b, const struct ray_type *type, int depth)
{
	struct ray_expr *cast = node(b, RAY_EXPR_CAST, type), *place = node(b, RAY_EXPR_VARIABLE, NULL), *e;

	place->variable = &b->variables[below(b, VARIABLES)];
	place->type = place->variable->type;
	if (below(b, 2)) {
		e = node(b, RAY_EXPR_UNARY, place->type);
		e->op = RAY_OP_PRE_INC + below(b, 4);
	} else {
		e = node(b, RAY_EXPR_ASSIGN, place->type);
		e->op = below(b, 3) ? RAY_OP_ADD + below(b, RAY_OP_SHR) : RAY_OP_NONE;
		e->b = make(b, e->op == RAY_OP_NONE ? place->type : wide_type(b), depth - 1);
	}
	e->a = place;
	cast->a = e;
	return cast;
}

static struct ray_expr *make(struct bench *b, const struct ray_type *type, int depth)
{
	const struct ray_type *from = wide_type(b);
	struct ray_expr *e;

	if (depth <= 0)
		return make_leaf(b, type);
	if (ray_type_size(type) < 4) {
		e = node(b, RAY_EXPR_CAST, type);
		e->a = make(b, from, depth - 1);
		return e;
	}
	switch (below(b, 10)) {
	case 0:
		e = node(b, RAY_EXPR_UNARY, type);
		e->op = below(b, 2) ? RAY_OP_NEGATE : RAY_OP_INVERT;
		e->a = make(b, type, depth - 1);
		return e;
	case 1:
		e = node(b, RAY_EXPR_CAST, type);
		e->a = node(b, RAY_EXPR_UNARY, ray_type_basic(b->types, RAY_BASIC_INT));
		e->a->op = RAY_OP_NOT;
		e->a->a = make(b, from, depth - 1);
		return e;
	case 2:
		e = node(b, RAY_EXPR_CAST, type);
		e->a = node(b, RAY_EXPR_CAST, any_type(b));
		e->a->a = make(b, from, depth - 1);
		return e;
	case 3:
		e = node(b, RAY_EXPR_COND, type);
		e->a = make_truth(b, depth - 1);
		e->b = make(b, type, depth - 1);
		e->c = make(b, type, depth - 1);
		return e;
	case 4:
		e = node(b, RAY_EXPR_CAST, type);
		e->a = make_truth(b, depth - 1);
		return e;
	case 5:
		return make_lvalue_change(b, type, depth);
	case 6:
		e = node(b, RAY_EXPR_COMMA, type);
		e->a = make_lvalue_change(b, from, depth - 1);
		e->b = make(b, type, depth - 1);
		return e;
	default:
		return make_binary(b, type, depth);
	}
}

/* ---- the reference ---- */

struct outcome {
	uint64_t values[VARIABLES];
	bool divided_by_zero;
};

static uint64_t compute(struct outcome *o, enum ray_op op, const struct ray_type *type, uint64_t a, uint64_t b)
{
	bool is_signed = ray_type_is_signed(type);

	switch (op) {
	case RAY_OP_ADD:
		return a + b;
	case RAY_OP_SUB:
		return a - b;
	case RAY_OP_MUL:
		return a * b;
	case RAY_OP_DIV:
	case RAY_OP_MOD:
		if (!b) {
			o->divided_by_zero = true;
			return 0;
		}
		if (is_signed && b == UINT64_MAX)
			return op == RAY_OP_DIV ? -a : 0;
		if (is_signed)
			return (uint64_t)(op == RAY_OP_DIV ? (int64_t)a / (int64_t)b : (int64_t)a % (int64_t)b);
		return op == RAY_OP_DIV ? a / b : a % b;
	case RAY_OP_AND:
		return a & b;
	case RAY_OP_OR:
		return a | b;
	case RAY_OP_XOR:
		return a ^ b;
	case RAY_OP_SHL:
		return a << (b & 63);
	case RAY_OP_SHR:
		return is_signed ? (uint64_t)((int64_t)a >> (b & 63)) : a >> (b & 63);
	case RAY_OP_EQ:
		return a == b;
	case RAY_OP_NE:
		return a != b;
	case RAY_OP_LT:
		return is_signed ? (int64_t)a < (int64_t)b : a < b;
	case RAY_OP_LE:
		return is_signed ? (int64_t)a <= (int64_t)b : a <= b;
	case RAY_OP_GT:
		return is_signed ? (int64_t)a > (int64_t)b : a > b;
	case RAY_OP_GE:
		return is_signed ? (int64_t)a >= (int64_t)b : a >= b;
	default:
		return !a != !b;
	}
}

static uint64_t evaluate(struct bench *b, struct outcome *o, const struct ray_expr *e);

static uint64_t change(struct bench *b, struct outcome *o, const struct ray_expr *e)
{
	uint64_t *place = &o->values[e->a->variable - b->variables];
	const struct ray_type *type = e->a->type;
	uint64_t right, old;

	if (e->kind == RAY_EXPR_ASSIGN) {
		bool is_own = e->op == RAY_OP_SHL || e->op == RAY_OP_SHR;

		old = *place;
		right = evaluate(b, o, e->b);
		if (o->divided_by_zero)
			return 0;
		if (e->op != RAY_OP_NONE) {
			const struct ray_type *in = is_own ? type : e->b->type;

			right = fit(compute(o, e->op, in, fit(old, in), right), in);
			if (o->divided_by_zero)
				return 0;
		}
		return *place = fit(right, type);
	}
	old = *place;
	*place = fit(e->op == RAY_OP_PRE_INC || e->op == RAY_OP_POST_INC ? old + 1 : old - 1, type);
	return e->op == RAY_OP_PRE_INC || e->op == RAY_OP_PRE_DEC ? *place : old;
}

static uint64_t evaluate_binary(struct bench *b, struct outcome *o, const struct ray_expr *e)
{
	uint64_t left = evaluate(b, o, e->a), right;

	if (o->divided_by_zero)
		return 0;
	if (e->op == RAY_OP_LOGIC_AND && !left)
		return 0;
	if (e->op == RAY_OP_LOGIC_OR && left)
		return 1;
	right = evaluate(b, o, e->b);
	if (o->divided_by_zero)
		return 0;
	if (e->op == RAY_OP_LOGIC_AND || e->op == RAY_OP_LOGIC_OR)
		return right != 0;
	return fit(compute(o, e->op, e->a->type, left, right), e->type);
}

static uint64_t evaluate(struct bench *b, struct outcome *o, const struct ray_expr *e)
{
	uint64_t a;

	if (o->divided_by_zero)
		return 0;
	switch (e->kind) {
	case RAY_EXPR_INTEGER:
		return e->value;
	case RAY_EXPR_VARIABLE:
		return o->values[e->variable - b->variables];
	case RAY_EXPR_CAST:
		return fit(evaluate(b, o, e->a), e->type);
	case RAY_EXPR_UNARY:
		if (e->op >= RAY_OP_PRE_INC)
			return change(b, o, e);
		a = evaluate(b, o, e->a);
		return e->op == RAY_OP_NOT ? !a : fit(e->op == RAY_OP_NEGATE ? -a : ~a, e->type);
	case RAY_EXPR_ASSIGN:
		return change(b, o, e);
	case RAY_EXPR_COND:
		a = evaluate(b, o, e->a);
		return o->divided_by_zero ? 0 : evaluate(b, o, a ? e->b : e->c);
	case RAY_EXPR_COMMA:
		evaluate(b, o, e->a);
		return evaluate(b, o, e->b);
	default:
		return evaluate_binary(b, o, e);
	}
}

/* ---- the comparison ---- */

static uint64_t read_variable(struct bench *b, const struct ray_variable *v)
{
	uint64_t value = 0;

	memcpy(&value, b->slot + b->trace.plan->variables[RAY_SCOPE_CLAUSE][v->id].offset, ray_type_size(v->type));
	return fit(value, v->type);
}

/* result = expression, in one clause. */
static void compare_once(struct bench *b)
{
	struct ray_piece piece = { .name = "test" };
	struct ray_expr *assign = node(b, RAY_EXPR_ASSIGN, b->result.type),
			*target = node(b, RAY_EXPR_VARIABLE, b->result.type);
	struct outcome o = { .divided_by_zero = false };
	struct ray_slot *slot = (struct ray_slot *)b->slot;
	uint64_t expected;

	target->variable = &b->result;
	assign->a = target;
	assign->b = make(b, b->result.type, 1 + below(b, 6));
	b->statement.expr = assign;
	memset(b->slot, 0, b->trace.plan->slot_size);
	for (int i = 0; i < VARIABLES; i++) {
		o.values[i] = fit(interesting(b), b->variables[i].type);
		memcpy(b->slot + b->trace.plan->variables[RAY_SCOPE_CLAUSE][i].offset, &o.values[i],
		       ray_type_size(b->variables[i].type));
	}
	assert_null(ray_gen_clause(&b->trace, &b->clause, &piece));
	run(&piece, b->slot);
	expected = evaluate(b, &o, assign->b);
	assert_int_equal(slot->fault, o.divided_by_zero ? RAY_FAULT_DIVZERO : 0);
	if (!o.divided_by_zero)
		assert_int_equal(read_variable(b, &b->result), expected);
	for (int i = 0; i < VARIABLES && !o.divided_by_zero; i++)
		assert_int_equal(read_variable(b, &b->variables[i]), o.values[i]);
	ray_piece_deinit(&piece);
}

static int set_up(void **state)
{
	static struct bench b;
	static struct ray_trace_options options;

	b.random = 0x9e3779b97f4a7c15ULL;
	b.arena = ray_arena_create();
	assert_null(ray_types_create(b.arena, &b.types));
	ray_trace_options_init(&options);
	b.program.types = b.types;
	b.program.arena = b.arena;
	for (int i = 0; i < VARIABLES; i++) {
		b.variables[i] = (struct ray_variable){ .scope = RAY_SCOPE_CLAUSE, .id = i };
		b.variables[i].type = ray_type_basic(b.types, all_types[i % 8]);
		ray_vec_push(&b.program.variables[RAY_SCOPE_CLAUSE], &b.variables[i]);
	}
	b.result = (struct ray_variable){ .scope = RAY_SCOPE_CLAUSE, .id = VARIABLES };
	b.result.type = ray_type_basic(b.types, RAY_BASIC_LONG);
	ray_vec_push(&b.program.variables[RAY_SCOPE_CLAUSE], &b.result);
	b.statement.kind = RAY_STATEMENT_EXPR;
	b.clause.statements = &b.statement;
	b.clause.statement_count = 1;
	ray_vec_push(&b.program.clauses, &b.clause);
	assert_null(ray_plan_create(&b.program, &options, b.arena, &b.trace.plan));
	b.slot = malloc(b.trace.plan->slot_size);
	*state = &b;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	free(b->slot);
	ray_vec_free(&b->program.clauses);
	ray_vec_free(&b->program.variables[RAY_SCOPE_CLAUSE]);
	ray_types_free(b->types);
	ray_arena_free(b->arena);
	return 0;
}

static void generated_code_computes_what_c_computes(void **state)
{
	for (int i = 0; i < ROUNDS; i++)
		compare_once(*state);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(generated_code_computes_what_c_computes) };

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
