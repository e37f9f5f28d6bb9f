/* test_target_cpu.c - CPU time of threads. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "target/cpu.h"

static void stat_with_any_name(void **state)
{
	uint64_t ticks, start, pages;

	(void)state;
	assert_true(ray_cpu_parse_stat("12 (a) R (b)) S 1 2 3 4 5 6 7 8 9 10 110 22 13 14 15 16 17 18 9000 20 321 22",
				       &ticks, &start, &pages));
	assert_int_equal(ticks, 132);
	assert_int_equal(start, 9000);
	assert_int_equal(pages, 321);
	assert_false(ray_cpu_parse_stat("12 (a) R 1 2", &ticks, &start, &pages));
	assert_false(ray_cpu_parse_stat("", &ticks, &start, &pages));
}

static void this_process(void **state)
{
	struct ray_cpu before, after;
	volatile unsigned int x = 0;

	(void)state;
	assert_true(ray_cpu_read(getpid(), &before));
	for (unsigned int i = 0; i < 20000000; i++)
		x += i;
	assert_true(ray_cpu_read(getpid(), &after));
	assert_int_equal(after.threads[0].tid, getpid());
	assert_true(after.threads[0].ns > before.threads[0].ns);
	assert_true(after.rss > 0);
	assert_true(after.threads[0].name[0]);
	ray_cpu_deinit(&before);
	ray_cpu_deinit(&after);
	assert_false(ray_cpu_read(0x7ffffffe, &after));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stat_with_any_name),
		cmocka_unit_test(this_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
