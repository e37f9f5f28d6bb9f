/* check_args.c - args[n]: its type comes from the probes that the clause fires for.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "lang/check.h"
#include "probe/provider.h"

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

struct search {
	struct ray_check *c;
	const struct ray_where *where;
	uint64_t index;
	size_t seen; /* sets of arguments */
	struct ray_probe_arg arg;
	bool is_call;
};

/* What one probe has, next to what the others have; false after an error. */
static bool take(const struct ray_probe_args *args, void *arg)
{
	struct search *s = arg;
	bool is_call = args->members && s->index == 0;
	const struct ray_probe_arg *one;

	if (s->index >= args->count) { /* a provider that cannot tell has none, too */
		if (s->seen)
			unstable(s->c, s->where);
		else
			ray_check_fail(s->c, s->where, "D_ARGS_IDX", "index %lld is out of range for %s args[ ]",
				       (long long)s->index, describe_spec(s->c));
		return false;
	}
	one = &args->at[s->index];
	if (s->seen++ == 0) {
		s->arg = *one;
		s->is_call = is_call;
	} else if (is_call != s->is_call ||
		   (!is_call && (!same(s->arg.type, one->type) || !same(s->arg.native_type, one->native_type) ||
				 s->arg.native != one->native))) {
		unstable(s->c, s->where);
		return false;
	}
	return true;
}

bool ray_check_each_args(struct ray_check *c, bool (*each)(const struct ray_probe_args *args, void *arg), void *arg)
{
	struct ray_probe_args args;
	struct ray_error *err;
	bool is_known;

	err = ray_catalogue_each_args(c->catalogue, &c->clause->specs[0], each, arg, &is_known);
	for (size_t i = 0; !err && !c->error && i < c->clause->probes.n; i++) {
		struct ray_probe *probe = c->clause->probes.at[i];

		if (is_known && probe->owner->each_args)
			continue;
		err = ray_probe_args(c->catalogue, probe, &args);
		if (err || !each(&args, arg))
			break;
	}
	/* each() may have failed itself: the first error stays. */
	if (c->error)
		ray_error_free(err);
	else
		c->error = err;
	return !c->error;
}

/* It has no value, only members: see ray_check_call_member(). */
static struct ray_expr *whole_call(struct ray_check *c, const char *type, const struct ray_where *where)
{
	struct ray_expr *x = ray_check_new(c, RAY_EXPR_XLATE, ray_type_basic(c->types, RAY_BASIC_DYNAMIC), where);

	if (!x)
		return NULL;
	x->cast_type = ray_type_from_text(c->types, type);
	return x->cast_type ? x : ray_check_nomem(c);
}

struct ray_expr *ray_check_arg(struct ray_check *c, struct ray_expr *e)
{
	uint64_t index = e->args[0]->value;
	struct search s = { .c = c, .where = &e->where, .index = index };
	struct ray_probe_arg arg;
	const struct ray_type *type, *native;
	struct ray_expr *x;

	if (!c->clause)
		return ray_check_fail(c, &e->where, "D_ARGS_NONE",
				      "args[ ] may not be referenced outside of a probe clause");
	if (!ray_check_each_args(c, take, &s))
		return NULL;
	if (!s.seen)
		return unstable(c, &e->where);
	if (s.is_call)
		return whole_call(c, s.arg.type, &e->where);
	arg = s.arg;
	if (arg.native_type && !strcmp(arg.native_type, "string *"))
		return ray_check_call_text(c, arg.native, &e->where);
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
