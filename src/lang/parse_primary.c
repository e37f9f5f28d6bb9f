/* parse_primary.c - names, constants, calls, members: what operators are applied to.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "lang/decl.h"
#include "lang/functions.h"
#include "lang/parse.h"

struct ray_expr *ray_parse_new(struct ray_parser *p, enum ray_expr_kind kind, struct ray_where where)
{
	struct ray_expr *e = ray_arena_alloc(p->program->arena, sizeof(*e));

	if (!e) {
		ray_lex_no_memory(&p->lex);
		return NULL;
	}
	e->kind = kind;
	e->where = where;
	e->depth = 1;
	return e;
}

struct ray_where ray_parse_where(const struct ray_parser *p, struct ray_where where)
{
	return where.line == p->token.where.line ? where : p->token.where;
}

static unsigned int depth_of(const struct ray_expr *e)
{
	return e ? e->depth : 0;
}

struct ray_expr *ray_parse_finish(struct ray_parser *p, struct ray_expr *e)
{
	unsigned int depth = depth_of(e->a);

	depth = depth_of(e->b) > depth ? depth_of(e->b) : depth;
	depth = depth_of(e->c) > depth ? depth_of(e->c) : depth;
	for (size_t i = 0; i < e->arg_count; i++)
		depth = depth_of(e->args[i]) > depth ? depth_of(e->args[i]) : depth;
	if (depth >= RAY_EXPR_MAX_DEPTH) {
		ray_lex_fail(&p->lex, &e->where, "D_SYNTAX", "expression is nested too deeply");
		return NULL;
	}
	e->depth = (uint16_t)(depth + 1);
	return e;
}

/* C's rule: the first of these types that can hold it, beginning with the one that the suffixes ask for. */
static const struct ray_type *integer_type(struct ray_parser *p, const struct ray_token *t)
{
	static const struct {
		enum ray_basic basic;
		uint64_t limit;
	} sizes[] = {
		{ RAY_BASIC_INT, INT32_MAX },	 { RAY_BASIC_UINT, UINT32_MAX }, { RAY_BASIC_LONG, INT64_MAX },
		{ RAY_BASIC_ULONG, UINT64_MAX }, { RAY_BASIC_LLONG, INT64_MAX }, { RAY_BASIC_ULLONG, UINT64_MAX },
	};
	size_t step = t->is_decimal || t->unsigned_suffixes ? 2 : 1;

	for (size_t i = t->unsigned_suffixes + 2u * t->long_suffixes; i < RAY_COUNT(sizes); i += step) {
		if (t->value <= sizes[i].limit)
			return ray_type_basic(p->program->types, sizes[i].basic);
	}
	ray_lex_fail(&p->lex, &t->where, "D_INT_OFLOW",
		     "integer constant 0x%llx cannot be represented in any built-in integral type",
		     (unsigned long long)t->value);
	return NULL;
}

static struct ray_expr *parse_integer(struct ray_parser *p)
{
	struct ray_token t = p->token;
	struct ray_expr *e = ray_parse_new(p, RAY_EXPR_INTEGER, t.where), *minus;

	if (!e)
		return NULL;
	e->value = t.value;
	e->is_char = t.is_char;
	e->type = integer_type(p, &t);
	if (!e->type)
		return NULL;
	e->is_unsigned = !ray_type_is_signed(e->type);
	e->is_long = e->type->size == 8;
	if (!ray_parse_advance(p))
		return NULL;
	if (!t.is_macro_negative)
		return e;
	minus = ray_parse_new(p, RAY_EXPR_UNARY, t.where);
	if (!minus)
		return NULL;
	minus->op = RAY_OP_NEGATE;
	minus->a = e;
	return ray_parse_finish(p, minus);
}

static struct ray_expr *parse_text(struct ray_parser *p, enum ray_expr_kind kind)
{
	struct ray_expr *e = ray_parse_new(p, kind, p->token.where);

	if (!e)
		return NULL;
	e->text = p->token.text;
	e->length = p->token.length;
	if (kind == RAY_EXPR_NAME && strchr(e->text, '`'))
		e->kind = RAY_EXPR_SYMBOL;
	return ray_parse_advance(p) ? e : NULL;
}

/* self and this mean something only before ->; alone they are names that the checker refuses. */
static struct ray_expr *parse_scope(struct ray_parser *p, const char *name)
{
	struct ray_expr *e = ray_parse_new(p, RAY_EXPR_NAME, p->token.where);

	if (!e)
		return NULL;
	e->text = name;
	e->length = strlen(name);
	return ray_parse_advance(p) ? e : NULL;
}

static struct ray_expr *parse_parenthesized(struct ray_parser *p)
{
	struct ray_expr *e = ray_parse_expression(p);

	if (!e || !ray_parse_expect(p, ')'))
		return NULL;
	e->is_parenthesized = true;
	return e;
}

static struct ray_expr *parse_offsetof(struct ray_parser *p)
{
	struct ray_expr *e = ray_parse_new(p, RAY_EXPR_OFFSETOF, p->token.where);

	if (!e || !ray_parse_advance(p) || !ray_parse_expect(p, '('))
		return NULL;
	e->cast_type = ray_decl_type_name(p);
	if (!e->cast_type || !ray_parse_expect(p, ','))
		return NULL;
	if (p->token.kind != RAY_TOKEN_NAME) {
		ray_parse_syntax_error(p);
		return NULL;
	}
	e->text = p->token.text;
	if (!ray_parse_advance(p))
		return NULL;
	e->where = ray_parse_where(p, e->where);
	return ray_parse_expect(p, ')') ? e : NULL;
}

static struct ray_expr *parse_xlate(struct ray_parser *p)
{
	struct ray_expr *e = ray_parse_new(p, RAY_EXPR_XLATE, p->token.where);

	if (!e || !ray_parse_advance(p) || !ray_parse_expect(p, '<'))
		return NULL;
	e->cast_type = ray_decl_type_name(p);
	if (!e->cast_type || !ray_parse_expect(p, '>') || !ray_parse_expect(p, '('))
		return NULL;
	e->a = ray_parse_expression(p);
	if (!e->a)
		return NULL;
	e->where = ray_parse_where(p, e->where);
	return ray_parse_expect(p, ')') ? ray_parse_finish(p, e) : NULL;
}

static struct ray_expr *parse_primary(struct ray_parser *p)
{
	switch ((int)p->token.kind) {
	case RAY_TOKEN_NAME:
		return parse_text(p, RAY_EXPR_NAME);
	case RAY_TOKEN_AGGREGATION:
		return parse_text(p, RAY_EXPR_AGGREGATION);
	case RAY_TOKEN_STRING:
		return parse_text(p, RAY_EXPR_STRING);
	case RAY_TOKEN_INTEGER:
		return parse_integer(p);
	case RAY_KEY_SELF:
		return parse_scope(p, "self");
	case RAY_KEY_THIS:
		return parse_scope(p, "this");
	case RAY_KEY_OFFSETOF:
		return parse_offsetof(p);
	case RAY_KEY_XLATE:
		return parse_xlate(p);
	case '(':
		return ray_parse_advance(p) ? parse_parenthesized(p) : NULL;
	default:
		ray_parse_syntax_error(p);
		return NULL;
	}
}

/* Expressions up to closing, which stays the present token; empty only if may_be_empty. */
static bool parse_arguments(struct ray_parser *p, int closing, bool may_be_empty, struct ray_expr *e)
{
	RAY_VEC(struct ray_expr *) args = { 0 };
	bool is_ok = true;

	if (may_be_empty && (int)p->token.kind == closing)
		return true;
	for (;;) {
		struct ray_expr *arg = ray_parse_assignment(p);

		is_ok = arg && (ray_vec_push(&args, arg) || ray_lex_no_memory(&p->lex));
		if (!is_ok || p->token.kind != ',')
			break;
		is_ok = ray_parse_advance(p);
		if (!is_ok)
			break;
	}
	if (is_ok && (int)p->token.kind != closing)
		is_ok = ray_parse_syntax_error(p);
	if (is_ok) {
		e->args = ray_arena_alloc(p->program->arena, args.n * sizeof(struct ray_expr *));
		is_ok = e->args || ray_lex_no_memory(&p->lex);
	}
	if (is_ok) {
		memcpy(e->args, args.at, args.n * sizeof(struct ray_expr *));
		e->arg_count = args.n;
	}
	ray_vec_free(&args);
	return is_ok;
}

static struct ray_expr *parse_index(struct ray_parser *p, struct ray_expr *base)
{
	bool is_key = base->kind == RAY_EXPR_AGGREGATION && !base->arg_count;
	struct ray_expr *e = is_key ? base : ray_parse_new(p, RAY_EXPR_INDEX, p->token.where);

	if (!e || !ray_parse_advance(p) || !parse_arguments(p, ']', false, e))
		return NULL;
	if (!is_key)
		e->a = base;
	e->where = ray_parse_where(p, e->where);
	return ray_parse_advance(p) ? ray_parse_finish(p, e) : NULL;
}

static struct ray_expr *parse_call(struct ray_parser *p, struct ray_expr *function)
{
	struct ray_expr *e = ray_parse_new(p, RAY_EXPR_CALL, function->where);

	if (!e || !ray_parse_advance(p) || !parse_arguments(p, ')', true, e))
		return NULL;
	e->text = function->text;
	e->length = function->length;
	if (function->kind != RAY_EXPR_NAME || function->scope != RAY_SCOPE_GLOBAL) {
		ray_parse_fail_at(p, e->where, "D_FUNC_IDENT", "function designator is not of function type");
		return NULL;
	}
	if (!ray_decl_is_function(p, e->text, e->where))
		return NULL;
	return ray_parse_advance(p) ? ray_parse_finish(p, e) : NULL;
}

static bool is_scope(const struct ray_expr *e, const char *name)
{
	return e->kind == RAY_EXPR_NAME && e->scope == RAY_SCOPE_GLOBAL && !strcmp(e->text, name);
}

static struct ray_expr *parse_member(struct ray_parser *p, struct ray_expr *base)
{
	bool is_arrow = p->token.kind == RAY_TOKEN_ARROW;
	struct ray_where where = p->token.where;
	struct ray_expr *e = ray_parse_new(p, is_arrow ? RAY_EXPR_ARROW : RAY_EXPR_DOT, where);

	if (!e || !ray_parse_advance(p))
		return NULL;
	if (p->token.kind != RAY_TOKEN_NAME) {
		ray_parse_syntax_error(p);
		return NULL;
	}
	e->text = p->token.text;
	e->length = p->token.length;
	e->a = base;
	e->where = ray_parse_where(p, where);
	if (is_arrow && (is_scope(base, "self") || is_scope(base, "this"))) {
		e->kind = RAY_EXPR_NAME;
		e->scope = is_scope(base, "self") ? RAY_SCOPE_THREAD : RAY_SCOPE_CLAUSE;
		e->where = base->where.line == e->where.line ? base->where : e->where;
		e->a = NULL;
	}
	return ray_parse_advance(p) ? ray_parse_finish(p, e) : NULL;
}

static struct ray_expr *parse_step(struct ray_parser *p, struct ray_expr *base, enum ray_op op)
{
	struct ray_expr *e = ray_parse_new(p, RAY_EXPR_UNARY, p->token.where);

	if (!e || !ray_parse_advance(p))
		return NULL;
	e->op = op;
	e->a = base;
	return ray_parse_finish(p, e);
}

static struct ray_expr *parse_suffixes(struct ray_parser *p, struct ray_expr *e)
{
	while (e) {
		switch ((int)p->token.kind) {
		case '[':
			e = parse_index(p, e);
			break;
		case '(':
			e = parse_call(p, e);
			break;
		case '.':
		case RAY_TOKEN_ARROW:
			e = parse_member(p, e);
			break;
		case RAY_TOKEN_INCREMENT:
			e = parse_step(p, e, RAY_OP_POST_INC);
			break;
		case RAY_TOKEN_DECREMENT:
			e = parse_step(p, e, RAY_OP_POST_DEC);
			break;
		default:
			p->is_unary = true;
			return e;
		}
	}
	return NULL;
}

struct ray_expr *ray_parse_postfix(struct ray_parser *p)
{
	return parse_suffixes(p, parse_primary(p));
}

struct ray_expr *ray_parse_type_or_unary(struct ray_parser *p, const struct ray_type **type_ret)
{
	if (!ray_parse_advance(p))
		return NULL;
	if (!ray_decl_begins_type(p)) {
		p->is_unary = true;
		return parse_suffixes(p, parse_parenthesized(p));
	}
	const struct ray_type *type = ray_decl_type_name(p);
	if (type && ray_parse_expect(p, ')'))
		*type_ret = type;
	return NULL;
}
