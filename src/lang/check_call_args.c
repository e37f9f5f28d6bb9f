/* check_call_args.c - args[0]->name, where args[0] is a whole call and its members are the call's arguments.
 * SPDX-License-Identifier: MIT
 *
 * A clause may be for several functions. What all of them have in one place is read there; otherwise each probe gives it under a number that the
 * catalogue makes up for the name, and 0 if its function has no such argument. */
#include <stdio.h>
#include <string.h>

#include "lang/check.h"
#include "probe/types.h"

struct search {
	struct ray_check *c;
	const char *name;
	const struct ray_type *type; /* NULL: not found yet */
	const char *type_text;
	int native;
	bool is_missing, is_apart;   /* some function lacks it; it is not in one place */
	bool differs, is_unreadable; /* types that have nothing in common; in no register that can be read */
	size_t functions;
	struct ray_text names; /* of the last function's members */
};

static bool is_text(const char *type)
{
	return type && !strcmp(type, "string");
}

/* The structure that a pointer's text speaks of: "uv_tcp_t *". */
static const struct ray_probe_type *pointed_to(const char *type)
{
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(type, " "), type);
	return ray_probe_type_find(name, false);
}

static bool is_or_begins_like(const struct ray_probe_type *t, const struct ray_probe_type *other)
{
	while (t && t != other)
		t = t->base ? ray_probe_type_find(t->base, false) : NULL;
	return t != NULL;
}

/* A pointer that can stand for both: of a TCP and a UDP handle, to a handle; of any two things, to anything. */
static const char *common_pointer(struct search *s, const char *other)
{
	const struct ray_probe_type *t = pointed_to(s->type_text), *o = pointed_to(other);
	const char *text;

	while (o && t && !is_or_begins_like(o, t))
		t = t->base ? ray_probe_type_find(t->base, false) : NULL;
	text = o && t ? ray_arena_printf(s->c->arena, "%s *", t->name) : NULL;
	return text ? text : "void *";
}

/* One type for both: numbers of any size are numbers. */
static void unite(struct search *s, const struct ray_probe_arg *m)
{
	const struct ray_type *type = ray_type_from_text(s->c->types, is_text(m->type) ? "char *" : m->type);

	if (!s->type) {
		s->type = type;
		s->type_text = m->type;
	} else if (is_text(s->type_text) != is_text(m->type) || !type) {
		s->differs = true;
	} else if (!ray_type_equals(s->type, type)) {
		s->differs = ray_type_is_pointer(s->type) != ray_type_is_pointer(type);
		s->type_text = ray_type_is_pointer(type) ? common_pointer(s, m->type) : "int64_t";
		s->type = ray_type_from_text(s->c->types, s->type_text);
	}
}

static bool take(const struct ray_probe_args *args, void *arg)
{
	struct search *s = arg;
	const struct ray_probe_arg *found = NULL;

	s->functions++;
	ray_text_clear(&s->names);
	for (size_t i = 0; i < args->member_count; i++) {
		ray_text_printf(&s->names, "%s%s", i ? ", " : "", args->members[i].name);
		if (!strcmp(args->members[i].name, s->name))
			found = &args->members[i];
	}
	if (!found) {
		s->is_missing = true;
		return true;
	}
	s->is_unreadable |= found->native < 0;
	s->is_apart |= s->type && s->native != found->native;
	s->native = found->native;
	unite(s, found);
	return !s->differs;
}

static void *complain(struct search *s, const struct ray_where *where)
{
	if (s->c->error)
		return NULL;
	if (s->differs)
		return ray_check_fail(s->c, where, "D_ARGS_MULTI",
				      "args[0]->%s is not of one type in all functions that the description matches",
				      s->name);
	if (s->is_unreadable)
		return ray_check_fail(s->c, where, "D_ARGS_TYPE",
				      "args[0]->%s cannot be read: probes do not see floating-point arguments",
				      s->name);
	if (s->functions > 1)
		return ray_check_fail(s->c, where, "D_TYPE_MEMBER",
				      "none of the functions that the description matches has an argument %s", s->name);
	return ray_check_fail(s->c, where, "D_TYPE_MEMBER", "%s is not a member of args[0]: it has %s", s->name,
			      s->names.length ? ray_text_get(&s->names) : "none");
}

/* The number of the argument, in s->native; false after an error. */
static bool find_place(struct search *s, const struct ray_where *where)
{
	const struct ray_probe_spec *spec = &s->c->clause->specs[0];

	/* A pattern may match functions, too, that only a later release has. */
	if (!s->is_missing && !s->is_apart && ray_glob_is_plain(spec->function))
		return true;
	s->native = ray_catalogue_slot(s->c->catalogue, s->name);
	if (s->native >= 0)
		return true;
	ray_check_fail(
		s->c, where, "D_ARGS_MULTI",
		"args[0]->%s: only %d names can be used of functions that have them in different places; name the "
		"functions one by one",
		s->name, RAY_POINT_ARGS - RAY_POINT_NAMED);
	return false;
}

/* The string at an address of the traced process; no address, no text. */
struct ray_expr *ray_check_text(struct ray_check *c, struct ray_expr *pointer)
{
	const struct ray_type *string = ray_type_basic(c->types, RAY_BASIC_STRING);
	struct ray_expr *cond = ray_check_new(c, RAY_EXPR_COND, string, &pointer->where);
	struct ray_expr *text = ray_check_new(c, RAY_EXPR_CAST, string, &pointer->where);
	struct ray_expr *none = ray_check_new(c, RAY_EXPR_STRING, string, &pointer->where);

	if (!cond || !text || !none)
		return NULL;
	text->a = ray_expr_clone(c->arena, pointer, NULL, 0);
	if (!text->a)
		return ray_check_nomem(c);
	text->op = RAY_OP_STRINGOF;
	text->cast_type = string;
	none->text = "";
	cond->a = pointer;
	cond->b = text;
	cond->c = none;
	return cond;
}

static struct ray_expr *argument(struct ray_check *c, int native, const struct ray_type *type,
				 const struct ray_where *where)
{
	struct ray_expr *e = ray_check_new(c, RAY_EXPR_ARG, type, where);

	if (!e)
		return NULL;
	e->value = (uint64_t)native;
	c->clause->args_used |= 1u << native;
	return e;
}

struct ray_expr *ray_check_call_text(struct ray_check *c, int native, const struct ray_where *where)
{
	struct ray_expr *e = argument(c, native, ray_type_from_text(c->types, "char *"), where);

	return e ? ray_check_text(c, e) : NULL;
}

struct ray_expr *ray_check_call_member(struct ray_check *c, const char *name, const struct ray_where *where)
{
	struct search s = { .c = c, .name = name };
	bool is_fine = ray_check_each_args(c, take, &s) && s.type && !s.differs && !s.is_unreadable;

	if (is_fine)
		is_fine = find_place(&s, where);
	else
		complain(&s, where);
	ray_text_deinit(&s.names);
	if (!is_fine)
		return NULL;
	return is_text(s.type_text) ? ray_check_call_text(c, s.native, where) : argument(c, s.native, s.type, where);
}
