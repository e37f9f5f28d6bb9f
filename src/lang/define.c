/* define.c - what stands outside of clauses: declarations, inlines, translators, provider blocks.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "lang/decl.h"

/* Behind the semicolon that ends a definition, probe descriptions may come again. */
static bool finish(struct ray_parser *p)
{
	if (p->token.kind != ';')
		return ray_parse_syntax_error(p);
	p->lex.mode = RAY_LEX_PROBES;
	p->lex.has_type = p->lex.is_typedef = false;
	return ray_parse_advance(p);
}

/* A header of C may define functions: they are declared, their bodies mean nothing here. */
static bool is_function_body(const struct ray_parser *p, const struct ray_decl *d)
{
	return p->token.kind == '{' && p->token.where.is_included && d->derivations &&
	       d->derivations->kind == RAY_DERIVE_FUNCTION;
}

static bool skip_body(struct ray_parser *p)
{
	unsigned int depth = 0;

	do {
		if (p->token.kind == RAY_TOKEN_END)
			return ray_parse_syntax_error(p);
		depth += p->token.kind == '{';
		depth -= p->token.kind == '}';
		if (!depth) {
			p->lex.mode = RAY_LEX_PROBES;
			p->lex.has_type = p->lex.is_typedef = false;
		}
		if (!ray_parse_advance(p))
			return false;
	} while (depth);
	return true;
}

static bool parse_declaration(struct ray_parser *p)
{
	struct ray_decl specifiers = { 0 };

	if (!ray_decl_specifiers(p, &specifiers, true))
		return false;
	if (p->token.kind == ';')
		return ray_decl_variable(p, &specifiers) && finish(p);
	for (;;) {
		struct ray_decl d = specifiers;

		if (!ray_decl_declarator(p, &d, RAY_DECLARATOR_NAMED) || !ray_decl_variable(p, &d))
			return false;
		specifiers.type = d.type;
		if (is_function_body(p, &d))
			return skip_body(p);
		if (p->token.kind != ',')
			return finish(p);
		if (!ray_parse_advance(p))
			return false;
	}
}

/* ---- inline ---- */

static bool fail_redefined(struct ray_parser *p, const struct ray_decl *d, const char *kind)
{
	const char *name = d->ident;
	const struct ray_variable *old = ray_names_find(&p->program->declared->globals, name);
	bool is_inline = (old && old->scope == RAY_SCOPE_INLINE) || !strcmp(kind, "enumerator");

	return ray_parse_fail_at(p, d->ident_where, "D_DECL_IDRED",
				 "identifier redefined: %s\n\t current: inline definition\n\tprevious: %s %s", name,
				 kind, is_inline ? "inline" : "");
}

static bool check_inline(struct ray_parser *p, struct ray_decl *d, const struct ray_type **type)
{
	const struct ray_type *r;
	const char *kind;

	if (d->class != RAY_CLASS_NONE)
		return ray_parse_fail_at(p, d->ident_where, "D_DECL_BADCLASS",
					 "specified storage class not appropriate for inline declaration");
	if (ray_decl_is_global(p, d->ident, &kind))
		return fail_redefined(p, d, kind);
	if (d->derivations && d->derivations->kind == RAY_DERIVE_ARRAY)
		return ray_parse_fail_at(p, d->ident_where, "D_DECL_ARRNULL",
					 d->derivations->has_count ?
						 "inline declaration cannot be of scalar array type: %s" :
						 "inline declaration requires array tuple signature: %s",
					 d->ident);
	if (d->derivations && d->derivations->kind == RAY_DERIVE_ASSOC)
		*type = ray_decl_element_type(p, d);
	if (!*type)
		return false;
	r = ray_type_resolve(*type);
	if (r->kind == RAY_TYPE_VOID)
		return ray_parse_fail_at(p, d->ident_where, "D_DECL_VOIDOBJ", "cannot declare void inline: %s",
					 d->ident);
	if (r->kind == RAY_TYPE_FORWARD)
		return ray_decl_fail_incomplete(p, *type, d->ident, d->ident_where);
	return true;
}

static bool set_formals(struct ray_parser *p, const struct ray_derivation *tuple, struct ray_variable *v)
{
	size_t n = tuple->parameter_count;
	struct ray_variable **formals = ray_arena_alloc(p->program->arena, n * sizeof(struct ray_variable *));
	const struct ray_type **keys = ray_arena_alloc(p->program->arena, n * sizeof(const struct ray_type *));
	struct ray_variable *each = ray_arena_alloc(p->program->arena, n * sizeof(*each));

	if (!formals || !keys || !each)
		return ray_lex_no_memory(&p->lex);
	for (size_t i = 0; i < n; i++) {
		const struct ray_parameter *parameter = &tuple->parameters[i];

		each[i] = (struct ray_variable){ .name = parameter->name ? parameter->name : "",
						 .scope = RAY_SCOPE_INLINE,
						 .type = parameter->type,
						 .where = parameter->where,
						 .is_declared = true };
		formals[i] = &each[i];
		keys[i] = parameter->type;
	}
	v->is_assoc = true;
	v->formals = formals;
	v->keys = keys;
	v->key_count = n;
	return true;
}

/* Its value may be asked for by later declarations. */
static bool note_constant(struct ray_parser *p, const struct ray_variable *v)
{
	struct ray_constant c, *copy;

	if (v->is_assoc || !ray_constant_find(p, v->body, &c) || !ray_constant_convert(&c, v->type))
		return true;
	copy = ray_arena_alloc(p->program->arena, sizeof(*copy));
	if (!copy || !ray_names_put(&p->program->declared->constants, v->name, copy))
		return ray_lex_no_memory(&p->lex);
	*copy = c;
	return true;
}

static bool define_inline(struct ray_parser *p, struct ray_decl *d, struct ray_expr *body)
{
	struct ray_variable *v = ray_arena_alloc(p->program->arena, sizeof(*v));
	const struct ray_type *type = ray_decl_type(p, d);

	if (!v)
		return ray_lex_no_memory(&p->lex);
	if (!type || !check_inline(p, d, &type))
		return false;
	*v = (struct ray_variable){ .name = d->ident,
				    .scope = RAY_SCOPE_INLINE,
				    .type = type,
				    .where = d->ident_where,
				    .is_declared = true,
				    .body = body };
	if (d->derivations && d->derivations->kind == RAY_DERIVE_ASSOC && !set_formals(p, d->derivations, v))
		return false;
	ray_pragma_declared(p, v->name);
	return note_constant(p, v) && ray_decl_add(p, &p->program->declared->globals, v);
}

static bool parse_inline(struct ray_parser *p)
{
	struct ray_decl d = { 0 };
	struct ray_decl_state state;
	struct ray_expr *body;

	if (!ray_parse_advance(p) || !ray_decl_specifiers(p, &d, true) ||
	    !ray_decl_declarator(p, &d, RAY_DECLARATOR_NAMED))
		return false;
	if (is_function_body(p, &d))
		return skip_body(p);
	state = ray_decl_push(p);
	body = ray_parse_expect(p, '=') ? ray_parse_assignment(p) : NULL;
	ray_decl_pop(p, state);
	if (!body)
		return false;
	if (p->token.kind != ';')
		return ray_parse_syntax_error(p);
	p->definitions++;
	return define_inline(p, &d, body) && finish(p);
}

/* ---- translator ---- */

static bool check_translator(struct ray_parser *p, const struct ray_translator *t)
{
	const struct ray_type *to = ray_type_resolve(t->to);

	for (size_t i = 0; i < p->program->translators.n; i++) {
		const struct ray_translator *old = p->program->translators.at[i];

		if (ray_type_equals(old->to, t->to) && ray_type_equals(old->from, t->from))
			return ray_parse_fail_at(p, t->where, "D_XLATE_REDECL",
						 "translator from %s to %s has already been declared",
						 ray_decl_print(p, t->from), ray_decl_print(p, t->to));
	}
	if (to->kind == RAY_TYPE_FORWARD)
		return ray_parse_fail_at(p, t->where, "D_XLATE_SOU", "incomplete struct/union/enum %s",
					 ray_decl_print(p, t->to));
	return to->kind == RAY_TYPE_STRUCT || to->kind == RAY_TYPE_UNION ||
	       ray_parse_fail_at(p, t->where, "D_XLATE_SOU", "translator output type must be a struct or union");
}

static bool parse_translator_member(struct ray_parser *p, struct ray_translator_member *m)
{
	if (p->token.kind != RAY_TOKEN_NAME)
		return ray_parse_syntax_error(p);
	m->name = p->token.text;
	m->where = p->token.where;
	if (!ray_parse_advance(p) || !ray_parse_expect(p, '='))
		return false;
	m->expr = ray_parse_assignment(p);
	if (!m->expr)
		return false;
	if (p->token.kind != ';')
		return ray_parse_syntax_error(p);
	m->where = ray_parse_where(p, m->where);
	return ray_parse_advance(p);
}

static bool parse_translator_members(struct ray_parser *p, struct ray_translator *t)
{
	RAY_VEC(struct ray_translator_member) members = { 0 };
	bool is_ok = true;

	while (is_ok && p->token.kind != '}') {
		struct ray_translator_member m = { 0 };

		is_ok = parse_translator_member(p, &m) && (ray_vec_push(&members, m) || ray_lex_no_memory(&p->lex));
	}
	if (is_ok) {
		t->members = ray_arena_alloc(p->program->arena, members.n * sizeof(*t->members));
		is_ok = t->members || ray_lex_no_memory(&p->lex);
	}
	if (is_ok && members.n)
		memcpy(t->members, members.at, members.n * sizeof(*t->members));
	t->member_count = is_ok ? members.n : 0;
	ray_vec_free(&members);
	return is_ok;
}

/* < type name > */
static bool parse_translator_input(struct ray_parser *p, struct ray_translator *t)
{
	struct ray_decl_state state = ray_decl_push(p);
	struct ray_decl d = { 0 };
	bool is_ok;

	if (p->token.kind != '<')
		return ray_parse_syntax_error(p);
	p->lex.in_translator_input = true;
	is_ok = ray_parse_advance(p) && ray_decl_specifiers(p, &d, false) &&
		ray_decl_declarator(p, &d, RAY_DECLARATOR_ABSTRACT);
	ray_decl_pop(p, state);
	t->from = is_ok ? ray_decl_type(p, &d) : NULL;
	if (!t->from)
		return false;
	if (p->token.kind != RAY_TOKEN_NAME)
		return ray_parse_syntax_error(p);
	t->parameter = p->token.text;
	if (!ray_parse_advance(p))
		return false;
	p->lex.in_translator_input = false;
	return ray_parse_expect(p, '>');
}

static bool parse_translator(struct ray_parser *p)
{
	struct ray_translator *t = ray_arena_alloc(p->program->arena, sizeof(*t));

	if (!t)
		return ray_lex_no_memory(&p->lex);
	t->where = p->token.where;
	if (!ray_parse_advance(p))
		return false;
	t->to = ray_decl_type_name(p);
	if (!t->to || !parse_translator_input(p, t) || !ray_parse_expect(p, '{') || !parse_translator_members(p, t) ||
	    !ray_parse_expect(p, '}'))
		return false;
	if (p->token.kind != ';')
		return ray_parse_syntax_error(p);
	t->end = p->token.where;
	p->definitions++;
	return check_translator(p, t) && (ray_vec_push(&p->program->translators, t) || ray_lex_no_memory(&p->lex)) &&
	       finish(p);
}

/* ---- provider ---- */

enum { MAX_PROVIDER_NAME = 64, MAX_PROBE_NAME = 64, MAX_PROBE_ARGUMENTS = 255 };

static bool check_probe_name(struct ray_parser *p, const char *name)
{
	if (strchr(name, '`'))
		return ray_parse_fail(p, "D_PROV_BADNAME", "probe name may not contain scoping operator: ::%s", name);
	if (strlen(name) >= MAX_PROBE_NAME)
		return ray_parse_fail(p, "D_PROV_BADNAME", "probe name may not exceed %d characters: ::%s",
				      MAX_PROBE_NAME - 1, name);
	return true;
}

static bool check_argument_count(struct ray_parser *p, const char *name, const char *which,
				 const struct ray_derivation *list)
{
	return list->parameter_count <= MAX_PROBE_ARGUMENTS ||
	       ray_parse_fail(p, "D_PROV_PRARGLEN", "probe ::%s %s prototype exceeds %d parameters: %zu params used",
			      name, which, MAX_PROBE_ARGUMENTS, list->parameter_count);
}

/* probe name(input)[:(output)]; */
static bool parse_provider_probe(struct ray_parser *p, const char **name)
{
	struct ray_derivation input = { 0 }, output = { 0 };

	if (!ray_parse_expect(p, RAY_KEY_PROBE))
		return false;
	if (p->token.kind != RAY_TOKEN_NAME)
		return ray_parse_syntax_error(p);
	*name = p->token.text;
	if (!ray_parse_advance(p) || !ray_decl_function(p, &input))
		return false;
	if (p->token.kind == ':' && (!ray_parse_advance(p) || !ray_decl_function(p, &output)))
		return false;
	if (p->token.kind != ';')
		return ray_parse_syntax_error(p);
	return check_probe_name(p, *name) &&
	       ray_decl_prototype(p, &input, &input, "probe input", RAY_PROTO_VOID | RAY_PROTO_ANONYMOUS) &&
	       ray_decl_prototype(p, &output, &input, "probe output", RAY_PROTO_VOID) &&
	       check_argument_count(p, *name, "input", &input) && check_argument_count(p, *name, "output", &output) &&
	       ray_parse_advance(p);
}

static bool check_provider(struct ray_parser *p, const struct ray_provider_block *b)
{
	size_t length = strlen(b->name);

	if (strchr(b->name, '`'))
		return ray_parse_fail(p, "D_PROV_BADNAME", "provider name may not contain scoping operator: %s",
				      b->name);
	if (length >= MAX_PROVIDER_NAME)
		return ray_parse_fail(p, "D_PROV_BADNAME", "provider name may not exceed %d characters: %s",
				      MAX_PROVIDER_NAME - 1, b->name);
	if (strchr("0123456789", b->name[length - 1]))
		return ray_parse_fail(p, "D_PROV_BADNAME", "provider name may not end with a digit: %s", b->name);
	return true;
}

static bool parse_provider_probes(struct ray_parser *p, struct ray_provider_block *b)
{
	struct ray_names names = ray_names_in(p->program->arena);
	RAY_VEC(const char *) probes = { 0 };
	const char **copy;
	bool is_ok = true;

	while (is_ok && p->token.kind != '}') {
		const char *name = NULL;

		is_ok = parse_provider_probe(p, &name);
		if (is_ok && ray_names_find(&names, name))
			is_ok = ray_parse_fail(p, "D_PROV_PRDUP", "probe redeclared: %s:::%s", b->name, name);
		is_ok = is_ok &&
			((ray_vec_push(&probes, name) && ray_names_put(&names, name, b)) || ray_lex_no_memory(&p->lex));
	}
	copy = is_ok ? ray_arena_alloc(p->program->arena, probes.n * sizeof(*copy)) : NULL;
	if (copy && probes.n)
		memcpy(copy, probes.at, probes.n * sizeof(*copy));
	if (is_ok && !copy)
		is_ok = ray_lex_no_memory(&p->lex);
	b->probes = copy;
	b->probe_count = probes.n;
	ray_vec_free(&probes);
	return is_ok;
}

static bool parse_provider(struct ray_parser *p)
{
	struct ray_provider_block *b = ray_arena_alloc(p->program->arena, sizeof(*b));

	if (!b)
		return ray_lex_no_memory(&p->lex);
	b->where = p->token.where;
	if (!ray_parse_advance(p))
		return false;
	if (p->token.kind != RAY_TOKEN_NAME)
		return ray_parse_syntax_error(p);
	b->name = p->token.text;
	if (!ray_parse_advance(p) || !ray_parse_expect(p, '{') || !parse_provider_probes(p, b) ||
	    !ray_parse_expect(p, '}'))
		return false;
	if (p->token.kind != ';')
		return ray_parse_syntax_error(p);
	p->definitions++;
	return check_provider(p, b) && (ray_vec_push(&p->program->providers, b) || ray_lex_no_memory(&p->lex)) &&
	       finish(p);
}

bool ray_decl_external(struct ray_parser *p)
{
	switch ((int)p->token.kind) {
	case RAY_KEY_INLINE:
		return parse_inline(p);
	case RAY_KEY_TRANSLATOR:
		return parse_translator(p);
	case RAY_KEY_PROVIDER:
		return parse_provider(p);
	default:
		return parse_declaration(p);
	}
}
