/* decl_type.c - from the words of a declaration to a type. SPDX-License-Identifier: MIT */
#include "lang/decl.h"

#include <string.h>

const char *ray_decl_print(struct ray_parser *p, const struct ray_type *type)
{
	ray_auto_text text = { 0 };
	const char *copy;

	ray_type_print(type, &text);
	copy = ray_arena_strdup(p->program->arena, ray_text_get(&text));
	return copy ? copy : "";
}

static const struct {
	const char *words;
	enum ray_basic basic;
} basics[] = {
	{ "void", RAY_BASIC_VOID },
	{ "char", RAY_BASIC_CHAR },
	{ "signed char", RAY_BASIC_SCHAR },
	{ "unsigned char", RAY_BASIC_UCHAR },
	{ "short ", RAY_BASIC_SHORT },
	{ "signed short ", RAY_BASIC_SHORT },
	{ "unsigned short ", RAY_BASIC_USHORT },
	{ "int", RAY_BASIC_INT },
	{ "signed ", RAY_BASIC_INT },
	{ "signed int", RAY_BASIC_INT },
	{ "unsigned ", RAY_BASIC_UINT },
	{ "unsigned int", RAY_BASIC_UINT },
	{ "long ", RAY_BASIC_LONG },
	{ "signed long ", RAY_BASIC_LONG },
	{ "unsigned long ", RAY_BASIC_ULONG },
	{ "long long ", RAY_BASIC_LLONG },
	{ "signed long long ", RAY_BASIC_LLONG },
	{ "unsigned long long ", RAY_BASIC_ULLONG },
	{ "float", RAY_BASIC_FLOAT },
	{ "double", RAY_BASIC_DOUBLE },
	{ "long double", RAY_BASIC_LDOUBLE },
};

static const struct ray_type *basic_type(struct ray_parser *p, const struct ray_decl *d)
{
	unsigned int lengths = RAY_SPEC_SHORT | RAY_SPEC_LONG | RAY_SPEC_LONG_LONG;
	ray_auto_text words = { 0 };

	ray_text_printf(&words, "%s%s%s%s%s", d->flags & RAY_SPEC_SIGNED ? "signed " : "",
			d->flags & RAY_SPEC_UNSIGNED ? "unsigned " : "", d->flags & RAY_SPEC_SHORT ? "short " : "",
			d->flags & RAY_SPEC_LONG ? "long " : "", d->flags & RAY_SPEC_LONG_LONG ? "long long " : "");
	if (d->name && (d->spec == RAY_SPEC_FLOAT || !(d->flags & lengths)))
		ray_text_add(&words, d->name);
	if (!words.length)
		ray_text_add(&words, "int");
	for (size_t i = 0; i < RAY_COUNT(basics); i++) {
		if (!strcmp(basics[i].words, ray_text_get(&words)))
			return ray_type_basic(p->program->types, basics[i].basic);
	}
	ray_parse_fail(p, "D_UNKNOWN", "failed to resolve type %s: Unknown type name", ray_text_get(&words));
	return NULL;
}

static const struct ray_type *named_type(struct ray_parser *p, const char *name)
{
	const struct ray_type *type = strcmp(name, "string") ? ray_type_typedef(p->program->types, name) :
							       ray_type_basic(p->program->types, RAY_BASIC_STRING);

	if (!type)
		ray_parse_fail(p, "D_UNKNOWN", "failed to resolve type %s: Unknown type name", name);
	return type;
}

/* One that nobody has defined is named, at least: a definition may follow. */
static const struct ray_type *tagged_type(struct ray_parser *p, const struct ray_decl *d)
{
	const struct ray_type *found = ray_type_tagged(p->program->types, d->tag_kind, d->name);
	struct ray_type *forward;

	if (found)
		return found;
	forward = ray_arena_alloc(p->program->arena, sizeof(*forward));
	if (!forward) {
		ray_lex_no_memory(&p->lex);
		return NULL;
	}
	*forward = (struct ray_type){ .kind = RAY_TYPE_FORWARD, .forward_kind = d->tag_kind, .name = d->name };
	ray_auto(ray_error, err) = ray_type_define(p->program->types, forward);
	if (err) {
		ray_parse_fail(p, "D_UNKNOWN", "failed to add forward tag for %s: %s", d->name, ray_error_text(err));
		return NULL;
	}
	return forward;
}

static const struct ray_type *base_type(struct ray_parser *p, struct ray_decl *d)
{
	if (!d->type) {
		switch (d->spec) {
		case RAY_SPEC_NONE:
		case RAY_SPEC_INTEGER:
		case RAY_SPEC_FLOAT:
			d->type = basic_type(p, d);
			break;
		case RAY_SPEC_NAMED:
			d->type = named_type(p, d->name);
			break;
		case RAY_SPEC_TAGGED:
			d->type = tagged_type(p, d);
			break;
		}
	}
	return d->type;
}

static const struct ray_type *function_type(struct ray_parser *p, const struct ray_derivation *f,
					    const struct ray_type *returns)
{
	struct ray_type *type = ray_arena_alloc(p->program->arena, sizeof(*type));
	const struct ray_type **parameters =
		ray_arena_alloc(p->program->arena, (f->parameter_count + 1) * sizeof(const struct ray_type *));

	if (!type || !parameters)
		return NULL;
	*type = (struct ray_type){ .kind = RAY_TYPE_FUNCTION, .target = returns, .parameters = parameters };
	for (size_t i = 0; i < f->parameter_count; i++) {
		const struct ray_type *parameter = f->parameters[i].type;

		if (!parameter)
			type->is_variadic = true;
		else if (ray_type_resolve(parameter)->kind != RAY_TYPE_VOID)
			parameters[type->count++] = parameter;
	}
	return type;
}

static const struct ray_type *array_type(struct ray_parser *p, const struct ray_derivation *a,
					 const struct ray_type *of)
{
	struct ray_type *flexible;

	if (a->has_count)
		return ray_type_array(p->program->types, of, a->count);
	flexible = ray_arena_alloc(p->program->arena, sizeof(*flexible));
	if (flexible)
		*flexible = (struct ray_type){ .kind = RAY_TYPE_ARRAY,
					       .flags = RAY_TYPE_FLEXIBLE,
					       .target = of,
					       .align = ray_type_resolve(of)->align };
	return flexible;
}

/* The declarator's list is short: see declarator.c. */
static const struct ray_type *derive(struct ray_parser *p, const struct ray_derivation *d, const struct ray_type *base)
{
	const struct ray_type *inner = d ? derive(p, d->next, base) : base, *type = NULL;

	if (!d || !inner)
		return inner;
	switch (d->kind) {
	case RAY_DERIVE_POINTER:
		type = ray_type_pointer(p->program->types, inner);
		break;
	case RAY_DERIVE_ARRAY:
		type = array_type(p, d, inner);
		break;
	case RAY_DERIVE_ASSOC:
		type = ray_type_basic(p->program->types, RAY_BASIC_DYNAMIC);
		break;
	case RAY_DERIVE_FUNCTION:
		type = function_type(p, d, inner);
		break;
	}
	if (!type)
		ray_lex_no_memory(&p->lex);
	return type;
}

const struct ray_type *ray_decl_type(struct ray_parser *p, struct ray_decl *d)
{
	const struct ray_type *base = base_type(p, d);

	return base ? derive(p, d->derivations, base) : NULL;
}

const struct ray_type *ray_decl_element_type(struct ray_parser *p, struct ray_decl *d)
{
	const struct ray_type *base = base_type(p, d);

	return base ? derive(p, d->derivations->next, base) : NULL;
}

const struct ray_type *ray_decl_type_name(struct ray_parser *p)
{
	struct ray_decl_state state = ray_decl_push(p);
	struct ray_decl d = { 0 };
	bool is_ok;

	p->lex.in_array_bounds = false;
	is_ok = ray_decl_specifiers(p, &d, false) && ray_decl_declarator(p, &d, RAY_DECLARATOR_ABSTRACT);
	ray_decl_pop(p, state);
	return is_ok ? ray_decl_type(p, &d) : NULL;
}
