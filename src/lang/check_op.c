/* check_op.c - operators: what they take, what they make.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "lang/check.h"

static const struct ray_type *int_type(struct ray_check *c)
{
	return ray_type_basic(c->types, RAY_BASIC_INT);
}

static void *incompatible(struct ray_check *c, const struct ray_expr *e, const char *op)
{
	return ray_check_fail(c, &e->where, "D_OP_INCOMPAT", "operands have incompatible types: \"%s\" %s \"%s\"",
			      ray_check_type_of(c, e->a), op, ray_check_type_of(c, e->b));
}

static struct ray_expr *check_step(struct ray_check *c, struct ray_expr *e)
{
	const char *op = ray_op_text(e->op);
	struct ray_expr *a = e->a = ray_check_target(c, e->a);

	if (!a)
		return NULL;
	if ((a->kind == RAY_EXPR_VARIABLE || a->kind == RAY_EXPR_ELEMENT) && ray_check_is_virgin(a->variable))
		a->variable->type = a->type = ray_type_typedef(c->types, "int64_t");
	if (a->kind == RAY_EXPR_VARIABLE || a->kind == RAY_EXPR_ELEMENT)
		a->variable->is_read = a->variable->is_written = true;
	if (!ray_check_is_scalar(a))
		return ray_check_fail(c, &e->where, "D_OP_SCALAR", "operator %s requires operand of scalar type", op);
	if (ray_check_is_void_pointer(a))
		return ray_check_fail(c, &e->where, "D_OP_VFPTR", "operator %s requires an operand of known size", op);
	if (!ray_check_is_lvalue(a))
		return ray_check_fail(c, &e->where, "D_OP_LVAL", "operator %s requires modifiable lvalue as an operand",
				      op);
	if (!ray_check_is_writable(a))
		return ray_check_fail(c, &e->where, "D_OP_WRITE",
				      "operator %s can only be applied to a writable variable", op);
	e->type = a->type;
	e->is_alloca = a->is_alloca;
	return e;
}

struct ray_expr *ray_check_unary(struct ray_check *c, struct ray_expr *e, enum ray_use use)
{
	const char *op = ray_op_text(e->op);

	(void)use;
	if (e->op >= RAY_OP_PRE_INC && e->op <= RAY_OP_POST_DEC)
		return check_step(c, e);
	e->a = ray_check_expr(c, e->a, RAY_USE_READ);
	if (!e->a)
		return NULL;
	if (e->op == RAY_OP_NOT) {
		if (!ray_check_is_scalar(e->a))
			return ray_check_fail(c, &e->where, "D_OP_SCALAR",
					      "operator %s requires an operand of scalar type", op);
		e->type = int_type(c);
		return ray_check_fold(c, e);
	}
	if (!ray_check_is_integer(e->a) && e->op == RAY_OP_INVERT)
		return ray_check_fail(c, &e->where, "D_OP_INT", "operator %s requires an operand of integral type", op);
	if (!ray_check_is_integer(e->a))
		return ray_check_fail(c, &e->where, "D_OP_ARITH", "operator %s requires an operand of arithmetic type",
				      op);
	e->type = ray_check_promote_one(c, e->a->type);
	ray_check_set_kept(e, ray_check_kept_type(e->a));
	e->a = ray_check_convert(c, e->a, e->type);
	if (!e->a)
		return NULL;
	return e->op == RAY_OP_PLUS ? e->a : ray_check_fold(c, e);
}

static bool convert_both(struct ray_check *c, struct ray_expr *e, const struct ray_type *to)
{
	e->a = ray_check_convert(c, e->a, to);
	e->b = e->a ? ray_check_convert(c, e->b, to) : NULL;
	return e->b != NULL;
}

static struct ray_expr *check_arithmetic(struct ray_check *c, struct ray_expr *e)
{
	bool is_arithmetic = e->op == RAY_OP_MUL || e->op == RAY_OP_DIV;

	if (!ray_check_is_integer(e->a) || !ray_check_is_integer(e->b))
		return ray_check_fail(c, &e->where, is_arithmetic ? "D_OP_ARITH" : "D_OP_INT",
				      "operator %s requires operands of %s type", ray_op_text(e->op),
				      is_arithmetic ? "arithmetic" : "integral");
	e->type = ray_check_promote(c, e->a, e->b);
	ray_check_set_kept(e, ray_check_kept_of_two(c, e->a, e->b));
	return convert_both(c, e, e->type) ? ray_check_fold(c, e) : NULL;
}

static struct ray_expr *check_shift(struct ray_check *c, struct ray_expr *e)
{
	if (!ray_check_is_integer(e->a) || !ray_check_is_integer(e->b))
		return ray_check_fail(c, &e->where, "D_OP_INT", "operator %s requires operands of integral type",
				      ray_op_text(e->op));
	e->type = ray_check_promote_one(c, e->a->type);
	ray_check_set_kept(e, ray_check_kept_type(e->a));
	e->a = ray_check_convert(c, e->a, e->type);
	return e->a ? ray_check_fold(c, e) : NULL;
}

static struct ray_expr *check_logic(struct ray_check *c, struct ray_expr *e)
{
	if (!ray_check_is_scalar(e->a) || !ray_check_is_scalar(e->b))
		return ray_check_fail(c, &e->where, "D_OP_SCALAR", "operator %s requires operands of scalar type",
				      ray_op_text(e->op));
	e->type = int_type(c);
	return ray_check_fold(c, e);
}

static struct ray_expr *check_comparison(struct ray_check *c, struct ray_expr *e)
{
	const struct ray_expr *a = e->a, *b = e->b;
	bool strings = ray_type_is_stringish(a->type) && ray_type_is_stringish(b->type) &&
		       (ray_check_is_string(a) || ray_check_is_string(b));
	const struct ray_type *to;

	e->type = int_type(c);
	if (ray_check_is_integer(a) && ray_check_is_integer(b))
		return convert_both(c, e, ray_check_promote(c, a, b)) ? ray_check_fold(c, e) : NULL;
	if (strings || (ray_check_is_string(a) && ray_check_is_zero(b)) ||
	    (ray_check_is_string(b) && ray_check_is_zero(a)))
		return convert_both(c, e, ray_type_basic(c->types, RAY_BASIC_STRING)) ? e : NULL;
	if (ray_check_is_dynamic(a) || ray_check_is_dynamic(b))
		return incompatible(c, e, ray_op_text(e->op));
	if (!ray_check_pointers_fit(a, b, NULL)) {
		if (!ray_type_equals(a->type, b->type) || !ray_check_is_scalar(a))
			return incompatible(c, e, ray_op_text(e->op));
	}
	/* Addresses, as numbers. */
	to = ray_type_typedef(c->types, "uintptr_t");
	return convert_both(c, e, to) ? ray_check_fold(c, e) : NULL;
}

/* The integer of pointer + integer, times the size of what is pointed to. */
static struct ray_expr *scale(struct ray_check *c, struct ray_expr *i, const struct ray_type *pointer)
{
	const struct ray_type *r = ray_type_resolve(pointer), *wide = ray_type_basic(c->types, RAY_BASIC_LONG);
	uint64_t size = r->kind == RAY_TYPE_STRING ? 1 : ray_type_size(r->target);
	struct ray_expr *product;

	i = ray_check_convert(c, i, wide);
	if (!i || size == 1)
		return i;
	product = ray_check_new(c, RAY_EXPR_BINARY, wide, &i->where);
	if (!product)
		return NULL;
	product->op = RAY_OP_MUL;
	product->a = i;
	product->b = ray_check_integer(c, size, wide, &i->where);
	return product->b ? ray_check_fold(c, product) : NULL;
}

static bool is_countable(const struct ray_expr *e)
{
	return ray_check_is_string(e) || (ray_check_is_pointer(e) && !ray_check_is_void_pointer(e));
}

static bool in_bounds(struct ray_check *c, const struct ray_expr *e)
{
	const struct ray_type *array = ray_type_resolve(e->a->type);

	/* Arrays of one or none stand for those whose length is not known. */
	if (array->kind != RAY_TYPE_ARRAY || e->b->kind != RAY_EXPR_INTEGER || array->count <= 1 ||
	    e->b->value < array->count)
		return true;
	ray_check_fail(c, &e->where, "D_ARR_BOUNDS", "index outside array bounds: %llu, max is %i",
		       (unsigned long long)e->b->value, (int)array->count);
	return false;
}

/* A pointer into an array is a pointer to its elements. */
static const struct ray_type *element_pointer(struct ray_check *c, const struct ray_type *t)
{
	const struct ray_type *r = ray_type_resolve(t);

	if (r->kind != RAY_TYPE_ARRAY) /* what remains of a string is a string */
		return t;
	t = ray_type_pointer(c->types, r->target);
	return t && (r->flags & RAY_TYPE_USERLAND) ? ray_type_qualified(c->types, t, RAY_TYPE_USERLAND) : t;
}

static struct ray_expr *check_difference(struct ray_check *c, struct ray_expr *e)
{
	uint64_t size = ray_type_size(ray_type_resolve(element_pointer(c, e->a->type))->target);
	struct ray_expr *quotient;

	e->type = ray_type_typedef(c->types, "ptrdiff_t");
	if (size <= 1)
		return e;
	quotient = ray_check_new(c, RAY_EXPR_BINARY, e->type, &e->where);
	if (!quotient)
		return NULL;
	quotient->op = RAY_OP_DIV;
	quotient->a = e;
	quotient->b = ray_check_integer(c, size, e->type, &e->where);
	return quotient->b ? quotient : NULL;
}

static struct ray_expr *check_additive(struct ray_check *c, struct ray_expr *e)
{
	bool a_int = ray_check_is_integer(e->a), b_int = ray_check_is_integer(e->b);
	bool a_ptr = is_countable(e->a), b_ptr = is_countable(e->b);

	if (a_int && b_int)
		return check_arithmetic(c, e);
	if (a_int && b_ptr && e->op == RAY_OP_ADD) {
		struct ray_expr *swapped = e->a;

		e->a = e->b;
		e->b = swapped;
	} else if (a_ptr && b_ptr && e->op == RAY_OP_SUB && ray_check_pointers_fit(e->a, e->b, NULL)) {
		if (e->a->is_alloca != e->b->is_alloca)
			return ray_check_fail(
				c, &e->where, "D_OP_INCOMPAT",
				"adding or subtracting pointers to alloca and non-alloca space is meaningless: "
				"\"%s\" %s \"%s\"",
				ray_check_type_of(c, e->a), ray_op_text(e->op), ray_check_type_of(c, e->b));
		return check_difference(c, e);
	} else if (!(a_ptr && b_int)) {
		return incompatible(c, e, ray_op_text(e->op));
	}
	if (!in_bounds(c, e))
		return NULL;
	e->type = element_pointer(c, e->a->type);
	e->b = scale(c, e->b, e->a->type);
	e->is_alloca = e->a->is_alloca;
	e->is_unassignable = e->a->is_unassignable;
	if (!e->b || !e->type)
		return NULL;
	/* The rest of a string is a string. */
	return ray_check_is_string(e->a) ? ray_check_convert(c, e, e->a->type) : e;
}

/* enum == TAG finds the tag in the enum, whatever the name means elsewhere. */
static bool resolve_tag(struct ray_check *c, struct ray_expr *e)
{
	const struct ray_type *t = ray_type_resolve(e->a->type);

	if (t->kind != RAY_TYPE_ENUM || e->b->kind != RAY_EXPR_NAME || e->b->scope != RAY_SCOPE_GLOBAL)
		return true;
	for (uint64_t i = 0; i < t->count; i++) {
		if (strcmp(t->enumerators[i].name, e->b->text))
			continue;
		e->b = ray_check_integer(c, (uint64_t)t->enumerators[i].value, e->a->type, &e->b->where);
		return e->b != NULL;
	}
	return true;
}

struct ray_expr *ray_check_binary(struct ray_check *c, struct ray_expr *e, enum ray_use use)
{
	(void)use;
	e->a = ray_check_expr(c, e->a, RAY_USE_READ);
	if (!e->a || (e->op >= RAY_OP_EQ && e->op <= RAY_OP_GE && !resolve_tag(c, e)))
		return NULL;
	e->b = ray_check_expr(c, e->b, RAY_USE_READ);
	if (!e->b)
		return NULL;
	switch (e->op) {
	case RAY_OP_ADD:
	case RAY_OP_SUB:
		return check_additive(c, e);
	case RAY_OP_SHL:
	case RAY_OP_SHR:
		return check_shift(c, e);
	case RAY_OP_LOGIC_AND:
	case RAY_OP_LOGIC_OR:
	case RAY_OP_LOGIC_XOR:
		return check_logic(c, e);
	case RAY_OP_EQ:
	case RAY_OP_NE:
	case RAY_OP_LT:
	case RAY_OP_LE:
	case RAY_OP_GT:
	case RAY_OP_GE:
		return check_comparison(c, e);
	default:
		return check_arithmetic(c, e);
	}
}

static bool is_action(const struct ray_expr *e)
{
	return e->kind == RAY_EXPR_CALL && e->function->kind == RAY_FUNCTION_ACTION;
}

static const struct ray_type *cond_type(struct ray_check *c, const struct ray_expr *b, const struct ray_expr *d)
{
	const struct ray_type *t = NULL;

	if (ray_type_equals(b->type, d->type) && !ray_check_is_integer(b))
		return b->type;
	if (ray_check_is_integer(b) && ray_check_is_integer(d))
		return ray_type_equals(b->type, d->type) ? b->type : ray_check_promote(c, b, d);
	if (ray_type_is_stringish(b->type) && ray_type_is_stringish(d->type) &&
	    (ray_check_is_string(b) || ray_check_is_string(d)))
		return ray_type_basic(c->types, RAY_BASIC_STRING);
	return ray_check_pointers_fit(b, d, &t) ? t : NULL;
}

struct ray_expr *ray_check_cond(struct ray_check *c, struct ray_expr *e, enum ray_use use)
{
	(void)use;
	e->a = ray_check_expr(c, e->a, RAY_USE_READ);
	/* A constant condition chooses before the other side is looked at. */
	if (e->a && e->a->kind == RAY_EXPR_INTEGER)
		return ray_check_expr(c, e->a->value ? e->b : e->c, RAY_USE_READ);
	e->b = e->a ? ray_check_expr(c, e->b, RAY_USE_READ) : NULL;
	e->c = e->b ? ray_check_expr(c, e->c, RAY_USE_READ) : NULL;
	if (!e->c)
		return NULL;
	if (!ray_check_is_scalar(e->a))
		return ray_check_fail(c, &e->where, "D_OP_SCALAR", "operator ?: expression must be of scalar type");
	if (ray_check_is_dynamic(e->b) || ray_check_is_dynamic(e->c))
		return ray_check_fail(c, &e->where, "D_OP_DYN", "operator ?: operands cannot be of dynamic type");
	e->type = cond_type(c, e->b, e->c);
	if (!e->type)
		return ray_check_fail(c, &e->where, "D_OP_INCOMPAT", "operator ?: operands must have compatible types");
	if (is_action(e->b) || is_action(e->c))
		return ray_check_fail(c, &e->where, "D_OP_ACT", "action cannot be used in a conditional context");
	e->is_unassignable = e->b->is_alloca != e->c->is_alloca || e->b->is_unassignable || e->c->is_unassignable;
	e->is_alloca = e->b->is_alloca;
	e->b = ray_check_convert(c, e->b, e->type);
	e->c = e->b ? ray_check_convert(c, e->c, e->type) : NULL;
	return e->c ? e : NULL;
}

struct ray_expr *ray_check_comma(struct ray_check *c, struct ray_expr *e, enum ray_use use)
{
	(void)use;
	e->a = ray_check_expr(c, e->a, RAY_USE_READ);
	e->b = e->a ? ray_check_expr(c, e->b, RAY_USE_READ) : NULL;
	if (!e->b)
		return NULL;
	if (ray_check_is_dynamic(e->a) || ray_check_is_dynamic(e->b))
		return ray_check_fail(c, &e->where, "D_OP_DYN", "operator , operands cannot be of dynamic type");
	if (is_action(e->a) || is_action(e->b))
		return ray_check_fail(c, &e->where, "D_OP_ACT", "operator , operands cannot be actions");
	e->type = e->b->type;
	e->is_alloca = e->b->is_alloca;
	e->is_unassignable = e->b->is_unassignable;
	return e;
}
