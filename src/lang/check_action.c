/* check_action.c - what each action asks of its arguments.
 * SPDX-License-Identifier: MIT
 *
 * One row per action that asks more than its prototype. Runs when all of the clause has its types. */
#include <string.h>

#include "lang/check.h"

static bool fail(struct ray_check *c, const struct ray_where *where, const char *tag, const char *text)
{
	ray_check_fail(c, where, tag, "%s", text);
	return false;
}

static bool wrong_argument(struct ray_check *c, const struct ray_statement *s, const struct ray_where *where,
			   const char *tag, size_t number, const char *want)
{
	ray_check_fail(c, where, tag,
		       "%s( ) argument #%zu is incompatible with prototype:\n\tprototype: %s\n\t argument: %s",
		       s->function->name, number, want, ray_check_type_of(c, s->args[number - 1]));
	return false;
}

static bool check_trace(struct ray_check *c, struct ray_statement *s)
{
	const struct ray_expr *a = s->args[0];

	if (ray_check_is_void(a))
		return fail(c, &a->where, "D_TRACE_VOID", "trace( ) may not be applied to a void expression");
	if (ray_check_is_dynamic(a))
		return fail(c, &a->where, "D_TRACE_DYN", "trace( ) may not be applied to a dynamic expression");
	return true;
}

static bool check_tracemem(struct ray_check *c, struct ray_statement *s)
{
	if (!ray_check_is_integer(s->args[0]) && !ray_check_is_pointer(s->args[0]))
		return wrong_argument(c, s, &s->args[0]->where, "D_TRACEMEM_ADDR", 1, "pointer or integer");
	if (!ray_check_is_positive(s->args[1]))
		return fail(c, &s->args[1]->where, "D_TRACEMEM_SIZE",
			    "tracemem( ) argument #2 must be a non-zero positive integral constant expression");
	return true;
}

static bool check_tracebuf(struct ray_check *c, struct ray_statement *s)
{
	if (ray_check_is_positive(s->args[1]))
		return true;
	ray_check_fail(c, &s->args[1]->where, "D_TRACEMEM_SIZE",
		       "%s( ) argument #2 must be a non-zero positive integral constant expression", s->function->name);
	return false;
}

static bool check_print(struct ray_check *c, struct ray_statement *s)
{
	const struct ray_type *r = ray_type_resolve(s->args[0]->type);

	if (r->target && ray_type_size(r->target))
		return true;
	ray_check_fail(c, &s->args[0]->where, "D_PRINT_SIZE",
		       "print( ) argument #1 reference has type '%s' with size 0; cannot print( ) it.",
		       ray_check_type_name(c, r->target));
	return false;
}

bool ray_check_stack_args(struct ray_check *c, const struct ray_function *f, struct ray_expr **args, size_t count)
{
	bool is_kernel = f->id == RAY_FN_STACK;

	if (count && !ray_check_is_positive(args[0])) {
		ray_check_fail(c, &args[0]->where, is_kernel ? "D_STACK_SIZE" : "D_USTACK_FRAMES",
			       "%s( ) argument #1 must be a non-zero positive integer constant", f->name);
		return false;
	}
	if (count > 1 &&
	    (args[1]->kind != RAY_EXPR_INTEGER || (ray_type_is_signed(args[1]->type) && (int64_t)args[1]->value < 0))) {
		ray_check_fail(c, &args[1]->where, "D_USTACK_STRSIZE",
			       "%s( ) argument #2 must be a positive integer constant", f->name);
		return false;
	}
	return true;
}

static bool check_stack(struct ray_check *c, struct ray_statement *s)
{
	return ray_check_stack_args(c, s->function, s->args, s->arg_count);
}

/* The argument as an aggregation that something fills. */
static bool check_aggregation(struct ray_check *c, const struct ray_statement *s, size_t number, const char *tag)
{
	const struct ray_expr *a = s->args[number - 1];
	char name[48];

	if (a->kind != RAY_EXPR_AGGREGATION) {
		snprintf(name, sizeof(name), "D_%s_AGGARG", tag);
		return wrong_argument(c, s, &s->where, name, number, "aggregation");
	}
	if (a->aggregation->function)
		return true;
	snprintf(name, sizeof(name), "D_%s_AGGBAD", tag);
	ray_check_fail(c, &s->where, name, "undefined aggregation: @%s", a->aggregation->name);
	return false;
}

static bool check_clear(struct ray_check *c, struct ray_statement *s)
{
	return check_aggregation(c, s, 1, "CLEAR");
}

static bool check_trunc(struct ray_check *c, struct ray_statement *s)
{
	return check_aggregation(c, s, 1, "TRUNC");
}

static bool check_normalize(struct ray_check *c, struct ray_statement *s)
{
	return check_aggregation(c, s, 1, "NORMALIZE");
}

/* Takes the format string away from the arguments. */
static const struct ray_expr *take_format(struct ray_statement *s)
{
	const struct ray_expr *format = s->args[0];

	s->args++;
	s->arg_count--;
	return format;
}

static bool check_printf(struct ray_check *c, struct ray_statement *s)
{
	const struct ray_expr *format = s->args[0];
	const struct ray_type **types;
	const char *text;

	if (s->format)
		return true;
	if (format->kind != RAY_EXPR_STRING)
		return wrong_argument(c, s, &s->where, "D_PRINTF_ARG_FMT", 1, "string constant");
	take_format(s);
	text = format->text;
	if (s->function->id == RAY_FN_FREOPEN && !strcmp(text, "."))
		return fail(c, &s->where, "D_FREOPEN_INVALID", "freopen( ) argument #1 cannot be \".\"");
	if (s->function->id == RAY_FN_FREOPEN && !*text)
		text = "."; /* what nobody can write: back to standard output */
	types = ray_arena_alloc(c->arena, (s->arg_count + 1) * sizeof(*types));
	if (!types)
		return ray_check_nomem(c) != NULL;
	for (size_t i = 0; i < s->arg_count; i++)
		types[i] = s->args[i]->type;
	return ray_check_format(c, s, text, strlen(text), types, s->arg_count, NULL);
}

static bool check_same_keys(struct ray_check *c, const struct ray_statement *s, const struct ray_aggregation *l,
			    const struct ray_aggregation *r)
{
	if (l->key_count != r->key_count) {
		ray_check_fail(
			c, &s->where, "D_PRINTA_AGGKEY",
			"printa( ): @%s and @%s do not have matching key signatures: @%s has %zu key%s, @%s has %zu key%s",
			l->name, r->name, l->name, l->key_count, l->key_count == 1 ? "" : "s", r->name, r->key_count,
			r->key_count == 1 ? "" : "s");
		return false;
	}
	for (size_t i = 0; i < l->key_count; i++) {
		struct ray_expr key = { .kind = RAY_EXPR_VARIABLE, .type = r->keys[i] };

		if (ray_check_fits(l->keys[i], &key))
			continue;
		ray_check_fail(
			c, &s->where, "D_PRINTA_AGGPROTO",
			"printa( ): @%s[ ] key #%zu is incompatible with @%s:\n%9s key #%zu: %s\n%9s key #%zu: %s",
			r->name, i + 1, l->name, l->name, i + 1, ray_check_type_name(c, l->keys[i]), r->name, i + 1,
			ray_check_type_name(c, r->keys[i]));
		return false;
	}
	return true;
}

static bool check_printa(struct ray_check *c, struct ray_statement *s)
{
	const struct ray_expr *format = s->args[0]->kind == RAY_EXPR_STRING ? s->args[0] : NULL;
	size_t first = format ? 1 : 0;

	if (s->format || (s->aggregation && !format))
		return true;
	if (s->arg_count < first + 1) {
		ray_check_fail(c, &s->where, "D_PRINTA_PROTO",
			       "%s( ) prototype mismatch: %zu args passed, %zu expected", s->function->name,
			       s->arg_count, first + 1);
		return false;
	}
	for (size_t i = first; i < s->arg_count; i++) {
		const struct ray_aggregation *a;

		if (!check_aggregation(c, s, i + 1, "PRINTA"))
			return false;
		a = s->args[i]->aggregation;
		if (i > first && !check_same_keys(c, s, s->args[first]->aggregation, a))
			return false;
		if (format && !ray_check_format(c, s, format->text, format->length, a->keys, a->key_count, a))
			return false;
	}
	s->aggregation = s->args[first]->aggregation;
	if (format)
		take_format(s);
	return true;
}

static bool refuse(struct ray_check *c, struct ray_statement *s)
{
	ray_check_fail(c, &s->where, "D_UNKNOWN", "%s() is not implemented (yet)", s->function->name);
	return false;
}

static bool (*const handlers[RAY_FN_COUNT_])(struct ray_check *c, struct ray_statement *s) = {
	[RAY_FN_TRACE] = check_trace,
	[RAY_FN_TRACEMEM] = check_tracemem,
	[RAY_FN_TRACEBUF] = check_tracebuf,
	[RAY_FN_TRACESTR] = check_tracebuf,
	[RAY_FN_PRINT] = check_print,
	[RAY_FN_STACK] = check_stack,
	[RAY_FN_USTACK] = check_stack,
	[RAY_FN_JSTACK] = check_stack,
	[RAY_FN_CLEAR] = check_clear,
	[RAY_FN_TRUNC] = check_trunc,
	[RAY_FN_NORMALIZE] = check_normalize,
	[RAY_FN_DENORMALIZE] = check_normalize,
	[RAY_FN_PRINTF] = check_printf,
	[RAY_FN_SYSTEM] = check_printf,
	[RAY_FN_FREOPEN] = check_printf,
	[RAY_FN_PRINTA] = check_printa,
	[RAY_FN_BREAKPOINT] = refuse,
	[RAY_FN_CHILL] = refuse,
	[RAY_FN_PANIC] = refuse,
	[RAY_FN_PCAP] = refuse,
};

bool ray_check_action(struct ray_check *c, struct ray_statement *s)
{
	for (size_t i = 0; i < s->arg_count; i++) {
		s->args[i] = ray_check_keep(c, s->args[i]);
		if (!s->args[i])
			return false;
	}
	return !handlers[s->function->id] || handlers[s->function->id](c, s);
}
