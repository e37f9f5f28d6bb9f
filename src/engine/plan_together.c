/* plan_together.c - aggregations that are always filled together share the elements of one map. SPDX-License-Identifier: MIT
 *
 * "@n[url] = count(); @t[url] = quantize(latency); @max[url] = max(latency);" makes, hashes and searches its key once: the element of a key has
 * a part for each of them. Which of them hold something is told by a word of each part, so nothing but time and room depends on it. Who is cleared or cut
 * keeps a map of its own. */
#include <string.h>

#include "engine/plan_walk.h"
#include "lang/functions.h"

enum { ELEMENT_MAX = 16384 }; /* parts are reached by an instruction's own offset */

static bool is_steady_builtin(const struct ray_variable *v)
{
	return v->scope != RAY_SCOPE_BUILTIN ||
	       (v->builtin != RAY_BUILTIN_VTIMESTAMP && v->builtin != RAY_BUILTIN_WALLTIMESTAMP);
}

static bool is_steady_call(enum ray_function_id id)
{
	switch (id) {
	case RAY_FN_BASENAME:
	case RAY_FN_CLEANPATH:
	case RAY_FN_COPYINSTR:
	case RAY_FN_DIRNAME:
	case RAY_FN_LLTOSTR:
	case RAY_FN_STRCHR:
	case RAY_FN_STRIP:
	case RAY_FN_STRJOIN:
	case RAY_FN_STRLEN:
	case RAY_FN_STRRCHR:
	case RAY_FN_STRSTR:
	case RAY_FN_SUBSTR:
	case RAY_FN_TOLOWER:
	case RAY_FN_TOUPPER:
	case RAY_FN_STACK:
	case RAY_FN_USTACK:
	case RAY_FN_JSTACK:
	case RAY_FN_FD_PATH:
	case RAY_FN_FD_NAME:
		return true;
	default:
		return false;
	}
}

/* Whether it is steady if what it consists of is. */
static bool is_steady_itself(const struct ray_expr *e)
{
	switch (e->kind) {
	case RAY_EXPR_INTEGER:
	case RAY_EXPR_STRING:
	case RAY_EXPR_ARG:
	case RAY_EXPR_BINARY:
	case RAY_EXPR_COND:
	case RAY_EXPR_CAST:
	case RAY_EXPR_DEREF:
	case RAY_EXPR_ADDRESS:
	case RAY_EXPR_MEMBER:
		return true;
	case RAY_EXPR_VARIABLE:
	case RAY_EXPR_ELEMENT:
		return is_steady_builtin(e->variable);
	case RAY_EXPR_UNARY:
		return e->op == RAY_OP_NEGATE || e->op == RAY_OP_NOT || e->op == RAY_OP_INVERT || e->op == RAY_OP_PLUS;
	case RAY_EXPR_CALL:
		return is_steady_call(e->function->id);
	default:
		return false;
	}
}

bool ray_plan_is_steady(const struct ray_expr *e)
{
	if (!e || e->kind == RAY_EXPR_ARG) /* which keeps what it was parsed from */
		return true;
	if (!is_steady_itself(e))
		return false;
	for (size_t i = 0; i < e->arg_count; i++)
		if (!ray_plan_is_steady(e->args[i]))
			return false;
	return ray_plan_is_steady(e->a) && ray_plan_is_steady(e->b) && ray_plan_is_steady(e->c);
}

static bool is_same_type(const struct ray_type *a, const struct ray_type *b)
{
	a = ray_type_resolve(a);
	b = ray_type_resolve(b);
	return a == b || (a->kind == b->kind && a->flags == b->flags && ray_type_size(a) == ray_type_size(b));
}

static bool is_same(const struct ray_expr *a, const struct ray_expr *b)
{
	if (!a || !b)
		return a == b;
	if (a->kind != b->kind || a->op != b->op || !is_same_type(a->type, b->type) || a->value != b->value ||
	    a->variable != b->variable || a->function != b->function || a->bit_offset != b->bit_offset ||
	    a->bit_width != b->bit_width)
		return false;
	if (a->kind == RAY_EXPR_ARG)
		return true;
	if (a->kind == RAY_EXPR_STRING && (a->length != b->length || memcmp(a->text, b->text, a->length) != 0))
		return false;
	if (a->arg_count != b->arg_count)
		return false;
	for (size_t i = 0; i < a->arg_count; i++)
		if (!is_same(a->args[i], b->args[i]))
			return false;
	return is_same(a->a, b->a) && is_same(a->b, b->b) && is_same(a->c, b->c);
}

bool ray_plan_has_same_key(const struct ray_statement *s, const struct ray_statement *next)
{
	if (s->kind != RAY_STATEMENT_AGGREGATE || next->kind != RAY_STATEMENT_AGGREGATE ||
	    s->key_count != next->key_count)
		return false;
	for (size_t i = 0; i < s->key_count; i++)
		if (!ray_plan_is_steady(s->keys[i]) || !is_same(s->keys[i], next->keys[i]))
			return false;
	for (size_t i = 0; i < next->arg_count; i++)
		if (!ray_plan_is_steady(next->args[i]))
			return false;
	return true;
}

/* Whether other is filled in the run of statements with one key that statement k is in. */
static bool is_near(const struct ray_clause *c, size_t k, const struct ray_aggregation *other)
{
	size_t first = k;

	while (first && ray_plan_has_same_key(&c->statements[first - 1], &c->statements[first]))
		first--;
	for (size_t i = first; i < c->statement_count; i++) {
		if (i > first && !ray_plan_has_same_key(&c->statements[i - 1], &c->statements[i]))
			break;
		if (c->statements[i].aggregation == other)
			return true;
	}
	return false;
}

static bool always_near(const struct ray_program *program, const struct ray_aggregation *a,
			const struct ray_aggregation *other)
{
	for (size_t i = 0; i < program->clauses.n; i++) {
		const struct ray_clause *c = program->clauses.at[i];

		for (size_t k = 0; k < c->statement_count; k++)
			if (c->statements[k].kind == RAY_STATEMENT_AGGREGATE && c->statements[k].aggregation == a &&
			    !is_near(c, k, other))
				return false;
	}
	return true;
}

/* Whether some statement calls the function with the aggregation. */
static bool is_argument_of(enum ray_function_id function, const struct ray_program *program,
			   const struct ray_aggregation *a)
{
	for (size_t i = 0; i < program->clauses.n; i++) {
		const struct ray_clause *c = program->clauses.at[i];

		for (size_t k = 0; k < c->statement_count; k++) {
			const struct ray_statement *s = &c->statements[k];

			if (s->kind != RAY_STATEMENT_ACTION || s->function->id != function)
				continue;
			for (size_t n = 0; n < s->arg_count; n++)
				if (s->args[n]->aggregation == a)
					return true;
		}
	}
	return false;
}

bool ray_plan_is_changed(const struct ray_program *program, const struct ray_aggregation *a)
{
	return is_argument_of(RAY_FN_CLEAR, program, a) || is_argument_of(RAY_FN_TRUNC, program, a);
}

bool ray_plan_has_epochs(const struct ray_program *program, const struct ray_aggregation *a)
{
	return is_argument_of(RAY_FN_TRUNC, program, a) ||
	       (ray_agg_is_extreme(a) && is_argument_of(RAY_FN_CLEAR, program, a));
}

static bool is_same_layout(const struct ray_key_plan *a, const struct ray_key_plan *b)
{
	if (a->size != b->size || a->field_count != b->field_count)
		return false;
	for (size_t i = 0; i < a->field_count; i++)
		if (a->fields[i].kind != b->fields[i].kind || a->fields[i].size != b->fields[i].size ||
		    a->fields[i].frames != b->fields[i].frames)
			return false;
	return true;
}

bool ray_plan_is_together(const struct ray_plan *plan, const struct ray_agg_plan *a, const struct ray_agg_plan *b)
{
	const struct ray_program *program = plan->program;

	return a->value_size && b->value_size && !a->is_shared && !b->is_shared &&
	       a->element_size + b->value_size <= ELEMENT_MAX && is_same_layout(&a->key, &b->key) &&
	       always_near(program, a->aggregation, b->aggregation) &&
	       always_near(program, b->aggregation, a->aggregation) && !ray_plan_is_changed(program, a->aggregation) &&
	       !ray_plan_is_changed(program, b->aggregation);
}
