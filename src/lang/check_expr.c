/* check_expr.c - the walk over expressions: one handler per kind.
 * SPDX-License-Identifier: MIT */
#include "lang/check.h"

enum { MAX_DEPTH = 400 }; /* deeper trees are no programs; the stack must hold them */

struct ray_expr *ray_check_new(struct ray_check *c, enum ray_expr_kind kind, const struct ray_type *type,
			       const struct ray_where *where)
{
	struct ray_expr *e = ray_arena_alloc(c->arena, sizeof(*e));

	if (!e)
		return ray_check_nomem(c);
	e->kind = kind;
	e->type = type;
	e->where = *where;
	return e;
}

struct ray_expr *ray_check_integer(struct ray_check *c, uint64_t value, const struct ray_type *type,
				   const struct ray_where *where)
{
	struct ray_expr *e = ray_check_new(c, RAY_EXPR_INTEGER, type, where);

	if (e)
		e->value = value;
	return e;
}

struct ray_expr *ray_check_call(struct ray_check *c, enum ray_function_id id, struct ray_expr **args, size_t count,
				const struct ray_type *type, const struct ray_where *where)
{
	struct ray_expr *e = ray_check_new(c, RAY_EXPR_CALL, type, where);

	if (!e)
		return NULL;
	e->function = &ray_functions[id];
	e->arg_count = count;
	e->args = ray_arena_alloc(c->arena, (count + 1) * sizeof(struct ray_expr *));
	if (!e->args)
		return ray_check_nomem(c);
	for (size_t i = 0; i < count; i++)
		e->args[i] = args[i];
	return e;
}

struct ray_expr *ray_check_deref(struct ray_check *c, struct ray_expr *pointer, const struct ray_where *where)
{
	struct ray_expr *e = ray_check_new(c, RAY_EXPR_DEREF, ray_type_resolve(pointer->type)->target, where);

	if (e)
		e->a = pointer;
	return e;
}

/* The first of C's types for a constant that holds it. */
static struct ray_expr *check_integer(struct ray_check *c, struct ray_expr *e, enum ray_use use)
{
	static const enum ray_basic order[] = { RAY_BASIC_INT,	 RAY_BASIC_UINT,  RAY_BASIC_LONG,
						RAY_BASIC_ULONG, RAY_BASIC_LLONG, RAY_BASIC_ULLONG };
	static const uint64_t limits[] = { INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX, INT64_MAX, UINT64_MAX };

	(void)use;
	for (size_t i = (e->is_unsigned ? 1 : 0) + (e->is_long ? 2 : 0); i < RAY_COUNT(order);
	     i += e->is_unsigned ? 2 : 1) {
		if (e->value > limits[i])
			continue;
		e->type = ray_type_basic(c->types, order[i]);
		return e;
	}
	return ray_check_fail(c, &e->where, "D_INT_OFLOW",
			      "integer constant 0x%llx cannot be represented in any built-in integral type",
			      (unsigned long long)e->value);
}

static struct ray_expr *check_string(struct ray_check *c, struct ray_expr *e, enum ray_use use)
{
	(void)use;
	e->type = ray_type_basic(c->types, RAY_BASIC_STRING);
	return e;
}

static ray_check_fn *const handlers[] = {
	[RAY_EXPR_INTEGER] = check_integer,
	[RAY_EXPR_STRING] = check_string,
	[RAY_EXPR_UNARY] = ray_check_unary,
	[RAY_EXPR_BINARY] = ray_check_binary,
	[RAY_EXPR_ASSIGN] = ray_check_assign,
	[RAY_EXPR_COND] = ray_check_cond,
	[RAY_EXPR_COMMA] = ray_check_comma,
	[RAY_EXPR_CAST] = ray_check_cast,
	[RAY_EXPR_DEREF] = ray_check_dereference,
	[RAY_EXPR_ADDRESS] = ray_check_address,
	[RAY_EXPR_CALL] = ray_check_function,
	[RAY_EXPR_NAME] = ray_check_name,
	[RAY_EXPR_INDEX] = ray_check_index,
	[RAY_EXPR_ARROW] = ray_check_arrow,
	[RAY_EXPR_DOT] = ray_check_arrow,
	[RAY_EXPR_SIZEOF] = ray_check_sizeof,
	[RAY_EXPR_OFFSETOF] = ray_check_offsetof,
	[RAY_EXPR_XLATE] = ray_check_xlate,
	[RAY_EXPR_AGGREGATION] = ray_check_aggregation,
	[RAY_EXPR_SYMBOL] = ray_check_symbol,
};

struct ray_expr *ray_check_expr(struct ray_check *c, struct ray_expr *e, enum ray_use use)
{
	ray_check_fn *handler = (size_t)e->kind < RAY_COUNT(handlers) ? handlers[e->kind] : NULL;
	struct ray_expr *checked;

	if (c->error)
		return NULL;
	/* Checked already: by an earlier try, or made by the checker. A variable's type may still be open. */
	if (e->type || !handler) {
		if (e->kind == RAY_EXPR_VARIABLE && (use & RAY_USE_READ) && ray_check_is_virgin(e->variable))
			return ray_check_name(c, e, use);
		return e;
	}
	if (c->depth >= MAX_DEPTH)
		return ray_check_fail(c, &e->where, "D_UNKNOWN", "expression is too deep");
	c->depth++;
	checked = handler(c, e, use);
	c->depth--;
	return checked;
}

bool ray_check_args(struct ray_check *c, struct ray_expr **args, size_t count, enum ray_use use)
{
	for (size_t i = 0; i < count; i++) {
		args[i] = ray_check_expr(c, args[i], use);
		if (!args[i])
			return false;
	}
	return true;
}
