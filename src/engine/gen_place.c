/* gen_place.c - lvalues: variables, their members and elements, and memory behind pointers.
 * SPDX-License-Identifier: MIT
 *
 * A place is worked out first (which evaluates keys, indexes and addresses) and then read or written. Variables are
 * accessed in line, through pointers that the verifier knows; what is behind a D pointer goes through the runtime,
 * which writes to scratch memory only. */
#include "engine/gen.h"

static const struct ray_expr *strip_casts(const struct ray_expr *e)
{
	while (e->kind == RAY_EXPR_CAST && ray_type_is_pointer(e->type) &&
	       (ray_type_is_pointer(e->a->type) || ray_type_resolve(e->a->type)->kind == RAY_TYPE_ARRAY))
		e = e->a;
	return e;
}

bool ray_gen_is_place(const struct ray_expr *e)
{
	switch (e->kind) {
	case RAY_EXPR_VARIABLE:
	case RAY_EXPR_ELEMENT:
		return e->variable->scope != RAY_SCOPE_BUILTIN;
	case RAY_EXPR_DEREF:
		return true;
	case RAY_EXPR_MEMBER:
		return ray_gen_is_place(e->a);
	default:
		return false;
	}
}

/* Address expressions that stay inside of a variable: arrays, and &lvalue. NULL for all others. */
static const struct ray_expr *base_of_address(const struct ray_expr *e)
{
	e = strip_casts(e);
	if (e->kind == RAY_EXPR_ADDRESS)
		return e->a;
	if (ray_type_resolve(e->type)->kind == RAY_TYPE_ARRAY && ray_gen_is_place(e))
		return e;
	return NULL;
}

static void place_variable(struct ray_gen *g, const struct ray_expr *e, struct ray_place *p)
{
	const struct ray_variable *v = e->variable;

	p->variable = &g->plan->variables[v->scope][v->id];
	p->kind = ray_plan_is_dynamic(v)       ? RAY_PLACE_DYNAMIC :
		  v->scope == RAY_SCOPE_GLOBAL ? RAY_PLACE_GLOBAL :
						 RAY_PLACE_SLOT;
	p->offset = p->kind == RAY_PLACE_DYNAMIC ? 0 : p->variable->offset;
	p->is_whole = true;
	p->limit = p->offset + p->variable->size;
	if (p->kind != RAY_PLACE_DYNAMIC && ray_type_is_string(v->type)) {
		p->has_flag = true;
		p->offset += 8;
	}
}

static unsigned place_element(struct ray_gen *g, const struct ray_expr *e, unsigned d, struct ray_place *p)
{
	place_variable(g, e, p);
	p->element = e;
	p->keys_d = d;
	for (size_t i = 0; i < e->arg_count; i++)
		ray_gen_expr(g, e->args[i], d + i);
	return d + e->arg_count;
}

/* The smallest aligned integer that holds all of the bits; 8 bytes from the first bit's when none does. */
static void place_bits(struct ray_place *p, uint32_t bit_offset, uint32_t bit_width)
{
	uint32_t at = p->offset * 8 + bit_offset;

	p->bit_width = bit_width;
	for (p->bit_size = 1; p->bit_size < 8; p->bit_size *= 2)
		if (at / (p->bit_size * 8) == (at + bit_width - 1) / (p->bit_size * 8))
			break;
	p->bit_shift = at % (p->bit_size * 8);
	p->offset = at / (p->bit_size * 8) * p->bit_size;
	if (p->bit_shift + bit_width > p->bit_size * 8) {
		p->offset = at / 8;
		p->bit_shift = at % 8;
	}
}

static unsigned place_member(struct ray_gen *g, const struct ray_expr *e, unsigned d, struct ray_place *p)
{
	unsigned next;

	if (ray_gen_is_place(e->a)) {
		next = ray_gen_place(g, e->a, d, p);
	} else { /* a value that is an address: the result of a call or of ?: */
		ray_gen_expr(g, e->a, d);
		p->kind = RAY_PLACE_ADDRESS;
		p->d = d;
		next = d + 1;
	}
	p->type = e->type;
	p->has_flag = p->is_whole = false;
	if (e->bit_width)
		place_bits(p, e->bit_offset, e->bit_width);
	else
		p->offset += e->bit_offset / 8;
	return next;
}

/* R1 gets the number of the element for the fault's message. */
static void fault_index(struct ray_gen *g, unsigned d, uint64_t element)
{
	struct ray_gen_operand by = { .is_constant = true, .constant = element ? element : 1 };

	ray_gen_arith(g, RAY_OP_DIV, ray_type_basic(g->plan->program->types, RAY_BASIC_INT64), d, by);
	ray_gen_get_into(g, d, R1);
	ray_piece_jump(g->c, RAY_JUMP_ALWAYS, ray_gen_fault_label(g, RAY_FAULT_BADINDEX));
}

/* Position d holds bytes from the array's start. */
static void check_index(struct ray_gen *g, const struct ray_type *array, unsigned d)
{
	uint64_t element = ray_type_size(array->target);
	uint32_t fine = ray_piece_label(g->c);

	if (!array->count || !element || (array->count - 1) * element > INT32_MAX)
		return;
	ray_piece_jump(g->c, RAY_JUMP_IMM(BPF_JLE, ray_gen_get(g, d, R1), (int32_t)((array->count - 1) * element)),
		       fine);
	fault_index(g, d, element);
	ray_piece_place(g->c, fine);
}

static unsigned add_index(struct ray_gen *g, const struct ray_expr *sum, const struct ray_type *array, unsigned d,
			  struct ray_place *p)
{
	struct ray_gen_operand b = { .d = d };

	ray_gen_expr(g, sum->b, d);
	if (sum->op == RAY_OP_SUB) {
		uint8_t reg = ray_gen_get(g, d, R1);

		ray_gen_emit(g, RAY_INSN(BPF_ALU64 | BPF_NEG, reg, 0, 0, 0));
		ray_gen_set(g, d, reg);
	}
	if (p->kind != RAY_PLACE_ADDRESS && array)
		check_index(g, array, d);
	if (p->kind == RAY_PLACE_ADDRESS || p->has_index) {
		const struct ray_type *wide = ray_type_basic(g->plan->program->types, RAY_BASIC_UINT64);

		ray_gen_arith(g, RAY_OP_ADD, wide, p->kind == RAY_PLACE_ADDRESS ? p->d : p->index_d, b);
		return d;
	}
	p->has_index = true;
	p->index_d = d;
	return d + 1;
}

/* (int *)array[i]: whoever casts leaves the array's bounds; such addresses are only numbers, but for what is surely
 * inside. */
static bool leaves_bounds(const struct ray_expr *e, const struct ray_expr *sum, const struct ray_expr *base)
{
	const struct ray_expr *from = sum ? sum->a : e->a;
	uint64_t size = ray_type_size(base->type);

	if (ray_type_resolve(base->type)->kind != RAY_TYPE_ARRAY || from->kind != RAY_EXPR_CAST)
		return false;
	if (!sum)
		return ray_type_size(e->type) > size;
	return sum->op != RAY_OP_ADD || sum->b->kind != RAY_EXPR_INTEGER || sum->b->value > size ||
	       ray_type_size(e->type) > size - sum->b->value;
}

static unsigned place_deref(struct ray_gen *g, const struct ray_expr *e, unsigned d, struct ray_place *p)
{
	const struct ray_expr *address = strip_casts(e->a);
	bool is_sum = address->kind == RAY_EXPR_BINARY && (address->op == RAY_OP_ADD || address->op == RAY_OP_SUB);
	const struct ray_expr *base = base_of_address(is_sum ? address->a : address);

	if (base && ray_gen_is_place(base) && !leaves_bounds(e, is_sum ? address : NULL, base)) {
		const struct ray_type *array = ray_type_resolve(base->type);

		d = ray_gen_place(g, base, d, p);
		if (is_sum)
			d = add_index(g, address, array->kind == RAY_TYPE_ARRAY ? array : NULL, d, p);
		p->has_flag = p->has_flag && !is_sum;
		p->is_whole = false;
	} else {
		ray_gen_expr(g, e->a, d);
		p->kind = RAY_PLACE_ADDRESS;
		p->d = d++;
	}
	p->type = e->type;
	return d;
}

unsigned ray_gen_place(struct ray_gen *g, const struct ray_expr *e, unsigned d, struct ray_place *p)
{
	*p = (struct ray_place){ .type = e->type };
	switch (e->kind) {
	case RAY_EXPR_VARIABLE:
		place_variable(g, e, p);
		return d;
	case RAY_EXPR_ELEMENT:
		return place_element(g, e, d, p);
	case RAY_EXPR_MEMBER:
		return place_member(g, e, d, p);
	case RAY_EXPR_DEREF:
		return place_deref(g, e, d, p);
	default:
		ray_gen_fail(g, &e->where, "internal: no place that could be read or written");
		return d;
	}
}
