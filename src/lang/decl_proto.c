/* decl_proto.c - the parameters of functions, associative arrays and probes. SPDX-License-Identifier: MIT */
#include "lang/decl.h"

#include <string.h>

static bool is_void(const struct ray_parameter *parameter)
{
	const struct ray_type *type = ray_type_resolve(parameter->type);

	return type && type->kind == RAY_TYPE_VOID;
}

static bool is_dynamic(const struct ray_parameter *parameter)
{
	const struct ray_type *type = ray_type_resolve(parameter->type);

	return type && type->kind == RAY_TYPE_DYNAMIC;
}

/* Whether the name is among the formals; of the same list, only those before it count. */
static bool is_among(const struct ray_parameter *parameter, const struct ray_derivation *formals)
{
	for (size_t i = 0; i < formals->parameter_count; i++) {
		const struct ray_parameter *formal = &formals->parameters[i];

		if (formal == parameter)
			return false;
		if (formal->name && !strcmp(formal->name, parameter->name))
			return true;
	}
	return false;
}

static bool check(struct ray_parser *p, const struct ray_parameter *parameter, int number,
		  const struct ray_derivation *formals, bool is_other, const char *kind, unsigned int flags)
{
	const struct ray_where *where = &parameter->where;

	if (!parameter->type && !(flags & RAY_PROTO_VARARGS))
		return ray_lex_fail(&p->lex, where, "D_DECL_PROTO_VARARGS",
				    "%s prototype may not use a variable-length argument list", kind);
	if (is_dynamic(parameter) || (is_void(parameter) && !(flags & RAY_PROTO_VOID)))
		return ray_lex_fail(&p->lex, where, "D_DECL_PROTO_TYPE",
				    "%s prototype may not use parameter of type %s: %s, parameter #%d", kind,
				    ray_decl_print(p, parameter->type),
				    parameter->name ? parameter->name : "(anonymous)", number);
	if (is_void(parameter) && parameter->name)
		return ray_lex_fail(&p->lex, where, "D_DECL_PROTO_NAME", "void parameter may not have a name: %s",
				    parameter->name);
	if (parameter->name && is_among(parameter, formals) != is_other)
		return ray_lex_fail(&p->lex, where, "D_DECL_PROTO_FORM",
				    "parameter is %s declared in %s prototype: %s, parameter #%d",
				    is_other ? "not" : "already", kind, parameter->name, number);
	if (!parameter->name && parameter->type && !is_void(parameter) && !(flags & RAY_PROTO_ANONYMOUS))
		return ray_lex_fail(&p->lex, where, "D_DECL_PROTO_NAME",
				    "parameter declaration requires a name: parameter #%d", number);
	return true;
}

bool ray_decl_prototype(struct ray_parser *p, const struct ray_derivation *list, const struct ray_derivation *formals,
			const char *kind, unsigned int flags)
{
	bool has_void = false;

	for (size_t i = 0; i < list->parameter_count; i++) {
		if (!check(p, &list->parameters[i], (int)i + 1, formals, list != formals, kind, flags))
			return false;
		has_void = has_void || is_void(&list->parameters[i]);
	}
	if (has_void && list->parameter_count > 1)
		return ray_parse_fail(p, "D_DECL_PROTO_VOID", "void must be sole parameter");
	return true;
}
