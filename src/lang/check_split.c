/* check_split.c - a clause with several descriptions that looks at args[] becomes one clause for each.
 * SPDX-License-Identifier: MIT
 *
 * args[] has the types of the description's own probes, and these may differ between descriptions. Works on what was parsed,
 * before anything of the clause is checked. */
#include <string.h>

#include "lang/check.h"

static bool uses_args(const struct ray_expr *e)
{
	if (!e)
		return false;
	if (e->kind == RAY_EXPR_INDEX && e->a->kind == RAY_EXPR_NAME && e->a->scope == RAY_SCOPE_GLOBAL &&
	    !strcmp(e->a->text, "args"))
		return true;
	if (uses_args(e->a) || uses_args(e->b) || uses_args(e->c))
		return true;
	for (size_t i = 0; i < e->arg_count; i++) {
		if (uses_args(e->args[i]))
			return true;
	}
	return false;
}

static bool clause_uses_args(const struct ray_clause *clause)
{
	if (uses_args(clause->predicate))
		return true;
	for (size_t i = 0; i < clause->statement_count; i++) {
		if (uses_args(clause->statements[i].expr))
			return true;
	}
	return false;
}

static struct ray_clause *copy_for(struct ray_check *c, const struct ray_clause *clause, size_t spec)
{
	struct ray_clause *copy = ray_arena_alloc(c->arena, sizeof(*copy));

	if (!copy)
		return ray_check_nomem(c);
	*copy = *clause;
	copy->specs = &clause->specs[spec];
	copy->spec_wheres = clause->spec_wheres ? &clause->spec_wheres[spec] : NULL;
	copy->spec_count = 1;
	copy->predicate = ray_expr_clone(c->arena, clause->predicate, NULL, 0);
	copy->statements = ray_check_copy_statements(c, clause);
	if ((clause->predicate && !copy->predicate) || !copy->statements)
		return ray_check_nomem(c);
	return copy;
}

bool ray_check_split(struct ray_check *c, size_t index)
{
	struct ray_clause *clause = c->program->clauses.at[index];
	size_t extra = clause->spec_count - 1;

	if (clause->is_checked || clause->spec_count < 2 || !clause_uses_args(clause))
		return true;
	for (size_t i = 1; i <= extra; i++) {
		struct ray_clause *copy = copy_for(c, clause, i);
		struct ray_clause **at;

		if (!copy)
			return false;
		if (!ray_vec_push(&c->program->clauses, copy))
			return ray_check_nomem(c) != NULL;
		at = &c->program->clauses.at[index + i];
		memmove(at + 1, at, (c->program->clauses.n - 1 - (index + i)) * sizeof(*at));
		*at = copy;
	}
	clause->spec_count = 1;
	for (size_t i = index; i < c->program->clauses.n; i++)
		c->program->clauses.at[i]->index = (uint32_t)i;
	return true;
}
