/* check_call.c - calls of functions against their prototypes.
 * SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "lang/check.h"

enum { MAX_PARAMETERS = 8 };

/* "string(const char *, [int])" taken apart. */
struct prototype {
	const struct ray_type *returns;
	const struct ray_type *parameters[MAX_PARAMETERS]; /* NULL: anything goes */
	size_t count;
	size_t required;  /* without those in [] */
	bool is_variadic; /* count is then without the ... */
};

static const struct ray_type *read_type(struct ray_check *c, const char *text, size_t length)
{
	char buffer[96];

	/* The reference's messages speak of "char *". */
	if (length > 6 && !strncmp(text, "const ", 6)) {
		text += 6;
		length -= 6;
	}
	if (length >= sizeof(buffer))
		return NULL;
	memcpy(buffer, text, length);
	buffer[length] = '\0';
	return ray_type_from_text(c->types, buffer);
}

static bool read_parameter(struct ray_check *c, struct prototype *p, const char *text, size_t length)
{
	while (length && isspace((unsigned char)*text)) {
		text++;
		length--;
	}
	if (length == 3 && !strncmp(text, "...", 3)) {
		p->is_variadic = true;
		return true;
	}
	if (p->count >= MAX_PARAMETERS)
		return false;
	if (length == 1 && *text == '@') {
		p->parameters[p->count++] = NULL;
		p->required = p->count;
		return true;
	}
	if (*text == '[') {
		p->parameters[p->count] = read_type(c, text + 1, length - 2);
		return p->parameters[p->count++] != NULL;
	}
	p->parameters[p->count] = read_type(c, text, length);
	p->required = p->count + 1;
	return p->parameters[p->count++] != NULL;
}

static bool read_prototype(struct ray_check *c, const char *text, struct prototype *p)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');

	*p = (struct prototype){ .returns = read_type(c, text, (size_t)(open - text)) };
	if (!p->returns)
		return false;
	for (const char *at = open + 1; at < close;) {
		size_t length = strcspn(at, ",)");

		if (!read_parameter(c, p, at, length))
			return false;
		at += length + 1;
	}
	return true;
}

void *ray_check_wrong_count(struct ray_check *c, const struct ray_where *where, const char *name, size_t given,
			    const char *what, const char *bound, size_t expected)
{
	return ray_check_fail(c, where, "D_PROTO_LEN", "%s prototype mismatch: %zu %s%spassed, %s%zu expected", name,
			      given, what, given == 1 ? " " : "s ", bound, expected);
}

static bool check_count(struct ray_check *c, const struct ray_expr *e, const struct prototype *p)
{
	const char *bound = "", *name = ray_arena_printf(c->arena, "%s( )", e->function->name);
	size_t expected = p->count, given = e->arg_count;

	if (p->is_variadic) {
		if (given >= p->count)
			return true;
		bound = "at least ";
	} else if (p->required < p->count) {
		if (given >= p->required && given <= p->count)
			return true;
		bound = given < p->required ? "at least " : "at most ";
		expected = given < p->required ? p->required : p->count;
	} else if (given == p->count) {
		return true;
	}
	ray_check_wrong_count(c, &e->where, name ? name : "", given, "arg", bound, expected);
	return false;
}

/* Constants of which actions and aggregating functions ask more than a type are left as they were written. */
static bool is_judged_later(const struct ray_expr *e, size_t i)
{
	return e->args[i]->kind == RAY_EXPR_INTEGER && e->function->kind != RAY_FUNCTION_SUBROUTINE;
}

static bool check_types(struct ray_check *c, struct ray_expr *e, const struct prototype *p)
{
	for (size_t i = 0; i < e->arg_count && i < p->count; i++) {
		const struct ray_type *want = p->parameters[i];

		if (!want)
			continue;
		if (!ray_check_fits(want, e->args[i])) {
			ray_check_fail(
				c, &e->where, "D_PROTO_ARG",
				"%s( ) argument #%zu is incompatible with prototype:\n\tprototype: %s\n\t argument: %s",
				e->function->name, i + 1, ray_check_type_name(c, want),
				ray_check_type_of(c, e->args[i]));
			return false;
		}
		if (is_judged_later(e, i))
			continue;
		if (ray_type_is_integer(want) || ray_check_is_zero(e->args[i]))
			e->args[i] = ray_check_convert(c, e->args[i], want);
		if (!e->args[i])
			return false;
	}
	return true;
}

static const struct ray_function *find_function(struct ray_check *c, struct ray_expr *e)
{
	const struct ray_function *f = e->function ? e->function : e->text ? ray_function_find(e->text) : NULL;
	const struct ray_variable *v;

	if (!f && e->text && c->is_prelude)
		f = ray_function_find_any(e->text);
	if (f)
		return f;
	if (!e->text)
		return ray_check_fail(c, &e->where, "D_FUNC_IDENT", "function designator is not of function type");
	v = ray_check_find_variable(c, RAY_SCOPE_GLOBAL, e->text);
	if (v || ray_check_is_builtin(e->text))
		return ray_check_fail(c, &e->where, "D_FUNC_IDKIND", "%s '%s' may not be referenced as a function",
				      v ? ray_check_variable_kind(v) : "scalar", e->text);
	return ray_check_fail(c, &e->where, "D_FUNC_UNDEF", "undefined function name: %s", e->text);
}

struct ray_expr *ray_check_function(struct ray_check *c, struct ray_expr *e, enum ray_use use)
{
	struct prototype p;

	(void)use;
	e->function = find_function(c, e);
	if (!e->function || !ray_check_args(c, e->args, e->arg_count, RAY_USE_READ))
		return NULL;
	if (!read_prototype(c, e->function->prototype, &p))
		return ray_check_fail(c, &e->where, "D_UNKNOWN", "failed to resolve type of %s (%s): Unknown type name",
				      e->function->name, e->function->prototype);
	if (!check_count(c, e, &p) || !check_types(c, e, &p))
		return NULL;
	e->type = e->function->kind == RAY_FUNCTION_AGGREGATING ? ray_type_basic(c->types, RAY_BASIC_DYNAMIC) :
								  p.returns;
	e->is_alloca = e->function->id == RAY_FN_ALLOCA || e->function->id == RAY_FN_COPYIN;
	if (e->function->is_destructive && c->clause)
		c->clause->is_destructive = c->program->is_destructive = true;
	return e;
}
