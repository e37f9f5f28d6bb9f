/* check_statement.c - statements: expressions become actions and aggregations; what may follow what.
 * SPDX-License-Identifier: MIT */
#include "lang/check.h"

static bool to_action(struct ray_check *c, struct ray_statement *s)
{
	s->expr = ray_check_expr(c, s->expr, RAY_USE_READ);
	if (!s->expr)
		return false;
	s->kind = RAY_STATEMENT_ACTION;
	s->function = s->expr->function;
	s->args = s->expr->args;
	s->arg_count = s->expr->arg_count;
	return true;
}

bool ray_check_statement(struct ray_check *c, struct ray_statement *s)
{
	const struct ray_expr *e = s->expr;

	if (s->kind != RAY_STATEMENT_EXPR)
		return true;
	if (e->kind == RAY_EXPR_ASSIGN && e->op == RAY_OP_NONE && e->a->kind == RAY_EXPR_AGGREGATION)
		return ray_check_aggregate_types(c, s);
	if (e->kind == RAY_EXPR_CALL) {
		const struct ray_function *f = e->function ? e->function : e->text ? ray_function_find(e->text) : NULL;

		if (f && f->kind == RAY_FUNCTION_ACTION)
			return to_action(c, s);
	}
	s->expr = ray_check_expr(c, s->expr, RAY_USE_READ);
	return s->expr != NULL;
}

static bool fail(struct ray_check *c, const struct ray_statement *s, const char *tag, const char *text)
{
	ray_check_fail(c, &s->where, tag, "%s", text);
	return false;
}

/* Speculations: what may not follow what, in the order the reference asks. */
static bool check_order(struct ray_check *c, const struct ray_statement *s, struct ray_clause_state *state)
{
	bool has_data = state->has_record || state->has_aggregation;
	enum ray_function_id id = s->function->id;

	if (id == RAY_FN_COMMIT) {
		if (has_data)
			return fail(c, s, "D_COMM_DREC", "commit( ) may not follow data-recording action(s)");
		state->has_commit = true;
	} else if (id == RAY_FN_SPECULATE) {
		if (state->has_speculate)
			return fail(c, s, "D_SPEC_SPEC", "speculate( ) may not follow speculate( )");
		if (state->has_commit)
			return fail(c, s, "D_SPEC_COMM", "speculate( ) may not follow commit( )");
		if (has_data)
			return fail(c, s, "D_SPEC_DREC", "speculate( ) may not follow data-recording action(s)");
		state->has_speculate = true;
	} else if (s->kind == RAY_STATEMENT_AGGREGATE) {
		if (state->has_commit)
			return fail(c, s, "D_AGG_COMM", "aggregating actions may not follow commit( )");
		if (state->has_speculate)
			return fail(c, s, "D_AGG_SPEC", "aggregating actions may not follow speculate( )");
		state->has_aggregation = true;
	} else if (id != RAY_FN_DISCARD) {
		if (state->has_speculate && s->function->is_destructive)
			return fail(c, s, "D_ACT_SPEC", "destructive actions may not follow speculate( )");
		if (state->has_speculate && id == RAY_FN_EXIT)
			return fail(c, s, "D_EXIT_SPEC", "exit( ) may not follow speculate( )");
		if (state->has_commit)
			return fail(c, s, "D_DREC_COMM", "data-recording actions may not follow commit( )");
		state->has_record = true;
	}
	return true;
}

/* Functions whose result is data of a record or a key, but no value to compute with. */
static bool is_recordable(const struct ray_expr *e)
{
	return e->kind == RAY_EXPR_CALL && e->function->id >= RAY_FN_STACK && e->function->id <= RAY_FN_UADDR;
}

/* What subroutines ask of their arguments besides types. */
static bool check_subroutine(struct ray_check *c, const struct ray_expr *e)
{
	enum ray_function_id id = e->function->id;
	const struct ray_expr *size = id == RAY_FN_ALLOCA ? e->args[0] : id == RAY_FN_COPYIN ? e->args[1] : NULL;
	size_t to = id == RAY_FN_BCOPY ? 1 : id == RAY_FN_COPYINTO ? 2 : 0;

	if (size && size->kind == RAY_EXPR_INTEGER && c->options->scratchsize && size->value > c->options->scratchsize)
		ray_check_fail(c, &e->where, "D_ALLOCA_SIZE", "%s(%lu) size larger than scratchsize %lu",
			       e->function->name, (unsigned long)size->value, (unsigned long)c->options->scratchsize);
	else if (to && !e->args[to]->is_alloca)
		ray_check_fail(c, &e->args[to]->where, "D_PROTO_ARG",
			       "%s( ) argument #%zu is incompatible with prototype:\n\tprototype: alloca pointer\n"
			       "\t argument: non-alloca pointer",
			       e->function->name, to + 1);
	else if (id == RAY_FN_INET_NTOA6 && e->arg_count > 1 && e->args[1]->kind != RAY_EXPR_INTEGER)
		ray_check_fail(c, &e->args[1]->where, "D_PROTO_ARG",
			       "inet_ntoa6( ) argument #2 must be an integer constant");
	return !c->error;
}

static bool is_destructive(const struct ray_expr *e)
{
	if (!e)
		return false;
	if ((e->kind == RAY_EXPR_CALL && e->function->is_destructive) || is_destructive(e->a) || is_destructive(e->b) ||
	    is_destructive(e->c))
		return true;
	for (size_t i = 0; i < e->arg_count; i++) {
		if (is_destructive(e->args[i]))
			return true;
	}
	return false;
}

static bool check_pure(struct ray_check *c, const struct ray_expr *e)
{
	if (!e)
		return true;
	if (e->kind == RAY_EXPR_CALL && e->function->kind != RAY_FUNCTION_SUBROUTINE) {
		ray_check_fail(c, &e->where, "D_CG_EXPR",
			       "%s %s( ) may not be called from a D expression (D program context required)",
			       e->function->kind == RAY_FUNCTION_ACTION ? "tracing function" : "aggregating function",
			       e->function->name);
		return false;
	}
	if (e->kind == RAY_EXPR_CALL && !check_subroutine(c, e))
		return false;
	if (!check_pure(c, e->a) || !check_pure(c, e->b) || !check_pure(c, e->c))
		return false;
	for (size_t i = 0; i < e->arg_count; i++) {
		if (!check_pure(c, e->args[i]))
			return false;
	}
	return true;
}

static bool check_values(struct ray_check *c, struct ray_expr **values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct ray_expr *e = values[i];

		if (e->kind == RAY_EXPR_AGGREGATION)
			continue;
		if (!is_recordable(e)) {
			if (!check_pure(c, e))
				return false;
			continue;
		}
		if (e->function->id <= RAY_FN_JSTACK && !ray_check_stack_args(c, e->function, e->args, e->arg_count))
			return false;
		if (e->function->id > RAY_FN_JSTACK && !check_pure(c, e->args[0]))
			return false;
	}
	return true;
}

bool ray_check_effects(struct ray_check *c, struct ray_statement *s, struct ray_clause_state *state)
{
	switch (s->kind) {
	case RAY_STATEMENT_DEFAULT:
		state->has_record = true;
		return true;
	case RAY_STATEMENT_EXPR:
		if (s->expr->kind == RAY_EXPR_AGGREGATION) {
			ray_check_fail(c, &s->where, "D_AGG_NULL", "expression has null effect: @%s", s->expr->text);
			return false;
		}
		if (state->has_speculate && is_destructive(s->expr))
			return fail(c, s, "D_ACT_SPEC", "destructive actions may not follow speculate( )");
		return check_pure(c, s->expr);
	case RAY_STATEMENT_AGGREGATE:
		return check_order(c, s, state) && ray_check_aggregate(c, s) &&
		       check_values(c, s->keys, s->key_count) && check_values(c, s->args, s->arg_count);
	default:
		return check_order(c, s, state) && ray_check_action(c, s) && check_values(c, s->args, s->arg_count);
	}
}
