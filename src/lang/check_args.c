/* check_args.c - args[n]: its type comes from the probes that the clause fires for.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "lang/check.h"

static const char *describe_spec(struct ray_check *c)
{
	ray_auto_text text = { 0 };
	const char *copy;

	if (c->clause->spec_count)
		ray_probe_spec_print(&c->clause->specs[0], &text);
	copy = ray_arena_strdup(c->arena, ray_text_get(&text));
	return copy ? copy : "";
}

static void *unstable(struct ray_check *c, const struct ray_where *where)
{
	return ray_check_fail(
		c, where, "D_ARGS_MULTI",
		"args[ ] may not be referenced because probe description %s matches an unstable set of probes",
		describe_spec(c));
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* The argument as all probes have it; false after an error. */
static bool find_arg(struct ray_check *c, uint64_t index, const struct ray_where *where, struct ray_probe_arg *ret)
{
	struct ray_probe_args args;

	for (size_t i = 0; i < c->clause->probes.n; i++) {
		c->error = ray_probe_args(c->catalogue, c->clause->probes.at[i], &args);
		if (c->error)
			return false;
		if (index >= args.count) { /* a provider that cannot tell has none, too */
			if (i)
				unstable(c, where);
			else
				ray_check_fail(c, where, "D_ARGS_IDX", "index %lld is out of range for %s args[ ]",
					       (long long)index, describe_spec(c));
			return false;
		}
		if (i == 0) {
			*ret = args.at[index];
		} else if (!same(ret->type, args.at[index].type) ||
			   !same(ret->native_type, args.at[index].native_type) ||
			   ret->native != args.at[index].native) {
			unstable(c, where);
			return false;
		}
	}
	return true;
}

struct ray_expr *ray_check_arg(struct ray_check *c, struct ray_expr *e)
{
	uint64_t index = e->args[0]->value;
	struct ray_probe_arg arg = { 0 };
	const struct ray_type *type, *native;
	struct ray_expr *x;

	if (!c->clause)
		return ray_check_fail(c, &e->where, "D_ARGS_NONE",
				      "args[ ] may not be referenced outside of a probe clause");
	if (!c->clause->probes.n)
		return unstable(c, &e->where);
	if (!find_arg(c, index, &e->where, &arg))
		return NULL;
	type = ray_type_from_text(c->types, arg.type);
	if (!type && ray_check_load_providers(c))
		type = ray_type_from_text(c->types, arg.type);
	if (c->error)
		return NULL;
	native = arg.native_type ? ray_type_from_text(c->types, arg.native_type) : type;
	if (!type)
		return ray_check_fail(c, &e->where, "D_ARGS_TYPE", "failed to resolve translated type for args[%lld]",
				      (long long)index);
	if (!native)
		return ray_check_fail(c, &e->where, "D_ARGS_TYPE", "failed to resolve native type for args[%lld]",
				      (long long)index);
	e->kind = RAY_EXPR_ARG;
	e->value = (uint64_t)arg.native;
	e->type = native;
	c->clause->args_used |= 1u << (arg.native & 31);
	if (type == native || ray_check_fits(type, e)) {
		e->type = type;
		return e;
	}
	x = ray_check_translate(c, e, type, &e->where);
	if (x || c->error)
		return x;
	return ray_check_fail(c, &e->where, "D_ARGS_XLATOR", "translator for args[%lld] from %s to %s is not defined",
			      (long long)index, ray_check_type_name(c, native), ray_check_type_name(c, type));
}
