/* test_base_json.c - JSON of what a target holds. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/json.h"

static void assert_json(json_t *value, const char *expected)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
	json_decref(value);
}

static void no_text_is_null(void **state)
{
	(void)state;
	assert_json(ray_json_text(NULL), "null");
}

static void good_text_is_kept(void **state)
{
	(void)state;
	assert_json(ray_json_text("caf\u00e9 \"x\""), "\"caf\u00e9 \\\"x\\\"\"");
}

static void broken_utf8_is_mended(void **state)
{
	(void)state;
	assert_json(ray_json_text("a\xffz"), "\"a\ufffdz\"");
}

static void addresses_are_hex_text(void **state)
{
	(void)state;
	assert_json(ray_json_hex(UINT64_MAX), "\"0xffffffffffffffff\"");
	assert_json(ray_json_hex(0), "\"0x0\"");
}

static void control_characters_are_escaped_in_print(void **state)
{
	FILE *before = stdout, *out;
	char *text = NULL;
	size_t size = 0;

	(void)state;
	out = open_memstream(&text, &size);
	assert_non_null(out);
	stdout = out;
	ray_json_print(json_pack("{s:o}", "a", ray_json_text("\x1b[ \x7f \xc2\x9b \u00a0 \u00e9")));
	stdout = before;
	fclose(out);
	assert_string_equal(text, "{\"a\":\"\\u001B[ \\u007F \\u009B \u00a0 \u00e9\"}\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_text_is_null),
		cmocka_unit_test(good_text_is_kept),
		cmocka_unit_test(broken_utf8_is_mended),
		cmocka_unit_test(addresses_are_hex_text),
		cmocka_unit_test(control_characters_are_escaped_in_print),
	};

	return cmocka_run_group_tests_name("base/json", tests, NULL, NULL);
}
