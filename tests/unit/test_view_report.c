/* test_view_report.c - findings, wrapped. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "view/report.h"

static char *printed(const struct ray_report *r, size_t width)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_true(ray_report_print(r, width, f));
	fclose(f);
	return text;
}

static void findings_stand_in_sections_and_are_wrapped(void **state)
{
	ray_auto(ray_report, r) = ray_report_create();
	ray_auto_memory char *text = NULL;
	(void)state;

	ray_report_add(r, "one", "a", RAY_MARK_OK, "fine");
	ray_report_add(r, "one", "longer", RAY_MARK_PART, "%s", "this text is longer than one line of forty six");
	ray_report_fix(r, "do %d things about it, one after the other", 2);
	ray_report_add(r, "two", "b", RAY_MARK_NO, "broken");
	text = printed(r, 46);
	assert_string_equal(text, "one\n"
				  "  ok    a       fine\n"
				  "  part  longer  this text is longer than one\n"
				  "                line of forty six\n"
				  "        fix: do 2 things about it, one after\n"
				  "             the other\n"
				  "\n"
				  "two\n"
				  "  no    b       broken\n");
	assert_int_equal(ray_report_count(r, RAY_MARK_OK), 1);
	assert_int_equal(ray_report_count(r, RAY_MARK_NO), 1);
}

static void a_word_is_never_broken_and_control_bytes_are_escaped(void **state)
{
	ray_auto(ray_report, r) = ray_report_create();
	ray_auto_memory char *text = NULL;
	(void)state;

	ray_report_fix(r, "nothing was added yet");
	ray_report_add(r, "s", "n", RAY_MARK_OK, "%s",
		       "\x1b[1m aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b");
	text = printed(r, 10);
	assert_string_equal(text, "s\n"
				  "  ok    n  \\x1b[1m\n"
				  "           aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
				  "           b\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(findings_stand_in_sections_and_are_wrapped),
		cmocka_unit_test(a_word_is_never_broken_and_control_bytes_are_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
