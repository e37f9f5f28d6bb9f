/* test_v8_value.c - values in a few characters. SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/text.h"
#include "fake_heap.h"
#include "v8/value.h"

static void assert_brief(struct fake_heap *h, uint64_t value, const char *expected)
{
	ray_auto_text text = { 0 };

	ray_v8_value_brief(&h->v8, value, &text);
	assert_string_equal(ray_text_get(&text), expected);
}

static uint64_t number(struct fake_heap *h, double d)
{
	uint64_t n = fake_object(h, RAY_V8_TYPE_HEAP_NUMBER, 16);

	fake_put(h, n - 1 + (uint64_t)fake_get(h, RAY_V8_HEAP_NUMBER_VALUE), &d, sizeof(d));
	return n;
}

static uint64_t oddball(struct fake_heap *h, int32_t kind)
{
	uint64_t o = fake_object(h, RAY_V8_TYPE_ODDBALL, 56);

	fake_set(h, o, RAY_V8_ODDBALL_KIND, fake_smi(kind));
	return o;
}

static void small_numbers(void **state)
{
	struct fake_heap *h = *state;

	assert_brief(h, fake_smi(0), "0");
	assert_brief(h, fake_smi(-5), "-5");
	assert_brief(h, fake_smi(INT32_MIN), "-2147483648");
	assert_brief(h, 0x1234, "(not a value: 0x1234)");
}

static void numbers_as_javascript_writes_them(void **state)
{
	struct fake_heap *h = *state;

	assert_brief(h, number(h, 0.1), "0.1");
	assert_brief(h, number(h, 1.0 / 3), "0.3333333333333333");
	assert_brief(h, number(h, 4294967296.0), "4294967296");
	assert_brief(h, number(h, -0.0), "-0");
	assert_brief(h, number(h, NAN), "NaN");
	assert_brief(h, number(h, -INFINITY), "-Infinity");
	assert_brief(h, number(h, 0.1 + 0.2), "0.30000000000000004");
}

static void oddballs(void **state)
{
	struct fake_heap *h = *state;

	assert_brief(h, oddball(h, 0), "false");
	assert_brief(h, oddball(h, fake_get(h, RAY_V8_ODDBALL_TRUE)), "true");
	assert_brief(h, oddball(h, fake_get(h, RAY_V8_ODDBALL_NULL)), "null");
	assert_brief(h, oddball(h, fake_get(h, RAY_V8_ODDBALL_UNDEFINED)), "undefined");
	assert_brief(h, oddball(h, 99), "(hole)");
	assert_true(ray_v8_is_nullish(&h->v8, oddball(h, fake_get(h, RAY_V8_ODDBALL_NULL))));
	assert_false(ray_v8_is_nullish(&h->v8, oddball(h, 0)));
	if (ray_v8_has(h->layout, RAY_V8_TYPE_HOLE))
		assert_brief(h, fake_object(h, RAY_V8_TYPE_HOLE, 16), "(hole)");
}

static void strings_are_quoted_cut_and_escaped(void **state)
{
	struct fake_heap *h = *state;

	assert_brief(h, fake_one(h, "text"), "\"text\"");
	assert_brief(h, fake_one(h, "a\nb\x1b[31m\x9b"), "\"a\\nb\\x1b[31m\\x9b\"");
	assert_brief(h, fake_one(h, "0123456789012345678901234567890123456789x"),
		     "\"0123456789012345678901234567890123456789...\"");
}

static void symbols_have_their_description(void **state)
{
	struct fake_heap *h = *state;
	uint64_t s = fake_object(h, RAY_V8_TYPE_SYMBOL, 24);

	fake_set(h, s, RAY_V8_SYMBOL_NAME, fake_one(h, "kState\x07"));
	assert_brief(h, s, "Symbol(kState\\x07)");
	fake_set(h, s, RAY_V8_SYMBOL_NAME, fake_smi(0));
	assert_brief(h, s, "Symbol()");
}

static void functions_have_their_name(void **state)
{
	struct fake_heap *h = *state;

	assert_brief(h, fake_function(h, fake_shared(h, fake_one(h, "run"), 0)), "function run");
	assert_brief(h, fake_function(h, fake_shared(h, fake_smi(0), 0)), "function");
}

static void objects_have_their_class(void **state)
{
	struct fake_heap *h = *state;
	uint64_t object = fake_object(h, RAY_V8_TYPE_JSOBJECT, 32), map = 0;
	uint64_t server = fake_function(h, fake_shared(h, fake_one(h, "Ser\x1bver"), 0));

	assert_brief(h, object, "#<Object>");
	assert_true(ray_v8_word(&h->v8, object, 0, &map));
	fake_set(h, map, RAY_V8_MAP_CONSTRUCTOR, server);
	assert_brief(h, object, "#<Ser\\x1bver>");
	assert_brief(h, fake_object(h, RAY_V8_TYPE_GLOBAL_PROXY, 32), "#<global>");
}

static void arrays_have_their_length(void **state)
{
	struct fake_heap *h = *state;
	uint64_t a = fake_object(h, RAY_V8_TYPE_JSARRAY, 32);

	fake_set(h, a, RAY_V8_JSARRAY_LENGTH, fake_smi(3));
	assert_brief(h, a, "Array(3)");
	fake_set(h, a, RAY_V8_JSARRAY_LENGTH, fake_smi(-3)); /* damaged */
	assert_brief(h, a, "#<Object>");
}

static void what_cannot_be_read_says_so(void **state)
{
	struct fake_heap *h = *state;

	assert_brief(h, 0x7f0000000001, "(unreadable 0x7f0000000001)");
	assert_brief(h, 3, "(unreadable 0x3)");
	assert_brief(h, fake_alloc(h, 16) + 1, "(unreadable 0x100000051)"); /* behind the map of maps, without a map */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		fake_test(small_numbers),
		fake_test(numbers_as_javascript_writes_them),
		fake_test(oddballs),
		fake_test(strings_are_quoted_cut_and_escaped),
		fake_test(symbols_have_their_description),
		fake_test(functions_have_their_name),
		fake_test(objects_have_their_class),
		fake_test(arrays_have_their_length),
		fake_test(what_cannot_be_read_says_so),
	};

	return cmocka_run_group_tests_name("v8/value", tests, NULL, NULL);
}
