/* test_target_gcore_copy.c - copying stretches of memory. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "target/gcore_copy.h"

#define P ((size_t)RAY_PAGE)

enum { PAGES = 4096 };

static unsigned char *memory; /* each page is filled with its number */

static int set_up(void **state)
{
	(void)state;
	memory = mmap(NULL, PAGES * P, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (unsigned i = 0; i < PAGES; i++)
		memset(memory + i * P, (int)(i % 251 + 1), P);
	return 0;
}

static struct ray_extent pages(size_t from, size_t to)
{
	return (struct ray_extent){ .start = (uintptr_t)memory + from * P, .size = (to - from) * P };
}

static uint64_t copy(const struct ray_extent *extents, size_t count, unsigned char *to)
{
	ray_auto_fd int mem = open("/proc/self/mem", O_RDONLY);
	struct ray_copy c = { .pid = getpid(), .mem = mem, .threads = 3 };
	uint64_t lost = 0;

	assert_true(ray_copy_extents(&c, extents, count, to, &lost));
	return lost;
}

static void extents_of_any_size_follow_each_other(void **state)
{
	struct ray_extent extents[PAGES];
	unsigned char *to = ray_copy_buffer(PAGES * P), *at = to;
	size_t n = 0;
	(void)state;

	for (size_t i = 0; i + 3 < 1500; i += 3)
		extents[n++] = pages(i, i + 1 + i % 2);
	extents[n++] = pages(1500, PAGES);
	assert_int_equal(copy(extents, n, to), 0);
	for (size_t i = 0; i < n; at += extents[i++].size)
		assert_memory_equal(at, (void *)(uintptr_t)extents[i].start, extents[i].size);
	ray_copy_buffer_free(to, PAGES * P);
}

static void what_cannot_be_read_is_zeros_and_counted(void **state)
{
	unsigned char *to = ray_copy_buffer(16 * P);
	struct ray_extent extents[] = { pages(0, 8), pages(8, 16) };
	(void)state;

	memset(to, 7, 16 * P);
	munmap(memory + 3 * P, P);
	mprotect(memory + 10 * P, P, PROT_NONE);
	assert_int_equal(copy(extents, 2, to), P);
	assert_memory_equal(to, memory, 3 * P);
	assert_int_equal(to[3 * P], 0);
	assert_int_equal(to[4 * P - 1], 0);
	assert_memory_equal(to + 4 * P, memory + 4 * P, 6 * P);
	assert_int_equal(to[10 * P], 11); /* read by force */
	assert_memory_equal(to + 11 * P, memory + 11 * P, 5 * P);
	ray_copy_buffer_free(to, 16 * P);
}

static void bytes_that_were_copied_before_are_taken_from_there(void **state)
{
	static unsigned char ready[2 * RAY_PAGE];
	unsigned char *to = ray_copy_buffer(8 * P);
	struct ray_extent extents[] = { pages(20, 22), pages(22, 24), pages(24, 26) };
	(void)state;

	memset(ready, 'r', sizeof(ready));
	extents[1].copy = ready;
	extents[2].unreadable = true;
	assert_int_equal(copy(extents, 3, to), 0);
	assert_memory_equal(to, memory + 20 * P, 2 * P);
	assert_memory_equal(to + 2 * P, ready, 2 * P);
	assert_memory_equal(to + 4 * P, memory + 24 * P, 2 * P);
	ray_copy_buffer_free(to, 8 * P);
}

static void the_budget_is_less_than_the_machine_has(void **state)
{
	(void)state;
	assert_true(ray_copy_budget() > 0);
	assert_true(ray_copy_budget() < (uint64_t)sysconf(_SC_PHYS_PAGES) * P);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extents_of_any_size_follow_each_other),
		cmocka_unit_test(what_cannot_be_read_is_zeros_and_counted),
		cmocka_unit_test(bytes_that_were_copied_before_are_taken_from_there),
		cmocka_unit_test(the_budget_is_less_than_the_machine_has),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
