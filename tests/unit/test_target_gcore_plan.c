/* test_target_gcore_plan.c - what a core holds, and where. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/mman.h>

#include "target/gcore_plan.h"
#include "target/smaps.h"

#define K 4096ull

static const int r = PROT_READ, rw = PROT_READ | PROT_WRITE;

static struct ray_gcore_map a_map(struct ray_map *storage, uint64_t from, uint64_t to, int prot, const char *path)
{
	*storage = (struct ray_map){ .start = from * K, .end = to * K, .prot = prot, .path = path };
	return (struct ray_gcore_map){ .map = storage };
}

static struct ray_gcore_plan plan_of(const struct ray_gcore_map *maps, size_t count, struct ray_page_run *runs,
				     size_t run_count)
{
	struct ray_page_runs pages = { .runs = { .at = runs, .n = run_count } };
	struct ray_gcore_plan plan = { 0 };

	for (size_t i = 0; i < run_count; i++) {
		runs[i].start *= K;
		runs[i].end *= K;
	}
	assert_null(ray_gcore_plan_make(maps, count, &pages, false, &plan));
	ray_gcore_plan_place(&plan, 100);
	return plan;
}

static void check_segment(const struct ray_gcore_plan *p, size_t i, uint64_t from, uint64_t to, bool stored,
			  uint64_t offset)
{
	assert_true(i < p->segments.n);
	assert_int_equal(p->segments.at[i].start, from * K);
	assert_int_equal(p->segments.at[i].size, (to - from) * K);
	assert_int_equal(p->segments.at[i].stored, stored ? (to - from) * K : 0);
	assert_int_equal(p->segments.at[i].offset, offset * K);
}

static void check_extent(const struct ray_gcore_plan *p, size_t i, uint64_t from, uint64_t to, uint64_t offset)
{
	assert_true(i < p->extents.n);
	assert_int_equal(p->extents.at[i].start, from * K);
	assert_int_equal(p->extents.at[i].size, (to - from) * K);
	assert_int_equal(p->extents.at[i].offset, offset * K);
}

static void untouched_memory_is_a_hole_in_one_segment(void **state)
{
	struct ray_map m;
	struct ray_gcore_map maps[] = { a_map(&m, 10, 20, rw, "") };
	struct ray_page_run runs[] = { { 11, 12, false }, { 15, 30, false } };
	struct ray_gcore_plan p = plan_of(maps, 1, runs, 2);
	(void)state;

	assert_int_equal(p.segments.n, 1);
	check_segment(&p, 0, 10, 20, true, 1);
	assert_int_equal(p.extents.n, 2);
	check_extent(&p, 0, 11, 12, 2);
	check_extent(&p, 1, 15, 20, 6);
	assert_int_equal(p.copied, 6 * K);
	assert_int_equal(p.size, 11 * K);
	ray_gcore_plan_deinit(&p);
}

static void a_run_of_pages_over_two_mappings_belongs_to_both(void **state)
{
	struct ray_map m[2];
	struct ray_gcore_map maps[] = { a_map(&m[0], 10, 20, rw, ""), a_map(&m[1], 20, 30, r, "[heap]") };
	struct ray_page_run runs[] = { { 15, 25, false } };
	struct ray_gcore_plan p = plan_of(maps, 2, runs, 1);
	(void)state;

	assert_int_equal(p.extents.n, 2);
	check_extent(&p, 0, 15, 20, 6);
	check_extent(&p, 1, 20, 25, 11);
	ray_gcore_plan_deinit(&p);
}

static void only_changed_pages_of_a_file_are_kept(void **state)
{
	struct ray_map m;
	struct ray_gcore_map maps[] = { a_map(&m, 100, 200, rw, "/usr/bin/node") };
	struct ray_page_run runs[] = {
		{ 100, 120, true }, { 120, 121, false }, { 121, 150, true }, { 150, 160, false }
	};
	struct ray_gcore_plan p = plan_of(maps, 1, runs, 4);
	(void)state;

	assert_int_equal(p.segments.n, 5);
	check_segment(&p, 0, 100, 120, false, 1);
	check_segment(&p, 1, 120, 121, true, 1);
	check_segment(&p, 2, 121, 150, false, 2);
	check_segment(&p, 3, 150, 160, true, 2);
	check_segment(&p, 4, 160, 200, false, 12);
	assert_int_equal(p.extents.n, 2);
	assert_int_equal(p.left_out, 49 * K);
	ray_gcore_plan_deinit(&p);
}

static void changed_pages_near_each_other_share_a_segment(void **state)
{
	struct ray_map m;
	struct ray_gcore_map maps[] = { a_map(&m, 100, 200, rw, "/usr/bin/node") };
	struct ray_page_run runs[] = { { 110, 111, false }, { 112, 113, false } };
	struct ray_gcore_plan p = plan_of(maps, 1, runs, 2);
	(void)state;

	assert_int_equal(p.segments.n, 3);
	check_segment(&p, 1, 110, 113, true, 1);
	ray_gcore_plan_deinit(&p);
}

static void the_first_page_of_an_elf_file_is_always_kept(void **state)
{
	struct ray_map m;
	struct ray_gcore_map maps[] = { a_map(&m, 100, 200, r, "/usr/bin/node") };
	struct ray_gcore_plan p;
	(void)state;

	maps[0].is_elf = true;
	p = plan_of(maps, 1, NULL, 0);
	assert_int_equal(p.segments.n, 2);
	check_segment(&p, 0, 100, 101, true, 1);
	check_segment(&p, 1, 101, 200, false, 2);
	check_extent(&p, 0, 100, 101, 1);
	ray_gcore_plan_deinit(&p);
}

static void content_is_by_kind_of_mapping(void **state)
{
	static const struct {
		const char *path;
		int prot;
		bool shared;
		unsigned flags;
		enum ray_gcore_content plain, full;
	} cases[] = {
		{ "", PROT_READ, false, 0, RAY_GCORE_MEMORY, RAY_GCORE_MEMORY },
		{ "", PROT_NONE, false, 0, RAY_GCORE_TOUCHED, RAY_GCORE_TOUCHED },
		{ "", PROT_READ, false, RAY_SMAP_DONTDUMP, RAY_GCORE_NOTHING, RAY_GCORE_MEMORY },
		{ "[vvar]", PROT_READ, false, 0, RAY_GCORE_NOTHING, RAY_GCORE_NOTHING },
		{ "[vdso]", PROT_READ, false, 0, RAY_GCORE_ALL, RAY_GCORE_ALL },
		{ "/dev/dri/card0", PROT_READ, true, 0, RAY_GCORE_NOTHING, RAY_GCORE_NOTHING },
		{ "anon_inode:[io_uring]", PROT_READ, true, 0, RAY_GCORE_NOTHING, RAY_GCORE_NOTHING },
		{ "/memfd:x (deleted)", PROT_READ, true, 0, RAY_GCORE_MEMORY, RAY_GCORE_MEMORY },
		{ "/dev/zero (deleted)", PROT_READ, true, 0, RAY_GCORE_MEMORY, RAY_GCORE_MEMORY },
		{ "/anon_hugepage (deleted)", PROT_READ, false, 0, RAY_GCORE_MEMORY, RAY_GCORE_MEMORY },
		{ "/usr/bin/node", PROT_READ, false, 0, RAY_GCORE_CHANGED, RAY_GCORE_ALL },
		{ "/usr/bin/node (deleted)", PROT_READ, false, 0, RAY_GCORE_ALL, RAY_GCORE_ALL },
		{ "/data.mdb", PROT_READ, true, 0, RAY_GCORE_NOTHING, RAY_GCORE_ALL },
		{ "/data.mdb", PROT_WRITE, true, 0, RAY_GCORE_TOUCHED, RAY_GCORE_ALL },
		{ "/data.mdb", PROT_READ, true, RAY_SMAP_IO, RAY_GCORE_NOTHING, RAY_GCORE_NOTHING },
	};
	(void)state;

	for (size_t i = 0; i < RAY_COUNT(cases); i++) {
		struct ray_map map = {
			.end = K, .prot = cases[i].prot, .shared = cases[i].shared, .path = cases[i].path
		};
		struct ray_gcore_map m = { .map = &map, .flags = cases[i].flags };

		if (ray_gcore_content(&m, false) != cases[i].plain || ray_gcore_content(&m, true) != cases[i].full)
			fail_msg("case %zu: %s", i, cases[i].path);
	}
}

static void a_huge_sparse_mapping_makes_no_huge_file(void **state)
{
	struct ray_map m;
	struct ray_gcore_map maps[] = { a_map(&m, 1, 1ull << 33, rw, "") };
	struct ray_page_run runs[] = { { 1ull << 20, (1ull << 20) + 1, false },
				       { 1ull << 32, (1ull << 32) + 2, false } };
	struct ray_gcore_plan p = plan_of(maps, 1, runs, 2);
	(void)state;

	assert_int_equal(p.segments.n, 5);
	assert_int_equal(p.size, 4 * K);
	ray_gcore_plan_deinit(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(untouched_memory_is_a_hole_in_one_segment),
		cmocka_unit_test(a_run_of_pages_over_two_mappings_belongs_to_both),
		cmocka_unit_test(only_changed_pages_of_a_file_are_kept),
		cmocka_unit_test(changed_pages_near_each_other_share_a_segment),
		cmocka_unit_test(the_first_page_of_an_elf_file_is_always_kept),
		cmocka_unit_test(content_is_by_kind_of_mapping),
		cmocka_unit_test(a_huge_sparse_mapping_makes_no_huge_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
