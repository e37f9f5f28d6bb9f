/* builtin.c - D's own variables.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "lang/check.h"

static const struct {
	enum ray_builtin id;
	const char *name, *type;
} builtins[] = {
#define RAY_BUILTIN_ROW(id, name, type) { RAY_BUILTIN_##id, name, type },
	RAY_BUILTINS(RAY_BUILTIN_ROW)
#undef RAY_BUILTIN_ROW
};

static size_t find(const char *name)
{
	size_t i = 0;

	while (i < RAY_COUNT(builtins) && strcmp(builtins[i].name, name))
		i++;
	return i;
}

bool ray_check_is_builtin(const char *name)
{
	return find(name) < RAY_COUNT(builtins);
}

/* One variable per program, made when the name first occurs. */
static struct ray_variable *get(struct ray_check *c, size_t row, const struct ray_where *where)
{
	struct ray_variable *v = ray_check_find_variable(c, RAY_SCOPE_BUILTIN, builtins[row].name);

	if (v)
		return v;
	v = ray_check_create_variable(c, RAY_SCOPE_BUILTIN, builtins[row].name, where);
	if (!v)
		return NULL;
	v->builtin = builtins[row].id;
	v->is_declared = v->is_read = true;
	v->type = *builtins[row].type ? ray_type_from_text(c->types, builtins[row].type) : NULL;
	return v;
}

static struct ray_expr *make(struct ray_check *c, size_t row, const struct ray_where *where)
{
	struct ray_variable *v = get(c, row, where);
	struct ray_expr *e = v ? ray_check_new(c, RAY_EXPR_VARIABLE, v->type, where) : NULL;

	if (!e)
		return NULL;
	if (!v->type)
		return ray_check_fail(c, where, "D_UNKNOWN",
				      "failed to resolve type %s for identifier %s: Unknown type name",
				      builtins[row].type, v->name);
	e->variable = v;
	if (c->clause && v->builtin >= RAY_BUILTIN_ARG0 && v->builtin <= RAY_BUILTIN_ARG9)
		c->clause->args_used |= 1u << (v->builtin - RAY_BUILTIN_ARG0);
	return e;
}

/* curpsinfo and curlwpsinfo are translations of the current task. */
static struct ray_expr *translate_task(struct ray_check *c, const char *to, const struct ray_where *where)
{
	struct ray_expr *task = make(c, find("curthread"), where);
	const struct ray_type *type = ray_type_from_text(c->types, to);
	struct ray_expr *x = task && type ? ray_check_translate(c, task, type, where) : NULL;

	if (x || c->error)
		return x;
	return ray_check_fail(c, where, "D_XLATE_NONE", "cannot translate from \"struct task_struct *\" to \"%s\"", to);
}

/* curcpu has no structure behind it either: see prelude_cpu.c. */
static struct ray_expr *translate_cpu(struct ray_check *c, const struct ray_where *where)
{
	struct ray_expr *x = ray_check_new(c, RAY_EXPR_XLATE, ray_type_basic(c->types, RAY_BASIC_DYNAMIC), where);

	if (!x)
		return NULL;
	x->a = make(c, find("cpu"), where);
	x->cast_type = ray_type_from_text(c->types, "cpuinfo_t *");
	return x->a && x->cast_type ? x : NULL;
}

/* Names that D's libraries give to members of curcpu. */
static struct ray_expr *check_alias(struct ray_check *c, const char *name, const struct ray_where *where)
{
	static const struct {
		const char *name, *member;
	} aliases[] = { { "pset", "cpu_pset" }, { "chip", "cpu_chip" }, { "lgrp", "cpu_lgrp" } };

	for (size_t i = 0; i < RAY_COUNT(aliases); i++) {
		if (!strcmp(aliases[i].name, name)) {
			struct ray_expr *x = translate_cpu(c, where);

			return x ? ray_check_translated_member(c, x, aliases[i].member, where) : NULL;
		}
	}
	return NULL;
}

struct ray_expr *ray_check_builtin(struct ray_check *c, const char *name, const struct ray_where *where)
{
	size_t row = find(name);

	if (row == RAY_COUNT(builtins))
		return check_alias(c, name, where);
	switch (builtins[row].id) {
	case RAY_BUILTIN_ARGS:
	case RAY_BUILTIN_UREGS:
	case RAY_BUILTIN_FDS:
		return ray_check_fail(c, where, "D_IDENT_BADREF",
				      "associative array '%s' may not be referenced as scalar", name);
	case RAY_BUILTIN_CURCPU:
		return translate_cpu(c, where);
	case RAY_BUILTIN_CURPSINFO:
	case RAY_BUILTIN_CURLWPSINFO:
		return translate_task(c, builtins[row].type, where);
	case RAY_BUILTIN_CWD:
		return ray_check_call(c, RAY_FN_CWD, NULL, 0, ray_type_basic(c->types, RAY_BASIC_STRING), where);
	case RAY_BUILTIN_ROOT:
		return ray_check_call(c, RAY_FN_ROOT, NULL, 0, ray_type_basic(c->types, RAY_BASIC_STRING), where);
	default:
		return make(c, row, where);
	}
}

static bool check_index(struct ray_check *c, struct ray_expr *e, const char *name, bool must_be_constant)
{
	if (!ray_check_args(c, e->args, e->arg_count, RAY_USE_READ))
		return false;
	if (e->arg_count != 1) {
		const char *text = ray_arena_printf(c->arena, "%s[ ]", name);

		ray_check_wrong_count(c, &e->where, text ? text : name, e->arg_count, "arg", "", 1);
		return false;
	}
	if (must_be_constant ? e->args[0]->kind == RAY_EXPR_INTEGER : ray_check_is_integer(e->args[0]))
		return true;
	ray_check_fail(c, &e->where, "D_PROTO_ARG",
		       "%s[ ] argument #1 is incompatible with prototype:\n\tprototype: %s\n\t argument: %s", name,
		       must_be_constant ? "integer constant" : "int", ray_check_type_of(c, e->args[0]));
	return false;
}

static struct ray_expr *check_register(struct ray_check *c, struct ray_expr *e)
{
	enum { REGISTERS = 27 }; /* R_R15 to R_GS, as regs.d numbers them */
	struct ray_variable *v = get(c, find("uregs"), &e->where);

	if (!v || !check_index(c, e, "uregs", true))
		return NULL;
	if (ray_type_is_signed(e->args[0]->type) && (int64_t)e->args[0]->value < 0)
		return ray_check_fail(c, &e->where, "D_REGS_IDX", "index %lld is out of range for array uregs",
				      (long long)e->args[0]->value);
	if (e->args[0]->value >= REGISTERS)
		return ray_check_fail(c, &e->where, "D_UNKNOWN", "uregs[]: index out of bounds (%d)",
				      (int)e->args[0]->value);
	e->kind = RAY_EXPR_ELEMENT;
	e->variable = v;
	e->type = v->type;
	return e;
}

/* fds[n] is a translation without a structure behind it: its members are calls (prelude.c). */
static struct ray_expr *check_file(struct ray_check *c, struct ray_expr *e)
{
	struct ray_expr *x;

	if (!check_index(c, e, "fds", false))
		return NULL;
	x = ray_check_new(c, RAY_EXPR_XLATE, ray_type_basic(c->types, RAY_BASIC_DYNAMIC), &e->where);
	if (!x)
		return NULL;
	x->a = e->args[0];
	x->cast_type = ray_type_typedef(c->types, "fileinfo_t");
	return x->cast_type ? x : ray_check_nomem(c);
}

struct ray_expr *ray_check_builtin_element(struct ray_check *c, struct ray_expr *e, const char *name)
{
	size_t row = find(name);

	switch (row < RAY_COUNT(builtins) ? builtins[row].id : RAY_BUILTIN_NONE) {
	case RAY_BUILTIN_ARGS:
		return check_index(c, e, name, true) ? ray_check_arg(c, e) : NULL;
	case RAY_BUILTIN_UREGS:
		return check_register(c, e);
	case RAY_BUILTIN_FDS:
		return check_file(c, e);
	default:
		return NULL;
	}
}
