/* decl_enum.c - enumerators: names for constants. SPDX-License-Identifier: MIT */
#include "lang/decl.h"

#include <limits.h>
#include <string.h>

/* While it is read, its enumerators can be used in the values of the next. */
struct ray_enum_body {
	RAY_VEC(struct ray_enumerator) enumerators;
	struct ray_names names; /* index + 1 */
};

bool ray_enum_body_find(const struct ray_enum_body *body, const char *name, int64_t *ret)
{
	uintptr_t index = body ? (uintptr_t)ray_names_find(&body->names, name) : 0;

	if (!index)
		return false;
	*ret = body->enumerators.at[index - 1].value;
	return true;
}

static bool find_value(struct ray_parser *p, const char *name, const struct ray_expr *e, int64_t *ret)
{
	struct ray_constant c;

	if (!ray_constant_find(p, e, &c))
		return ray_parse_fail(p, "D_DECL_ENCONST",
				      "enumerator '%s' must be assigned to an integral constant expression", name);
	if ((int64_t)c.value > INT_MAX || (int64_t)c.value < INT_MIN)
		return ray_parse_fail(p, "D_DECL_ENOFLOW", "enumerator '%s' value overflows INT_MAX (%d)", name,
				      INT_MAX);
	*ret = (int64_t)c.value;
	return true;
}

static bool add(struct ray_parser *p, struct ray_enum_body *b, const char *name, const struct ray_expr *e)
{
	size_t n = b->enumerators.n;
	struct ray_enumerator fresh = { .name = name, .value = n ? b->enumerators.at[n - 1].value + 1 : 0 };
	int64_t old;

	if (strchr(name, '`'))
		return ray_parse_fail(p, "D_DECL_SCOPE",
				      "D scoping operator may not be used in an enumerator name (%s)", name);
	if (e && !find_value(p, name, e, &fresh.value))
		return false;
	if (ray_enum_body_find(b, name, &old))
		return ray_parse_fail(p, "D_UNKNOWN",
				      "failed to define enumerator '%s': Duplicate member or variable name", name);
	/* Headers of C may use names that D has for its own; D's win. */
	if (ray_decl_is_global(p, name, NULL) && !p->lex.is_included)
		return ray_parse_fail(p, "D_DECL_IDRED", "identifier redeclared: %s", name);
	fresh.value = (int32_t)fresh.value;
	if (!ray_vec_push(&b->enumerators, fresh) || !ray_names_put(&b->names, name, (void *)(uintptr_t)(n + 1)))
		return ray_lex_no_memory(&p->lex);
	ray_pragma_declared(p, name);
	return true;
}

static bool parse_enumerators(struct ray_parser *p, struct ray_enum_body *b)
{
	for (;;) {
		const char *name = p->token.text;
		struct ray_expr *value = NULL;

		if (p->token.kind != RAY_TOKEN_NAME)
			return ray_parse_syntax_error(p);
		if (!ray_parse_advance(p))
			return false;
		if (p->token.kind == '=') {
			if (!ray_parse_advance(p))
				return false;
			value = ray_parse_assignment(p);
			if (!value)
				return false;
		}
		if (!add(p, b, name, value))
			return false;
		if (p->token.kind != ',')
			return p->token.kind == '}' || ray_parse_syntax_error(p);
		if (!ray_parse_advance(p))
			return false;
	}
}

static bool finish(struct ray_parser *p, struct ray_enum_body *b, struct ray_decl *d)
{
	struct ray_type *type = ray_arena_alloc(p->program->arena, sizeof(*type));
	struct ray_enumerator *copy = ray_arena_alloc(p->program->arena, b->enumerators.n * sizeof(*copy));

	if (!type || !copy)
		return ray_lex_no_memory(&p->lex);
	memcpy(copy, b->enumerators.at, b->enumerators.n * sizeof(*copy));
	*type = (struct ray_type){ .kind = RAY_TYPE_ENUM,
				   .flags = RAY_TYPE_SIGNED,
				   .name = d->name,
				   .size = 4,
				   .align = 4,
				   .count = b->enumerators.n,
				   .enumerators = copy };
	ray_auto(ray_error, err) = ray_type_define(p->program->types, type);
	d->type = type;
	return !err || ray_parse_fail(p, "D_UNKNOWN", "failed to define enum %s: %s", d->name ? d->name : "(anon)",
				      ray_error_text(err));
}

bool ray_decl_enum_body(struct ray_parser *p, struct ray_decl *d)
{
	const struct ray_type *old = d->name ? ray_type_defined(p->program->types, RAY_TYPE_ENUM, d->name) : NULL;
	struct ray_enum_body body = { .names = ray_names_in(p->program->arena) }, *outer = p->enum_body;
	struct ray_decl_state state = ray_decl_push(p);
	bool is_ok;

	if (old && old->kind != RAY_TYPE_FORWARD)
		return ray_parse_fail(p, "D_DECL_TYPERED", "type redeclared: enum %s", d->name);
	p->lex.in_array_bounds = false;
	p->enum_body = &body;
	is_ok = ray_parse_advance(p) && parse_enumerators(p, &body) && finish(p, &body, d);
	p->enum_body = outer;
	ray_vec_free(&body.enumerators);
	ray_decl_pop(p, state);
	return is_ok;
}
