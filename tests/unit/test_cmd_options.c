/* test_cmd_options.c - command lines against an option table. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cmd/options.h"
#include "cmd/suggest.h"

static const struct ray_option options[] = {
	{ 'a', "arguments", NULL, "" },
	{ 'v', "verbose", NULL, "" },
	{ 'o', "output", "FILE", "" },
	{ 0, "depth", "N", "" },
	RAY_OPTION_JSON,
};
static const struct ray_verb verb = {
	.name = "look", .summary = "", .options = options, .option_count = RAY_COUNT(options), .max_operands = 2
};

/* Up to a NULL. */
static struct ray_error *parse(struct ray_call **ret, char *const *words)
{
	size_t n = 0;

	while (words[n])
		n++;
	return ray_call_parse(&verb, n, words, ret);
}

#define WORDS(...) ((char *[]){ __VA_ARGS__, NULL })

static void assert_usage(char *const *words, const char *text, const char *remedy)
{
	ray_auto(ray_call, call) = NULL;
	ray_auto(ray_error, err) = parse(&call, words);

	assert_non_null(err);
	assert_null(call);
	assert_int_equal(ray_error_code(err), RAY_USAGE);
	assert_string_equal(ray_error_text(err), text);
	assert_string_equal(ray_error_remedy_text(err), remedy);
}

static void no_words_are_a_call(void **state)
{
	ray_auto(ray_call, call) = NULL;

	(void)state;
	assert_null(ray_call_parse(&verb, 0, NULL, &call));
	assert_int_equal(ray_call_operands(call), 0);
	assert_null(ray_call_operand(call, 0));
	assert_false(ray_call_has(call, "json"));
	assert_null(ray_call_value(call, "output"));
	assert_ptr_equal(ray_call_verb(call), &verb);
}

static void values_come_in_every_form(void **state)
{
	static char *const forms[][4] = {
		{ "--output=x", NULL }, { "--output", "x", NULL }, { "-ox", NULL },
		{ "-o", "x", NULL },	{ "-avox", NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < RAY_COUNT(forms); i++) {
		ray_auto(ray_call, call) = NULL;

		assert_null(parse(&call, forms[i]));
		assert_string_equal(ray_call_value(call, "output"), "x");
		assert_int_equal(ray_call_operands(call), 0);
	}
}

static void flags_can_be_bundled(void **state)
{
	ray_auto(ray_call, call) = NULL;

	(void)state;
	assert_null(parse(&call, WORDS("-va", "1")));
	assert_true(ray_call_has(call, "arguments"));
	assert_true(ray_call_has(call, "verbose"));
	assert_string_equal(ray_call_operand(call, 0), "1");
}

static void operands_may_stand_anywhere(void **state)
{
	ray_auto(ray_call, call) = NULL;

	(void)state;
	assert_null(parse(&call, WORDS("one", "--json", "-", "-a")));
	assert_int_equal(ray_call_operands(call), 2);
	assert_string_equal(ray_call_operand(call, 0), "one");
	assert_string_equal(ray_call_operand(call, 1), "-");
	assert_true(ray_call_has(call, "json"));
	assert_true(ray_call_has(call, "arguments"));
}

static void two_dashes_end_the_options(void **state)
{
	ray_auto(ray_call, call) = NULL;

	(void)state;
	assert_null(parse(&call, WORDS("--", "--json", "--")));
	assert_false(ray_call_has(call, "json"));
	assert_string_equal(ray_call_operand(call, 0), "--json");
	assert_string_equal(ray_call_operand(call, 1), "--");
}

static void an_empty_value_is_a_value(void **state)
{
	ray_auto(ray_call, call) = NULL;

	(void)state;
	assert_null(parse(&call, WORDS("--output=")));
	assert_string_equal(ray_call_value(call, "output"), "");
}

static void the_last_value_counts(void **state)
{
	ray_auto(ray_call, call) = NULL;

	(void)state;
	assert_null(parse(&call, WORDS("-o", "x", "--output=y")));
	assert_string_equal(ray_call_value(call, "output"), "y");
}

static void a_value_may_look_like_an_option(void **state)
{
	ray_auto(ray_call, call) = NULL;

	(void)state;
	assert_null(parse(&call, WORDS("-o", "--json")));
	assert_string_equal(ray_call_value(call, "output"), "--json");
	assert_false(ray_call_has(call, "json"));
}

static void help_is_implied_and_counts_no_operands(void **state)
{
	ray_auto(ray_call, call) = NULL;

	(void)state;
	assert_null(parse(&call, WORDS("a", "b", "c", "-h")));
	assert_true(ray_call_has(call, "help"));
}

static void numbers_are_checked(void **state)
{
	static const char *const bad[] = { "", "x", "1x", "0x10", "99999999999999999999" };
	long number = -1;
	size_t i;

	(void)state;
	for (i = 0; i < RAY_COUNT(bad); i++) {
		ray_auto(ray_call, call) = NULL;
		ray_auto(ray_error, err) = NULL;

		assert_null(parse(&call, WORDS("--depth", (char *)bad[i])));
		err = ray_call_number(call, "depth", 7, &number);
		assert_int_equal(ray_error_code(err), RAY_USAGE);
		assert_non_null(strstr(ray_error_text(err), "--depth needs a number"));
		assert_int_equal(number, -1);
	}
}

static void a_number_falls_back_when_not_given(void **state)
{
	ray_auto(ray_call, call) = NULL;
	ray_auto(ray_call, given) = NULL;
	long number;

	(void)state;
	assert_null(ray_call_parse(&verb, 0, NULL, &call));
	assert_null(ray_call_number(call, "depth", 7, &number));
	assert_int_equal(number, 7);
	assert_null(parse(&given, WORDS("--depth=-12")));
	assert_null(ray_call_number(given, "depth", 7, &number));
	assert_int_equal(number, -12);
}

static void mistakes_are_named(void **state)
{
	static const char help[] = "'noderay look --help' lists the options";

	(void)state;
	assert_usage(WORDS("--jsn"), "look: unknown option '--jsn'", "did you mean '--json'?");
	assert_usage(WORDS("--arg"), "look: unknown option '--arg'", "did you mean '--arguments'?");
	assert_usage(WORDS("--out=x"), "look: unknown option '--out'", "did you mean '--output'?");
	assert_usage(WORDS("--zzzzzz"), "look: unknown option '--zzzzzz'", help);
	assert_usage(WORDS("-z"), "look: unknown option '-z'", help);
	assert_usage(WORDS("-az"), "look: unknown option '-z'", help);
	assert_usage(WORDS("--json=1"), "look: option '--json' takes no value", help);
	assert_usage(WORDS("--output"), "look: option '--output' needs a value: FILE", help);
	assert_usage(WORDS("-ao"), "look: option '-o' needs a value: FILE", help);
	assert_usage(WORDS("a", "b", "c"), "look: one word too many: 'c'", help);
}

static const char *nearest(const char *typed)
{
	struct ray_suggest s;

	ray_suggest_init(&s, typed, strlen(typed));
	ray_suggest_offer(&s, "stack");
	ray_suggest_offer(&s, "maps");
	ray_suggest_offer(&s, "a-word-that-is-longer-than-any-that-is-compared");
	return s.word ? s.word : "";
}

static void near_words_are_suggested_and_far_ones_not(void **state)
{
	(void)state;
	assert_string_equal(nearest("stak"), "stack");
	assert_string_equal(nearest("satck"), "stack");
	assert_string_equal(nearest("stacks"), "stack");
	assert_string_equal(nearest("map"), "maps");
	assert_string_equal(nearest("heap"), "");
	assert_string_equal(nearest(""), "");
	assert_string_equal(nearest("a-word-that-is-longer-than-any-that-is-compared"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_words_are_a_call),
		cmocka_unit_test(values_come_in_every_form),
		cmocka_unit_test(flags_can_be_bundled),
		cmocka_unit_test(operands_may_stand_anywhere),
		cmocka_unit_test(two_dashes_end_the_options),
		cmocka_unit_test(an_empty_value_is_a_value),
		cmocka_unit_test(the_last_value_counts),
		cmocka_unit_test(a_value_may_look_like_an_option),
		cmocka_unit_test(help_is_implied_and_counts_no_operands),
		cmocka_unit_test(numbers_are_checked),
		cmocka_unit_test(a_number_falls_back_when_not_given),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(near_words_are_suggested_and_far_ones_not),
	};

	return cmocka_run_group_tests_name("cmd/options", tests, NULL, NULL);
}
