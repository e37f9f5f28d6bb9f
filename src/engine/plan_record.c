/* plan_record.c - what a clause leaves in its record, and how each value is laid out there and in keys.
 * SPDX-License-Identifier: MIT
 *
 * Knows nothing of code: the generator fills these places, the consumer reads them. */
#include "engine/plan_walk.h"
#include "kern/wire.h"
#include "lang/functions.h"

enum { FIELD_BOUND = 1 << 22, WORTH_PACKING = 24 };

static uint32_t frames_of(const struct ray_plan *plan, const struct ray_expr *call)
{
	const struct ray_trace_options *o = plan->options;
	uint32_t frames = call->function->id == RAY_FN_STACK  ? o->stackframes :
			  call->function->id == RAY_FN_USTACK ? o->ustackframes :
								o->jstackframes;

	if (call->arg_count && call->args[0]->kind == RAY_EXPR_INTEGER && call->args[0]->value)
		frames = call->args[0]->value > UINT32_MAX ? UINT32_MAX : call->args[0]->value;
	if (o->maxframes && frames > o->maxframes)
		frames = o->maxframes;
	return frames ? frames : 1;
}

static void field_of_call(const struct ray_plan *plan, const struct ray_expr *e, struct ray_field *f)
{
	switch (e->function->id) {
	case RAY_FN_STACK:
		f->kind = RAY_VALUE_STACK;
		f->frames = frames_of(plan, e);
		f->size = (f->frames + RAY_STACK_OWN) * 8;
		break;
	case RAY_FN_USTACK:
	case RAY_FN_JSTACK:
		f->kind = e->function->id == RAY_FN_USTACK ? RAY_VALUE_USTACK : RAY_VALUE_JSTACK;
		f->frames = frames_of(plan, e);
		f->size = sizeof(struct ray_stack_ref);
		break;
	case RAY_FN_SYM:
	case RAY_FN_MOD:
	case RAY_FN_FUNC:
	case RAY_FN_USYM:
	case RAY_FN_UMOD:
	case RAY_FN_UFUNC:
	case RAY_FN_UADDR:
		f->kind = RAY_VALUE_SYMBOL;
		f->size = 16;
		break;
	default:
		break;
	}
}

/* Strings that are known to be short take no more than they need. */
static uint32_t string_size(const struct ray_plan *plan, const struct ray_expr *e)
{
	uint32_t most = ray_plan_string_size(plan);
	uint32_t size = most;

	if (e->kind == RAY_EXPR_STRING)
		size = ray_round8(e->length + 1);
	else if (e->kind == RAY_EXPR_VARIABLE && e->variable->scope == RAY_SCOPE_BUILTIN)
		switch (e->variable->builtin) {
		case RAY_BUILTIN_PROBEPROV:
		case RAY_BUILTIN_PROBEMOD:
		case RAY_BUILTIN_PROBEFUNC:
		case RAY_BUILTIN_PROBENAME:
			return 8;
		case RAY_BUILTIN_EXECNAME:
			size = 16; /* TASK_COMM_LEN */
			break;
		default:
			break;
		}
	if (size < 16)
		size = 16;
	return size < most ? size : most;
}

/* More than any record may have is refused later; until then sums of it must not wrap. */
static uint32_t bounded(uint64_t size)
{
	return size > FIELD_BOUND ? FIELD_BOUND : size;
}

void ray_plan_field(const struct ray_plan *plan, const struct ray_expr *e, struct ray_field *f)
{
	const struct ray_type *type = ray_type_resolve(e->type);

	*f = (struct ray_field){ .kind = RAY_VALUE_INTEGER, .size = 8, .type = e->type, .expr = e };
	if (e->kind == RAY_EXPR_CALL && e->function->kind == RAY_FUNCTION_ACTION) {
		field_of_call(plan, e, f);
	} else if (ray_type_is_string(e->type)) {
		f->kind = RAY_VALUE_STRING;
		f->size = string_size(plan, e);
	} else if (ray_type_is_by_reference(e->type) || (type->kind == RAY_TYPE_FLOAT && type->size > 8)) {
		f->kind = RAY_VALUE_BYTES;
		f->size = bounded(ray_type_size(e->type));
	} else if (type->kind == RAY_TYPE_FLOAT) {
		f->kind = RAY_VALUE_FLOAT;
	}
}

struct record {
	struct ray_plan *plan;
	struct ray_clause_plan *clause;
	struct ray_field *fields; /* of the step being made */
	size_t n;
};

static void add(struct record *r, struct ray_field f)
{
	f.offset = r->clause->sent_size;
	/* The helper writes a kernel stack where it stays: the first of packed values has a place that is known. */
	f.is_packed |= f.kind == RAY_VALUE_STACK && !r->clause->is_packed;
	r->clause->is_packed |= f.is_packed;
	if (r->clause->record_size <= FIELD_BOUND) {
		uint32_t sent = f.is_packed ? sizeof(struct ray_packed) : ray_round8(f.size);

		r->clause->record_size += ray_round8(f.size);
		r->clause->sent_size += sent;
		r->clause->room += sent + (f.is_packed ? ray_round8(f.size) : 0);
	}
	r->fields[r->n++] = f;
}

static void add_tracemem(struct record *r, const struct ray_statement *s)
{
	struct ray_field f = { .kind = RAY_VALUE_BYTES,
			       .size = s->arg_count > 1 ? bounded(s->args[1]->value) : 0,
			       .type = s->args[0]->type,
			       .expr = s->args[0] };

	add(r, f);
	if (s->arg_count > 2) {
		ray_plan_field(r->plan, s->args[2], &f);
		add(r, f);
	}
}

/* How many bytes could be had (-1: none), then room for them. */
static void add_tracebuf(struct record *r, const struct ray_statement *s)
{
	struct ray_field f = { .kind = RAY_VALUE_INTEGER, .size = 8, .type = s->args[0]->type, .expr = s->args[0] };

	add(r, f);
	f.kind = RAY_VALUE_BYTES;
	f.size = s->function->id == RAY_FN_TRACESOCK ? sizeof(struct ray_socket_name) : bounded(s->args[1]->value);
	f.is_packed = true;
	add(r, f);
}

static void add_print(struct record *r, const struct ray_expr *e)
{
	const struct ray_type *type = ray_type_resolve(e->type);
	const struct ray_type *target = type->kind == RAY_TYPE_POINTER ? type->target : e->type;
	struct ray_field f = { .kind = RAY_VALUE_INTEGER, .size = 8, .type = e->type, .expr = e };

	add(r, f);
	if (type->kind != RAY_TYPE_POINTER && !ray_type_is_by_reference(e->type))
		return;
	f = (struct ray_field){ .kind = RAY_VALUE_BYTES, .type = target, .expr = e };
	f.size = ray_type_is_string(target) ? ray_plan_string_size(r->plan) : bounded(ray_type_size(target));
	add(r, f);
}

static bool is_value_itself(const struct ray_function *f)
{
	switch (f->id) {
	case RAY_FN_STACK:
	case RAY_FN_USTACK:
	case RAY_FN_JSTACK:
	case RAY_FN_SYM:
	case RAY_FN_MOD:
	case RAY_FN_FUNC:
	case RAY_FN_USYM:
	case RAY_FN_UMOD:
	case RAY_FN_UFUNC:
	case RAY_FN_UADDR:
		return true;
	default:
		return false;
	}
}

/* stack() and its like as statements: the same value as in a tuple. */
static bool add_value(struct record *r, const struct ray_statement *s)
{
	struct ray_expr *call = ray_arena_alloc(r->plan->arena, sizeof(*call));
	struct ray_field f;

	if (!call)
		return false;
	*call = (struct ray_expr){ .kind = RAY_EXPR_CALL,
				   .function = s->function,
				   .args = s->args,
				   .arg_count = s->arg_count,
				   .where = s->where,
				   .type = ray_type_basic(r->plan->program->types, RAY_BASIC_UINT64) };
	ray_plan_field(r->plan, call, &f);
	add(r, f);
	return true;
}

/* Done in the kernel: leaves nothing to do in user space. */
static bool is_kernel_only(const struct ray_statement *s)
{
	if (s->kind == RAY_STATEMENT_DEFAULT)
		return false;
	if (s->kind != RAY_STATEMENT_ACTION)
		return true;
	switch (s->function->id) {
	case RAY_FN_SPECULATE:
	case RAY_FN_COMMIT:
	case RAY_FN_DISCARD:
	case RAY_FN_STOP:
	case RAY_FN_RAISE:
		return true;
	default:
		return false;
	}
}

static struct ray_error *plan_step(struct record *r, const struct ray_statement *s, uint32_t action)
{
	struct ray_step *step = &r->clause->steps[r->clause->step_count];

	r->n = 0;
	r->fields = ray_arena_alloc(r->plan->arena, (s->arg_count + 2) * sizeof(*r->fields));
	if (!r->fields)
		return &ray_enomem;
	if (s->kind == RAY_STATEMENT_ACTION && s->function->id == RAY_FN_TRACEMEM) {
		add_tracemem(r, s);
	} else if (s->kind == RAY_STATEMENT_ACTION &&
		   (s->function->id == RAY_FN_TRACEBUF || s->function->id == RAY_FN_TRACESTR ||
		    s->function->id == RAY_FN_TRACESOCK)) {
		add_tracebuf(r, s);
	} else if (s->kind == RAY_STATEMENT_ACTION && s->function->id == RAY_FN_PRINT) {
		add_print(r, s->args[0]);
	} else if (s->kind == RAY_STATEMENT_ACTION && is_value_itself(s->function)) {
		if (!add_value(r, s))
			return &ray_enomem;
	} else {
		for (size_t i = 0; i < s->arg_count; i++) {
			struct ray_field f;

			if (s->args[i]->kind == RAY_EXPR_AGGREGATION)
				continue;
			ray_plan_field(r->plan, s->args[i], &f);
			/* trace() may show all bytes of a string (rawbytes), those behind its end too. */
			if (s->function->id == RAY_FN_TRACE && f.kind == RAY_VALUE_STRING)
				f.size = ray_plan_string_size(r->plan);
			else if (f.kind == RAY_VALUE_STRING)
				f.is_packed = f.size > WORTH_PACKING;
			add(r, f);
		}
	}
	*step = (struct ray_step){ .statement = s, .action = action, .fields = r->fields, .field_count = r->n };
	r->clause->step_count++;
	return NULL;
}

struct ray_error *ray_plan_clause(struct ray_plan *plan, const struct ray_clause *clause, struct ray_clause_plan *ret)
{
	struct record r = { .plan = plan, .clause = ret };
	struct ray_error *err = NULL;

	*ret = (struct ray_clause_plan){ .clause = clause,
					 .record_size = sizeof(struct ray_record),
					 .sent_size = sizeof(struct ray_record),
					 .room = sizeof(struct ray_record) };
	ret->steps = ray_arena_alloc(plan->arena, (clause->statement_count + 1) * sizeof(*ret->steps));
	if (!ret->steps)
		return &ray_enomem;
	for (size_t i = 0; i < clause->statement_count && !err; i++)
		if (!is_kernel_only(&clause->statements[i]))
			err = plan_step(&r, &clause->statements[i], i + 1);
	if (!ret->step_count && !clause->is_recording)
		ret->record_size = ret->sent_size = 0;
	return err;
}
