/* test_base_duration.c - spans of time, written and read. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/duration.h"

static void they_are_read_with_and_without_a_unit(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = { { "10", 10000000000 },   { "2.5s", 2500000000 }, { "500ms", 500000000 },
		     { "20us", 20000 },	      { "7ns", 7 },	      { "3m", 180000000000 },
		     { "1h", 3600000000000 }, { ".5", 500000000 },    { "0", 0 } };
	static const char *const bad[] = { "", "s", "-1", " 1", "1 s", "1sec", "0x10", "inf", "nan", "1e30h", "1,5" };
	uint64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(ray_duration_parse(good[i].text, 1000000000, &ns));
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(ray_duration_parse(bad[i], 1000000000, &ns));
}

static void they_have_three_digits(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} rows[] = { { 0, "0ns" },	     { 999, "999ns" },	       { 1000, "1.00us" },
		     { 1234, "1.23us" },     { 9994, "9.99us" },       { 9996, "10.0us" },
		     { 99949, "99.9us" },    { 999499, "999us" },      { 999500, "1.00ms" },
		     { 45600000, "45.6ms" }, { 12300000000, "12.3s" }, { 86400000000000, "86400s" } };
	char out[24];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(ray_duration_format(rows[i].ns, out), rows[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_are_read_with_and_without_a_unit),
		cmocka_unit_test(they_have_three_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
