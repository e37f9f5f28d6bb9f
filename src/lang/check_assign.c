/* check_assign.c - assignment: the left side gets its type here, if it has none.
 * SPDX-License-Identifier: MIT */
#include "lang/check.h"

static bool is_variable(const struct ray_expr *e)
{
	return e->kind == RAY_EXPR_VARIABLE || e->kind == RAY_EXPR_ELEMENT;
}

static void *incompatible(struct ray_check *c, const struct ray_expr *e, const char *op)
{
	return ray_check_fail(c, &e->where, "D_OP_INCOMPAT", "operands have incompatible types: \"%s\" %s \"%s\"",
			      ray_check_type_of(c, e->a), op, ray_check_type_of(c, e->b));
}

/* "=" or "+=". */
static const char *assign_text(struct ray_check *c, enum ray_op op)
{
	const char *text = op == RAY_OP_NONE ? "=" : ray_arena_printf(c->arena, "%s=", ray_op_text(op));

	return text ? text : "=";
}

static bool check_places(struct ray_check *c, const struct ray_expr *e, const char *op)
{
	if (!ray_check_is_lvalue(e->a))
		ray_check_fail(c, &e->where, "D_OP_LVAL", "operator %s requires modifiable lvalue as an operand", op);
	else if (!ray_check_is_writable(e->a))
		ray_check_fail(c, &e->where, "D_OP_WRITE", "operator %s can only be applied to a writable variable",
			       op);
	else if (e->a->kind == RAY_EXPR_VARIABLE && e->b->is_unassignable)
		ray_check_fail(
			c, &e->where, "D_ALLOCA_INCOMPAT",
			"ternary conditional with alloca and non-alloca branches cannot be assigned to a variable");
	return !c->error;
}

/* A variable holds addresses of scratch memory, or others, never both: what is behind them lives differently long. */
static bool note_alloca(struct ray_check *c, const struct ray_expr *e)
{
	struct ray_variable *v = is_variable(e->a) ? e->a->variable : NULL;

	if (e->b->is_alloca && !ray_check_is_string(e->b)) {
		e->a->is_alloca = true;
		if (v)
			v->holds_alloca = true;
	} else if (v && !ray_check_is_zero(e->b)) {
		v->holds_other = true;
	}
	if (!v || !v->holds_alloca || !v->holds_other)
		return true;
	ray_check_fail(c, &e->where, "D_ALLOCA_INCOMPAT",
		       "%s: cannot reuse the same identifier for both alloca and non-alloca allocations", v->name);
	return false;
}

static struct ray_expr *finish(struct ray_check *c, struct ray_expr *e, const char *op)
{
	if (!check_places(c, e, op) || !note_alloca(c, e))
		return NULL;
	e->type = e->a->type;
	e->is_alloca = e->a->is_alloca;
	return e;
}

/* a = xlate <T>(b): member by member. */
static struct ray_expr *assign_translated(struct ray_check *c, struct ray_expr *e)
{
	struct ray_expr *all = NULL;

	for (size_t i = 0; i < e->b->translator->member_count; i++) {
		const char *name = e->b->translator->members[i].name;
		struct ray_expr *dot = ray_check_new(c, RAY_EXPR_DOT, NULL, &e->where);
		struct ray_expr *assign = ray_check_new(c, RAY_EXPR_ASSIGN, NULL, &e->where);
		struct ray_expr *comma;

		if (!dot || !assign)
			return NULL;
		dot->text = name;
		dot->a = ray_expr_clone(c->arena, e->a, NULL, 0);
		assign->a = dot->a ? ray_check_expr(c, dot, RAY_USE_NEITHER) : NULL;
		assign->b = ray_check_translated_member(c, e->b, name, &e->where);
		if (!assign->a || !assign->b)
			return NULL;
		assign->type = assign->a->type;
		comma = all ? ray_check_new(c, RAY_EXPR_COMMA, assign->type, &e->where) : assign;
		if (!comma)
			return NULL;
		if (all) {
			comma->a = all;
			comma->b = assign;
		}
		all = comma;
	}
	return all ? all : e->a;
}

static bool may_be_deleted(const struct ray_expr *e)
{
	return e->kind == RAY_EXPR_ELEMENT || (e->kind == RAY_EXPR_VARIABLE && e->variable->scope == RAY_SCOPE_THREAD);
}

static struct ray_expr *assign_plain(struct ray_check *c, struct ray_expr *e)
{
	const struct ray_type *right, *kind;
	bool is_translated;

	e->a = ray_check_target(c, e->a);
	e->b = e->a ? ray_check_expr(c, e->b, RAY_USE_READ) : NULL;
	if (!e->b)
		return NULL;
	is_translated = e->b->kind == RAY_EXPR_XLATE && !ray_type_is_pointer(e->b->cast_type);
	right = is_translated ? e->b->cast_type : ray_check_kept_type(e->b);
	if (is_variable(e->a) && (!e->a->type || ray_check_is_virgin(e->a->variable))) {
		e->a->type = right;
		e->a->variable->type = right;
	}
	if (is_variable(e->a))
		e->a->variable->is_written = true;
	kind = ray_type_resolve(e->a->type);
	if (kind->kind == RAY_TYPE_ARRAY || kind->kind == RAY_TYPE_FUNCTION)
		return ray_check_fail(c, &e->where, "D_OP_ARRFUN",
				      "operator = may not be applied to operand of type \"%s\"",
				      ray_check_type_of(c, e->a));
	if (is_translated && ray_type_equals(e->a->type, right))
		return check_places(c, e, "=") ? assign_translated(c, e) : NULL;
	if (ray_check_fits(e->a->type, e->b)) {
		if (!finish(c, e, "="))
			return NULL;
		e->b = ray_check_convert(c, e->b, e->a->type);
		return e->b ? e : NULL;
	}
	/* The constant 0 takes a dynamic variable away, whatever its type. */
	if (may_be_deleted(e->a) && ray_check_is_zero(e->b))
		return finish(c, e, "=");
	return incompatible(c, e, "=");
}

static bool check_operands(struct ray_check *c, const struct ray_expr *e, const char *op)
{
	bool integers = ray_check_is_integer(e->a) && ray_check_is_integer(e->b);

	if (e->op == RAY_OP_MUL || e->op == RAY_OP_DIV) {
		if (!integers)
			ray_check_fail(c, &e->where, "D_OP_ARITH", "operator %s requires operands of arithmetic type",
				       op);
	} else if (e->op != RAY_OP_ADD && e->op != RAY_OP_SUB) {
		if (!integers)
			ray_check_fail(c, &e->where, "D_OP_INT", "operator %s requires operands of integral type", op);
	} else if (ray_check_is_string(e->a) || ray_check_is_string(e->b)) {
		incompatible(c, e, op);
	} else if (!integers) {
		if (!ray_check_is_pointer(e->a) || ray_check_is_void_pointer(e->a))
			ray_check_fail(c, &e->where, "D_OP_VFPTR",
				       "operator %s requires left-hand scalar operand of known size", op);
		else if (!ray_check_is_integer(e->b) && !ray_check_pointers_fit(e->a, e->b, NULL))
			incompatible(c, e, op);
	}
	return !c->error;
}

/* a op= b: b becomes what is added, in a's own type, or times the size of what a points to. */
static struct ray_expr *assign_op(struct ray_check *c, struct ray_expr *e)
{
	const char *op = assign_text(c, e->op);
	uint64_t size;

	e->a = ray_check_target(c, e->a);
	if (e->a && is_variable(e->a) && ray_check_is_virgin(e->a->variable))
		e->a = ray_check_name(c, e->a, RAY_USE_READ);
	e->b = e->a ? ray_check_expr(c, e->b, RAY_USE_READ) : NULL;
	if (!e->b)
		return NULL;
	if (is_variable(e->a))
		e->a->variable->is_read = e->a->variable->is_written = true;
	if (!check_operands(c, e, op) || !check_places(c, e, op))
		return NULL;
	e->type = e->a->type;
	e->is_alloca = e->a->is_alloca;
	if (!ray_check_is_pointer(e->a)) {
		if (e->op != RAY_OP_SHL && e->op != RAY_OP_SHR)
			e->b = ray_check_convert(c, e->b, ray_check_promote(c, e->a, e->b));
		return e->b ? e : NULL;
	}
	size = ray_type_size(ray_type_resolve(e->a->type)->target);
	if (size > 1 && ray_check_is_integer(e->b)) {
		const struct ray_type *wide = ray_type_basic(c->types, RAY_BASIC_LONG);
		struct ray_expr *product = ray_check_new(c, RAY_EXPR_BINARY, wide, &e->where);

		if (!product)
			return NULL;
		product->op = RAY_OP_MUL;
		product->a = ray_check_convert(c, e->b, wide);
		product->b = ray_check_integer(c, size, wide, &e->where);
		e->b = product->a && product->b ? ray_check_fold(c, product) : NULL;
	}
	return e->b ? e : NULL;
}

struct ray_expr *ray_check_assign(struct ray_check *c, struct ray_expr *e, enum ray_use use)
{
	(void)use;
	if (e->a->kind == RAY_EXPR_AGGREGATION)
		return ray_check_fail(c, &e->where, "D_AGG_FUNC",
				      "@%s must be assigned the result of an aggregating function", e->a->text);
	return e->op == RAY_OP_NONE ? assign_plain(c, e) : assign_op(c, e);
}
