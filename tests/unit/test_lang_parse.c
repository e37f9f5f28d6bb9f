/* test_lang_parse.c - expressions and clauses of D. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "parse_d.h"

struct row {
	const char *text, *expected;
};

#define check_rows(rows, parse)                                                   \
	do {                                                                      \
		ray_auto_text out_ = { 0 };                                       \
		for (size_t i_ = 0; i_ < RAY_COUNT(rows); i_++)                   \
			assert_string_equal(parse((rows)[i_].text, &out_), (rows)[i_].expected); \
	} while (0)

static void clauses_have_descriptions_predicates_and_statements(void **state)
{
	static const struct row rows[] = {
		{ "BEGIN { printf(\"hello %d\\n\", 42); exit(0); }",
		  ":::BEGIN { (call printf \"hello %d\\n\" 42) (call exit 0) }\n" },
		{ "syscall:::entry { @[probefunc] = count(); }", "syscall:::entry { (= (@_ probefunc) (call count)) }\n" },
		{ "BEGIN", ":::BEGIN { default }\n" },
		{ "BEGIN {}", ":::BEGIN { default }\n" },
		{ "BEGIN { ; ; }", ":::BEGIN { default }\n" },
		{ "BEGIN{trace(1)}", ":::BEGIN { (call trace 1) }\n" },
		{ "syscall::read:entry, syscall::write:entry /pid == 5/ { x = 1 }",
		  "syscall::read:entry, syscall::write:entry / (== pid 5) / { (= x 1) }\n" },
		{ "BEGIN END", ":::BEGIN { default }\n:::END { default }\n" },
		{ "tick-1s { exit(0) } profile-97hz { @ = count() }",
		  ":::tick-1s { (call exit 0) }\n:::profile-97hz { (= @_ (call count)) }\n" },
		{ "12 { }", "12 { default }\n" },
	};

	(void)state;
	check_rows(rows, parse_argument);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clauses_have_descriptions_predicates_and_statements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
