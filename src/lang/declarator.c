/* declarator.c - what stands around a declared name: pointers, arrays, functions.
 * SPDX-License-Identifier: MIT */
#include "lang/decl.h"

#include <string.h>

/* A list that grows at its end. */
struct list {
	struct ray_derivation *first, **end;
	unsigned int count;
};

enum { MAX_DERIVATIONS = 64, MAX_PARAMETERS = 1000 };

static struct ray_derivation *append(struct ray_parser *p, struct list *list, enum ray_derive kind)
{
	struct ray_derivation *d = ray_arena_alloc(p->program->arena, sizeof(*d));

	if (!d) {
		ray_lex_no_memory(&p->lex);
		return NULL;
	}
	if (++list->count > MAX_DERIVATIONS) {
		ray_parse_fail(p, "D_SYNTAX", "declaration is nested too deeply");
		return NULL;
	}
	d->kind = kind;
	*list->end = d;
	list->end = &d->next;
	return d;
}

static bool parse_pointers(struct ray_parser *p, struct list *pointers)
{
	while (p->token.kind == '*') {
		if (!append(p, pointers, RAY_DERIVE_POINTER) || !ray_parse_advance(p))
			return false;
		while (p->token.kind == RAY_KEY_CONST || p->token.kind == RAY_KEY_VOLATILE ||
		       p->token.kind == RAY_KEY_RESTRICT) {
			if (!ray_parse_advance(p))
				return false;
		}
	}
	return true;
}

static bool parse_parameter(struct ray_parser *p, struct ray_parameter *ret)
{
	struct ray_decl d = { 0 };
	struct ray_decl_state state = ray_decl_push(p);
	bool is_ok = ray_decl_specifiers(p, &d, true);

	p->lex.in_array_bounds = state.in_array_bounds;
	is_ok = is_ok && ray_decl_declarator(p, &d, RAY_DECLARATOR_EITHER);
	if (is_ok && d.class != RAY_CLASS_NONE && d.class != RAY_CLASS_REGISTER)
		is_ok = ray_parse_fail(p, "D_DECL_PARMCLASS",
				       "inappropriate storage class for function or associative array parameter");
	if (is_ok) {
		ret->type = ray_decl_type(p, &d);
		ret->name = d.ident;
		ret->where = ray_parse_where(p, d.ident ? d.ident_where : p->token.where);
		is_ok = ret->type != NULL;
	}
	ray_decl_pop(p, state);
	return is_ok;
}

/* A list of parameters, up to but without the closing bracket. */
static bool parse_parameters(struct ray_parser *p, struct ray_derivation *to)
{
	RAY_VEC(struct ray_parameter) list = { 0 };
	struct ray_parameter *copy;
	bool is_ok;

	for (;;) {
		struct ray_parameter parameter = { .where = p->token.where };
		bool is_last = p->token.kind == RAY_TOKEN_ELLIPSIS;

		is_ok = is_last ? ray_parse_advance(p) : parse_parameter(p, &parameter);
		is_ok = is_ok && (ray_vec_push(&list, parameter) || ray_lex_no_memory(&p->lex));
		if (is_ok && list.n > MAX_PARAMETERS)
			is_ok = ray_parse_fail(p, "D_SYNTAX", "more than %d parameters", MAX_PARAMETERS);
		if (!is_ok || is_last || p->token.kind != ',')
			break;
		is_ok = ray_parse_advance(p);
		if (!is_ok)
			break;
	}
	copy = is_ok ? ray_arena_alloc(p->program->arena, list.n * sizeof(*copy)) : NULL;
	if (copy) {
		memcpy(copy, list.at, list.n * sizeof(*copy));
		to->parameters = copy;
		to->parameter_count = list.n;
	} else if (is_ok) {
		is_ok = ray_lex_no_memory(&p->lex);
	}
	ray_vec_free(&list);
	return is_ok;
}

/* Up to the closing parenthesis, which stays the present token. What is within knows nothing of the declaration around it. */
static bool parse_function(struct ray_parser *p, struct ray_derivation *function, bool is_open)
{
	struct ray_decl_state state = ray_decl_push(p);
	bool is_ok;

	p->lex.in_array_bounds = false;
	is_ok = (is_open || ray_parse_expect(p, '(')) && (p->token.kind == ')' || parse_parameters(p, function));
	ray_decl_pop(p, state);
	return is_ok && (p->token.kind == ')' || ray_parse_syntax_error(p));
}

bool ray_decl_function(struct ray_parser *p, struct ray_derivation *function)
{
	return parse_function(p, function, false) && ray_parse_advance(p);
}

static bool add_function(struct ray_parser *p, struct list *list, bool is_open)
{
	struct ray_derivation *function = append(p, list, RAY_DERIVE_FUNCTION);

	return function && parse_function(p, function, is_open) &&
	       ray_decl_prototype(p, function, function, "function",
				  RAY_PROTO_VARARGS | RAY_PROTO_VOID | RAY_PROTO_ANONYMOUS) &&
	       ray_parse_advance(p);
}

static bool parse_count(struct ray_parser *p, struct ray_derivation *array)
{
	struct ray_expr *e = ray_parse_conditional(p);

	array->has_count = true;
	/* The value waits for the bracket: an error in it comes after one in the syntax. */
	if (!e || p->token.kind != ']')
		return e && ray_parse_syntax_error(p);
	struct ray_constant c;
	if (!ray_constant_find(p, e, &c) || !ray_constant_is_positive(&c))
		return ray_parse_fail(p, "D_DECL_ARRSUB",
				      "positive integral constant expression or tuple signature expected as array "
				      "declaration subscript");
	if (c.value > UINT32_MAX)
		return ray_parse_fail(p, "D_DECL_ARRBIG", "array dimension too big");
	array->count = c.value;
	return true;
}

static bool is_void(const struct ray_decl *d, const struct list *list)
{
	return d->name && !strcmp(d->name, "void") && d->spec == RAY_SPEC_INTEGER && list->count == 1 && !d->pointers;
}

static bool parse_array(struct ray_parser *p, struct ray_decl *d, struct list *list, bool is_first_array)
{
	struct ray_derivation *array = append(p, list, RAY_DERIVE_ARRAY);
	struct ray_decl_state state = ray_decl_push(p);
	bool is_ok = array != NULL;

	p->lex.in_array_bounds = true;
	is_ok = is_ok && ray_parse_advance(p);
	if (is_ok && ray_decl_begins_parameter(p)) {
		array->kind = RAY_DERIVE_ASSOC;
		is_ok = parse_parameters(p, array);
		if (is_ok && p->token.kind != ']')
			is_ok = ray_parse_syntax_error(p);
		if (is_ok && !is_first_array)
			is_ok = ray_parse_fail(p, "D_DECL_DYNOBJ", "cannot declare array of associative arrays");
	}
	if (is_ok && is_void(d, list))
		is_ok = ray_parse_fail(p, "D_DECL_VOIDOBJ", "cannot declare array of void");
	if (is_ok && array->kind == RAY_DERIVE_ASSOC)
		is_ok = ray_decl_prototype(p, array, array, "array", RAY_PROTO_ANONYMOUS);
	else if (is_ok && p->token.kind != ']')
		is_ok = parse_count(p, array);
	ray_decl_pop(p, state);
	p->lex.in_array_bounds = false;
	return is_ok && ray_parse_expect(p, ']');
}

static bool parse_suffixes(struct ray_parser *p, struct ray_decl *d, struct list *list)
{
	bool is_first_array = true;

	for (;;) {
		if (p->token.kind == '[') {
			if (!parse_array(p, d, list, is_first_array))
				return false;
			is_first_array = false;
		} else if (p->token.kind == '(') {
			if (!add_function(p, list, false))
				return false;
		} else {
			return true;
		}
	}
}

static bool parse_list(struct ray_parser *p, struct ray_decl *d, enum ray_declarator form, struct list *list);

/* Behind a parenthesis: a declarator within, or, if none may be meant, the parameters of a function. */
static bool parse_parenthesis(struct ray_parser *p, struct ray_decl *d, enum ray_declarator form, struct list *list)
{
	int token = p->token.kind;
	bool is_inner = form == RAY_DECLARATOR_NAMED || token == '*' || token == '(' || token == '[' ||
			(token == RAY_TOKEN_NAME && form == RAY_DECLARATOR_EITHER);

	if (is_inner)
		return parse_list(p, d, form, list) && ray_parse_expect(p, ')');
	return add_function(p, list, true);
}

static bool parse_direct(struct ray_parser *p, struct ray_decl *d, enum ray_declarator form, struct list *list)
{
	if (p->token.kind == RAY_TOKEN_NAME && form != RAY_DECLARATOR_ABSTRACT) {
		if (d->ident)
			return ray_parse_fail(p, "D_DECL_IDENT", "old-style declaration or incorrect type specified");
		d->ident = p->token.text;
		d->ident_where = p->token.where;
		if (!ray_parse_advance(p))
			return false;
	} else if (p->token.kind == '(') {
		/* Where no name can stand, what follows is a type, if it may be one. */
		struct ray_decl_state state = ray_decl_push(p);

		if (form != RAY_DECLARATOR_ABSTRACT)
			ray_decl_pop(p, state);
		if (!ray_parse_advance(p))
			return false;
		ray_decl_pop(p, state);
		if (!parse_parenthesis(p, d, form, list))
			return false;
	} else if (form == RAY_DECLARATOR_NAMED) {
		return ray_parse_syntax_error(p);
	}
	return parse_suffixes(p, d, list);
}

static bool parse_list(struct ray_parser *p, struct ray_decl *d, enum ray_declarator form, struct list *list)
{
	struct list pointers = { .end = &pointers.first };
	bool is_ok = ray_parse_enter(p) && parse_pointers(p, &pointers);

	d->pointers += pointers.count;
	is_ok = is_ok && parse_direct(p, d, form, list);
	d->pointers -= pointers.count;
	ray_parse_leave(p);
	if (!is_ok)
		return false;
	if (pointers.first) {
		*list->end = pointers.first;
		list->end = pointers.end;
		list->count += pointers.count;
	}
	return list->count <= MAX_DERIVATIONS || ray_parse_fail(p, "D_SYNTAX", "declaration is nested too deeply");
}

bool ray_decl_declarator(struct ray_parser *p, struct ray_decl *d, enum ray_declarator form)
{
	struct list list = { .end = &list.first };

	if (!parse_list(p, d, form, &list))
		return false;
	d->derivations = list.first;
	d->has_spec = true;
	return true;
}
