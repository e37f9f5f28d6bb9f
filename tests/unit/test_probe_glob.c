/* test_probe_glob.c - patterns of probe descriptions. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "probe/spec.h"

static void patterns_match_as_a_shell_does(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool matches;
	} rows[] = {
		{ "", "", true },
		{ "", "anything", true },
		{ "*", "", true },
		{ "read", "read", true },
		{ "read", "pread", false },
		{ "read", "read64", false },
		{ "?ead", "read", true },
		{ "?ead", "ead", false },
		{ "*read*", "pread64", true },
		{ "*a*b*c", "xxaxxbxxcxxc", true },
		{ "*a*b*c", "xxaxxbxxcxxd", false },
		{ "[a-c]x", "bx", true },
		{ "[!a-c]x", "bx", false },
		{ "[!a-c]x", "dx", true },
		{ "[]]x", "]x", true },
		{ "[a-]x", "-x", true },
		{ "[ab", "[ab", true }, /* never closed: no class */
		{ "[ab", "a", false },
		{ "\\*x", "*x", true },
		{ "\\*x", "ax", false },
		{ "**", "abc", true },
		{ "a*", "a", true },
		{ "*a", "b", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (ray_glob_matches(rows[i].pattern, rows[i].text) != rows[i].matches)
			fail_msg("'%s' and '%s'", rows[i].pattern, rows[i].text);
}

static void many_stars_take_no_time(void **state)
{
	char text[2001], pattern[201];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (size_t i = 0; i + 1 < sizeof(pattern); i += 2)
		memcpy(pattern + i, "*a", 2);
	memcpy(pattern + sizeof(pattern) - 2, "b", 2);
	assert_false(ray_glob_matches(pattern, text));
}

static void plain_is_what_means_itself(void **state)
{
	(void)state;
	assert_true(ray_glob_is_plain("read"));
	assert_false(ray_glob_is_plain(""));
	assert_false(ray_glob_is_plain("r*"));
	assert_false(ray_glob_is_plain("r?"));
	assert_false(ray_glob_is_plain("[r]"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_match_as_a_shell_does),
		cmocka_unit_test(many_stars_take_no_time),
		cmocka_unit_test(plain_is_what_means_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
