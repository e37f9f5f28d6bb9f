/* test_view_table.c - tables that fit. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "view/table.h"

static const struct ray_column columns[] = {
	{ "PID", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
	{ "NAME", RAY_ALIGN_LEFT, RAY_CUT_NEVER, 0 },
	{ "SCRIPT", RAY_ALIGN_LEFT, RAY_CUT_START, 6 },
};

static char *printed(struct ray_table *t, const struct ray_table_print *how)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_true(ray_table_print(t, how, f));
	fclose(f);
	return text;
}

static void columns_are_aligned_and_lines_have_no_blanks_at_the_end(void **state)
{
	ray_auto(ray_table, t) = ray_table_create(columns, 3);
	ray_auto_memory char *text = NULL;
	(void)state;

	ray_table_printf(t, "%d", 7);
	ray_table_add(t, "b\xc3\xa9");
	ray_table_add(t, "");
	ray_table_printf(t, "%d", 1234);
	ray_table_add(t, "abcdef");
	ray_table_add(t, "x.js");
	text = printed(t, &(struct ray_table_print){ 0 });
	assert_string_equal(text, " PID  NAME    SCRIPT\n   7  b\xc3\xa9\n1234  abcdef  x.js\n");
	assert_int_equal(ray_table_rows(t), 2);
}

static void a_long_cell_is_cut_on_the_side_that_was_asked_for(void **state)
{
	ray_auto(ray_table, t) = ray_table_create(columns, 3);
	ray_auto_memory char *text = NULL;
	(void)state;

	ray_table_add(t, "1");
	ray_table_add(t, "n");
	ray_table_add(t, "/srv/app/server.js");
	text = printed(t, &(struct ray_table_print){ .width = 22 });
	assert_string_equal(text, "PID  NAME  SCRIPT\n  1  n     \xe2\x80\xa6/server.js\n");
}

static void a_cell_may_be_cut_unlike_its_column(void **state)
{
	ray_auto(ray_table, t) = ray_table_create(columns, 3);
	ray_auto_memory char *text = NULL;
	(void)state;

	ray_table_add(t, "1");
	ray_table_add(t, "n");
	ray_table_add_cut(t, "title: my server", RAY_CUT_END);
	text = printed(t, &(struct ray_table_print){ .width = 21 });
	assert_string_equal(text, "PID  NAME  SCRIPT\n  1  n     title: my\xe2\x80\xa6\n");
}

static void nothing_is_cut_below_the_least_width(void **state)
{
	ray_auto(ray_table, t) = ray_table_create(columns, 3);
	ray_auto_memory char *text = NULL;
	(void)state;

	ray_table_add(t, "1");
	ray_table_add(t, "n");
	ray_table_add(t, "/srv/app/server.js");
	text = printed(t, &(struct ray_table_print){ .width = 3, .no_heading = true, .indent = 2 });
	assert_string_equal(text, "  1  n  \xe2\x80\xa6"
				  "er.js\n");
}

static void control_bytes_never_reach_the_terminal(void **state)
{
	ray_auto(ray_table, t) = ray_table_create(columns, 3);
	ray_auto_memory char *text = NULL;
	(void)state;

	ray_table_add(t, "1");
	ray_table_add(t, "\x1b[2J\n");
	ray_table_add(t, NULL);
	text = printed(t, &(struct ray_table_print){ .no_heading = true });
	assert_string_equal(text, "1  \\x1b[2J\\n\n");
}

static void cutting_counts_columns_not_bytes(void **state)
{
	ray_auto_text out = { 0 };
	(void)state;

	ray_view_cut(&out, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 6, RAY_CUT_END); /* fits: three wide letters */
	assert_string_equal(ray_text_get(&out), "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e");
	ray_text_clear(&out);
	ray_view_cut(&out, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 5, RAY_CUT_END);
	assert_string_equal(ray_text_get(&out), "\xe6\x97\xa5\xe6\x9c\xac\xe2\x80\xa6");
	ray_text_clear(&out);
	ray_view_cut(&out, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 4, RAY_CUT_START);
	assert_string_equal(ray_text_get(&out), "\xe2\x80\xa6\xe8\xaa\x9e");
	ray_text_clear(&out);
	ray_view_cut(&out, "abc", 0, RAY_CUT_END);
	assert_string_equal(ray_text_get(&out), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_aligned_and_lines_have_no_blanks_at_the_end),
		cmocka_unit_test(a_long_cell_is_cut_on_the_side_that_was_asked_for),
		cmocka_unit_test(a_cell_may_be_cut_unlike_its_column),
		cmocka_unit_test(nothing_is_cut_below_the_least_width),
		cmocka_unit_test(control_bytes_never_reach_the_terminal),
		cmocka_unit_test(cutting_counts_columns_not_bytes),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
