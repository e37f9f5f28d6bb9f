/* check_agg.c - aggregations: keys, functions, and the parameters of lquantize and llquantize.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "lang/check.h"

static enum ray_aggregator aggregator_of(const struct ray_function *f)
{
	return RAY_AGG_COUNT + (enum ray_aggregator)(f->id - RAY_FN_COUNT);
}

static bool fail(struct ray_check *c, const struct ray_expr *e, const char *tag, const char *text)
{
	ray_check_fail(c, &e->where, tag, "%s", text);
	return false;
}

/* The parameters of a second use must be those of the first. */
static bool match(struct ray_check *c, const struct ray_statement *s, const char *tag, const char *what,
		  int64_t expected, int64_t found)
{
	if (expected == found)
		return true;
	ray_check_fail(c, &s->where, tag, "%s doesn't match previous declaration: expected %d, found %d", what,
		       (int)expected, (int)found);
	return false;
}

static bool check_increment(struct ray_check *c, struct ray_statement *s, size_t at, size_t most)
{
	if (s->arg_count <= at)
		return true;
	if (!ray_check_is_scalar(s->args[at])) {
		ray_check_fail(c, &s->where, "D_PROTO_ARG",
			       "%s( ) increment value (argument #%zu) must be of scalar type", s->function->name, most);
		return false;
	}
	if (s->arg_count > at + 1) {
		ray_check_fail(c, &s->args[at]->where, "D_PROTO_LEN",
			       "%s( ) prototype mismatch: %zu args passed, at most %zu expected", s->function->name,
			       s->arg_count, most);
		return false;
	}
	s->has_increment = true;
	return true;
}

static bool check_lquantize(struct ray_check *c, struct ray_statement *s)
{
	struct ray_expr **a = s->args;
	int64_t *p = s->aggregation->parameters;
	int64_t base, limit, step = 1, levels;

	if (a[1]->kind != RAY_EXPR_INTEGER)
		return fail(c, a[1], "D_LQUANT_BASETYPE", "lquantize( ) argument #1 must be an integer constant");
	base = (int64_t)a[1]->value;
	if (base < INT32_MIN || base > INT32_MAX)
		return fail(c, a[1], "D_LQUANT_BASEVAL", "lquantize( ) argument #1 must be a 32-bit quantity");
	if (a[2]->kind != RAY_EXPR_INTEGER)
		return fail(c, a[2], "D_LQUANT_LIMTYPE", "lquantize( ) argument #2 must be an integer constant");
	limit = (int64_t)a[2]->value;
	if (limit < INT32_MIN || limit > INT32_MAX)
		return fail(c, a[2], "D_LQUANT_LIMVAL", "lquantize( ) argument #2 must be a 32-bit quantity");
	if (limit <= base) {
		ray_check_fail(c, &s->where, "D_LQUANT_MISMATCH",
			       "lquantize( ) base (argument #1) must be less than limit (argument #2)");
		return false;
	}
	if (s->arg_count > 3) {
		if (!ray_check_is_positive(a[3]))
			return fail(c, a[3], "D_LQUANT_STEPTYPE",
				    "lquantize( ) argument #3 must be a non-zero positive integer constant");
		step = (int64_t)a[3]->value;
		if (a[3]->value > UINT16_MAX)
			return fail(c, a[3], "D_LQUANT_STEPVAL", "lquantize( ) argument #3 must be a 16-bit quantity");
	}
	levels = (limit - base) / step;
	if (levels == 0 || levels > UINT16_MAX) {
		ray_check_fail(c, &s->where, levels ? "D_LQUANT_STEPSMALL" : "D_LQUANT_STEPLARGE",
			       "lquantize( ) step (argument #3) %s",
			       levels ? "too small: number of quantization levels must be a 16-bit quantity" :
					"too large: must have at least one quantization level");
		return false;
	}
	limit = base + levels * step;
	if (!p[2]) {
		p[0] = base;
		p[1] = limit;
		p[2] = step;
	}
	return match(c, s, "D_LQUANT_MATCHBASE", "lquantize( ) base (argument #1)", p[0], base) &&
	       match(c, s, "D_LQUANT_MATCHLIM", "lquantize( ) limit (argument #2)", p[1], limit) &&
	       match(c, s, "D_LQUANT_MATCHSTEP", "lquantize( ) step (argument #3)", p[2], step) &&
	       check_increment(c, s, 4, 5);
}

/* Whether factor to that power is more than 64 bits hold; the power in ret if not. */
static bool power_overflows(uint64_t factor, uint64_t exponent, uint64_t *ret)
{
	*ret = 1;
	for (uint64_t i = 0; i < exponent; i++) {
		if (__builtin_mul_overflow(*ret, factor, ret))
			return true;
	}
	return false;
}

static bool check_steps(struct ray_check *c, const struct ray_expr *where, uint64_t factor, uint64_t low,
			uint64_t steps)
{
	uint64_t power;

	if (steps < factor && factor % steps)
		return fail(
			c, where, "D_LLQUANT_STEPVAL",
			"llquantize() argument #4 (steps) must evenly divide argument #1 (factor) when steps<factor");
	if (steps <= factor)
		return true;
	if (steps % factor)
		return fail(
			c, where, "D_LLQUANT_STEPVAL",
			"llquantize() argument #4 (steps) must be a multiple of argument #1 (factor) when steps>factor");
	if (low == 0 && factor * factor % steps)
		return fail(
			c, where, "D_LLQUANT_STEPVAL",
			"llquantize() argument #4 (steps) must evenly divide the square of argument #1 (factor) when "
			"steps>factor and lmag==0");
	if (low && !power_overflows(factor, low + 1, &power) && power % steps)
		return fail(
			c, where, "D_LLQUANT_STEPVAL",
			"llquantize() argument #4 (steps) must evenly divide pow(argument #1 (factor), lmag (argument #2) + "
			"1) when steps>factor and lmag>0");
	return true;
}

static bool check_llquantize_values(struct ray_check *c, struct ray_expr **a)
{
	uint64_t unused;

	if (a[1]->kind != RAY_EXPR_INTEGER)
		return fail(c, a[1], "D_LLQUANT_FACTORTYPE", "llquantize( ) argument #1 must be an integer constant");
	if (a[1]->value > UINT16_MAX || a[1]->value < 2)
		return fail(c, a[1], "D_LLQUANT_FACTORVAL",
			    "llquantize( ) argument #1 must be an unsigned 16-bit quantity greater than or equal to 2");
	if (a[2]->kind != RAY_EXPR_INTEGER)
		return fail(c, a[2], "D_LLQUANT_LMAGTYPE", "llquantize( ) argument #2 must be an integer constant");
	if (a[2]->value > UINT16_MAX)
		return fail(c, a[2], "D_LLQUANT_LMAGVAL",
			    "llquantize( ) argument #2 must be an unsigned 16-bit quantity");
	if (a[3]->kind != RAY_EXPR_INTEGER)
		return fail(c, a[3], "D_LLQUANT_HMAGTYPE", "llquantize( ) argument #3 must be an integer constant");
	if (a[3]->value > UINT16_MAX)
		return fail(c, a[3], "D_LLQUANT_HMAGVAL",
			    "llquantize( ) argument #3 must be an unsigned 16-bit quantity");
	if (a[3]->value < a[2]->value)
		return fail(c, a[3], "D_LLQUANT_HMAGVAL",
			    "llquantize( ) argument #3 (high magnitude) must be at least argument #2 (low magnitude)");
	if (power_overflows(a[1]->value, a[3]->value + 1, &unused))
		return fail(c, a[3], "D_LLQUANT_HMAGVAL",
			    "llquantize( ) argument #3 (high magnitude) will cause overflow of 64 bits");
	if (!ray_check_is_positive(a[4]))
		return fail(c, a[4], "D_LLQUANT_STEPTYPE",
			    "llquantize( ) argument #4 must be a non-zero positive integer constant");
	if (a[4]->value > UINT16_MAX)
		return fail(c, a[4], "D_LLQUANT_STEPVAL",
			    "llquantize( ) argument #4 must be an unsigned 16-bit quantity");
	return check_steps(c, a[1], a[1]->value, a[2]->value, a[4]->value);
}

static bool check_llquantize(struct ray_check *c, struct ray_statement *s)
{
	int64_t *p = s->aggregation->parameters;

	if (!check_llquantize_values(c, s->args))
		return false;
	for (int i = 0; !p[0] && i < 4; i++)
		p[3 - i] = (int64_t)s->args[4 - i]->value;
	return match(c, s, "D_LLQUANT_MATCHFACTOR", "llquantize() factor (argument #1)", p[0],
		     (int64_t)s->args[1]->value) &&
	       match(c, s, "D_LLQUANT_MATCHLMAG", "llquantize() lmag (argument #2)", p[1],
		     (int64_t)s->args[2]->value) &&
	       match(c, s, "D_LLQUANT_MATCHHMAG", "llquantize() hmag (argument #3)", p[2],
		     (int64_t)s->args[3]->value) &&
	       match(c, s, "D_LLQUANT_MATCHSTEPS", "llquantize() steps (argument #4)", p[3],
		     (int64_t)s->args[4]->value) &&
	       check_increment(c, s, 5, 6);
}

bool ray_check_aggregate(struct ray_check *c, struct ray_statement *s)
{
	if (s->arg_count && !ray_check_is_scalar(s->args[0])) {
		ray_check_fail(c, &s->expr->where, "D_AGG_SCALAR", "%s( ) argument #1 must be of scalar type",
			       s->function->name);
		return false;
	}
	if (s->arg_count)
		s->aggregation->is_signed = ray_type_is_signed(s->args[0]->type);
	switch (s->function->id) {
	case RAY_FN_LQUANTIZE:
		return check_lquantize(c, s);
	case RAY_FN_LLQUANTIZE:
		return check_llquantize(c, s);
	case RAY_FN_QUANTIZE:
		return check_increment(c, s, 1, 2);
	default:
		return true;
	}
}

/* @name[keys] = function(args). */
bool ray_check_aggregate_types(struct ray_check *c, struct ray_statement *s)
{
	struct ray_expr *left = s->expr->a, *right = s->expr->b;
	struct ray_aggregation *a = ray_check_get_aggregation(c, left->text, &left->where);
	bool is_known;

	right = s->expr->b = a ? ray_check_expr(c, right, RAY_USE_READ) : NULL;
	if (!right)
		return false;
	if (right->kind != RAY_EXPR_CALL || right->function->kind != RAY_FUNCTION_AGGREGATING) {
		ray_check_fail(c, &s->expr->where, "D_AGG_FUNC",
			       "@%s must be assigned the result of an aggregating function", a->name);
		return false;
	}
	if (a->function && a->function != aggregator_of(right->function)) {
		ray_check_fail(c, &s->expr->where, "D_AGG_REDEF",
			       "aggregation redefined: @%s\n\t current: @%s = %s( )\n\tprevious: @%s = %s( ) : line %d",
			       a->name, a->name, right->function->name, a->name,
			       ray_functions[RAY_FN_COUNT + (a->function - RAY_AGG_COUNT)].name, a->where.line);
		return false;
	}
	is_known = a->keys != NULL;
	a->function = aggregator_of(right->function);
	if (!ray_check_args(c, left->args, left->arg_count, RAY_USE_READ) ||
	    !ray_check_keys(c, &left->where, a->name, "@", "aggregation", &a->keys, &a->key_count, &is_known,
			    left->args, left->arg_count))
		return false;
	s->kind = RAY_STATEMENT_AGGREGATE;
	s->aggregation = a;
	s->function = right->function;
	s->args = right->args;
	s->arg_count = right->arg_count;
	s->keys = left->args;
	s->key_count = left->arg_count;
	s->expr = right;
	return true;
}
