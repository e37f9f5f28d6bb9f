/* test_view_live.c - lines with columns that are chosen by name. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "view/live.h"

static const struct ray_live_column columns[] = {
	{ "pid", "PID", 5, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "process" },
	{ "host", "HOST", 6, RAY_ALIGN_LEFT, RAY_CUT_END, "header Host" },
	{ "url", "URL", 0, RAY_ALIGN_LEFT, RAY_CUT_END, "what was asked for" },
};

static struct ray_live *make(const char *chosen, size_t width)
{
	struct ray_live *l;

	assert_null(ray_live_create(columns, 3, "pid,url", chosen, width, &l));
	return l;
}

static void event(struct ray_live *l, struct ray_text *out)
{
	ray_live_printf(l, "%d", 42);
	ray_live_add(l, "example.org");
	ray_live_add(l, "/a\033[1m");
	ray_live_end(l, out);
}

static void prints(const char *chosen, size_t width, const char *expected)
{
	ray_auto(ray_live, l) = make(chosen, width);
	ray_auto_text out = { 0 };

	event(l, &out);
	assert_string_equal(ray_text_get(&out), expected);
}

static void the_chosen_ones_in_their_order(void **state)
{
	(void)state;
	prints(NULL, 0, "  PID URL\n   42 /a\\x1b[1m\n");
	prints("url,pid", 0, "URL   PID\n/a\\x1b[1m    42\n");
	prints("+host", 0, "  PID URL HOST\n   42 /a\\x1b[1m examp\xe2\x80\xa6\n");
}

static void lines_end_at_the_terminal(void **state)
{
	ray_auto(ray_live, l) = make("pid,host,url", 20);

	(void)state;
	prints("pid,host,url", 17, "  PID HOST   URL\n   42 examp\xe2\x80\xa6 /a\\\xe2\x80\xa6\n");
	assert_int_equal(ray_live_room(l), 8);
	assert_true(ray_live_shows(l, "host"));
	assert_false(ray_live_shows(l, "status"));
}

static void cells_that_nobody_sees_are_not_made(void **state)
{
	ray_auto(ray_live, l) = make("url,pid", 0);
	ray_auto_text out = { 0 };
	struct ray_text *cell = ray_live_cell(l);

	(void)state;
	assert_non_null(cell);
	ray_text_add_unsigned(cell, 7, 3);
	assert_null(ray_live_cell(l));
	ray_live_number(l, -12);
	assert_null(ray_live_cell(l)); /* one too many */
	ray_live_end(l, &out);
	event(l, &out);
	assert_string_equal(ray_text_get(&out), "URL   PID\n-12   007\n/a\\x1b[1m    42\n");
}

static void a_cell_as_long_as_it_comes(void **state)
{
	ray_auto(ray_live, l) = make("url", 0);
	ray_auto_text out = { 0 };

	(void)state;
	ray_live_add(l, NULL);
	ray_live_add(l, NULL);
	ray_live_printf(l, "%0300d", 1);
	ray_live_end(l, &out);
	assert_int_equal(out.length, strlen("URL\n") + 300 + 1);
}

static void a_column_that_is_not_there_is_named(void **state)
{
	struct ray_live *l;
	ray_auto(ray_error, err) = ray_live_create(columns, 3, "pid", "pid,hots", 0, &l);

	(void)state;
	assert_int_equal(ray_error_code(err), RAY_USAGE);
	assert_string_equal(ray_error_text(err), "there is no column 'hots'");
	assert_string_equal(ray_error_remedy_text(err), "columns are pid, host, url");
}

static void what_columns_there_are_can_be_asked(void **state)
{
	ray_auto(ray_error, err) = NULL;
	struct ray_live *l = NULL;

	(void)state;
	err = ray_live_create(columns, 3, "pid,url", "help", 80, &l);
	assert_non_null(err);
	assert_int_equal(ray_error_code(err), RAY_DONE);
	assert_string_equal(ray_error_text(err), "pid   process\nhost  header Host\nurl   what was asked for");
	assert_null(l);
}

static void the_time_of_day(void **state)
{
	char out[32];

	(void)state;
	setenv("TZ", "UTC", 1);
	assert_string_equal(ray_view_clock(3723004005006, 0, out), "01:02:03");
	assert_string_equal(ray_view_clock(3723004005006, 3, out), "01:02:03.004");
	assert_string_equal(ray_view_clock(3723004005006, 9, out), "01:02:03.004005006");
	assert_string_equal(ray_view_clock(3723990000000, 1, out), "01:02:03.9");
	assert_string_equal(ray_view_clock(3724000000001, 1, out), "01:02:04.0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_chosen_ones_in_their_order),
		cmocka_unit_test(lines_end_at_the_terminal),
		cmocka_unit_test(cells_that_nobody_sees_are_not_made),
		cmocka_unit_test(a_cell_as_long_as_it_comes),
		cmocka_unit_test(a_column_that_is_not_there_is_named),
		cmocka_unit_test(what_columns_there_are_can_be_asked),
		cmocka_unit_test(the_time_of_day),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
