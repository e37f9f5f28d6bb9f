/* test_engine_stacks_table.c - lines and stacks, each kept once. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "engine/stacks.h"

static void the_same_text_is_the_same_line(void **state)
{
	struct ray_stack_table t;
	const struct ray_stack_line *a, *b;
	char text[32];

	(void)state;
	assert_true(ray_stack_table_init(&t));
	a = ray_stack_table_line(&t, "main (x.js:1:2)", false);
	b = ray_stack_table_line(&t, "main (x.js:1:2)", true);
	assert_ptr_not_equal(a, b);
	for (int i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "line %d", i);
		assert_non_null(ray_stack_table_line(&t, text, false));
	}
	assert_ptr_equal(ray_stack_table_line(&t, "main (x.js:1:2)", false), a);
	assert_int_equal(ray_hashmap_count(&t.lines), 5002);
	ray_stack_table_deinit(&t);
}

/* Inlined, a method's class is not known: the same place reads the same either way. */
static void a_place_that_was_seen_without_a_class_is_printed_without(void **state)
{
	struct ray_stack_line *with, *without;
	struct ray_stack_table t;

	(void)state;
	assert_true(ray_stack_table_init(&t));
	with = ray_stack_table_line(&t, "Reader.open (x.js:1:2)", false);
	without = ray_stack_table_line(&t, "open (x.js:1:2)", false);
	with->plain = without;
	assert_string_equal(ray_stack_line_text(with), "Reader.open (x.js:1:2)");
	without->is_plain = true;
	assert_string_equal(ray_stack_line_text(with), "open (x.js:1:2)");
	assert_string_equal(ray_stack_line_text(without), "open (x.js:1:2)");
	ray_stack_table_deinit(&t);
}

static void a_stack_is_found_by_its_id(void **state)
{
	const struct ray_fact_frame *frames[2];
	const struct ray_stack_line *lines[2];
	struct ray_fact_stack stack = { .frames = frames, .is_cut = true };
	const struct ray_stack_entry *e;
	struct ray_stack_table t;

	(void)state;
	assert_true(ray_stack_table_init(&t));
	lines[0] = ray_stack_table_line(&t, "a", false);
	lines[1] = ray_stack_table_line(&t, "b", false);
	frames[0] = ray_stack_table_frame(&t, &(struct ray_fact_frame){ .function = "a" });
	frames[1] = ray_stack_table_frame(&t, &(struct ray_fact_frame){ .function = "b" });
	for (uint64_t id = 1; id < 4000; id++) {
		stack.id = id << 40 | 7;
		stack.count = id % 3;
		assert_true(ray_stack_table_add(&t, &stack, lines));
	}
	e = ray_stack_table_find(&t, 17ull << 40 | 7);
	assert_int_equal(e->count, 2);
	assert_string_equal(e->lines[1]->text, "b");
	assert_int_equal(e->stack->count, 2);
	assert_true(e->stack->is_cut);
	assert_ptr_equal(e->stack->frames[1], frames[1]);
	assert_null(ray_stack_table_find(&t, 5));
	stack = (struct ray_fact_stack){ .id = 17ull << 40 | 7, .frames = frames, .count = 1 };
	assert_true(ray_stack_table_add(&t, &stack, lines));
	assert_int_equal(ray_stack_table_find(&t, 17ull << 40 | 7)->count, 1);
	assert_int_equal(ray_hashmap_count(&t.stacks), 3999);
	ray_stack_table_deinit(&t);
}

static void the_same_place_is_the_same_frame(void **state)
{
	struct ray_frame f = { .kind = RAY_FRAME_JS,
			       .function = "handle",
			       .receiver_class = "Server",
			       .file = "/app/x.js",
			       .line = 12,
			       .column = 3,
			       .begin_line = 10,
			       .begin_column = 9 };
	const struct ray_fact_frame *a, *b;
	struct ray_stack_table t;

	(void)state;
	assert_true(ray_stack_table_init(&t));
	a = ray_stack_table_user_frame(&t, &f);
	assert_string_equal(a->function, "Server.handle");
	assert_string_equal(a->base, "handle");
	assert_int_equal(a->begin_line, 10);
	for (int i = 0; i < 3000; i++) {
		f.line = 100 + i;
		assert_ptr_not_equal(ray_stack_table_user_frame(&t, &f), a);
	}
	f.line = 12;
	assert_ptr_equal(ray_stack_table_user_frame(&t, &f), a);
	f.inlined = true;
	b = ray_stack_table_user_frame(&t, &f);
	assert_ptr_not_equal(a, b);
	assert_true(b->is_inlined);
	f = (struct ray_frame){ .kind = RAY_FRAME_NATIVE, .function = "main", .module = "/usr/bin/node", .offset = 8 };
	a = ray_stack_table_user_frame(&t, &f);
	f.offset = 16; /* of a native function the place in it does not count */
	assert_ptr_equal(ray_stack_table_user_frame(&t, &f), a);
	ray_stack_table_deinit(&t);
}

/* Where a function begins is no place that runs. */
static void a_place_that_is_not_known_has_no_line(void **state)
{
	struct ray_frame f = { .kind = RAY_FRAME_JS,
			       .function = "f",
			       .file = "x.js",
			       .line = 10,
			       .column = 9,
			       .begin_line = 10,
			       .begin_column = 9,
			       .is_definition = true };
	const struct ray_fact_frame *own;
	struct ray_stack_table t;

	(void)state;
	assert_true(ray_stack_table_init(&t));
	own = ray_stack_table_user_frame(&t, &f);
	assert_int_equal(own->line, 0);
	assert_int_equal(own->begin_line, 10);
	ray_stack_table_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_text_is_the_same_line),
		cmocka_unit_test(a_place_that_was_seen_without_a_class_is_printed_without),
		cmocka_unit_test(a_stack_is_found_by_its_id),
		cmocka_unit_test(the_same_place_is_the_same_frame),
		cmocka_unit_test(a_place_that_is_not_known_has_no_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
