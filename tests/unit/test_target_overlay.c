/* test_target_overlay.c - what others saw, laid over memory. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/auto.h"
#include "target/overlay.h"

static struct ray_overlay_piece pieces[] = {
	{ 0x2000, 8, "BBBBBBBB" },
	{ 0x1000, 16, "aaaaaaaaAAAAAAAA" },
	{ 0x1008, 16, "AAAAAAAAcccccccc" },
};

static int set_up(void **state)
{
	(void)state;
	ray_overlay_sort(pieces, RAY_COUNT(pieces));
	return 0;
}

static void a_piece_answers_what_it_has_whole(void **state)
{
	char buffer[16];

	(void)state;
	assert_true(ray_overlay_read(pieces, RAY_COUNT(pieces), 0x1000, buffer, 16));
	assert_memory_equal(buffer, "aaaaaaaaAAAAAAAA", 16);
	assert_true(ray_overlay_read(pieces, RAY_COUNT(pieces), 0x1010, buffer, 8));
	assert_memory_equal(buffer, "cccccccc", 8);
	assert_true(ray_overlay_read(pieces, RAY_COUNT(pieces), 0x2004, buffer, 4));
	assert_false(ray_overlay_read(pieces, RAY_COUNT(pieces), 0x2004, buffer, 5));
	assert_false(ray_overlay_read(pieces, RAY_COUNT(pieces), 0xfff, buffer, 2));
	assert_false(ray_overlay_read(pieces, RAY_COUNT(pieces), 0, buffer, 1));
	assert_false(ray_overlay_read(pieces, 0, 0x1000, buffer, 1));
}

static void pieces_are_patched_into_what_was_read(void **state)
{
	char buffer[40];

	(void)state;
	memset(buffer, '.', sizeof(buffer));
	ray_overlay_patch(pieces, RAY_COUNT(pieces), 0xffc, buffer, 40);
	assert_memory_equal(buffer, "....aaaaaaaaAAAAAAAAcccccccc............", 40);
	memset(buffer, '.', sizeof(buffer));
	ray_overlay_patch(pieces, RAY_COUNT(pieces), 0x1014, buffer, 8);
	assert_memory_equal(buffer, "cccc....", 8);
	memset(buffer, '.', sizeof(buffer));
	ray_overlay_patch(pieces, RAY_COUNT(pieces), 0x3000, buffer, 8);
	assert_memory_equal(buffer, "........", 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_piece_answers_what_it_has_whole, set_up),
		cmocka_unit_test_setup(pieces_are_patched_into_what_was_read, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
