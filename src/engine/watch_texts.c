/* watch_texts.c - which texts of an HTTP request clauses read: others need not be kept. SPDX-License-Identifier: MIT
 *
 * A text is read as a member of what an argument leads to. Whoever does anything else with such a pointer, or asks for an argument without its type,
 * may read any of them. */
#include <string.h>

#include "engine/plan_walk.h"
#include "engine/watch.h"

static const struct {
	const char *member; /* of struct node_native_request */
	uint64_t bit;
} texts[] = {
	{ "host", RAY_UNREAD_HOST },
	{ "user_agent", RAY_UNREAD_AGENT },
	{ "forwarded_for", RAY_UNREAD_FORWARDED },
};

struct readers {
	uint64_t unread;
	size_t pointers, members; /* to requests, and those that are only followed to a member */
};

static bool is_request(const struct ray_expr *e)
{
	const struct ray_type *type = e->kind == RAY_EXPR_ARG && e->type ? ray_type_resolve(e->type) : NULL;

	if (!type || type->kind != RAY_TYPE_POINTER)
		return false;
	type = ray_type_resolve(type->target);
	return type->kind == RAY_TYPE_STRUCT && type->name && !strcmp(type->name, "node_native_request");
}

static void look(void *arg, const struct ray_expr *e)
{
	struct readers *r = arg;

	if (e->kind == RAY_EXPR_VARIABLE && e->variable && e->variable->scope == RAY_SCOPE_BUILTIN &&
	    e->variable->builtin >= RAY_BUILTIN_ARG0 && e->variable->builtin <= RAY_BUILTIN_ARG9)
		r->unread = 0;
	r->pointers += is_request(e);
	if (e->kind != RAY_EXPR_MEMBER || e->a->kind != RAY_EXPR_DEREF || !is_request(e->a->a))
		return;
	r->members++;
	for (size_t i = 0; i < RAY_COUNT(texts); i++)
		if (!strcmp(e->member->name, texts[i].member))
			r->unread &= ~texts[i].bit;
}

static void look_at_all(struct readers *r, struct ray_expr *const *exprs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ray_plan_walk(exprs[i], look, r);
}

uint64_t ray_watch_unread(const struct ray_program *program)
{
	struct readers r = { .unread = RAY_UNREAD_HOST | RAY_UNREAD_AGENT | RAY_UNREAD_FORWARDED };

	for (size_t i = 0; i < program->clauses.n; i++) {
		const struct ray_clause *c = program->clauses.at[i];

		if (ray_clause_is_off(c))
			continue;
		look_at_all(&r, &c->predicate, 1);
		for (size_t k = 0; k < c->statement_count; k++) {
			look_at_all(&r, &c->statements[k].expr, 1);
			look_at_all(&r, c->statements[k].args, c->statements[k].arg_count);
			look_at_all(&r, c->statements[k].keys, c->statements[k].key_count);
		}
	}
	return r.pointers == r.members ? r.unread : 0;
}
