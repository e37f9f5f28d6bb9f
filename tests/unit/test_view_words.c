/* test_view_words.c - lists of strings, and quoting for a shell. SPDX-License-Identifier: MIT */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "view/words.h"

static void assert_words(const char *list, size_t size, const char *expected)
{
	ray_auto_text joined = { 0 };
	struct ray_word word;
	size_t at = 0;

	while (ray_view_next_word(list, size, &at, &word)) {
		ray_text_add(&joined, "<");
		ray_text_add_bytes(&joined, word.bytes, word.length);
		ray_text_add(&joined, ">");
	}
	assert_string_equal(ray_text_get(&joined), expected);
}

static void words_end_at_nul_or_at_the_end(void **state)
{
	(void)state;
	assert_words("", 0, "");
	assert_words("", 1, "<>");
	assert_words("a\0bc", 5, "<a><bc>");
	assert_words("a\0bc", 4, "<a><bc>");
	assert_words("a\0\0b", 5, "<a><><b>");
}

static void assert_quoted(const char *word, const char *expected)
{
	struct ray_word w = { word, strlen(word) };
	ray_auto_text out = { 0 };

	ray_view_quote(&out, &w);
	assert_string_equal(ray_text_get(&out), expected);
}

static void plain_words_stay_and_others_are_quoted(void **state)
{
	(void)state;
	assert_quoted("--max-old-space-size=4096", "--max-old-space-size=4096");
	assert_quoted("/usr/bin/node", "/usr/bin/node");
	assert_quoted("", "''");
	assert_quoted("a b", "'a b'");
	assert_quoted("$HOME`x`", "'$HOME`x`'");
	assert_quoted("~", "'~'");
	assert_quoted("it's", "$'it\\'s'");
	assert_quoted("grüß dich", "'grüß dich'");
}

static void control_bytes_and_broken_utf8_are_octal(void **state)
{
	(void)state;
	assert_quoted("a\nb\tc", "$'a\\nb\\tc'");
	assert_quoted("\x1b[31m1", "$'\\033[31m1'");
	assert_quoted("\xff"
		      "7",
		      "$'\\3777'");
	assert_quoted("back\\slash\x01", "$'back\\\\slash\\001'");
}

/* A shell must read back every byte. */
static void a_shell_reads_back_every_byte(void **state)
{
	ray_auto_text command = { 0 };
	char all[256], back[512];
	struct ray_word word = { all, 255 };
	size_t n;
	FILE *f;

	(void)state;
	for (unsigned i = 1; i < 256; i++)
		all[i - 1] = (char)i;
	ray_text_add(&command, "exec 2>&1; printf %s ");
	ray_view_quote(&command, &word);
	setenv("RAY_TEST_COMMAND", ray_text_get(&command), 1);
	f = popen("LC_ALL=C bash -c \"$RAY_TEST_COMMAND\"", "r");
	assert_non_null(f);
	n = fread(back, 1, sizeof(back), f);
	pclose(f);
	assert_int_equal(n, 255);
	assert_memory_equal(back, all, 255);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_end_at_nul_or_at_the_end),
		cmocka_unit_test(plain_words_stay_and_others_are_quoted),
		cmocka_unit_test(control_bytes_and_broken_utf8_are_octal),
		cmocka_unit_test(a_shell_reads_back_every_byte),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
