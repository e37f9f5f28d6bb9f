/* xlate.c - translators: from the kernel's structures to those that scripts know.
 * SPDX-License-Identifier: MIT
 *
 * A translation has no storage: x->member becomes the member's expression, with the translator's parameter replaced. */
#include <string.h>

#include "lang/check.h"

static const struct ray_type *destination(const struct ray_type *to)
{
	const struct ray_type *r = ray_type_resolve(to);

	return r->kind == RAY_TYPE_POINTER ? ray_type_resolve(r->target) : r;
}

/* The same type first, then one that can be given for it. */
static struct ray_translator *find(struct ray_check *c, const struct ray_expr *from, const struct ray_type *to)
{
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < c->program->translators.n; i++) {
			struct ray_translator *t = c->program->translators.at[i];

			if (!ray_type_equals(t->to, to))
				continue;
			if (pass == 0 ? ray_type_equals(t->from, from->type) : ray_check_fits(t->from, from))
				return t;
		}
	}
	return NULL;
}

static bool check_member(struct ray_check *c, const struct ray_translator *t, struct ray_translator_member *m)
{
	uint32_t at;
	const struct ray_member *member = ray_type_member(t->to, m->name, &at);

	if (!member) {
		ray_check_fail(c, &t->end, "D_XLATE_MEMB", "translator member %s is not a member of %s", m->name,
			       ray_check_type_name(c, t->to));
		return false;
	}
	m->expr = ray_check_expr(c, m->expr, RAY_USE_READ);
	if (!m->expr)
		return false;
	if (m->expr->kind != RAY_EXPR_XLATE && !ray_check_fits(member->type, m->expr)) {
		ray_check_fail(c, &t->end, "D_XLATE_INCOMPAT",
			       "translator member %s definition uses incompatible types: \"%s\" = \"%s\"", m->name,
			       ray_check_type_name(c, member->type), ray_check_type_of(c, m->expr));
		return false;
	}
	return true;
}

static bool check_translator(struct ray_check *c, struct ray_translator *t)
{
	struct ray_variable *parameter = ray_arena_alloc(c->arena, sizeof(*parameter));
	struct ray_check_binding binding = { .outer = NULL, .variable = parameter };
	const struct ray_check_binding *outer = c->bindings;
	bool is_fine = true;

	if (!parameter)
		return ray_check_nomem(c) != NULL;
	*parameter = (struct ray_variable){
		.name = t->parameter, .scope = RAY_SCOPE_INLINE, .type = t->from, .is_declared = true
	};
	t->variable = parameter;
	c->bindings = &binding;
	for (size_t i = 0; is_fine && i < t->member_count; i++)
		is_fine = check_member(c, t, &t->members[i]);
	c->bindings = outer;
	return is_fine;
}

bool ray_check_translators(struct ray_check *c)
{
	for (size_t i = 0; i < c->program->translators.n; i++) {
		struct ray_translator *t = c->program->translators.at[i];

		if (!t->variable && !check_translator(c, t))
			return false;
	}
	return true;
}

struct ray_expr *ray_check_translate(struct ray_check *c, struct ray_expr *from, const struct ray_type *to,
				     const struct ray_where *where)
{
	const struct ray_type *structure = destination(to);
	struct ray_translator *t;
	struct ray_expr *x;

	if (structure->kind != RAY_TYPE_STRUCT && structure->kind != RAY_TYPE_UNION)
		return NULL;
	t = find(c, from, structure);
	if (!t && ray_check_load_prelude(c, structure))
		t = find(c, from, structure);
	if (!t || (!t->variable && !check_translator(c, t)))
		return NULL;
	x = ray_check_new(c, RAY_EXPR_XLATE, ray_type_basic(c->types, RAY_BASIC_DYNAMIC), where);
	if (!x)
		return NULL;
	x->a = from;
	x->cast_type = to;
	x->translator = t;
	return x;
}

struct ray_expr *ray_check_translated_member(struct ray_check *c, struct ray_expr *xlate, const char *member,
					     const struct ray_where *where)
{
	const struct ray_translator *t = xlate->translator;
	const struct ray_member *m;
	uint32_t at;

	if (!t && !xlate->a)
		return ray_check_call_member(c, member, where);
	if (!t && ray_type_is_pointer(xlate->cast_type))
		return ray_check_cpu_member(c, xlate->a, member, where);
	if (!t)
		return ray_check_file_member(c, xlate->a, member, where);
	for (size_t i = 0; i < t->member_count; i++) {
		struct ray_substitution s = { t->variable, NULL };
		struct ray_expr *value;

		if (strcmp(t->members[i].name, member))
			continue;
		m = ray_type_member(t->to, member, &at);
		s.value = ray_check_convert(c, xlate->a, t->from);
		value = s.value && m ? ray_expr_clone(c->arena, t->members[i].expr, &s, 1) : NULL;
		if (!value)
			return c->error ? NULL : ray_check_nomem(c);
		/* A string is given for an array of characters as it is. */
		return value->kind == RAY_EXPR_XLATE || ray_type_is_by_reference(m->type) ?
			       value :
			       ray_check_convert(c, value, m->type);
	}
	return ray_check_fail(c, where, "D_XLATE_NOCONV", "translator does not define conversion for member: %s",
			      member);
}

struct ray_expr *ray_check_xlate(struct ray_check *c, struct ray_expr *e, enum ray_use use)
{
	struct ray_expr *x;

	(void)use;
	e->a = ray_check_expr(c, e->a, RAY_USE_READ);
	if (!e->a)
		return NULL;
	x = ray_check_translate(c, e->a, e->cast_type, &e->where);
	if (x || c->error)
		return x;
	return ray_check_fail(c, &e->where, "D_XLATE_NONE", "cannot translate from \"%s\" to \"%s\"",
			      ray_check_type_of(c, e->a), ray_check_type_name(c, e->cast_type));
}
