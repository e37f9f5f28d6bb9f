/* test_target_pages.c - which pages exist. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "target/pages.h"

#define P ((uint64_t)RAY_PAGE)

struct memory {
	struct ray_map map;
	unsigned char *bytes;
	int pagemap;
};

static struct memory make(size_t pages, int flags)
{
	struct memory m = { .pagemap = open("/proc/self/pagemap", O_RDONLY) };

	m.bytes = mmap(NULL, pages * P, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
	assert_true(m.bytes != MAP_FAILED && m.pagemap >= 0);
	madvise(m.bytes, pages * P, MADV_NOHUGEPAGE);
	m.map = (struct ray_map){ .start = (uintptr_t)m.bytes, .end = (uintptr_t)m.bytes + pages * P, .path = "" };
	return m;
}

static void unmake(struct memory *m)
{
	munmap(m->bytes, m->map.end - m->map.start);
	close(m->pagemap);
}

typedef struct ray_error *find_fn(int, const struct ray_map *, size_t, struct ray_page_runs *);

static void check_touched(find_fn *find)
{
	struct memory m = make(16, MAP_PRIVATE);
	struct ray_page_runs runs = { 0 };

	m.bytes[1 * P] = m.bytes[2 * P] = m.bytes[9 * P] = 1;
	assert_null(find(m.pagemap, &m.map, 1, &runs));
	assert_int_equal(runs.runs.n, 2);
	assert_int_equal(runs.runs.at[0].start, m.map.start + 1 * P);
	assert_int_equal(runs.runs.at[0].end, m.map.start + 3 * P);
	assert_false(runs.runs.at[0].file);
	assert_int_equal(runs.runs.at[1].start, m.map.start + 9 * P);
	ray_page_runs_deinit(&runs);
	unmake(&m);
}

static void touched_pages_are_found(void **state)
{
	(void)state;
	check_touched(ray_pages_find);
}

static void older_kernels_find_the_same(void **state)
{
	(void)state;
	check_touched(ray_pages_find_slowly);
}

static void pages_of_shared_memory_count_as_a_files(void **state)
{
	struct memory m = make(4, MAP_SHARED);
	struct ray_page_runs runs = { 0 };
	(void)state;

	m.bytes[0] = 1;
	assert_null(ray_pages_find(m.pagemap, &m.map, 1, &runs));
	assert_int_equal(runs.runs.n, 1);
	assert_true(runs.runs.at[0].file);
	ray_page_runs_deinit(&runs);
	unmake(&m);
}

static void runs_are_sorted_and_joined(void **state)
{
	struct ray_page_runs r = { 0 };
	(void)state;

	assert_true(ray_vec_push(&r.runs, (struct ray_page_run){ 8 * P, 9 * P, true }));
	assert_true(ray_vec_push(&r.runs, (struct ray_page_run){ 1 * P, 4 * P, true }));
	assert_true(ray_vec_push(&r.runs, (struct ray_page_run){ 2 * P, 5 * P, true }));
	assert_true(ray_vec_push(&r.runs, (struct ray_page_run){ 2 * P, 3 * P, true }));
	ray_page_runs_sort(&r);
	assert_int_equal(r.runs.n, 2);
	assert_int_equal(r.runs.at[0].start, 1 * P);
	assert_int_equal(r.runs.at[0].end, 5 * P);
	ray_page_runs_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(touched_pages_are_found),
		cmocka_unit_test(older_kernels_find_the_same),
		cmocka_unit_test(pages_of_shared_memory_count_as_a_files),
		cmocka_unit_test(runs_are_sorted_and_joined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
