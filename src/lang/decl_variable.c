/* decl_variable.c - what a declaration declares: variables, typedefs, externs. SPDX-License-Identifier: MIT */
#include <string.h>

#include "lang/decl.h"
#include "lang/functions.h"

enum { MAX_SIZE = INT32_MAX }; /* of a variable, in bytes */

static const char *variable_kind(const struct ray_variable *v)
{
	return v->is_assoc ? "associative array" : "scalar";
}

static const char *builtin_kind(const char *name)
{
	static const char *const builtins[] = {
#define ROW(id, name, type) name,
		RAY_BUILTINS(ROW)
#undef ROW
	};
	static const struct {
		const char *name;
		enum ray_function_kind kind;
	} functions[] = {
#define ROW(id, name, kind, ...) { name, RAY_FUNCTION_##kind },
		RAY_FUNCTIONS(ROW)
#undef ROW
	};
	static const char *const kinds[] = { [RAY_FUNCTION_ACTION] = "tracing function",
					     [RAY_FUNCTION_SUBROUTINE] = "function",
					     [RAY_FUNCTION_AGGREGATING] = "aggregating function" };

	for (size_t i = 0; i < RAY_COUNT(functions); i++) {
		if (!strcmp(functions[i].name, name))
			return kinds[functions[i].kind];
	}
	for (size_t i = 0; i < RAY_COUNT(builtins); i++) {
		if (!strcmp(builtins[i], name))
			return strcmp(name, "args") && strcmp(name, "uregs") && strcmp(name, "fds") ?
				       "scalar" :
				       "associative array";
	}
	return !strcmp(name, "self") || !strcmp(name, "this") ? "pointer" : NULL;
}

/* What D 1.0 did not have: a script that asks for an older D may use these names itself. */
static bool is_newer_than(const char *name, unsigned int version)
{
	static const struct {
		unsigned int version;
		const char *names;
	} newer[] = {
		{ 0x10100, " freopen index rindex strchr strrchr strstr strtok substr " },
		{ 0x10200, " func mod setopt sym uaddr ucaller ufunc umod ustackdepth usym " },
		{ 0x10300, " htonl htonll htons ntohl ntohll ntohs " },
		{ 0x10500, " inet_ntoa inet_ntoa6 inet_ntop link_ntop " },
		{ 0x10600, " stddev " },
		{ 0x10604, " llquantize pcap " },
		{ 0x20000, " print json strip tolower toupper " },
	};
	char spaced[64];

	snprintf(spaced, sizeof(spaced), " %s ", name);
	for (size_t i = 0; version && i < RAY_COUNT(newer); i++) {
		if (newer[i].version > version && strstr(newer[i].names, spaced))
			return true;
	}
	return false;
}

bool ray_decl_is_global(const struct ray_parser *p, const char *name, const char **kind_ret)
{
	const struct ray_variable *v = ray_names_find(&p->program->declared->globals, name);
	const char *kind = v ? variable_kind(v) : builtin_kind(name);
	const struct ray_type *type;
	int64_t value;

	if (!kind &&
	    (ray_enum_body_find(p->enum_body, name, &value) || ray_type_enumerator(p->program->types, name, &type)))
		kind = "enumerator";
	if (kind_ret)
		*kind_ret = kind;
	return kind != NULL;
}

bool ray_decl_is_function(struct ray_parser *p, const char *name, struct ray_where where)
{
	const char *kind;

	if (!ray_decl_is_global(p, name, &kind))
		return ray_parse_fail_at(p, where, "D_FUNC_UNDEF", "undefined function name: %s", name);
	return strstr(kind, "function") ||
	       ray_parse_fail_at(p, where, "D_FUNC_IDKIND", "%s '%s' may not be referenced as a function", kind, name);
}

bool ray_decl_add(struct ray_parser *p, struct ray_names *names, struct ray_variable *v)
{
	v->id = (uint32_t)p->program->variables[v->scope].n;
	if (!ray_names_put(names, v->name, v) || !ray_vec_push(&p->program->variables[v->scope], v))
		return ray_lex_no_memory(&p->lex);
	return true;
}

static struct ray_variable *new_variable(struct ray_parser *p, const struct ray_decl *d, enum ray_scope scope,
					 const struct ray_type *type)
{
	struct ray_variable *v = ray_arena_alloc(p->program->arena, sizeof(*v));

	if (!v) {
		ray_lex_no_memory(&p->lex);
		return NULL;
	}
	*v = (struct ray_variable){
		.name = d->ident, .scope = scope, .type = type, .where = d->ident_where, .is_declared = true
	};
	return v;
}

static bool declare_extern(struct ray_parser *p, const struct ray_decl *d, const struct ray_type *type)
{
	struct ray_variable *old = ray_names_find(&p->program->declared->externs, d->ident), *v;
	/* All functions are the same to the reference. */
	bool is_function = ray_type_resolve(type)->kind == RAY_TYPE_FUNCTION;

	if (old) {
		if (ray_type_equals(old->type, type) ||
		    (is_function && ray_type_resolve(old->type)->kind == RAY_TYPE_FUNCTION))
			return true;
		return ray_parse_fail_at(p, d->ident_where, "D_DECL_IDRED",
					 "identifier redeclared: %s`%s\n\t current: %s\n\tprevious: %s",
					 p->lex.is_included ? "C" : "D", d->ident, ray_decl_print(p, type),
					 ray_decl_print(p, old->type));
	}
	v = new_variable(p, d, RAY_SCOPE_GLOBAL, type);
	if (!v)
		return false;
	if (!ray_names_put(&p->program->declared->externs, d->ident, v) || !ray_vec_push(&p->program->externs, v))
		return ray_lex_no_memory(&p->lex);
	return true;
}

/* Whether a typedef is the script's own or D's; those of the system are known, but any script may use their names. */
static bool is_protected(const struct ray_type *type, const char *name)
{
	static const char *const own[] = {
		"int8_t",	"int16_t",    "int32_t",   "int64_t",	"intptr_t", "ssize_t", "uint8_t",
		"uint16_t",	"uint32_t",   "uint64_t",  "uchar_t",	"ushort_t", "uint_t",  "ulong_t",
		"u_longlong_t", "longlong_t", "ptrdiff_t", "uintptr_t", "size_t",   "id_t",    "pid_t",
	};

	if (!type || type->owner)
		return type;
	for (size_t i = 0; i < RAY_COUNT(own); i++) {
		if (!strcmp(own[i], name))
			return true;
	}
	return false;
}

static bool declare_typedef(struct ray_parser *p, const struct ray_decl *d, const struct ray_type *type)
{
	const struct ray_type *old = ray_type_defined(p->program->types, RAY_TYPE_TYPEDEF, d->ident);
	struct ray_type *t;

	if (ray_decl_is_global(p, d->ident, NULL))
		return ray_parse_fail_at(p, d->ident_where, "D_DECL_IDRED", "global variable identifier redeclared: %s",
					 d->ident);
	if (is_protected(old, d->ident)) {
		/* Headers of C define what D knows already: D's own stay. */
		if (p->lex.is_included && !old->owner)
			return true;
		return ray_parse_fail_at(p, d->ident_where, "D_DECL_IDRED", "typedef redeclared: %s", d->ident);
	}
	t = ray_arena_alloc(p->program->arena, sizeof(*t));
	if (!t)
		return ray_lex_no_memory(&p->lex);
	*t = (struct ray_type){
		.kind = RAY_TYPE_TYPEDEF, .name = d->ident, .target = type, .size = type->size, .align = type->align
	};
	ray_auto(ray_error, err) = ray_type_define(p->program->types, t);
	return !err || ray_parse_fail_at(p, d->ident_where, "D_UNKNOWN", "failed to typedef %s: %s", d->ident,
					 ray_error_text(err));
}

static bool fail_redeclared(struct ray_parser *p, const struct ray_decl *d, const char *kind,
			    const struct ray_type *type, const char *old_kind, const struct ray_type *old)
{
	return ray_parse_fail_at(p, d->ident_where, "D_DECL_IDRED",
				 "identifier redeclared: %s\n\t current: %s %s\n\tprevious: %s %s", d->ident, kind,
				 ray_decl_print(p, type), old_kind, old ? ray_decl_print(p, old) : "");
}

/* Declaring a variable again is fine, if nothing differs. */
static bool check_keys(struct ray_parser *p, const struct ray_decl *d, const struct ray_type *type,
		       const struct ray_variable *old)
{
	const struct ray_derivation *keys = d->derivations;

	for (size_t i = 0; i < keys->parameter_count && i < old->key_count; i++) {
		if (!ray_type_equals(keys->parameters[i].type, old->keys[i]))
			return ray_parse_fail_at(p, d->ident_where, "D_DECL_IDRED",
						 "identifier redeclared: %s\n\t current: %s, key #%zu of type %s\n"
						 "\tprevious: %s, key #%zu of type %s",
						 d->ident, "associative array", i + 1,
						 ray_decl_print(p, keys->parameters[i].type), "associative array",
						 i + 1, ray_decl_print(p, old->keys[i]));
	}
	if (keys->parameter_count != old->key_count)
		return ray_parse_fail_at(p, d->ident_where, "D_DECL_IDRED",
					 "identifier redeclared: %s\n\t current: %s of %s, tuple length %zu\n"
					 "\tprevious: %s of %s, tuple length %zu",
					 d->ident, "associative array", ray_decl_print(p, type), keys->parameter_count,
					 "associative array", ray_decl_print(p, old->type), old->key_count);
	return true;
}

static bool check_object(struct ray_parser *p, const struct ray_decl *d, const struct ray_type *type)
{
	const struct ray_type *r = ray_type_resolve(type);
	bool is_struct = r->kind == RAY_TYPE_STRUCT || r->kind == RAY_TYPE_UNION;

	if (r->kind == RAY_TYPE_VOID)
		return ray_parse_fail_at(p, d->ident_where, "D_DECL_VOIDOBJ", "cannot have void object: %s", d->ident);
	if (r->kind == RAY_TYPE_FORWARD || (is_struct && !r->size))
		return ray_decl_fail_incomplete(p, type, d->ident, d->ident_where);
	if (r->size > MAX_SIZE)
		return ray_parse_fail_at(p, d->ident_where, "D_DECL_ARRBIG", "array dimension too big");
	if (r->kind == RAY_TYPE_DYNAMIC)
		return ray_parse_fail_at(p, d->ident_where, "D_DECL_DYNOBJ",
					 "cannot declare array of associative arrays");
	return true;
}

static bool set_keys(struct ray_parser *p, const struct ray_decl *d, struct ray_variable *v)
{
	const struct ray_derivation *from = d->derivations;
	const struct ray_type **keys =
		ray_arena_alloc(p->program->arena, from->parameter_count * sizeof(const struct ray_type *));

	if (!keys)
		return ray_lex_no_memory(&p->lex);
	for (size_t i = 0; i < from->parameter_count; i++)
		keys[i] = from->parameters[i].type;
	v->is_assoc = true;
	v->keys = keys;
	v->key_count = from->parameter_count;
	return true;
}

/* What stands in the way of a variable of that name; *old if it is one that was declared before. */
static bool check_name(struct ray_parser *p, const struct ray_decl *d, const struct ray_names *names,
		       struct ray_variable **old)
{
	*old = ray_names_find(names, d->ident);
	if (d->derivations && d->derivations->kind == RAY_DERIVE_ARRAY && !d->derivations->has_count)
		return ray_parse_fail_at(p, d->ident_where, "D_DECL_ARRNULL",
					 "array declaration requires array dimension or tuple signature: %s", d->ident);
	if (!*old && names == &p->program->declared->globals && builtin_kind(d->ident) &&
	    !is_newer_than(d->ident, p->version))
		return ray_parse_fail_at(p, d->ident_where, "D_DECL_IDRED", "built-in identifier redeclared: %s",
					 d->ident);
	if (is_protected(ray_type_defined(p->program->types, RAY_TYPE_TYPEDEF, d->ident), d->ident))
		return ray_parse_fail_at(p, d->ident_where, "D_DECL_IDRED", "typedef identifier redeclared: %s",
					 d->ident);
	return true;
}

static bool declare_variable(struct ray_parser *p, struct ray_decl *d, const struct ray_type *type)
{
	struct ray_declared *declared = p->program->declared;
	bool is_assoc = d->derivations && d->derivations->kind == RAY_DERIVE_ASSOC;
	enum ray_scope scope = d->class == RAY_CLASS_THIS ? RAY_SCOPE_CLAUSE :
			       d->class == RAY_CLASS_SELF ? RAY_SCOPE_THREAD :
							    RAY_SCOPE_GLOBAL;
	struct ray_names *names = scope == RAY_SCOPE_CLAUSE ? &declared->clauses :
				  scope == RAY_SCOPE_THREAD ? &declared->threads :
							      &declared->globals;
	const char *kind = is_assoc ? "associative array" : "scalar";
	const struct ray_type *enum_type;
	struct ray_variable *old, *v;

	if (!check_name(p, d, names, &old))
		return false;
	if (is_assoc && scope == RAY_SCOPE_CLAUSE)
		return ray_parse_fail_at(p, d->ident_where, "D_DECL_LOCASSC",
					 "associative arrays may not be declared as local variables: %s", d->ident);
	type = is_assoc ? ray_decl_element_type(p, d) : type;
	if (!type)
		return false;
	if (old && (old->is_assoc != is_assoc || !ray_type_equals(old->type, type)))
		return fail_redeclared(p, d, kind, type, variable_kind(old), old->type);
	if (old)
		return !is_assoc || check_keys(p, d, type, old);
	if (scope == RAY_SCOPE_GLOBAL && ray_type_enumerator(p->program->types, d->ident, &enum_type))
		return fail_redeclared(p, d, kind, type, "enumerator", enum_type);
	if (!check_object(p, d, type))
		return false;
	v = new_variable(p, d, scope, type);
	if (!v || (is_assoc && !set_keys(p, d, v)) || !ray_decl_add(p, names, v))
		return false;
	if (scope == RAY_SCOPE_GLOBAL)
		ray_pragma_declared(p, d->ident);
	return true;
}

bool ray_decl_variable(struct ray_parser *p, struct ray_decl *d)
{
	const struct ray_type *type = ray_decl_type(p, d);
	enum ray_decl_class class = d->class;

	if (!type)
		return false;
	if (!d->ident)
		return d->spec == RAY_SPEC_TAGGED || ray_parse_fail(p, "D_DECL_USELESS", "useless declaration");
	if (strchr(d->ident, '`'))
		return ray_parse_fail_at(p, d->ident_where, "D_DECL_SCOPE",
					 "D scoping operator may not be used in a declaration name (%s)", d->ident);
	if (type->kind == RAY_TYPE_FUNCTION && (class == RAY_CLASS_NONE || class == RAY_CLASS_STATIC))
		class = RAY_CLASS_EXTERN;
	switch (class) {
	case RAY_CLASS_AUTO:
	case RAY_CLASS_REGISTER:
	case RAY_CLASS_STATIC:
		return ray_parse_fail_at(p, d->ident_where, "D_DECL_BADCLASS",
					 "specified storage class not appropriate in D");
	case RAY_CLASS_EXTERN:
		return declare_extern(p, d, type);
	case RAY_CLASS_TYPEDEF:
		return declare_typedef(p, d, type);
	default:
		return declare_variable(p, d, type);
	}
}
