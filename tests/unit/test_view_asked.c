/* test_view_asked.c - stacks of what is still going on. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "view/asked.h"

static void a_stack_is_taken_once(void **state)
{
	ray_auto(ray_asked, a) = ray_asked_create();
	char *stack;

	(void)state;
	ray_asked_put(a, 1, 100, "old");
	ray_asked_put(a, 2, 100, "other process");
	ray_asked_put(a, 1, 100, "new");
	assert_null(ray_asked_take(a, 1, 101));
	assert_string_equal(ray_asked_find(a, 1, 100), "new");
	assert_null(ray_asked_find(a, 3, 100));
	stack = ray_asked_take(a, 1, 100);
	assert_string_equal(stack, "new");
	free(stack);
	assert_null(ray_asked_take(a, 1, 100));
}

static void only_javascript_is_shown_if_there_is_any(void **state)
{
	static const char mixed[] =
		"node`uv__fs_work\n              read (/a/x.js:1:2)\n0x1234\n   Object.<anonymous> (/a/b`c.js:3:4)\n";
	ray_auto_text text = { 0 };
	json_t *frames = ray_view_stack_json(mixed);

	(void)state;
	ray_view_stack_lines(mixed, &text);
	assert_string_equal(ray_text_get(&text), "    read (/a/x.js:1:2)\n    Object.<anonymous> (/a/b`c.js:3:4)\n");
	assert_int_equal(json_array_size(frames), 2);
	json_decref(frames);
	ray_text_clear(&text);
	ray_view_stack_lines("  node`uv_run+0x12\n  libc.so.6`x\n", &text);
	assert_string_equal(ray_text_get(&text), "    node`uv_run+0x12\n    libc.so.6`x\n");
	ray_text_clear(&text);
	ray_view_stack_lines("", &text);
	ray_view_stack_lines("\n\n  \n", &text);
	assert_string_equal(ray_text_get(&text), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_is_taken_once),
		cmocka_unit_test(only_javascript_is_shown_if_there_is_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
