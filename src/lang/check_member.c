/* check_member.c - pointers, members, arrays, casts, sizeof and offsetof.
 * SPDX-License-Identifier: MIT */
#include "lang/check.h"

static bool is_userland(const struct ray_expr *e)
{
	return e->type->flags & RAY_TYPE_USERLAND;
}

/* What lies behind an address of the traced process lies there, too. */
static const struct ray_type *inherit_userland(struct ray_check *c, const struct ray_type *t, bool is_user)
{
	if (is_user && (ray_type_is_pointer(t) || ray_type_is_by_reference(t)))
		return ray_type_qualified(c->types, t, RAY_TYPE_USERLAND);
	return t;
}

struct ray_expr *ray_check_dereference(struct ray_check *c, struct ray_expr *e, enum ray_use use)
{
	const struct ray_type *r, *to;

	(void)use;
	e->a = ray_check_expr(c, e->a, RAY_USE_READ);
	if (!e->a)
		return NULL;
	if (e->a->kind == RAY_EXPR_XLATE && ray_type_is_pointer(e->a->cast_type)) {
		e->a->cast_type = ray_type_resolve(e->a->cast_type)->target;
		return e->a;
	}
	if (e->a->kind == RAY_EXPR_CAST && e->a->op == RAY_OP_STRINGOF && e->a->a->kind == RAY_EXPR_BINARY)
		e->a = e->a->a; /* a character of a string needs no string of what follows it */
	r = ray_type_resolve(e->a->type);
	if (r->kind == RAY_TYPE_STRING)
		to = ray_type_basic(c->types, RAY_BASIC_CHAR);
	else if (r->kind == RAY_TYPE_POINTER || r->kind == RAY_TYPE_ARRAY)
		to = r->target;
	else
		return ray_check_fail(c, &e->where, "D_DEREF_NONPTR", "cannot dereference non-pointer type");
	if (ray_type_resolve(to)->kind == RAY_TYPE_VOID)
		return ray_check_fail(c, &e->where, "D_DEREF_VOID", "cannot dereference pointer to void");
	if (ray_type_resolve(to)->kind == RAY_TYPE_FUNCTION)
		return ray_check_fail(c, &e->where, "D_DEREF_FUNC", "cannot dereference pointer to function");
	e->type = inherit_userland(c, to, is_userland(e->a));
	return e->type ? e : ray_check_nomem(c);
}

struct ray_expr *ray_check_address(struct ray_check *c, struct ray_expr *e, enum ray_use use)
{
	const struct ray_expr *a;

	(void)use;
	a = e->a = ray_check_expr(c, e->a, RAY_USE_READ);
	if (!a)
		return NULL;
	if (a->kind == RAY_EXPR_VARIABLE || a->kind == RAY_EXPR_ELEMENT || a->kind == RAY_EXPR_ARG ||
	    a->kind == RAY_EXPR_AGGREGATION)
		return ray_check_fail(c, &e->where, "D_ADDROF_VAR", "cannot take address of dynamic variable");
	if (ray_check_is_dynamic(a))
		return ray_check_fail(c, &e->where, "D_ADDROF_VAR", "cannot take address of dynamic object");
	if (!ray_check_is_lvalue(a))
		return ray_check_fail(c, &e->where, "D_ADDROF_LVAL", "unacceptable operand for unary & operator");
	if (a->kind == RAY_EXPR_MEMBER && a->bit_width)
		return ray_check_fail(c, &e->where, "D_ADDROF_BITFIELD", "cannot take address of bit-field");
	e->type = ray_type_pointer(c->types, a->type);
	if (e->type && is_userland(a))
		e->type = ray_type_qualified(c->types, e->type, RAY_TYPE_USERLAND);
	e->is_alloca = a->is_alloca || (a->kind == RAY_EXPR_DEREF && a->a->is_alloca);
	return e->type ? e : ray_check_nomem(c);
}

static const char *plain_name(struct ray_check *c, const struct ray_type *t)
{
	ray_auto_text text = { 0 };
	const char *copy;

	ray_type_print(t, &text);
	copy = ray_arena_strdup(c->arena, ray_text_get(&text));
	return copy ? copy : "unknown";
}

/* The structure that -> or . looks into; NULL after an error. */
static const struct ray_type *structure_of(struct ray_check *c, const struct ray_expr *e)
{
	const char *op = e->kind == RAY_EXPR_ARROW ? "->" : ".";
	const struct ray_type *t = ray_type_resolve(e->a->type);

	if (e->kind == RAY_EXPR_ARROW) {
		if (t->kind != RAY_TYPE_POINTER)
			return ray_check_fail(c, &e->where, "D_OP_PTR", "operator -> must be applied to a pointer");
		t = ray_type_resolve(t->target);
	}
	if (t->kind == RAY_TYPE_FORWARD)
		return ray_check_fail(
			c, &e->where, "D_OP_INCOMPLETE",
			"operator %s cannot be applied to a forward declaration: no %s definition is available", op,
			plain_name(c, t));
	if (t->kind == RAY_TYPE_STRUCT || t->kind == RAY_TYPE_UNION)
		return t;
	if (e->kind == RAY_EXPR_ARROW)
		return ray_check_fail(
			c, &e->where, "D_OP_SOU",
			"operator -> cannot be applied to pointer to type \"%s\"; must be applied to a struct or "
			"union pointer",
			plain_name(c, t));
	return ray_check_fail(c, &e->where, "D_OP_SOU",
			      "operator %s cannot be applied to type \"%s\"; must be applied to a struct or union", op,
			      plain_name(c, t));
}

struct ray_expr *ray_check_arrow(struct ray_check *c, struct ray_expr *e, enum ray_use use)
{
	const struct ray_type *s;

	(void)use;
	e->a = ray_check_expr(c, e->a, RAY_USE_READ);
	if (!e->a)
		return NULL;
	if (e->a->kind == RAY_EXPR_XLATE) {
		bool is_pointer = ray_type_is_pointer(e->a->cast_type);

		if (is_pointer != (e->kind == RAY_EXPR_ARROW) && e->kind == RAY_EXPR_ARROW)
			return ray_check_fail(c, &e->where, "D_OP_PTR", "operator -> must be applied to a pointer");
		return ray_check_translated_member(c, e->a, e->text, &e->where);
	}
	s = structure_of(c, e);
	if (!s)
		return NULL;
	e->member = ray_type_member(s, e->text, &e->bit_offset);
	if (!e->member) {
		struct ray_expr *calculated = ray_check_view_member(c, e, s);

		if (calculated || c->error)
			return calculated;
	}
	if (!e->member)
		return ray_check_fail(c, &e->where, "D_TYPE_MEMBER", "%s is not a member of %s", e->text,
				      plain_name(c, s));
	e->bit_width = e->member->bit_width;
	e->type = inherit_userland(c, e->member->type, is_userland(e->a));
	e->is_alloca = e->a->is_alloca && ray_type_is_by_reference(e->type);
	if (e->kind == RAY_EXPR_ARROW)
		e->a = ray_check_deref(c, e->a, &e->where);
	e->kind = RAY_EXPR_MEMBER;
	if (!e->a || !e->type)
		return NULL;
	return e->type->flags & RAY_TYPE_TEXT ? ray_check_text(c, e) : e;
}

/* "scalar x", "operator ->": how messages call what is no array. */
static const char *describe(struct ray_check *c, const struct ray_expr *e)
{
	const char *text;

	switch (e->kind) {
	case RAY_EXPR_INTEGER:
		text = ray_arena_printf(c->arena, "integer constant 0x%llx", (unsigned long long)e->value);
		break;
	case RAY_EXPR_STRING:
		text = ray_arena_printf(c->arena, "string constant \"%s\"", e->text);
		break;
	case RAY_EXPR_VARIABLE:
	case RAY_EXPR_ELEMENT:
		text = ray_arena_printf(c->arena, "%s %s", ray_check_variable_kind(e->variable), e->variable->name);
		break;
	case RAY_EXPR_MEMBER:
		text = e->a->kind == RAY_EXPR_DEREF ? "operator ->" : "operator .";
		break;
	default:
		text = ray_arena_printf(c->arena, "operator %s", e->kind == RAY_EXPR_DEREF ? "*" : ray_op_text(e->op));
	}
	return text ? text : "";
}

/* p[i] of a pointer or an array: *(p + i). */
static struct ray_expr *check_subscript(struct ray_check *c, struct ray_expr *e)
{
	struct ray_expr *sum, *deref;

	e->a = ray_check_expr(c, e->a, RAY_USE_READ);
	if (!e->a)
		return NULL;
	if (!ray_check_args(c, e->args, 1, RAY_USE_READ))
		return NULL;
	sum = ray_check_new(c, RAY_EXPR_BINARY, NULL, &e->where);
	deref = ray_check_new(c, RAY_EXPR_DEREF, NULL, &e->where);
	if (!sum || !deref)
		return NULL;
	sum->op = RAY_OP_ADD;
	sum->a = e->a;
	sum->b = e->args[0];
	deref->a = ray_check_expr(c, sum, RAY_USE_READ);
	if (!deref->a)
		return NULL;
	if (e->arg_count != 1)
		return ray_check_fail(c, &e->where, "D_ARR_BADREF", "cannot access %s as an associative array",
				      describe(c, e->a));
	return ray_check_expr(c, deref, RAY_USE_READ);
}

static struct ray_expr *subscript_name(struct ray_check *c, struct ray_expr *e, enum ray_use use, bool *is_done)
{
	struct ray_expr *name = e->a, *found;
	struct ray_variable *v;

	*is_done = true;
	if (name->scope == RAY_SCOPE_GLOBAL) {
		found = ray_check_builtin_element(c, e, name->text);
		if (found || c->error)
			return found;
	}
	v = ray_check_find_variable(c, name->scope, name->text);
	if (!v && name->scope == RAY_SCOPE_GLOBAL) {
		int64_t unused;
		const struct ray_type *enum_type;

		*is_done = !ray_check_is_builtin(name->text) && !ray_prelude_constant(name->text, &unused) &&
			   !ray_type_enumerator(c->types, name->text, &enum_type);
		if (!*is_done)
			return NULL;
	}
	if (!v)
		v = ray_check_create_variable(c, name->scope, name->text, &name->where);
	if (!v)
		return NULL;
	if (ray_check_is_virgin(v) && !v->is_assoc) {
		if (v->scope == RAY_SCOPE_CLAUSE)
			return ray_check_fail(c, &e->where, "D_ARR_LOCAL",
					      "local variables may not be used as associative arrays: %s", v->name);
		v->is_assoc = true;
	}
	*is_done = v->is_assoc;
	return v->is_assoc ? ray_check_element(c, e, v, use) : NULL;
}

struct ray_expr *ray_check_index(struct ray_check *c, struct ray_expr *e, enum ray_use use)
{
	if (e->a->kind == RAY_EXPR_NAME) {
		bool is_done;
		struct ray_expr *found = subscript_name(c, e, use, &is_done);

		if (is_done || c->error)
			return found;
	}
	return check_subscript(c, e);
}

struct ray_expr *ray_check_sizeof(struct ray_check *c, struct ray_expr *e, enum ray_use use)
{
	uint64_t size;

	(void)use;
	if (e->cast_type) {
		size = ray_type_size(e->cast_type);
	} else {
		e->a = ray_check_expr(c, e->a, RAY_USE_READ);
		if (!e->a)
			return NULL;
		if (e->a->kind == RAY_EXPR_MEMBER && e->a->bit_width)
			return ray_check_fail(c, &e->where, "D_SIZEOF_BITFIELD", "cannot apply sizeof to a bit-field");
		size = e->a->kind == RAY_EXPR_STRING ? e->a->length + 1 : ray_type_size(e->a->type);
		/* The type's size has room for the NUL; the reference's string has not. */
		if (e->a->kind != RAY_EXPR_STRING && ray_check_is_string(e->a))
			size--;
	}
	if (e->cast_type && ray_type_is_string(e->cast_type))
		size--;
	if (size == 0)
		return ray_check_fail(c, &e->where, "D_SIZEOF_TYPE",
				      "cannot apply sizeof to an operand of unknown size");
	return ray_check_integer(c, size, ray_type_typedef(c->types, "size_t"), &e->where);
}

struct ray_expr *ray_check_offsetof(struct ray_check *c, struct ray_expr *e, enum ray_use use)
{
	const struct ray_type *t = ray_type_resolve(e->cast_type);
	const struct ray_member *m;
	uint32_t at;

	(void)use;
	if (t->kind != RAY_TYPE_STRUCT && t->kind != RAY_TYPE_UNION)
		return ray_check_fail(c, &e->where, "D_OFFSETOF_TYPE",
				      "offsetof operand must be a struct or union type");
	m = ray_type_member(t, e->text, &at);
	if (!m)
		return ray_check_fail(c, &e->where, "D_UNKNOWN",
				      "failed to determine offset of %s: Member name not found", e->text);
	if (m->bit_width)
		return ray_check_fail(c, &e->where, "D_OFFSETOF_BITFIELD", "cannot take offset of a bit-field: %s",
				      e->text);
	return ray_check_integer(c, at / 8, ray_type_basic(c->types, RAY_BASIC_INT), &e->where);
}

static struct ray_expr *check_stringof(struct ray_check *c, struct ray_expr *e)
{
	if (!ray_check_is_scalar(e->a) && !ray_check_is_pointer(e->a) && !ray_type_is_stringish(e->a->type))
		return ray_check_fail(c, &e->where, "D_STRINGOF_TYPE", "cannot apply stringof to a value of type %s",
				      ray_check_type_of(c, e->a));
	if (ray_check_is_string(e->a))
		return e->a;
	e->type = ray_type_basic(c->types, RAY_BASIC_STRING);
	return e;
}

static bool can_be_cast(const struct ray_type *to, const struct ray_expr *from)
{
	const struct ray_type *t = ray_type_resolve(to), *f = ray_type_resolve(from->type);

	if (f->kind == RAY_TYPE_DYNAMIC)
		return t->kind == RAY_TYPE_VOID;
	if (t->kind == RAY_TYPE_VOID || ray_type_equals(to, from->type))
		return true;
	if (ray_type_is_scalar(t) && (ray_type_is_scalar(f) || f->kind == RAY_TYPE_FUNCTION))
		return true;
	if (t->kind == RAY_TYPE_POINTER && (ray_check_is_pointer(from) || f->kind == RAY_TYPE_STRING))
		return f->kind != RAY_TYPE_STRING;
	return t->kind == RAY_TYPE_STRING && (ray_type_is_scalar(f) || ray_check_is_pointer(from));
}

struct ray_expr *ray_check_cast(struct ray_check *c, struct ray_expr *e, enum ray_use use)
{
	(void)use;
	e->a = ray_check_expr(c, e->a, RAY_USE_READ);
	if (!e->a)
		return NULL;
	if (e->op == RAY_OP_STRINGOF)
		return check_stringof(c, e);
	if (!can_be_cast(e->cast_type, e->a))
		return ray_check_fail(c, &e->where, "D_CAST_INVAL", "invalid cast expression: \"%s\" to \"%s\"",
				      ray_check_type_of(c, e->a), ray_check_type_name(c, e->cast_type));
	e->type = e->cast_type;
	if (ray_type_is_string(e->type) && !ray_check_is_string(e->a))
		e->op = RAY_OP_STRINGOF;
	e->is_alloca = e->a->is_alloca;
	e->is_unassignable = e->a->is_unassignable;
	return ray_check_fold(c, e);
}
