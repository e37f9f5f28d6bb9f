/* test_target_pins.c - what was copied while the target was stopped. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "target/pins.h"

static void add_range(struct ray_pins *p, uint64_t start, int value, size_t size)
{
	unsigned char *bytes = malloc(size);

	assert_non_null(bytes);
	memset(bytes, value, size);
	assert_true(ray_pins_add_range(p, start, bytes, size));
}

static void add_block(struct ray_pins *p, uint64_t address, int value)
{
	unsigned char *bytes = ray_pins_new_block(p, address);

	assert_non_null(bytes);
	memset(bytes, value, RAY_PIN_BLOCK);
}

static void nothing_is_pinned_at_first(void **state)
{
	ray_auto(ray_pins, p) = ray_pins_create();
	unsigned char b[64];
	size_t gap = 0;

	(void)state;
	assert_int_equal(ray_pins_read(p, 0x1000, b, sizeof(b), &gap), 0);
	assert_int_equal(gap, sizeof(b));
}

static void the_newest_range_comes_first(void **state)
{
	ray_auto(ray_pins, p) = ray_pins_create();
	unsigned char b[16];
	size_t gap;

	(void)state;
	add_range(p, 0x1000, 'o', 64);
	add_range(p, 0x1008, 'n', 8);
	assert_int_equal(ray_pins_read(p, 0x1008, b, 16, &gap), 8); /* up to its end; ask again for the rest */
	assert_int_equal(b[0], 'n');
	assert_int_equal(ray_pins_read(p, 0x1010, b, 16, &gap), 16);
	assert_int_equal(b[0], 'o');
}

static void a_gap_ends_where_something_is_pinned(void **state)
{
	ray_auto(ray_pins, p) = ray_pins_create();
	unsigned char b[4096];
	size_t gap;

	(void)state;
	add_range(p, 0x1100, 'r', 16);
	assert_int_equal(ray_pins_read(p, 0x1000, b, sizeof(b), &gap), 0);
	assert_int_equal(gap, 0x100);
	assert_int_equal(ray_pins_read(p, 0x1110, b, sizeof(b), &gap), 0);
	assert_int_equal(gap, sizeof(b));
	add_block(p, 0x1200, 'b');
	assert_int_equal(ray_pins_read(p, 0x1110, b, sizeof(b), &gap), 0);
	assert_true(gap >= 1 && gap <= 0xf0);
}

static void blocks_are_read_from_any_byte(void **state)
{
	ray_auto(ray_pins, p) = ray_pins_create();
	unsigned char b[2 * RAY_PIN_BLOCK];
	size_t gap;

	(void)state;
	add_block(p, 0x2000, 'x');
	add_block(p, 0x2000 + RAY_PIN_BLOCK, 'y');
	assert_int_equal(ray_pins_read(p, 0x2010, b, sizeof(b), &gap), RAY_PIN_BLOCK - 0x10);
	assert_int_equal(b[0], 'x');
	assert_int_equal(ray_pins_read(p, 0x2000 + RAY_PIN_BLOCK, b, 8, &gap), 8);
	assert_int_equal(b[0], 'y');
	assert_null(ray_pins_new_block(p, 0x2000)); /* the first copy stays */
}

static void dropped_blocks_are_not_served(void **state)
{
	ray_auto(ray_pins, p) = ray_pins_create();
	unsigned char b[8];
	size_t gap;

	(void)state;
	add_block(p, 0x2000, 'x');
	ray_pins_drop_block(p, 0x2000);
	ray_pins_drop_block(p, 0x9000); /* never there */
	assert_int_equal(ray_pins_read(p, 0x2000, b, 8, &gap), 0);
	assert_int_equal(gap, 8);
}

static void a_range_hides_the_block_below_it(void **state)
{
	ray_auto(ray_pins, p) = ray_pins_create();
	unsigned char b[RAY_PIN_BLOCK];
	size_t gap;

	(void)state;
	add_block(p, 0x2000, 'b');
	add_range(p, 0x2040, 'r', 0x10);
	assert_int_equal(ray_pins_read(p, 0x2000, b, sizeof(b), &gap), 0x40);
	assert_int_equal(b[0x3f], 'b');
	assert_int_equal(ray_pins_read(p, 0x2040, b, sizeof(b), &gap), 0x10);
	assert_int_equal(b[0], 'r');
}

static void many_blocks_are_all_found(void **state)
{
	enum { COUNT = 5000 };
	ray_auto(ray_pins, p) = ray_pins_create();
	unsigned char b;
	size_t gap;

	(void)state;
	for (uint64_t i = 0; i < COUNT; i++)
		add_block(p, 0x7f0000000000 + i * 3 * RAY_PIN_BLOCK, (int)(i & 255));
	for (uint64_t i = 0; i < COUNT; i++) {
		uint64_t at = 0x7f0000000000 + i * 3 * RAY_PIN_BLOCK;

		assert_int_equal(ray_pins_read(p, at + 255, &b, 1, &gap), 1);
		assert_int_equal(b, i & 255);
		assert_int_equal(ray_pins_read(p, at + 256, &b, 1, &gap), 0);
	}
}

static void the_end_of_the_address_space_is_no_trap(void **state)
{
	ray_auto(ray_pins, p) = ray_pins_create();
	unsigned char b[64];
	size_t gap;

	(void)state;
	add_range(p, UINT64_MAX - 31, 'e', 16);
	assert_int_equal(ray_pins_read(p, UINT64_MAX - 20, b, 64, &gap), 5);
	assert_int_equal(ray_pins_read(p, UINT64_MAX - 2, b, 2, &gap), 0);
	assert_int_equal(ray_pins_read(p, 0, b, 64, &gap), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_pinned_at_first),
		cmocka_unit_test(the_newest_range_comes_first),
		cmocka_unit_test(a_gap_ends_where_something_is_pinned),
		cmocka_unit_test(blocks_are_read_from_any_byte),
		cmocka_unit_test(dropped_blocks_are_not_served),
		cmocka_unit_test(a_range_hides_the_block_below_it),
		cmocka_unit_test(many_blocks_are_all_found),
		cmocka_unit_test(the_end_of_the_address_space_is_no_trap),
	};

	return cmocka_run_group_tests_name("target/pins", tests, NULL, NULL);
}
