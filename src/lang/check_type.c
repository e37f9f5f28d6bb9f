/* check_type.c - questions about the type of an expression, and conversions.
 * SPDX-License-Identifier: MIT
 *
 * The questions are those that the reference asks, so that the same programs are refused. */
#include <string.h>

#include "lang/check.h"

bool ray_check_is_special(const struct ray_type *t, const char *name)
{
	return t && t->kind == RAY_TYPE_TYPEDEF && !strcmp(t->name, name) && ray_type_resolve(t)->kind == RAY_TYPE_VOID;
}

static bool is_any_special(const struct ray_type *t)
{
	return ray_check_is_special(t, "stack") || ray_check_is_special(t, "_symaddr") ||
	       ray_check_is_special(t, "_usymaddr");
}

bool ray_check_is_integer(const struct ray_expr *e)
{
	return ray_type_is_integer(e->type);
}

bool ray_check_is_scalar(const struct ray_expr *e)
{
	return ray_type_is_scalar(e->type);
}

bool ray_check_is_pointer(const struct ray_expr *e)
{
	const struct ray_type *r = ray_type_resolve(e->type);

	return r->kind == RAY_TYPE_POINTER || r->kind == RAY_TYPE_ARRAY;
}

bool ray_check_is_void_pointer(const struct ray_expr *e)
{
	const struct ray_type *r = ray_type_resolve(e->type);
	const struct ray_type *to = r->kind == RAY_TYPE_POINTER ? ray_type_resolve(r->target) : NULL;

	return to && (to->kind == RAY_TYPE_VOID || to->kind == RAY_TYPE_FUNCTION);
}

bool ray_check_is_string(const struct ray_expr *e)
{
	return ray_type_is_string(e->type);
}

bool ray_check_is_dynamic(const struct ray_expr *e)
{
	return ray_type_resolve(e->type)->kind == RAY_TYPE_DYNAMIC;
}

bool ray_check_is_void(const struct ray_expr *e)
{
	return ray_type_resolve(e->type)->kind == RAY_TYPE_VOID && !is_any_special(e->type);
}

bool ray_check_is_zero(const struct ray_expr *e)
{
	return e->kind == RAY_EXPR_INTEGER && e->value == 0;
}

bool ray_check_is_positive(const struct ray_expr *e)
{
	return e->kind == RAY_EXPR_INTEGER && e->value != 0 && (!ray_type_is_signed(e->type) || (int64_t)e->value > 0);
}

static bool is_array(const struct ray_expr *e)
{
	return ray_type_resolve(e->type)->kind == RAY_TYPE_ARRAY;
}

bool ray_check_is_lvalue(const struct ray_expr *e)
{
	switch (e->kind) {
	case RAY_EXPR_VARIABLE:
	case RAY_EXPR_ELEMENT:
	case RAY_EXPR_ARG:
	case RAY_EXPR_AGGREGATION:
		return true;
	case RAY_EXPR_DEREF:
		return !is_array(e);
	case RAY_EXPR_MEMBER:
		return !is_array(e) && (e->a->kind == RAY_EXPR_DEREF || ray_check_is_lvalue(e->a));
	default:
		return false;
	}
}

bool ray_check_is_writable(const struct ray_expr *e)
{
	switch (e->kind) {
	case RAY_EXPR_VARIABLE:
	case RAY_EXPR_ELEMENT:
		return e->variable->scope <= RAY_SCOPE_CLAUSE;
	case RAY_EXPR_DEREF:
		if (e->a->kind == RAY_EXPR_BINARY && e->a->op == RAY_OP_ADD)
			return ray_check_is_writable(e->a->a);
		return ray_check_is_writable(e->a);
	case RAY_EXPR_MEMBER:
	case RAY_EXPR_ASSIGN:
		return ray_check_is_writable(e->a);
	case RAY_EXPR_UNARY:
		return e->op >= RAY_OP_PRE_INC && e->op <= RAY_OP_POST_DEC && ray_check_is_writable(e->a);
	case RAY_EXPR_COMMA:
		return ray_check_is_writable(e->b);
	default:
		return false;
	}
}

/* What a pointer points to, or an array consists of; NULL for others. */
static const struct ray_type *pointed_to(const struct ray_type *t)
{
	const struct ray_type *r = ray_type_resolve(t);

	return r->kind == RAY_TYPE_POINTER || r->kind == RAY_TYPE_ARRAY ? ray_type_resolve(r->target) : NULL;
}

/* A string goes where an array of characters would. */
static bool targets_fit(const struct ray_type *l, const struct ray_type *r)
{
	bool l_is_string = ray_type_is_string(l), r_is_string = ray_type_is_string(r);
	const struct ray_type *x = pointed_to(l), *y = pointed_to(r);

	if ((!x && !l_is_string) || (!y && !r_is_string))
		return false;
	if ((x && x->kind == RAY_TYPE_VOID) || (y && y->kind == RAY_TYPE_VOID))
		return true;
	if (l_is_string || r_is_string)
		return ray_type_is_stringish(l) && ray_type_is_stringish(r);
	return ray_type_equals(x, y);
}

static bool is_userland(const struct ray_type *t)
{
	for (; t; t = t->kind == RAY_TYPE_TYPEDEF ? t->target : NULL) {
		if (t->flags & RAY_TYPE_USERLAND)
			return true;
	}
	return false;
}

static bool pointer_types_fit(const struct ray_type *l, bool l_is_zero, const struct ray_type *r, bool r_is_zero,
			      const struct ray_type **ret)
{
	bool l_int = ray_type_is_integer(l), r_int = ray_type_is_integer(r);
	const struct ray_type *to;

	if (ray_type_resolve(l)->kind == RAY_TYPE_DYNAMIC || ray_type_resolve(r)->kind == RAY_TYPE_DYNAMIC)
		return false;
	if ((l_int && r_int) || (l_int && !l_is_zero) || (r_int && !r_is_zero))
		return false;
	if (!l_int && !r_int && is_userland(l) != is_userland(r))
		return false;
	if (l_int)
		l = r;
	else if (r_int)
		r = l;
	if (!targets_fit(l, r))
		return false;
	to = pointed_to(r);
	if (ret)
		*ret = to && to->kind == RAY_TYPE_VOID ? l : r;
	return true;
}

bool ray_check_pointers_fit(const struct ray_expr *l, const struct ray_expr *r, const struct ray_type **ret)
{
	return pointer_types_fit(l->type, ray_check_is_zero(l), r->type, ray_check_is_zero(r), ret);
}

bool ray_check_fits(const struct ray_type *l, const struct ray_expr *r)
{
	const struct ray_type *t = ray_type_resolve(l);

	if (ray_type_is_integer(l) && ray_check_is_integer(r))
		return true;
	if (ray_type_is_stringish(l) && ray_type_is_stringish(r->type))
		return true;
	if (is_any_special(l) || is_any_special(r->type))
		return is_any_special(l) && is_any_special(r->type) && !strcmp(l->name, r->type->name);
	if (t->kind == RAY_TYPE_STRUCT || t->kind == RAY_TYPE_UNION || t->kind == RAY_TYPE_FUNCTION)
		return ray_type_equals(l, r->type);
	return pointer_types_fit(l, false, r->type, ray_check_is_zero(r), NULL);
}

const struct ray_type *ray_check_promote_one(struct ray_check *c, const struct ray_type *t)
{
	const struct ray_type *r = ray_type_resolve(t);

	return r->kind == RAY_TYPE_ENUM || r->size < 4 ? ray_type_basic(c->types, RAY_BASIC_INT) : t;
}

const struct ray_type *ray_check_promote(struct ray_check *c, const struct ray_expr *l, const struct ray_expr *r)
{
	const struct ray_type *x = ray_check_promote_one(c, l->type), *y = ray_check_promote_one(c, r->type);
	uint64_t x_rank = ray_type_size(x) * 2 + !ray_type_is_signed(x);
	uint64_t y_rank = ray_type_size(y) * 2 + !ray_type_is_signed(y);

	return x_rank >= y_rank ? x : y;
}

const struct ray_type *ray_check_kept_type(const struct ray_expr *e)
{
	bool is_operator = e->kind == RAY_EXPR_BINARY || e->kind == RAY_EXPR_UNARY;

	return is_operator && e->cast_type ? e->cast_type : e->type;
}

void ray_check_set_kept(struct ray_expr *e, const struct ray_type *t)
{
	e->cast_type = ray_type_size(t) < ray_type_size(e->type) ? t : NULL;
}

const struct ray_type *ray_check_kept_of_two(struct ray_check *c, const struct ray_expr *l, const struct ray_expr *r)
{
	const struct ray_type *x = ray_check_kept_type(l), *y = ray_check_kept_type(r), *number;

	number = ray_type_basic(c->types, RAY_BASIC_INT);
	x = ray_type_resolve(x)->kind == RAY_TYPE_ENUM ? number : x;
	y = ray_type_resolve(y)->kind == RAY_TYPE_ENUM ? number : y;
	return ray_type_size(x) * 2 + !ray_type_is_signed(x) >= ray_type_size(y) * 2 + !ray_type_is_signed(y) ? x : y;
}

struct ray_expr *ray_check_keep(struct ray_check *c, struct ray_expr *e)
{
	return ray_check_convert(c, e, ray_check_kept_type(e));
}

/* Whether a register that holds a value of type `from` holds the same as one of type `to`. */
static bool same_in_register(const struct ray_type *from, const struct ray_type *to)
{
	const struct ray_type *x = ray_type_resolve(from), *y = ray_type_resolve(to);

	if (ray_type_is_scalar(x) && ray_type_is_scalar(y)) {
		if (y->size == 8 || (y->size == x->size && ray_type_is_signed(x) == ray_type_is_signed(y)))
			return !(y->flags & RAY_TYPE_BOOL);
		return false;
	}
	return x == y || ray_type_is_string(x) == ray_type_is_string(y);
}

struct ray_expr *ray_check_convert(struct ray_check *c, struct ray_expr *e, const struct ray_type *to)
{
	struct ray_expr *cast;

	if (e->type == to)
		return e;
	if (e->kind == RAY_EXPR_INTEGER && (ray_type_is_scalar(to) || (ray_type_is_string(to) && e->value == 0))) {
		struct ray_expr *n = ray_check_integer(c, e->value, to, &e->where);

		if (n && ray_type_is_integer(to))
			n->value = ray_check_normalize(e->value, to);
		return n;
	}
	if (same_in_register(e->type, to) && ray_type_equals(e->type, to))
		return e;
	cast = ray_check_new(c, RAY_EXPR_CAST, to, &e->where);
	if (!cast)
		return NULL;
	cast->a = e;
	cast->cast_type = to;
	if (ray_type_is_string(to) && !ray_check_is_string(e))
		cast->op = RAY_OP_STRINGOF;
	return cast;
}

const char *ray_check_type_name(struct ray_check *c, const struct ray_type *t)
{
	const struct ray_type *r = t ? ray_type_resolve(t) : NULL;
	ray_auto_text text = { 0 };
	const char *copy;

	if (!r)
		return "<none>";
	if (t->kind == RAY_TYPE_POINTER && ray_type_resolve(t->target)->kind == RAY_TYPE_FUNCTION)
		return "function pointer";
	if (t->kind == RAY_TYPE_FUNCTION)
		return "function";
	if (r->kind == RAY_TYPE_DYNAMIC)
		return "dynamic variable";
	if (is_userland(t))
		ray_text_add(&text, "userland ");
	ray_type_print(t, &text);
	copy = ray_arena_strdup(c->arena, ray_text_get(&text));
	return copy ? copy : "unknown";
}

const char *ray_check_type_of(struct ray_check *c, const struct ray_expr *e)
{
	if (e->type && !ray_check_is_dynamic(e))
		return ray_check_type_name(c, e->type);
	switch (e->kind) {
	case RAY_EXPR_AGGREGATION:
		return "aggregation";
	case RAY_EXPR_CALL:
		return e->function && e->function->kind == RAY_FUNCTION_AGGREGATING ? "aggregating function" :
										      "tracing function";
	case RAY_EXPR_XLATE:
		return ray_type_is_pointer(e->cast_type) ? "pointer to translated data" : "translated data";
	case RAY_EXPR_ELEMENT:
		return "associative array";
	default:
		return e->type ? "dynamic variable" : "<none>";
	}
}

const char *ray_op_text(enum ray_op op)
{
	static const char *const texts[] = {
		[RAY_OP_NONE] = "=",
		[RAY_OP_ADD] = "+",
		[RAY_OP_SUB] = "-",
		[RAY_OP_MUL] = "*",
		[RAY_OP_DIV] = "/",
		[RAY_OP_MOD] = "%",
		[RAY_OP_AND] = "&",
		[RAY_OP_OR] = "|",
		[RAY_OP_XOR] = "^",
		[RAY_OP_SHL] = "<<",
		[RAY_OP_SHR] = ">>",
		[RAY_OP_EQ] = "==",
		[RAY_OP_NE] = "!=",
		[RAY_OP_LT] = "<",
		[RAY_OP_LE] = "<=",
		[RAY_OP_GT] = ">",
		[RAY_OP_GE] = ">=",
		[RAY_OP_LOGIC_AND] = "&&",
		[RAY_OP_LOGIC_OR] = "||",
		[RAY_OP_LOGIC_XOR] = "^^",
		[RAY_OP_NEGATE] = "-",
		[RAY_OP_PLUS] = "+",
		[RAY_OP_INVERT] = "~",
		[RAY_OP_NOT] = "!",
		[RAY_OP_PRE_INC] = "++",
		[RAY_OP_PRE_DEC] = "--",
		[RAY_OP_POST_INC] = "++",
		[RAY_OP_POST_DEC] = "--",
		[RAY_OP_STRINGOF] = "stringof",
	};

	return (size_t)op < RAY_COUNT(texts) && texts[op] ? texts[op] : "<?>";
}
