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

/* What is printed to stdout. */
static void assert_line(struct ray_text *line, const char *expected)
{
	FILE *before = stdout, *out;
	char *text = NULL;
	size_t size = 0;

	out = open_memstream(&text, &size);
	assert_non_null(out);
	stdout = out;
	ray_json_line_end(line);
	stdout = before;
	fclose(out);
	assert_string_equal(text, expected);
	assert_int_equal(line->length, 0);
	free(text);
}

static void a_line_is_written_without_a_tree(void **state)
{
	ray_auto_text line = { 0 };

	(void)state;
	ray_json_line_text(&line, "a", "/x?y='1'");
	ray_json_line_text(&line, "b", NULL);
	ray_json_line_bytes(&line, "c", "/path?query", 5);
	ray_json_line_integer(&line, "d", INT64_MIN);
	ray_json_line_boolean(&line, "e", true);
	ray_json_line_null(&line, "f");
	ray_json_line_value(&line, "g", json_pack("[s,f]", "x", 0.5));
	assert_line(&line, "{\"a\":\"/x?y='1'\",\"b\":null,\"c\":\"/path\",\"d\":-9223372036854775808,\"e\":true,"
			   "\"f\":null,\"g\":[\"x\",0.5]}\n");
	assert_line(&line, "{}\n");
}

static void a_line_holds_no_control_characters(void **state)
{
	ray_auto_text line = { 0 };

	(void)state;
	ray_json_line_text(&line, "a", "\x1b[ \x7f \xc2\x9b \u00e9 \"\\");
	ray_json_line_text(&line, "b", "a\xffz");
	assert_line(&line, "{\"a\":\"\\u001B[ \\u007F \\u009B \u00e9 \\\"\\\\\",\"b\":\"a\ufffdz\"}\n");
}

static void times_have_a_point_and_no_zeros_behind(void **state)
{
	ray_auto_text line = { 0 };

	(void)state;
	ray_json_line_seconds(&line, "a", 1763212345123456789);
	ray_json_line_seconds(&line, "b", 1763212345999999500);
	ray_json_line_seconds(&line, "c", 1763212345120000000);
	ray_json_line_ms(&line, "d", 0);
	ray_json_line_ms(&line, "e", 64);
	ray_json_line_ms(&line, "f", 1234567);
	ray_json_line_ms(&line, "g", 2000000);
	assert_line(&line, "{\"a\":1763212345.123457,\"b\":1763212346.0,\"c\":1763212345.12,\"d\":0.0,\"e\":0.000064,"
			   "\"f\":1.234567,\"g\":2.0}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_text_is_null),
		cmocka_unit_test(good_text_is_kept),
		cmocka_unit_test(broken_utf8_is_mended),
		cmocka_unit_test(addresses_are_hex_text),
		cmocka_unit_test(control_characters_are_escaped_in_print),
		cmocka_unit_test(a_line_is_written_without_a_tree),
		cmocka_unit_test(a_line_holds_no_control_characters),
		cmocka_unit_test(times_have_a_point_and_no_zeros_behind),
	};

	return cmocka_run_group_tests_name("base/json", tests, NULL, NULL);
}
