/* plan.c - where everything lies. SPDX-License-Identifier: MIT
 *
 * What generated code touches most lies nearest to the slot's start, where the offset fits into an instruction: key,
 * record, value, clause-local variables; then constants, temporaries and the area of alloca(). */
#include "engine/plan.h"

#include <string.h>

#include "engine/plan_walk.h"
#include "kern/wire.h"
#include "probe/watch.h"

enum { RECORD_MAX = 1 << 20, SLOT_MAX = 1 << 24, DYNVARSIZE_USUAL = 1 << 20 };

struct ray_plan_string {
	const char *text;
	size_t length;
	uint32_t offset;
	struct ray_plan_string *next;
};

void ray_plan_walk(const struct ray_expr *e, ray_visit_fn *visit, void *arg)
{
	if (!e)
		return;
	visit(arg, e);
	ray_plan_walk(e->a, visit, arg);
	ray_plan_walk(e->b, visit, arg);
	ray_plan_walk(e->c, visit, arg);
	for (size_t i = 0; i < e->arg_count; i++)
		ray_plan_walk(e->args[i], visit, arg);
}

static void count_temp(void *arg, const struct ray_expr *e)
{
	uint32_t *count = arg;

	if (e->kind != RAY_EXPR_STRING && ray_type_is_string(e->type))
		(*count)++;
}

uint32_t ray_plan_temps(const struct ray_expr *e)
{
	uint32_t count = 0;

	ray_plan_walk(e, count_temp, &count);
	return count;
}

/* ---- constants and sizes that expressions ask for ---- */

struct survey {
	struct ray_plan *plan;
	bool failed;
};

static size_t cut(const struct ray_plan *plan, size_t length)
{
	return length > plan->options->strsize ? plan->options->strsize : length;
}

static struct ray_plan_string *find_string(const struct ray_plan *plan, const char *text, size_t length)
{
	for (struct ray_plan_string *s = plan->strings; s; s = s->next)
		if (s->length == length && memcmp(s->text, text, length) == 0)
			return s;
	return NULL;
}

uint32_t ray_plan_string(const struct ray_plan *plan, const char *text, size_t length)
{
	const struct ray_plan_string *s = find_string(plan, text, cut(plan, length));

	return plan->strings_at + (s ? s->offset : 0);
}

static void survey_expr(void *arg, const struct ray_expr *e)
{
	struct survey *v = arg;
	struct ray_plan *plan = v->plan;
	struct ray_plan_string *s;
	size_t length = cut(plan, e->length);

	if (e->kind == RAY_EXPR_ASSIGN && ray_type_is_by_reference(e->type))
		ray_grow(&plan->value_size, ray_round8(ray_type_size(e->type)));
	if (e->kind == RAY_EXPR_VARIABLE && e->variable->scope == RAY_SCOPE_BUILTIN &&
	    (e->variable->builtin == RAY_BUILTIN_STACKDEPTH || e->variable->builtin == RAY_BUILTIN_USTACKDEPTH))
		ray_grow(&plan->value_size, (uint64_t)plan->options->maxframes * 8);
	if (e->kind != RAY_EXPR_STRING || find_string(plan, e->text, length))
		return;
	s = ray_arena_alloc(plan->arena, sizeof(*s));
	if (!s) {
		v->failed = true;
		return;
	}
	*s = (struct ray_plan_string){
		.text = e->text, .length = length, .offset = plan->strings_size, .next = plan->strings
	};
	plan->strings = s;
	plan->strings_size += ray_round8(length + 1);
}

/* Expressions whose temporaries are in use together. */
static void survey_group(struct survey *v, struct ray_expr **exprs, size_t count)
{
	uint32_t temps = 0;

	for (size_t i = 0; i < count; i++) {
		ray_plan_walk(exprs[i], survey_expr, v);
		temps += ray_plan_temps(exprs[i]);
	}
	ray_grow(&v->plan->temp_count, temps);
}

static struct ray_error *survey(struct ray_plan *plan)
{
	const struct ray_program *program = plan->program;
	struct survey v = { .plan = plan };

	for (size_t i = 0; i < program->clauses.n; i++) {
		struct ray_clause *c = program->clauses.at[i];

		survey_group(&v, &c->predicate, c->predicate ? 1 : 0);
		for (size_t k = 0; k < c->statement_count; k++) {
			struct ray_statement *s = &c->statements[k];

			survey_group(&v, &s->expr, s->expr ? 1 : 0);
			survey_group(&v, s->args, s->arg_count);
			survey_group(&v, s->keys, s->key_count);
		}
	}
	plan->string_bytes = ray_arena_alloc(plan->arena, plan->strings_size + 1);
	if (v.failed || !plan->string_bytes)
		return &ray_enomem;
	for (const struct ray_plan_string *s = plan->strings; s; s = s->next)
		memcpy(plan->string_bytes + s->offset, s->text, s->length);
	return NULL;
}

/* ---- variables ---- */

static uint32_t value_size(const struct ray_plan *plan, const struct ray_type *type)
{
	const struct ray_type *t = type ? ray_type_resolve(type) : NULL;

	if (!t)
		return 8;
	return t->kind == RAY_TYPE_STRING ? ray_plan_string_size(plan) : ray_type_size(t) ? ray_type_size(t) : 8;
}

static void place(uint32_t *used, struct ray_variable_plan *v, uint32_t align)
{
	v->offset = (*used + align - 1) / align * align;
	*used = v->offset + v->size;
}

static void plan_static(struct ray_plan *plan, struct ray_variable_plan *v)
{
	const struct ray_type *t = v->variable->type ? ray_type_resolve(v->variable->type) : NULL;
	uint32_t *used = v->variable->scope == RAY_SCOPE_GLOBAL ? &plan->globals_size : &plan->locals_size;

	v->size = value_size(plan, t);
	if (t && t->kind == RAY_TYPE_STRING)
		v->size += 8;
	/* Structures start at a word, as in DTrace: -S shows offsets. */
	place(used, v,
	      t && t->align && !ray_type_is_by_reference(t) ? t->align :
	      t && t->kind == RAY_TYPE_ARRAY		    ? t->align :
							      8);
}

static bool plan_key(struct ray_plan *plan, const struct ray_variable *variable, struct ray_key_plan *key)
{
	struct ray_field *fields = ray_arena_alloc(plan->arena, (variable->key_count + 1) * sizeof(*fields));

	if (!fields)
		return false;
	key->fields = fields;
	key->field_count = variable->is_assoc ? variable->key_count : 0;
	key->size = variable->scope == RAY_SCOPE_THREAD ? 16 : 8;
	for (size_t i = 0; i < key->field_count; i++) {
		struct ray_expr example = { .kind = RAY_EXPR_VARIABLE, .type = variable->keys[i] };
		static const struct ray_variable none = { .scope = RAY_SCOPE_GLOBAL };

		example.variable = (struct ray_variable *)&none;
		ray_plan_field(plan, &example, &fields[i]);
		fields[i].expr = NULL;
		fields[i].offset = key->size;
		key->size += ray_round8(fields[i].size);
	}
	return true;
}

/* Numbers of a thread are kept by the kernel's own task, which takes no search, and go with it. */
static bool plan_in_task(struct ray_plan *plan, struct ray_variable_plan *v)
{
	const struct ray_variable *variable = v->variable;

	/* Who asks for little room wants to see where it ends. */
	if (plan->options->dynvarsize < DYNVARSIZE_USUAL)
		return false;
	if (variable->is_assoc || variable->scope != RAY_SCOPE_THREAD || !variable->type ||
	    ray_type_is_by_reference(variable->type) || v->size != 8)
		return false;
	v->is_in_task = true;
	v->offset = plan->task_size;
	plan->task_size += 8;
	if (!plan->task_map)
		plan->task_map = RAY_MAP_OWN + plan->map_count++;
	return true;
}

static struct ray_error *plan_dynamic(struct ray_plan *plan, struct ray_variable_plan *v)
{
	struct ray_dynvar_class wanted;

	v->size = ray_round8(value_size(plan, v->variable->type));
	if (plan_in_task(plan, v))
		return NULL;
	if (!plan_key(plan, v->variable, &v->key))
		return &ray_enomem;
	wanted = (struct ray_dynvar_class){ .key_size = v->key.size, .value_size = v->size };
	ray_grow(&plan->key_size, v->key.size);
	ray_grow(&plan->value_size, v->size);
	ray_grow(&plan->zeros_size, v->size);
	for (v->class_index = 0; v->class_index < plan->classes.n; v->class_index++) {
		const struct ray_dynvar_class *c = &plan->classes.at[v->class_index];

		if (c->key_size == wanted.key_size && c->value_size == wanted.value_size)
			return NULL;
	}
	wanted.map = RAY_MAP_OWN + plan->map_count++;
	return ray_vec_push(&plan->classes, wanted) ? NULL : &ray_enomem;
}

static bool is_array(const struct ray_variable *v)
{
	return v->type && ray_type_resolve(v->type)->kind == RAY_TYPE_ARRAY;
}

static struct ray_error *plan_variables(struct ray_plan *plan)
{
	size_t all = 0;

	/* Room for all, in the arena: pushing never grows it. */
	for (int scope = RAY_SCOPE_GLOBAL; scope <= RAY_SCOPE_CLAUSE; scope++)
		all += plan->program->variables[scope].n;
	plan->classes.at = ray_arena_alloc(plan->arena, (all + 1) * sizeof(*plan->classes.at));
	if (!plan->classes.at)
		return &ray_enomem;
	plan->classes.cap = all + 1;
	for (int scope = RAY_SCOPE_GLOBAL; scope <= RAY_SCOPE_CLAUSE; scope++) {
		size_t count = plan->program->variables[scope].n;
		struct ray_variable_plan *at = ray_arena_alloc(plan->arena, (count + 1) * sizeof(*at));

		if (!at)
			return &ray_enomem;
		plan->variables[scope] = at;
		for (size_t i = 0; i < count; i++) {
			struct ray_error *err = NULL;

			at[i].variable = plan->program->variables[scope].at[i];
			if (ray_plan_is_dynamic(at[i].variable))
				err = plan_dynamic(plan, &at[i]);
			else
				plan_static(plan, &at[i]);
			if (err)
				return err;
			if (!is_array(at[i].variable)) /* arrays are never assigned as a whole */
				ray_grow(&plan->value_size, ray_round8(at[i].size));
		}
	}
	if (plan->globals_size) {
		plan->globals_size = ray_round8(plan->globals_size);
		plan->globals_map = RAY_MAP_OWN + plan->map_count++;
	}
	return NULL;
}

/* ---- records, and the slot ---- */

static struct ray_error *plan_records(struct ray_plan *plan)
{
	size_t count = plan->program->clauses.n;

	plan->clauses = ray_arena_alloc(plan->arena, (count + 1) * sizeof(*plan->clauses));
	if (!plan->clauses)
		return &ray_enomem;
	for (size_t i = 0; i < count; i++) {
		const struct ray_clause *c = plan->program->clauses.at[i];
		struct ray_error *err = ray_plan_clause(plan, c, &plan->clauses[i]);

		if (err)
			return err;
		if (plan->clauses[i].record_size > RECORD_MAX)
			return ray_error_new(RAY_FAILED,
					     "line %d: the clause records %u bytes at a time; %u is the most",
					     c->where.line, plan->clauses[i].record_size, RECORD_MAX);
		ray_grow(&plan->record_size, plan->clauses[i].record_size);
		ray_grow(&plan->record_room, plan->clauses[i].room);
	}
	return NULL;
}

static uint32_t take(uint64_t *end, uint64_t size)
{
	uint32_t at = *end;

	*end += ray_round8(size);
	return at;
}

/* Whether a clause has, or can get, an event of node. */
static bool may_watch(const struct ray_program *program)
{
	for (size_t i = 0; i < program->clauses.n; i++) {
		const struct ray_clause *clause = program->clauses.at[i];

		for (size_t k = 0; k < clause->spec_count; k++)
			if (ray_watch_events(&clause->specs[k]))
				return true;
	}
	return false;
}

static struct ray_error *lay_out(struct ray_plan *plan)
{
	uint64_t end = ray_round8(sizeof(struct ray_slot));

	plan->temp_size = ray_plan_string_size(plan);
	plan->scratch_size = ray_round8(plan->options->scratchsize);
	plan->key_at = take(&end, plan->key_size);
	plan->short_at = take(&end, 8);
	plan->locals_size = ray_round8(plan->locals_size);
	plan->locals_at = take(&end, plan->locals_size);
	plan->record_at = take(&end, plan->record_room);
	plan->value_at = take(&end, plan->value_size);
	plan->strings_at = take(&end, plan->strings_size);
	plan->temps_at = take(&end, (uint64_t)plan->temp_size * plan->temp_count);
	plan->zeros_at = take(&end, plan->zeros_size);
	plan->event_size = may_watch(plan->program) ? sizeof(struct ray_node_area) : 0;
	plan->event_at = take(&end, plan->event_size);
	end += RAY_SCRATCH_GUARD;
	plan->scratch_at = take(&end, plan->scratch_size);
	plan->slot_size = end;
	if (end > SLOT_MAX)
		return ray_error_new(RAY_FAILED, "a firing needs %llu bytes of memory at these sizes; %u is the most",
				     (unsigned long long)end, SLOT_MAX);
	for (size_t i = 0; i < plan->program->variables[RAY_SCOPE_CLAUSE].n; i++)
		plan->variables[RAY_SCOPE_CLAUSE][i].offset += plan->locals_at;
	return NULL;
}

struct ray_error *ray_plan_create(const struct ray_program *program, const struct ray_trace_options *options,
				  struct ray_arena *arena, struct ray_plan **ret)
{
	struct ray_plan *plan = ray_arena_alloc(arena, sizeof(*plan));
	struct ray_error *err;

	if (!plan)
		return &ray_enomem;
	plan->arena = arena;
	plan->program = program;
	plan->options = options;
	err = survey(plan);
	if (!err)
		err = plan_variables(plan);
	if (!err)
		err = ray_plan_aggregations(plan);
	if (!err)
		err = plan_records(plan);
	if (!err)
		err = lay_out(plan);
	if (err)
		return err;
	*ret = plan;
	return NULL;
}
