/* check_inline.c - inline definitions: checked where they stand, copied where they are used.
 * SPDX-License-Identifier: MIT */
#include "lang/check.h"

enum { MAX_FORMALS = 32 };

static bool fits(struct ray_check *c, const struct ray_variable *v)
{
	const struct ray_type *want = v->type;

	if (v->body->kind != RAY_EXPR_XLATE)
		return ray_check_fits(want, v->body);
	if (ray_type_is_pointer(want))
		want = ray_type_resolve(want)->target;
	(void)c;
	return v->body->translator ? ray_type_equals(want, v->body->translator->to) :
				     ray_type_equals(want, v->body->cast_type);
}

static bool check_inline(struct ray_check *c, struct ray_variable *v)
{
	struct ray_check_binding bindings[MAX_FORMALS];
	const struct ray_check_binding *outer = c->bindings;

	if (v->key_count > MAX_FORMALS) {
		ray_check_fail(c, &v->where, "D_UNKNOWN", "inline %s has more than %d parameters", v->name,
			       MAX_FORMALS);
		return false;
	}
	for (size_t i = 0; i < v->key_count; i++) {
		if (!v->formals[i] || !v->formals[i]->name)
			continue;
		v->formals[i]->scope = RAY_SCOPE_INLINE;
		v->formals[i]->is_declared = true;
		bindings[i] = (struct ray_check_binding){ c->bindings, v->formals[i] };
		c->bindings = &bindings[i];
	}
	v->body = ray_check_expr(c, v->body, RAY_USE_READ);
	c->bindings = outer;
	if (!v->body)
		return false;
	if (fits(c, v))
		return true;
	ray_check_fail(c, &v->where, "D_OP_INCOMPAT", "inline %s definition uses incompatible types: \"%s\" = \"%s\"",
		       v->name, ray_check_type_name(c, v->type), ray_check_type_of(c, v->body));
	return false;
}

bool ray_check_inlines(struct ray_check *c)
{
	for (size_t i = 0; i < c->program->variables[RAY_SCOPE_INLINE].n; i++) {
		struct ray_variable *v = c->program->variables[RAY_SCOPE_INLINE].at[i];

		c->inlines_known = i;
		if (!v->is_read && !check_inline(c, v))
			return false;
		v->is_read = true; /* once is enough */
	}
	c->inlines_known = SIZE_MAX;
	return true;
}

struct ray_expr *ray_check_expand(struct ray_check *c, const struct ray_variable *v, struct ray_expr **args)
{
	struct ray_substitution s[MAX_FORMALS];
	struct ray_expr *copy;
	size_t count = 0;

	for (size_t i = 0; args && i < v->key_count; i++) {
		if (!v->formals[i])
			continue;
		s[count].variable = v->formals[i];
		s[count++].value = args[i];
	}
	copy = ray_expr_clone(c->arena, v->body, s, count);
	if (!copy)
		return ray_check_nomem(c);
	/* Another name for a variable can be assigned to. */
	if (copy->kind == RAY_EXPR_XLATE || copy->kind == RAY_EXPR_VARIABLE || copy->kind == RAY_EXPR_ELEMENT)
		return copy;
	return ray_check_convert(c, copy, v->type);
}
