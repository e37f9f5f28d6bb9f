/* test_v8_string.c - strings of every shape, whole and damaged. SPDX-License-Identifier: MIT */
#include "fake_heap.h"
#include "v8/string.h"

static void assert_text(struct fake_heap *h, uint64_t string, const char *expected)
{
	const char *text = ray_v8_string_text(&h->v8, string, 1000);

	assert_non_null(text);
	assert_string_equal(text, expected);
}

static uint64_t two(struct fake_heap *h)
{
	static const uint16_t units[] = { 0x65e5, 0x672c, 'x' };

	return fake_two(h, units, 3);
}

static void one_byte_strings_are_latin_1(void **state)
{
	struct fake_heap *h = *state;

	assert_text(h, fake_one(h, "plain"), "plain");
	assert_text(h, fake_one(h, ""), "");
	assert_text(h, fake_one(h, "caf\xe9"), "caf\u00e9");
}

static void two_byte_strings_are_utf_16(void **state)
{
	static const uint16_t snake[] = { 'a', 0xd83d, 0xdc0d, 'b' };
	struct fake_heap *h = *state;

	assert_text(h, two(h), "\u65e5\u672cx");
	assert_text(h, fake_two(h, snake, 4), "a\U0001f40db");
}

static void lone_surrogates_are_replaced(void **state)
{
	static const uint16_t high[] = { 'a', 0xd83d }, low[] = { 0xdc0d, 'b' }, swapped[] = { 0xdc0d, 0xd83d };
	struct fake_heap *h = *state;

	assert_text(h, fake_two(h, high, 2), "a\ufffd");
	assert_text(h, fake_two(h, low, 2), "\ufffdb");
	assert_text(h, fake_two(h, swapped, 2), "\ufffd\ufffd");
}

static void what_follows_a_nul_is_not_lost(void **state)
{
	struct fake_heap *h = *state;

	assert_text(h, fake_one_bytes(h, "a\0b", 3), "a\\x00b");
}

static void a_long_string_is_cut_and_says_so(void **state)
{
	struct fake_heap *h = *state;

	assert_string_equal(ray_v8_string_text(&h->v8, fake_one(h, "abcdef"), 4), "abcd...");
	assert_string_equal(ray_v8_string_text(&h->v8, fake_one(h, "abcd"), 4), "abcd");
}

static void the_same_string_may_be_cut_in_two_ways(void **state)
{
	struct fake_heap *h = *state;
	uint64_t s = fake_one(h, "abcdef");

	assert_string_equal(ray_v8_string_text(&h->v8, s, 4), "abcd...");
	assert_string_equal(ray_v8_string_text(&h->v8, s, 5), "abcde...");
}

static void cons_strings_are_joined(void **state)
{
	struct fake_heap *h = *state;
	uint64_t s = fake_cons(h, fake_one(h, "one "), two(h), 7);
	uint16_t units[3];

	assert_text(h, s, "one \u65e5\u672cx");
	assert_true(ray_v8_string_units(&h->v8, s, 3, 3, units));
	assert_int_equal(units[0], ' ');
	assert_int_equal(units[1], 0x65e5);
	assert_int_equal(units[2], 0x672c);
	assert_true(ray_v8_string_units(&h->v8, s, 6, 1, units));
	assert_int_equal(units[0], 'x');
}

/* As a loop of s += 'x' and s = 'x' + s leave them. */
static void strings_built_in_a_loop_are_read(void **state)
{
	struct fake_heap *h = *state;
	uint64_t left = fake_one(h, "0"), right = left, x = fake_one(h, "x");
	uint16_t units[5001];

	for (uint32_t i = 1; i <= 5000; i++) {
		left = fake_cons(h, left, x, i + 1);
		right = fake_cons(h, x, right, i + 1);
	}
	assert_string_equal(ray_v8_string_text(&h->v8, left, 4), "0xxx...");
	assert_string_equal(ray_v8_string_text(&h->v8, right, 4), "xxxx...");
	assert_true(ray_v8_string_units(&h->v8, left, 0, 5001, units));
	assert_int_equal(units[0], '0');
	assert_int_equal(units[5000], 'x');
	assert_true(ray_v8_string_units(&h->v8, right, 0, 5001, units));
	assert_int_equal(units[0], 'x');
	assert_int_equal(units[5000], '0');
}

static void rings_of_cons_strings_end(void **state)
{
	struct fake_heap *h = *state;
	uint64_t x = fake_one(h, "x"), ring = fake_cons(h, x, x, 1000), both = fake_cons(h, x, x, 1000);

	fake_set(h, ring, RAY_V8_CONS_SECOND, ring);
	fake_set(h, both, RAY_V8_CONS_FIRST, both);
	fake_set(h, both, RAY_V8_CONS_SECOND, both);
	h->reads = 0;
	assert_null(ray_v8_string_text(&h->v8, ring, 1000));
	assert_null(ray_v8_string_text(&h->v8, both, 1000));
	assert_true(h->reads < 3000000);
	/* It is not tried again. */
	h->reads = 0;
	assert_null(ray_v8_string_text(&h->v8, ring, 1000));
	assert_int_equal(h->reads, 0);
}

static void sliced_strings_are_parts(void **state)
{
	struct fake_heap *h = *state;
	uint64_t s = fake_string(h, fake_get(h, RAY_V8_SLICED_TAG), true, 3, 32);

	fake_set(h, s, RAY_V8_SLICED_PARENT, fake_one(h, "abcdefgh"));
	fake_set(h, s, RAY_V8_SLICED_OFFSET, fake_smi(2));
	assert_text(h, s, "cde");
	fake_set(h, s, RAY_V8_SLICED_OFFSET, fake_smi(6)); /* past the parent's end */
	assert_null(ray_v8_string_text(&h->v8, s, 99));
	fake_set(h, s, RAY_V8_SLICED_OFFSET, fake_smi(-1));
	assert_null(ray_v8_string_text(&h->v8, s, 98));
}

static void thin_strings_are_their_actual_string(void **state)
{
	struct fake_heap *h = *state;
	uint64_t s = fake_string(h, fake_get(h, RAY_V8_THIN_TAG), true, 6, 32);

	fake_set(h, s, RAY_V8_THIN_ACTUAL, fake_one(h, "actual"));
	assert_text(h, s, "actual");
	fake_set(h, s, RAY_V8_THIN_ACTUAL, s);
	assert_null(ray_v8_string_text(&h->v8, s, 99));
}

static void external_strings_lie_outside(void **state)
{
	struct fake_heap *h = *state;
	uint64_t s = fake_string(h, fake_get(h, RAY_V8_EXTERNAL_TAG), true, 7, 32), outside = fake_alloc(h, 8);

	fake_put(h, outside, "outside", 7);
	fake_set(h, s, RAY_V8_EXTERNAL_DATA, outside);
	assert_text(h, s, "outside");
	fake_set(h, s, RAY_V8_EXTERNAL_DATA, 0x10);
	assert_null(ray_v8_string_text(&h->v8, s, 99));
}

static void what_memory_does_not_hold_cannot_be_read(void **state)
{
	struct fake_heap *h = *state;
	uint64_t s = fake_one(h, "x");
	uint32_t length = 0x3fffffff;

	fake_put(h, s - 1 + (uint64_t)fake_get(h, RAY_V8_STRING_LENGTH), &length, sizeof(length));
	assert_int_equal(ray_v8_string_length(&h->v8, s), length);
	assert_null(ray_v8_string_text(&h->v8, s, 1 << 20));
	length++; /* longer than V8 allows */
	fake_put(h, s - 1 + (uint64_t)fake_get(h, RAY_V8_STRING_LENGTH), &length, sizeof(length));
	assert_int_equal(ray_v8_string_length(&h->v8, s), -1);
}

static void what_is_no_string_has_no_text(void **state)
{
	struct fake_heap *h = *state;

	assert_null(ray_v8_string_text(&h->v8, fake_smi(5), 10));
	assert_null(ray_v8_string_text(&h->v8, h->meta, 10));
	assert_null(ray_v8_string_text(&h->v8, fake_base + FAKE_SIZE + 1, 10));
	assert_int_equal(ray_v8_string_length(&h->v8, 1), -1);
}

/* While a collection runs, the map word of a moved object is its new address. */
static void the_type_of_a_moved_object_is_found(void **state)
{
	struct fake_heap *h = *state;
	uint64_t moved = fake_one(h, "moved"), old = fake_alloc(h, 32) + 1;

	fake_word(h, old, 0, moved - 1);
	assert_true(ray_v8_is_string(&h->v8, old));
	fake_word(h, old, 0, old - 1); /* to itself */
	assert_false(ray_v8_is_string(&h->v8, old));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		fake_test(one_byte_strings_are_latin_1),
		fake_test(two_byte_strings_are_utf_16),
		fake_test(lone_surrogates_are_replaced),
		fake_test(what_follows_a_nul_is_not_lost),
		fake_test(a_long_string_is_cut_and_says_so),
		fake_test(the_same_string_may_be_cut_in_two_ways),
		fake_test(cons_strings_are_joined),
		fake_test(strings_built_in_a_loop_are_read),
		fake_test(rings_of_cons_strings_end),
		fake_test(sliced_strings_are_parts),
		fake_test(thin_strings_are_their_actual_string),
		fake_test(external_strings_lie_outside),
		fake_test(what_memory_does_not_hold_cannot_be_read),
		fake_test(what_is_no_string_has_no_text),
		fake_test(the_type_of_a_moved_object_is_found),
	};

	return cmocka_run_group_tests_name("v8/string", tests, NULL, NULL);
}
