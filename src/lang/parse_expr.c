/* parse_expr.c - operators: precedence, casts, assignment.
 * SPDX-License-Identifier: MIT */
#include "lang/decl.h"
#include "lang/parse.h"

static const struct {
	int token;
	enum ray_op op;
	int precedence; /* higher binds tighter */
} binaries[] = {
	{ RAY_TOKEN_LOGIC_OR, RAY_OP_LOGIC_OR, 1 },
	{ RAY_TOKEN_LOGIC_XOR, RAY_OP_LOGIC_XOR, 2 },
	{ RAY_TOKEN_LOGIC_AND, RAY_OP_LOGIC_AND, 3 },
	{ '|', RAY_OP_OR, 4 },
	{ '^', RAY_OP_XOR, 5 },
	{ '&', RAY_OP_AND, 6 },
	{ RAY_TOKEN_EQ, RAY_OP_EQ, 7 },
	{ RAY_TOKEN_NE, RAY_OP_NE, 7 },
	{ '<', RAY_OP_LT, 8 },
	{ '>', RAY_OP_GT, 8 },
	{ RAY_TOKEN_LE, RAY_OP_LE, 8 },
	{ RAY_TOKEN_GE, RAY_OP_GE, 8 },
	{ RAY_TOKEN_SHL, RAY_OP_SHL, 9 },
	{ RAY_TOKEN_SHR, RAY_OP_SHR, 9 },
	{ '+', RAY_OP_ADD, 10 },
	{ '-', RAY_OP_SUB, 10 },
	{ '*', RAY_OP_MUL, 11 },
	{ '/', RAY_OP_DIV, 11 },
	{ '%', RAY_OP_MOD, 11 },
};

static const struct {
	int token;
	enum ray_op op;
} assignments[] = {
	{ '=', RAY_OP_NONE },
	{ RAY_TOKEN_MUL_ASSIGN, RAY_OP_MUL },
	{ RAY_TOKEN_DIV_ASSIGN, RAY_OP_DIV },
	{ RAY_TOKEN_MOD_ASSIGN, RAY_OP_MOD },
	{ RAY_TOKEN_ADD_ASSIGN, RAY_OP_ADD },
	{ RAY_TOKEN_SUB_ASSIGN, RAY_OP_SUB },
	{ RAY_TOKEN_SHL_ASSIGN, RAY_OP_SHL },
	{ RAY_TOKEN_SHR_ASSIGN, RAY_OP_SHR },
	{ RAY_TOKEN_AND_ASSIGN, RAY_OP_AND },
	{ RAY_TOKEN_XOR_ASSIGN, RAY_OP_XOR },
	{ RAY_TOKEN_OR_ASSIGN, RAY_OP_OR },
};

/* Division by a constant zero is refused as soon as it is read. */
static struct ray_expr *finish_binary(struct ray_parser *p, struct ray_expr *e)
{
	struct ray_constant c;

	if ((e->op == RAY_OP_DIV || e->op == RAY_OP_MOD) && ray_constant_find(p, e->b, &c) && !c.value) {
		ray_lex_fail(&p->lex, &e->where, "D_DIV_ZERO", "expression contains division by zero");
		return NULL;
	}
	return ray_parse_finish(p, e);
}

static struct ray_expr *parse_sized(struct ray_parser *p, enum ray_expr_kind kind, enum ray_op op)
{
	struct ray_where where = p->token.where;
	struct ray_expr *e = ray_parse_new(p, kind, where);

	if (!e || !ray_parse_advance(p))
		return NULL;
	e->op = op;
	if (kind == RAY_EXPR_SIZEOF && p->token.kind == '(') {
		/* A type in parentheses, or an expression that begins with one. */
		struct ray_expr *inner = ray_parse_type_or_unary(p, &e->cast_type);

		e->a = inner;
		if (!inner && !e->cast_type)
			return NULL;
	} else {
		e->a = ray_parse_unary(p);
		if (!e->a)
			return NULL;
	}
	e->where = ray_parse_where(p, where);
	p->is_unary = true;
	return ray_parse_finish(p, e);
}

static struct ray_expr *parse_cast(struct ray_parser *p);

static struct ray_expr *parse_prefix(struct ray_parser *p, enum ray_expr_kind kind, enum ray_op op, bool takes_cast)
{
	struct ray_where where = p->token.where;
	struct ray_expr *e = ray_parse_new(p, kind, where);

	if (!e || !ray_parse_advance(p))
		return NULL;
	e->op = op;
	e->a = takes_cast ? parse_cast(p) : ray_parse_unary(p);
	if (!e->a)
		return NULL;
	e->where = ray_parse_where(p, where);
	p->is_unary = true;
	return ray_parse_finish(p, e);
}

static struct ray_expr *parse_unary(struct ray_parser *p)
{
	switch ((int)p->token.kind) {
	case RAY_TOKEN_INCREMENT:
		return parse_prefix(p, RAY_EXPR_UNARY, RAY_OP_PRE_INC, false);
	case RAY_TOKEN_DECREMENT:
		return parse_prefix(p, RAY_EXPR_UNARY, RAY_OP_PRE_DEC, false);
	case '&':
		return parse_prefix(p, RAY_EXPR_ADDRESS, RAY_OP_NONE, true);
	case '*':
		return parse_prefix(p, RAY_EXPR_DEREF, RAY_OP_NONE, true);
	case '+':
		return parse_prefix(p, RAY_EXPR_UNARY, RAY_OP_PLUS, true);
	case '-':
		return parse_prefix(p, RAY_EXPR_UNARY, RAY_OP_NEGATE, true);
	case '~':
		return parse_prefix(p, RAY_EXPR_UNARY, RAY_OP_INVERT, true);
	case '!':
		return parse_prefix(p, RAY_EXPR_UNARY, RAY_OP_NOT, true);
	case RAY_KEY_SIZEOF:
		return parse_sized(p, RAY_EXPR_SIZEOF, RAY_OP_NONE);
	case RAY_KEY_STRINGOF:
		return parse_sized(p, RAY_EXPR_CAST, RAY_OP_STRINGOF);
	default:
		p->is_unary = true;
		return ray_parse_postfix(p);
	}
}

struct ray_expr *ray_parse_unary(struct ray_parser *p)
{
	struct ray_expr *e = ray_parse_enter(p) ? parse_unary(p) : NULL;

	ray_parse_leave(p);
	return e;
}

static struct ray_expr *cast_operand(struct ray_parser *p, struct ray_where where, const struct ray_type *type)
{
	struct ray_expr *e = ray_parse_new(p, RAY_EXPR_CAST, where);

	if (!e)
		return NULL;
	e->cast_type = type;
	e->a = parse_cast(p);
	if (!e->a)
		return NULL;
	e->where = ray_parse_where(p, where);
	p->is_unary = false;
	return ray_parse_finish(p, e);
}

static struct ray_expr *parse_cast(struct ray_parser *p)
{
	struct ray_where where = p->token.where;
	const struct ray_type *type = NULL;
	struct ray_expr *e = NULL;

	if (p->token.kind != '(')
		return ray_parse_unary(p);
	if (ray_parse_enter(p)) {
		e = ray_parse_type_or_unary(p, &type);
		if (type)
			e = cast_operand(p, where, type);
	}
	ray_parse_leave(p);
	return e;
}

static size_t find_binary(const struct ray_parser *p, int precedence)
{
	size_t i = 0;

	while (i < RAY_COUNT(binaries) &&
	       (binaries[i].token != (int)p->token.kind || binaries[i].precedence < precedence))
		i++;
	return i;
}

/* Operators of this precedence and higher. */
static struct ray_expr *parse_binary(struct ray_parser *p, int precedence)
{
	struct ray_expr *left = parse_cast(p);
	size_t i;

	while (left && (i = find_binary(p, precedence)) < RAY_COUNT(binaries)) {
		struct ray_where where = p->token.where;
		struct ray_expr *e = ray_parse_new(p, RAY_EXPR_BINARY, where);

		if (!e || !ray_parse_advance(p))
			return NULL;
		e->op = binaries[i].op;
		e->a = left;
		e->b = parse_binary(p, binaries[i].precedence + 1);
		if (!e->b)
			return NULL;
		e->where = ray_parse_where(p, where);
		p->is_unary = false;
		left = finish_binary(p, e);
	}
	return left;
}

static struct ray_expr *parse_choice(struct ray_parser *p, struct ray_expr *condition)
{
	struct ray_where where = p->token.where;
	struct ray_expr *e = ray_parse_new(p, RAY_EXPR_COND, where);

	if (!e || !ray_parse_advance(p))
		return NULL;
	e->a = condition;
	e->b = ray_parse_expression(p);
	if (!e->b || !ray_parse_expect(p, ':'))
		return NULL;
	e->c = ray_parse_conditional(p);
	if (!e->c)
		return NULL;
	e->where = ray_parse_where(p, where);
	p->is_unary = false;
	return ray_parse_finish(p, e);
}

struct ray_expr *ray_parse_conditional(struct ray_parser *p)
{
	struct ray_expr *e = NULL;

	if (ray_parse_enter(p)) {
		e = parse_binary(p, 1);
		if (e && p->token.kind == '?')
			e = parse_choice(p, e);
	}
	ray_parse_leave(p);
	return e;
}

static struct ray_expr *parse_assigned(struct ray_parser *p, struct ray_expr *left, enum ray_op op)
{
	struct ray_where where = p->token.where;
	struct ray_expr *e = ray_parse_new(p, RAY_EXPR_ASSIGN, where);

	if (!e || !ray_parse_advance(p))
		return NULL;
	e->op = op;
	e->a = left;
	e->b = ray_parse_assignment(p);
	if (!e->b)
		return NULL;
	e->where = ray_parse_where(p, where);
	p->is_unary = false;
	return finish_binary(p, e);
}

static struct ray_expr *parse_assignment(struct ray_parser *p)
{
	struct ray_expr *e = ray_parse_conditional(p);

	if (!e || !p->is_unary)
		return e;
	for (size_t i = 0; i < RAY_COUNT(assignments); i++) {
		if (assignments[i].token == (int)p->token.kind)
			return parse_assigned(p, e, assignments[i].op);
	}
	return e;
}

struct ray_expr *ray_parse_assignment(struct ray_parser *p)
{
	struct ray_expr *e = ray_parse_enter(p) ? parse_assignment(p) : NULL;

	ray_parse_leave(p);
	return e;
}

struct ray_expr *ray_parse_expression(struct ray_parser *p)
{
	struct ray_expr *e = ray_parse_assignment(p);

	while (e && p->token.kind == ',') {
		struct ray_where where = p->token.where;
		struct ray_expr *comma = ray_parse_new(p, RAY_EXPR_COMMA, where);

		if (!comma || !ray_parse_advance(p))
			return NULL;
		comma->a = e;
		comma->b = ray_parse_assignment(p);
		if (!comma->b)
			return NULL;
		comma->where = ray_parse_where(p, where);
		p->is_unary = false;
		e = ray_parse_finish(p, comma);
	}
	return e;
}
