/* check_name.c - names: variables, associative arrays, aggregations, kernel symbols.
 * SPDX-License-Identifier: MIT
 *
 * A variable is made by its first assignment and gets its type there; an array's tuple is fixed by its first use. */
#include <string.h>

#include "lang/check.h"

bool ray_check_is_virgin(const struct ray_variable *v)
{
	return !v->is_declared && !v->is_read && !v->is_written && v->scope <= RAY_SCOPE_CLAUSE;
}

const char *ray_check_variable_kind(const struct ray_variable *v)
{
	return v->is_assoc ? "associative array" : "scalar";
}

static struct ray_variable *find_binding(struct ray_check *c, const char *name)
{
	for (const struct ray_check_binding *b = c->bindings; b; b = b->outer) {
		if (!strcmp(b->variable->name, name))
			return b->variable;
	}
	return NULL;
}

static struct ray_variable *find_inline(struct ray_check *c, const char *name)
{
	size_t count = c->inlines_known < c->program->variables[RAY_SCOPE_INLINE].n ?
			       c->inlines_known :
			       c->program->variables[RAY_SCOPE_INLINE].n;

	for (size_t i = 0; i < count; i++) {
		struct ray_variable *v = c->program->variables[RAY_SCOPE_INLINE].at[i];

		if (!strcmp(v->name, name))
			return v;
	}
	return NULL;
}

struct ray_variable *ray_check_find_variable(struct ray_check *c, enum ray_scope scope, const char *name)
{
	if (scope == RAY_SCOPE_GLOBAL) {
		struct ray_variable *v = find_binding(c, name);

		if (!v)
			v = find_inline(c, name);
		if (v)
			return v;
	}
	for (size_t i = 0; i < c->program->variables[scope].n; i++) {
		struct ray_variable *v = c->program->variables[scope].at[i];

		if (!strcmp(v->name, name))
			return v;
	}
	return NULL;
}

struct ray_variable *ray_check_create_variable(struct ray_check *c, enum ray_scope scope, const char *name,
					       const struct ray_where *where)
{
	struct ray_variable *v = ray_arena_alloc(c->arena, sizeof(*v));

	if (!v)
		return ray_check_nomem(c);
	*v = (struct ray_variable){ .name = name, .scope = scope, .where = *where };
	v->id = (uint32_t)c->program->variables[scope].n;
	return ray_vec_push(&c->program->variables[scope], v) ? v : ray_check_nomem(c);
}

static void *undefined(struct ray_check *c, const struct ray_where *where, const struct ray_variable *v)
{
	static const char *const prefixes[] = { [RAY_SCOPE_THREAD] = "self->", [RAY_SCOPE_CLAUSE] = "this->" };
	const char *prefix = (size_t)v->scope < RAY_COUNT(prefixes) && prefixes[v->scope] ? prefixes[v->scope] : "";

	return ray_check_fail(c, where, "D_VAR_UNDEF", "%s%s has not yet been declared or assigned", prefix, v->name);
}

static struct ray_expr *use_variable(struct ray_check *c, struct ray_expr *e, struct ray_variable *v, enum ray_use use)
{
	if (v->scope == RAY_SCOPE_INLINE && v->body) {
		if (v->is_assoc)
			return ray_check_fail(c, &e->where, "D_IDENT_BADREF", "%s '%s' may not be referenced as scalar",
					      ray_check_variable_kind(v), v->name);
		return ray_check_expand(c, v, NULL);
	}
	if (v->is_assoc)
		return ray_check_fail(c, &e->where, "D_IDENT_BADREF", "%s '%s' may not be referenced as scalar",
				      ray_check_variable_kind(v), v->name);
	if ((use & RAY_USE_READ) && ray_check_is_virgin(v))
		return undefined(c, &e->where, v);
	v->is_read |= (use & RAY_USE_READ) != 0;
	v->is_written |= (use & RAY_USE_WRITE) != 0;
	e->kind = RAY_EXPR_VARIABLE;
	e->variable = v;
	e->type = v->type;
	e->is_alloca = v->holds_alloca;
	return e;
}

static struct ray_expr *use_global(struct ray_check *c, struct ray_expr *e)
{
	struct ray_expr *found = ray_check_builtin(c, e->text, &e->where);
	const struct ray_enumerator *tag;
	const struct ray_type *type;
	int64_t value;

	if (found || c->error)
		return found;
	tag = ray_type_enumerator(c->types, e->text, &type);
	if (tag)
		return ray_check_integer(c, (uint64_t)tag->value, ray_type_basic(c->types, RAY_BASIC_INT), &e->where);
	if (ray_prelude_constant(e->text, &value))
		return ray_check_integer(c, (uint64_t)value, ray_type_basic(c->types, RAY_BASIC_INT), &e->where);
	if (ray_function_find(e->text)) {
		static const char *const kinds[] = { "tracing function", "function", "aggregating function" };

		return ray_check_fail(c, &e->where, "D_IDENT_BADREF", "%s '%s' may not be referenced as scalar",
				      kinds[ray_function_find(e->text)->kind], e->text);
	}
	return ray_check_fail(c, &e->where, "D_IDENT_UNDEF", "failed to resolve %s: Unknown variable name", e->text);
}

struct ray_expr *ray_check_name(struct ray_check *c, struct ray_expr *e, enum ray_use use)
{
	struct ray_variable *v;

	if (e->kind == RAY_EXPR_VARIABLE || e->kind == RAY_EXPR_ELEMENT)
		return (use & RAY_USE_READ) && ray_check_is_virgin(e->variable) ? undefined(c, &e->where, e->variable) :
										  e;
	v = ray_check_find_variable(c, e->scope, e->text);
	if (!v && e->scope == RAY_SCOPE_GLOBAL)
		return use_global(c, e);
	if (!v)
		v = ray_check_create_variable(c, e->scope, e->text, &e->where);
	return v ? use_variable(c, e, v, use) : NULL;
}

struct ray_expr *ray_check_target(struct ray_check *c, struct ray_expr *e)
{
	int64_t constant;
	const struct ray_type *type;

	if (e->kind == RAY_EXPR_NAME && e->scope == RAY_SCOPE_GLOBAL &&
	    !ray_check_find_variable(c, e->scope, e->text) && !ray_check_is_builtin(e->text) &&
	    !ray_function_find(e->text) && !ray_prelude_constant(e->text, &constant) &&
	    !ray_type_enumerator(c->types, e->text, &type) &&
	    !ray_check_create_variable(c, RAY_SCOPE_GLOBAL, e->text, &e->where))
		return NULL;
	return ray_check_expr(c, e, RAY_USE_NEITHER);
}

static bool fix_keys(struct ray_check *c, const struct ray_where *where, const char *kind,
		     const struct ray_type *const **types, struct ray_expr **keys, size_t count)
{
	const struct ray_type **fixed = ray_arena_alloc(c->arena, (count + 1) * sizeof(*fixed));

	if (!fixed)
		return ray_check_nomem(c) != NULL;
	for (size_t i = 0; i < count; i++) {
		if (ray_check_is_dynamic(keys[i]) || ray_check_is_void(keys[i])) {
			ray_check_fail(c, where, "D_KEY_TYPE", "%s expression may not be used as %s index: key #%zu",
				       ray_check_type_of(c, keys[i]), kind, i + 1);
			return false;
		}
		fixed[i] = ray_check_kept_type(keys[i]);
	}
	*types = fixed;
	return true;
}

bool ray_check_keys(struct ray_check *c, const struct ray_where *where, const char *name, const char *prefix,
		    const char *kind, const struct ray_type *const **types, size_t *type_count, bool *is_known,
		    struct ray_expr **keys, size_t count)
{
	if (!*is_known) {
		if (!fix_keys(c, where, kind, types, keys, count))
			return false;
		*type_count = count;
		*is_known = true;
	}
	if (count != *type_count) {
		ray_check_fail(c, where, "D_PROTO_LEN", "%s%s[ ] prototype mismatch: %zu key%spassed, %zu expected",
			       prefix, name, count, count == 1 ? " " : "s ", *type_count);
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		if (!ray_check_fits((*types)[i], keys[i])) {
			ray_check_fail(
				c, where, "D_PROTO_ARG",
				"%s%s[ ] key #%zu is incompatible with prototype:\n\tprototype: %s\n\t      key: %s",
				prefix, name, i + 1, ray_check_type_name(c, (*types)[i]),
				ray_check_type_of(c, keys[i]));
			return false;
		}
		keys[i] = ray_check_convert(c, keys[i], (*types)[i]);
		if (!keys[i])
			return false;
	}
	return true;
}

struct ray_expr *ray_check_element(struct ray_check *c, struct ray_expr *e, struct ray_variable *v, enum ray_use use)
{
	bool is_known = v->keys != NULL;

	if ((use & RAY_USE_READ) && ray_check_is_virgin(v))
		return undefined(c, &e->where, v);
	if (!ray_check_args(c, e->args, e->arg_count, RAY_USE_READ) ||
	    !ray_check_keys(c, &e->where, v->name, "", "associative array", &v->keys, &v->key_count, &is_known, e->args,
			    e->arg_count))
		return NULL;
	if (v->scope == RAY_SCOPE_INLINE)
		return ray_check_expand(c, v, e->args);
	v->is_read |= (use & RAY_USE_READ) != 0;
	v->is_written |= (use & RAY_USE_WRITE) != 0;
	e->kind = RAY_EXPR_ELEMENT;
	e->variable = v;
	e->type = v->type;
	e->is_alloca = v->holds_alloca;
	return e;
}

struct ray_aggregation *ray_check_get_aggregation(struct ray_check *c, const char *name, const struct ray_where *where)
{
	struct ray_aggregation *a;

	for (size_t i = 0; i < c->program->aggregations.n; i++) {
		if (!strcmp(c->program->aggregations.at[i]->name, name))
			return c->program->aggregations.at[i];
	}
	a = ray_arena_alloc(c->arena, sizeof(*a));
	if (!a)
		return ray_check_nomem(c);
	*a = (struct ray_aggregation){ .name = name, .id = (uint32_t)c->program->aggregations.n, .where = *where };
	return ray_vec_push(&c->program->aggregations, a) ? a : ray_check_nomem(c);
}

/* @name where a value or an argument is expected: with or without a tuple, it must have been filled somewhere. */
struct ray_expr *ray_check_aggregation(struct ray_check *c, struct ray_expr *e, enum ray_use use)
{
	struct ray_aggregation *a = NULL;

	(void)use;
	for (size_t i = 0; i < c->program->aggregations.n; i++) {
		if (!strcmp(c->program->aggregations.at[i]->name, e->text))
			a = c->program->aggregations.at[i];
	}
	if (!a && !e->arg_count)
		return ray_check_fail(c, &e->where, "D_IDENT_UNDEF", "failed to resolve @%s: Unknown variable name",
				      e->text);
	if (!a)
		a = ray_check_get_aggregation(c, e->text, &e->where);
	if (!a || !ray_check_args(c, e->args, e->arg_count, RAY_USE_READ))
		return NULL;
	e->aggregation = a;
	e->type = ray_type_basic(c->types, RAY_BASIC_DYNAMIC);
	return e;
}

/* Only asked when the program is refused anyway: the list is long. */
static bool is_kernel_symbol(const char *name)
{
	ray_auto_file FILE *f = fopen("/proc/kallsyms", "re");
	ray_auto_memory char *line = NULL;
	size_t size = 0, length = strlen(name);

	while (f && length && getline(&line, &size, f) > 0) {
		char *at = strchr(line, ' ');

		at = at ? strchr(at + 1, ' ') : NULL;
		if (at && !strncmp(at + 1, name, length) && strchr("\t\n", at[1 + length]) && at[1 + length])
			return true;
	}
	return false;
}

struct ray_expr *ray_check_symbol(struct ray_check *c, struct ray_expr *e, enum ray_use use)
{
	(void)use;
	if (is_kernel_symbol(strrchr(e->text, '`') + 1))
		return ray_check_fail(
			c, &e->where, "D_SYM_NOTYPES",
			"no symbolic type information is available for vmlinux`%s: the kernel describes the types of "
			"its structures only, not of its variables",
			strrchr(e->text, '`') + 1);
	return ray_check_fail(c, &e->where, "D_IDENT_UNDEF", "failed to resolve %s: Unknown symbol name", e->text);
}
