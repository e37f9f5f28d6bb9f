/* test_base_text.c - text that grows, and text from a target made safe. SPDX-License-Identifier: MIT */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"

static void assert_safe(const char *bytes, size_t length, const char *expected)
{
	ray_auto_text t = { 0 };

	ray_text_add_safe(&t, bytes, length);
	assert_string_equal(ray_text_get(&t), expected);
}

static void empty_text_is_not_null(void **state)
{
	struct ray_text t = { 0 };

	(void)state;
	assert_string_equal(ray_text_get(&t), "");
	ray_text_deinit(&t);
}

static void text_grows_past_any_first_size(void **state)
{
	ray_auto_text t = { 0 };
	int i;

	(void)state;
	for (i = 0; i < 1000; i++)
		ray_text_printf(&t, "%03d,", i);
	assert_int_equal(t.length, 4000);
	assert_int_equal(strlen(ray_text_get(&t)), 4000);
	assert_memory_equal(ray_text_get(&t) + 3996, "999,", 5);
	assert_false(t.failed);
	ray_text_clear(&t);
	assert_string_equal(ray_text_get(&t), "");
}

static void numbers_and_blanks(void **state)
{
	ray_auto_text t = { 0 };

	(void)state;
	ray_text_add_unsigned(&t, 0, 1);
	ray_text_pad(&t, 2);
	ray_text_add_unsigned(&t, 42, 6);
	ray_text_pad(&t, 0);
	ray_text_add_unsigned(&t, UINT64_MAX, 3);
	ray_text_add(&t, ",");
	ray_text_add_signed(&t, INT64_MIN);
	ray_text_add(&t, ",");
	ray_text_add_signed(&t, 7);
	assert_string_equal(ray_text_get(&t), "0  00004218446744073709551615,-9223372036854775808,7");
	assert_int_equal(t.length, strlen(ray_text_get(&t)));
}

static void control_bytes_are_escaped(void **state)
{
	(void)state;
	assert_safe("a\nb\tc\rd", 7, "a\\nb\\tc\\rd");
	assert_safe("\x1b[31mred", 8, "\\x1b[31mred");
	assert_safe("nul\0byte", 8, "nul\\x00byte");
	assert_safe("del\x7f", 4, "del\\x7f");
	assert_safe("\xc2\x9b"
		    "c1",
		    4, "\\x9bc1"); /* the one-character CSI */
}

static void good_utf8_passes(void **state)
{
	(void)state;
	assert_safe("\u00e9\u4e2d\U0001f600", strlen("\u00e9\u4e2d\U0001f600"), "\u00e9\u4e2d\U0001f600");
}

static void broken_utf8_is_replaced_byte_by_byte(void **state)
{
	(void)state;
	assert_safe("\xff", 1, "\ufffd");
	assert_safe("\xe4\xb8", 2, "\ufffd\ufffd");	      /* cut */
	assert_safe("\xc0\xaf", 2, "\ufffd\ufffd");	      /* overlong */
	assert_safe("\xed\xa0\x80", 3, "\ufffd\ufffd\ufffd"); /* surrogate */
	assert_safe("\xf5\x80\x80\x80", 4, "\ufffd\ufffd\ufffd\ufffd");
	assert_safe("a\x80z", 3, "a\ufffdz");
}

static void codepoints_become_utf8(void **state)
{
	ray_auto_text t = { 0 };

	(void)state;
	ray_text_add_codepoint(&t, 'a');
	ray_text_add_codepoint(&t, 0xe9);
	ray_text_add_codepoint(&t, 0x4e2d);
	ray_text_add_codepoint(&t, 0x1f600);
	ray_text_add_codepoint(&t, 0xd800);
	ray_text_add_codepoint(&t, 0x110000);
	assert_string_equal(ray_text_get(&t), "a\u00e9\u4e2d\U0001f600\ufffd\ufffd");
}

static void width_counts_columns(void **state)
{
	(void)state;
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	assert_int_equal(ray_text_width("abc"), 3);
	assert_int_equal(ray_text_width("\u00e9"), 1);
	assert_int_equal(ray_text_width("\u4e2d\u6587"), 4);
	assert_int_equal(ray_text_width("e\u0301"), 1); /* a combining accent */
	assert_int_equal(ray_text_width(""), 0);
}

static void sizes_stay_within_five_characters(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = {
		{ 0, "0" },
		{ 96, "96" },
		{ 999, "999" },
		{ 1000, "1.0K" },
		{ 1536, "1.5K" },
		{ 10240, "10K" },
		{ 1023 * 1024, "1.0M" },
		{ 1ull << 30, "1.0G" },
		{ 3ull << 29, "1.5G" },
		{ 999ull << 20, "999M" },
		{ UINT64_MAX, "16E" },
	};
	char out[8];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_string_equal(ray_format_size(rows[i].bytes, out), rows[i].text);
		assert_true(strlen(out) <= 5);
	}
}

static void ages_use_two_units(void **state)
{
	char out[16];

	(void)state;
	assert_string_equal(ray_format_age(12, out), "12s");
	assert_string_equal(ray_format_age(249, out), "4m09s");
	assert_string_equal(ray_format_age(7800, out), "2h10m");
	assert_string_equal(ray_format_age(3 * 86400 + 4 * 3600, out), "3d04h");
	assert_true(strlen(ray_format_age(UINT64_MAX, out)) < 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_text_is_not_null),
		cmocka_unit_test(text_grows_past_any_first_size),
		cmocka_unit_test(numbers_and_blanks),
		cmocka_unit_test(control_bytes_are_escaped),
		cmocka_unit_test(good_utf8_passes),
		cmocka_unit_test(broken_utf8_is_replaced_byte_by_byte),
		cmocka_unit_test(codepoints_become_utf8),
		cmocka_unit_test(width_counts_columns),
		cmocka_unit_test(sizes_stay_within_five_characters),
		cmocka_unit_test(ages_use_two_units),
	};

	return cmocka_run_group_tests_name("base/text", tests, NULL, NULL);
}
