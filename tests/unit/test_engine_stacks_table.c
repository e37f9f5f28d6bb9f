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
	assert_int_equal(t.line_count, 5002);
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
	const struct ray_stack_line *lines[2];
	const struct ray_stack_entry *e;
	struct ray_stack_table t;

	(void)state;
	assert_true(ray_stack_table_init(&t));
	lines[0] = ray_stack_table_line(&t, "a", false);
	lines[1] = ray_stack_table_line(&t, "b", false);
	for (uint64_t id = 1; id < 4000; id++)
		assert_true(ray_stack_table_add(&t, id << 40 | 7, lines, (uint32_t)(id % 3)));
	e = ray_stack_table_find(&t, 17ull << 40 | 7);
	assert_int_equal(e->count, 2);
	assert_string_equal(e->lines[1]->text, "b");
	assert_null(ray_stack_table_find(&t, 5));
	assert_true(ray_stack_table_add(&t, 17ull << 40 | 7, lines, 1));
	assert_int_equal(ray_stack_table_find(&t, 17ull << 40 | 7)->count, 1);
	assert_int_equal(t.stack_count, 3999);
	ray_stack_table_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_text_is_the_same_line),
		cmocka_unit_test(a_place_that_was_seen_without_a_class_is_printed_without),
		cmocka_unit_test(a_stack_is_found_by_its_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
