/* test_engine_plan.c - where things lie: variables as C has them, keys no longer than they must be, nothing on top of
 * another. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/plan.h"
#include "kern/wire.h"
#include "lang/functions.h"

enum { MOST = 8 };

struct bench {
	struct ray_arena *arena;
	struct ray_types *types;
	struct ray_program program;
	struct ray_trace_options options;
	struct ray_clause clause;
	struct ray_statement statements[MOST];
	struct ray_variable variables[MOST];
	struct ray_expr exprs[MOST];
	struct ray_expr *args[MOST];
	struct ray_plan *plan;
};

static void set_up(struct bench *b)
{
	memset(b, 0, sizeof(*b));
	b->arena = ray_arena_create();
	assert_non_null(b->arena);
	assert_null(ray_types_create(b->arena, &b->types));
	ray_trace_options_init(&b->options);
	b->program.types = b->types;
	b->program.arena = b->arena;
	b->clause.statements = b->statements;
	assert_true(ray_vec_push(&b->program.clauses, &b->clause));
}

static void tear_down(struct bench *b)
{
	ray_vec_free(&b->program.clauses);
	ray_vec_free(&b->program.aggregations);
	for (int i = 0; i <= RAY_SCOPE_INLINE; i++)
		ray_vec_free(&b->program.variables[i]);
	ray_trace_options_deinit(&b->options);
	ray_types_free(b->types);
	ray_arena_free(b->arena);
}

static struct ray_variable *add(struct bench *b, int i, enum ray_scope scope, enum ray_basic type)
{
	struct ray_variable *v = &b->variables[i];

	*v = (struct ray_variable){ .scope = scope, .type = ray_type_basic(b->types, type) };
	v->id = b->program.variables[scope].n;
	assert_true(ray_vec_push(&b->program.variables[scope], v));
	return v;
}

static void create(struct bench *b)
{
	assert_null(ray_plan_create(&b->program, &b->options, b->arena, &b->plan));
}

static void globals_are_aligned_as_in_c(void **state)
{
	struct bench b;
	const struct ray_variable_plan *v;

	(void)state;
	set_up(&b);
	add(&b, 0, RAY_SCOPE_GLOBAL, RAY_BASIC_CHAR);
	add(&b, 1, RAY_SCOPE_GLOBAL, RAY_BASIC_INT);
	add(&b, 2, RAY_SCOPE_GLOBAL, RAY_BASIC_SHORT);
	add(&b, 3, RAY_SCOPE_GLOBAL, RAY_BASIC_LONG);
	create(&b);
	v = b.plan->variables[RAY_SCOPE_GLOBAL];
	assert_int_equal(v[0].offset, 0);
	assert_int_equal(v[1].offset, 4);
	assert_int_equal(v[2].offset, 8);
	assert_int_equal(v[3].offset, 16);
	assert_int_equal(b.plan->globals_size, 24);
	tear_down(&b);
}

static void numbers_of_threads_are_kept_by_the_task_and_the_rest_by_size(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b);
	add(&b, 0, RAY_SCOPE_THREAD, RAY_BASIC_INT);
	add(&b, 1, RAY_SCOPE_THREAD, RAY_BASIC_LONG);
	add(&b, 2, RAY_SCOPE_THREAD, RAY_BASIC_STRING);
	add(&b, 3, RAY_SCOPE_THREAD, RAY_BASIC_STRING);
	create(&b);
	assert_int_equal(b.plan->task_size, 16);
	assert_true(b.plan->variables[RAY_SCOPE_THREAD][0].is_in_task);
	assert_int_equal(b.plan->variables[RAY_SCOPE_THREAD][1].offset, 8);
	assert_int_equal(b.plan->classes.n, 1);
	assert_false(b.plan->variables[RAY_SCOPE_THREAD][2].is_in_task);
	assert_int_equal(b.plan->variables[RAY_SCOPE_THREAD][2].class_index, 0);
	assert_int_equal(b.plan->variables[RAY_SCOPE_THREAD][3].class_index, 0);
	tear_down(&b);
}

/* @ = count() with one key, which may be used twice with different ones. */
static const struct ray_field *key_of(struct bench *b, struct ray_expr *one, struct ray_expr *other)
{
	static struct ray_aggregation a;
	static struct ray_expr *keys[2];
	static const struct ray_type *types[1];

	keys[0] = one;
	keys[1] = other;
	types[0] = one->type;
	a = (struct ray_aggregation){ .name = "_", .function = RAY_AGG_COUNT, .keys = types, .key_count = 1 };
	assert_true(ray_vec_push(&b->program.aggregations, &a));
	for (int i = 0; i < 2; i++)
		b->statements[i] = (struct ray_statement){
			.kind = RAY_STATEMENT_AGGREGATE, .aggregation = &a, .keys = &keys[i], .key_count = 1
		};
	b->clause.statement_count = other ? 2 : 1;
	create(b);
	return &b->plan->aggregations[0].key.fields[0];
}

static struct ray_expr *builtin(struct bench *b, int i, enum ray_builtin which)
{
	add(b, i, RAY_SCOPE_BUILTIN, RAY_BASIC_STRING)->builtin = which;
	b->exprs[i] = (struct ray_expr){ .kind = RAY_EXPR_VARIABLE, .variable = &b->variables[i] };
	b->exprs[i].type = b->variables[i].type;
	return &b->exprs[i];
}

static void keys_are_as_short_as_their_uses_allow(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b);
	assert_int_equal(key_of(&b, builtin(&b, 0, RAY_BUILTIN_PROBEFUNC), NULL)->size, 8);
	tear_down(&b);
	set_up(&b);
	assert_int_equal(key_of(&b, builtin(&b, 0, RAY_BUILTIN_EXECNAME), NULL)->size, 16);
	tear_down(&b);
	set_up(&b);
	assert_int_equal(key_of(&b, builtin(&b, 0, RAY_BUILTIN_PROBEFUNC), builtin(&b, 1, RAY_BUILTIN_EXECNAME))->size,
			 264);
	tear_down(&b);
	set_up(&b);
	assert_int_equal(key_of(&b, builtin(&b, 0, RAY_BUILTIN_PROBEFUNC), builtin(&b, 1, RAY_BUILTIN_PROBENAME))->size,
			 264);
	tear_down(&b);
}

static void constants_are_there_once(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b);
	for (int i = 0; i < 3; i++) {
		b.exprs[i] = (struct ray_expr){ .kind = RAY_EXPR_STRING, .text = i == 1 ? "other" : "same" };
		b.exprs[i].length = strlen(b.exprs[i].text);
		b.exprs[i].type = ray_type_basic(b.types, RAY_BASIC_STRING);
		b.args[i] = &b.exprs[i];
	}
	b.statements[0] = (struct ray_statement){
		.kind = RAY_STATEMENT_ACTION, .function = &ray_functions[RAY_FN_PRINTF], .args = b.args, .arg_count = 3
	};
	b.clause.statement_count = 1;
	create(&b);
	assert_int_equal(b.plan->strings_size, 16);
	assert_string_equal((char *)b.plan->string_bytes + ray_plan_string(b.plan, "other", 5) - b.plan->strings_at,
			    "other");
	assert_string_equal((char *)b.plan->string_bytes + ray_plan_string(b.plan, "same", 4) - b.plan->strings_at,
			    "same");
	assert_int_equal(b.plan->clauses[0].step_count, 1);
	assert_int_equal(b.plan->clauses[0].steps[0].field_count, 3);
	assert_int_equal(b.plan->clauses[0].record_size, sizeof(struct ray_record) + 3 * 16);
	tear_down(&b);
}

static void strings_that_may_be_long_are_packed(void **state)
{
	const struct ray_clause_plan *clause;
	struct bench b;

	(void)state;
	set_up(&b);
	for (int i = 0; i < 2; i++) {
		b.exprs[i] =
			(struct ray_expr){ .kind = RAY_EXPR_CAST, .type = ray_type_basic(b.types, RAY_BASIC_STRING) };
		b.args[i] = &b.exprs[i];
	}
	for (int i = 0; i < 2; i++)
		b.statements[i] = (struct ray_statement){ .kind = RAY_STATEMENT_ACTION,
							  .function = &ray_functions[i ? RAY_FN_TRACE : RAY_FN_PRINTF],
							  .args = b.args,
							  .arg_count = i ? 1 : 2 };
	b.clause.statement_count = 2;
	create(&b);
	clause = &b.plan->clauses[0];
	assert_true(clause->is_packed);
	assert_true(clause->steps[0].fields[1].is_packed);
	assert_int_equal(clause->steps[0].fields[1].offset, sizeof(struct ray_record) + 8);
	assert_false(clause->steps[1].fields[0].is_packed); /* with rawbytes, all of its room is shown */
	assert_int_equal(clause->record_size, sizeof(struct ray_record) + 3 * 264);
	assert_int_equal(clause->sent_size, sizeof(struct ray_record) + 2 * 8 + 264);
	assert_int_equal(b.plan->record_room, sizeof(struct ray_record) + 3 * 264 + 2 * 8);
	tear_down(&b);
}

static void a_record_too_large_is_refused(void **state)
{
	struct bench b;
	struct ray_error *err;

	(void)state;
	set_up(&b);
	b.exprs[0] = (struct ray_expr){ .kind = RAY_EXPR_INTEGER, .type = ray_type_basic(b.types, RAY_BASIC_LONG) };
	b.exprs[1] = b.exprs[0];
	b.exprs[1].value = 1ULL << 30;
	b.args[0] = &b.exprs[0];
	b.args[1] = &b.exprs[1];
	b.statements[0] = (struct ray_statement){ .kind = RAY_STATEMENT_ACTION,
						  .function = &ray_functions[RAY_FN_TRACEMEM],
						  .args = b.args,
						  .arg_count = 2 };
	b.clause.statement_count = 1;
	err = ray_plan_create(&b.program, &b.options, b.arena, &b.plan);
	assert_non_null(err);
	assert_non_null(strstr(ray_error_text(err), "is the most"));
	ray_error_free(err);
	tear_down(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(globals_are_aligned_as_in_c),
		cmocka_unit_test(numbers_of_threads_are_kept_by_the_task_and_the_rest_by_size),
		cmocka_unit_test(keys_are_as_short_as_their_uses_allow),
		cmocka_unit_test(constants_are_there_once),
		cmocka_unit_test(strings_that_may_be_long_are_packed),
		cmocka_unit_test(a_record_too_large_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
