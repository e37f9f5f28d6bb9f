/* test_view_keys.c - keys out of what terminals send. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "view/keys.h"

static uint32_t after(struct ray_keys *k, const char *bytes, bool is_late)
{
	assert_int_equal(ray_keys_feed(k, bytes, strlen(bytes)), strlen(bytes));
	return ray_keys_next(k, is_late);
}

static void letters_and_sequences(void **state)
{
	struct ray_keys k = { 0 };

	(void)state;
	assert_int_equal(after(&k, "q", false), 'q');
	assert_int_equal(after(&k, "\r", false), RAY_KEY_ENTER);
	assert_int_equal(after(&k, "\b", false), RAY_KEY_BACKSPACE);
	assert_int_equal(after(&k, "\033[A", false), RAY_KEY_UP);
	assert_int_equal(after(&k, "\033OB", false), RAY_KEY_DOWN);
	assert_int_equal(after(&k, "\033[1;5C", false), RAY_KEY_RIGHT); /* with Ctrl */
	assert_int_equal(after(&k, "\033[5~", false), RAY_KEY_PAGE_UP);
	assert_int_equal(after(&k, "\033[Z", false), RAY_KEY_BACK_TAB);
	assert_int_equal(after(&k, "\xc3\xa9", false), 0xe9);
	assert_int_equal(ray_keys_next(&k, true), RAY_KEY_NONE);
	assert_false(ray_keys_waits(&k));
}

static void in_pieces(void **state)
{
	struct ray_keys k = { 0 };

	(void)state;
	assert_int_equal(after(&k, "\033", false), RAY_KEY_NONE);
	assert_int_equal(after(&k, "[", false), RAY_KEY_NONE);
	assert_int_equal(after(&k, "6", false), RAY_KEY_NONE);
	assert_int_equal(after(&k, "~x", false), RAY_KEY_PAGE_DOWN);
	assert_int_equal(ray_keys_next(&k, false), 'x');
	assert_int_equal(after(&k, "\xe2\x82", false), RAY_KEY_NONE);
	assert_int_equal(after(&k, "\xac", false), 0x20ac);
}

static void an_escape_alone_is_a_key(void **state)
{
	struct ray_keys k = { 0 };

	(void)state;
	assert_int_equal(after(&k, "\033", false), RAY_KEY_NONE);
	assert_int_equal(ray_keys_next(&k, true), RAY_KEY_ESCAPE);
	assert_int_equal(after(&k, "\033q", false), RAY_KEY_ESCAPE);
	assert_int_equal(ray_keys_next(&k, false), 'q');
}

static void unknown_sequences_are_swallowed_whole(void **state)
{
	struct ray_keys k = { 0 };

	(void)state;
	assert_int_equal(after(&k, "\033[24;2~q", false), 'q');
	assert_int_equal(after(&k, "\033[?62;4cz", false), 'z'); /* an answer to a question that nobody asked */
	assert_int_equal(after(&k, "\xff\xfe\x80s", false), 's');
	assert_int_equal(after(&k, "\033[99999999999999999999", true), RAY_KEY_NONE);
	assert_false(ray_keys_waits(&k));
}

/* Whatever comes, it never stands still with a full buffer. */
static void noise(void **state)
{
	struct ray_keys k = { 0 };
	unsigned int seed = 7;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		unsigned char byte =
			(unsigned char)(rand_r(&seed) % 3 ? rand_r(&seed) : "\033[O;1~"[rand_r(&seed) % 7]);

		while (!ray_keys_feed(&k, &byte, 1)) {
			size_t before = k.count;

			ray_keys_next(&k, false);
			assert_true(k.count < before);
		}
		if (i % 5 == 0)
			ray_keys_next(&k, i % 3 == 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(letters_and_sequences),
		cmocka_unit_test(in_pieces),
		cmocka_unit_test(an_escape_alone_is_a_key),
		cmocka_unit_test(unknown_sequences_are_swallowed_whole),
		cmocka_unit_test(noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
