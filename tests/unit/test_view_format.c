/* test_view_format.c - printf() formats of D: what is read, refused and printed. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "view/format.h"

static struct ray_value integer(int64_t n, uint32_t size, bool is_signed)
{
	return (struct ray_value){
		.kind = RAY_VALUE_INTEGER, .integer = (uint64_t)n, .size = size, .is_signed = is_signed
	};
}

static struct ray_value string(const char *text)
{
	return (struct ray_value){ .kind = RAY_VALUE_STRING, .bytes = text, .length = strlen(text), .size = 256 };
}

static void prints(const char *format, const struct ray_value *values, size_t count, const char *expected)
{
	ray_auto(ray_arena, arena) = ray_arena_create();
	struct ray_format *f = NULL;
	ray_auto_text out = { 0 };
	const char *tag;

	assert_null(ray_format_parse(arena, format, strlen(format), &f, &tag));
	assert_int_equal(f->arg_count, count);
	ray_format_print(f, values, count, &out);
	assert_string_equal(ray_text_get(&out), expected);
}

#define PRINTS(format, expected, ...)                                                  \
	do {                                                                           \
		const struct ray_value values_[] = { __VA_ARGS__ };                    \
		prints(format, values_, sizeof(values_) / sizeof(*values_), expected); \
	} while (0)

static void refuses(const char *format, const char *expected)
{
	ray_auto(ray_arena, arena) = ray_arena_create();
	struct ray_format *f = NULL;
	const char *tag = NULL;
	ray_auto(ray_error, err) = ray_format_parse(arena, format, strlen(format), &f, &tag);

	assert_non_null(err);
	assert_string_equal(ray_error_text(err), expected);
	assert_string_equal(tag, "D_SYNTAX");
}

static void the_size_of_a_number_is_its_types(void **state)
{
	(void)state;
	PRINTS("%d", "-17", integer(-17, 1, true));
	PRINTS("%u", "239", integer(-17, 1, true));
	PRINTS("%x", "ef", integer(-17, 1, true));
	PRINTS("%o", "22052746757", integer(-1867788817, 4, true));
	PRINTS("%d", "18446744073709551615", integer(-1, 8, false));
	PRINTS("%d", "-1", integer(-1, 8, true));
	PRINTS("%X", "1234567890ABCDEF", integer(0x1234567890abcdef, 8, true));
	PRINTS("%p", "12345678", integer(0x12345678, 8, false));
	PRINTS("%hd %ld %llu", "1 2 3", integer(1, 2, true), integer(2, 8, true), integer(3, 8, false));
}

static void flags_and_widths_are_those_of_c(void **state)
{
	(void)state;
	PRINTS("[%#8x]", "[   0x123]", integer(0x123, 4, true));
	PRINTS("[%08x]", "[00000123]", integer(0x123, 4, true));
	PRINTS("[%-8x]", "[123     ]", integer(0x123, 4, true));
	PRINTS("[%+8d]", "[    +123]", integer(123, 4, true));
	PRINTS("[% 8d]", "[     123]", integer(123, 4, true));
	PRINTS("[%?d]", "[               5]", integer(5, 4, true));
	PRINTS("[%*d]", "[    1]", integer(5, 4, true), integer(1, 4, true));
	PRINTS("[%*d]", "[1    ]", integer(-5, 4, true), integer(1, 4, true));
	PRINTS("[%*.*s]", "[  he]", integer(4, 4, true), integer(2, 4, true), string("hello"));
	PRINTS("[%5.3d]", "[  007]", integer(7, 4, true));
	PRINTS("[%08d]", "[-0000042]", integer(-42, 4, true));
	PRINTS("[%-8d]", "[-42     ]", integer(-42, 4, true));
	PRINTS("[%2d]", "[-9223372036854775808]", integer(INT64_MIN, 8, true));
	PRINTS("[%6X]", "[    FF]", integer(-1, 1, true));
	PRINTS("[%d]", "[0]", integer(0, 4, true));
}

static void a_precision_of_zero_counts_as_not_given(void **state)
{
	(void)state;
	PRINTS("%.0s", "hello", string("hello"));
	PRINTS("%.3s", "hel", string("hello"));
	PRINTS("%.*s", "hello", integer(0, 4, true), string("hello"));
}

static void characters_and_strings_are_escaped_by_the_capital_letters(void **state)
{
	static const char raw[] = { 'a', '\n', '"', '\\', 1, (char)0xe9, 'z' };
	const struct ray_value full = { .kind = RAY_VALUE_BYTES, .is_char = true, .bytes = raw, .size = sizeof(raw) };
	(void)state;

	PRINTS("%S", "a\\n\\\"\\\\\\001\\351z", full);
	PRINTS("%S", "tab\\there\\0", string("tab\there"));
	PRINTS("%s|", "a\n\"\\\001\xe9z|", full);
	PRINTS("%c%C%C", "A\\n\\0", integer('A', 1, true), integer('\n', 4, true), integer(0, 4, true));
	PRINTS("%lc%wc", "a\xc3\xa9", integer('a', 4, true), integer(0xe9, 4, true));
	PRINTS("[%4c]", "[   x]", integer('x', 1, true));
}

static void literals_and_percents_take_no_value(void **state)
{
	(void)state;
	prints("hello", NULL, 0, "hello");
	prints("100%% sure\n", NULL, 0, "100% sure\n");
	prints("", NULL, 0, "");
}

static void times_are_local(void **state)
{
	const struct ray_value zero = integer(0, 8, false), some = integer(1062609821000000000, 8, false);
	(void)state;

	setenv("TZ", "PST8PDT,M4.1.0,M10.5.0", 1);
	tzset();
	PRINTS("%Y", "1969 Dec 31 16:00:00", zero);
	PRINTS("%Y", "2003 Sep  3 10:23:41", some);
	PRINTS("%T", "Wed, 03 Sep 2003 10:23:41 PDT", some);
}

static void floats_print_by_their_size(void **state)
{
	const float f = 1.5F;
	const double d = -2.25;
	const long double l = 1e300L;
	const struct ray_value vf = { .kind = RAY_VALUE_FLOAT, .size = 4, .bytes = &f };
	const struct ray_value vd = { .kind = RAY_VALUE_FLOAT, .size = 8, .bytes = &d };
	const struct ray_value vl = { .kind = RAY_VALUE_FLOAT, .size = sizeof(l), .bytes = &l };
	(void)state;

	PRINTS("%e %.2f %g %LG", "1.500000e+00 -2.25 -2.25 1E+300", vf, vd, vd, vl);
}

static void stacks_start_a_line_and_take_their_indent_from_a_left_width(void **state)
{
	static const char lines[] = "libc`read+0x1\nnode`main\n";
	const struct ray_value stack = { .kind = RAY_VALUE_USTACK, .bytes = lines, .length = sizeof(lines) - 1 };
	(void)state;

	PRINTS("s:%k.", "s:\nlibc`read+0x1\nnode`main\n.", stack);
	PRINTS("s:%-4k.", "s:\n    libc`read+0x1\n    node`main\n.", stack);
	PRINTS("s:%15k.", "s:\n  libc`read+0x1\n      node`main\n.", stack);
	PRINTS("%*k", "\n  libc`read+0x1\n  node`main\n", integer(-2, 4, true), stack);
}

static void mistakes_are_told_as_the_reference_tells_them(void **state)
{
	(void)state;
	refuses("%", "format conversion #1 name expected before end of format string");
	refuses("%d %*", "format conversion #2 name expected before end of format string");
	refuses("%Z", "format conversion #1 is undefined: %Z");
	refuses("%hhd", "format conversion #1 is undefined: %hhd");
	refuses("%1$d", "format conversion #1 uses unsupported positional format (%n$)");
	refuses("%**d", "format conversion #1 has more than one '*' specified for the output width");
	refuses("%.**d", "format conversion #1 has more than one '*' specified for the output precision");
	refuses("%.1.2d", "format conversion #1 has more than one '.' specified");
	refuses("%-%", "format conversion #1 cannot be combined with other format flags: %%");
	refuses("%99999999999d", "format conversion #1 has a width above 67108864");
}

static bool accepts(const char *format, struct ray_value v, const char **why)
{
	ray_auto(ray_arena, arena) = ray_arena_create();
	struct ray_format *f = NULL;
	const char *tag;

	assert_null(ray_format_parse(arena, format, strlen(format), &f, &tag));
	return ray_conversion_accepts(&f->at[0], &v, why);
}

static void conversions_take_only_what_they_can_print(void **state)
{
	struct ray_value pointer = integer(1, 8, false);
	const char *why;
	(void)state;

	pointer.is_pointer = true;
	assert_true(accepts("%p", pointer, &why));
	assert_true(accepts("%a", pointer, &why));
	assert_false(accepts("%d", pointer, &why));
	assert_string_equal(why, "char, short, int, long, or long long");
	assert_false(accepts("%s", integer(1, 4, true), &why));
	assert_string_equal(why, "char [] or string (or use stringof)");
	assert_true(accepts("%s", string("x"), &why));
	assert_false(accepts("%d", string("x"), &why));
	assert_false(accepts("%c", integer(1, 8, true), &why));
	assert_string_equal(why, "char, short, or int");
	assert_false(accepts("%hd", integer(1, 4, true), &why));
	assert_string_equal(why, "short");
	assert_true(accepts("%@d", integer(1, 8, true), &why));
	assert_false(accepts("%Y", integer(1, 4, true), &why));
	assert_false(accepts("%k", integer(1, 4, true), &why));
	assert_string_equal(why, "stack");
}

static void a_number_that_needs_a_value_but_has_none_prints_nothing(void **state)
{
	ray_auto(ray_arena, arena) = ray_arena_create();
	struct ray_format *f = NULL;
	ray_auto_text out = { 0 };
	const char *tag;
	(void)state;

	assert_null(ray_format_parse(arena, "a%*d%sb", 7, &f, &tag));
	ray_format_print(f, NULL, 0, &out);
	assert_string_equal(ray_text_get(&out), "ab");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_size_of_a_number_is_its_types),
		cmocka_unit_test(flags_and_widths_are_those_of_c),
		cmocka_unit_test(a_precision_of_zero_counts_as_not_given),
		cmocka_unit_test(characters_and_strings_are_escaped_by_the_capital_letters),
		cmocka_unit_test(literals_and_percents_take_no_value),
		cmocka_unit_test(times_are_local),
		cmocka_unit_test(floats_print_by_their_size),
		cmocka_unit_test(stacks_start_a_line_and_take_their_indent_from_a_left_width),
		cmocka_unit_test(mistakes_are_told_as_the_reference_tells_them),
		cmocka_unit_test(conversions_take_only_what_they_can_print),
		cmocka_unit_test(a_number_that_needs_a_value_but_has_none_prints_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
