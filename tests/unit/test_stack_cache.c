/* test_stack_cache.c - small reads are remembered. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "stack/cache.h"
#include "target/internal.h"

enum { SIZE = 3000 };

static const uint64_t base = 0x10000;
static unsigned char memory[SIZE];
static size_t reads;

static size_t read_memory(struct ray_target *t, uint64_t address, void *buffer, size_t size)
{
	(void)t;
	reads++;
	if (address < base || address - base >= SIZE)
		return 0;
	if (size > SIZE - (address - base))
		size = SIZE - (address - base);
	memcpy(buffer, memory + (address - base), size);
	return size;
}

static const struct ray_target_ops ops = { .read = read_memory };
static struct ray_target target = { .ops = &ops };
static struct ray_cache *cache;
static struct ray_reader reader;

static int set_up(void **state)
{
	(void)state;
	for (size_t i = 0; i < SIZE; i++)
		memory[i] = (unsigned char)i;
	cache = ray_cache_create(&target);
	assert_non_null(cache);
	reader = ray_cache_reader(cache);
	reads = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ray_cache_free(cache);
	return 0;
}

static void nothing_is_remembered_before_the_start(void **state)
{
	uint16_t value;

	(void)state;
	assert_true(ray_read_u16(&reader, base, &value));
	memory[0] = 99;
	assert_true(ray_read_u16(&reader, base, &value));
	assert_int_equal(value & 255, 99);
}

static void a_read_is_remembered_with_what_lies_around_it(void **state)
{
	uint64_t value;

	(void)state;
	ray_cache_start(cache);
	assert_true(ray_read_u64(&reader, base + 8, &value));
	assert_int_equal(value & 255, 8);
	memory[16] = 99;
	assert_true(ray_read_u64(&reader, base + 16, &value));
	assert_int_equal(value & 255, 16);
	assert_int_equal(reads, 1);
}

static void reads_across_lines_and_long_ones_go_to_the_target(void **state)
{
	unsigned char long_one[300];
	uint64_t value;

	(void)state;
	ray_cache_start(cache);
	assert_true(ray_read_u64(&reader, base + 1020, &value));
	assert_int_equal(value & 255, 1020 & 255);
	assert_true(ray_read(&reader, base, long_one, sizeof(long_one)));
	assert_int_equal(long_one[299], 299 & 255);
}

static void the_end_of_memory_is_where_it_was(void **state)
{
	uint64_t value;

	(void)state;
	ray_cache_start(cache);
	assert_true(ray_read_u64(&reader, base + SIZE - 8, &value));
	assert_false(ray_read_u64(&reader, base + SIZE - 4, &value));
	assert_int_equal(reader.read(reader.arg, base + SIZE - 4, &value, 8), 4);
	assert_false(ray_read_u64(&reader, base - 8, &value));
	assert_false(ray_read_u64(&reader, UINT64_MAX - 3, &value));
}

#define cache_test(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cache_test(nothing_is_remembered_before_the_start),
		cache_test(a_read_is_remembered_with_what_lies_around_it),
		cache_test(reads_across_lines_and_long_ones_go_to_the_target),
		cache_test(the_end_of_memory_is_where_it_was),
	};

	return cmocka_run_group_tests_name("stack/cache", tests, NULL, NULL);
}
