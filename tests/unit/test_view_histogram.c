/* test_view_histogram.c - distributions as bars. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "view/histogram.h"

static void prints(const struct ray_histogram *h, const char *expected)
{
	ray_auto_text out = { 0 };

	ray_histogram_print(h, &out);
	assert_string_equal(ray_text_get(&out), expected);
}

#define HEAD "\n           value  ------------- Distribution ------------- count    \n"

static void powers_of_two_have_a_row_around_what_is_there(void **state)
{
	int64_t bins[RAY_POWER_BINS] = { [RAY_POWER_ZERO] = 1, [RAY_POWER_ZERO + 3] = 3 };
	struct ray_histogram h = { .bins = bins, .count = RAY_POWER_BINS, .normal = 1 };
	(void)state;

	prints(&h, HEAD "              -1 |                                         0        \n"
			"               0 |@@@@@@@@@@                               1        \n"
			"               1 |                                         0        \n"
			"               2 |                                         0        \n"
			"               4 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3        \n"
			"               8 |                                         0        \n");
	assert_true(ray_histogram_sum(&h) == 12);
	assert_int_equal(ray_histogram_at_zero(&h), 1);
}

static void the_outermost_powers_are_those_of_64_bits(void **state)
{
	int64_t bins[RAY_POWER_BINS] = { [0] = 1 };
	struct ray_histogram h = { .bins = bins, .count = RAY_POWER_BINS, .normal = 1 };
	(void)state;

	prints(&h, HEAD "-4611686018427387904 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        \n"
			"-2305843009213693952 |                                         0        \n");
}

static void nothing_left_shows_what_is_around_zero(void **state)
{
	int64_t bins[RAY_POWER_BINS] = { 0 };
	struct ray_histogram h = { .bins = bins, .count = RAY_POWER_BINS, .normal = 1 };
	(void)state;

	prints(&h, HEAD "              -1 |                                         0        \n"
			"               0 |                                         0        \n"
			"               1 |                                         0        \n");
}

static void bars_of_both_signs_grow_from_the_middle(void **state)
{
	int64_t bins[12] = { -123, -123, 246 };
	struct ray_histogram h = {
		.kind = RAY_HISTOGRAM_LINEAR, .bins = bins, .count = 12, .low = 0, .high = 10, .step = 1, .normal = 1
	};
	(void)state;

	prints(&h, HEAD "             < 0                @@@@@|                     -123     \n"
			"               0                @@@@@|                     -123     \n"
			"               1                     |@@@@@@@@@@           246      \n"
			"               2                     |                     0        \n");
}

static void negative_bars_end_at_the_right(void **state)
{
	int64_t bins[12] = { 0, 0, -123 };
	struct ray_histogram h = {
		.kind = RAY_HISTOGRAM_LINEAR, .bins = bins, .count = 12, .low = 0, .high = 10, .step = 1, .normal = 1
	};
	(void)state;

	prints(&h, HEAD "               0                                         | 0        \n"
			"               1 @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@| -123     \n"
			"               2                                         | 0        \n");
}

static void linear_ends_say_below_and_above(void **state)
{
	int64_t bins[4] = { 2, 0, 0, 2 };
	struct ray_histogram h = {
		.kind = RAY_HISTOGRAM_LINEAR, .bins = bins, .count = 4, .low = -10, .high = 10, .step = 10, .normal = 2
	};
	(void)state;

	prints(&h, HEAD "           < -10 |@@@@@@@@@@@@@@@@@@@@                     1        \n"
			"             -10 |                                         0        \n"
			"               0 |                                         0        \n"
			"           >= 10 |@@@@@@@@@@@@@@@@@@@@                     1        \n");
	assert_true(ray_histogram_sum(&h) == 2 * -11 + 2 * 11);
}

static void log_linear_steps_grow_by_the_factor(void **state)
{
	int64_t bins[39] = { 0 };
	struct ray_histogram h = { .kind = RAY_HISTOGRAM_LOG_LINEAR,
				   .bins = bins,
				   .count = 39,
				   .factor = 10,
				   .low_power = 0,
				   .high_power = 1,
				   .steps = 10,
				   .normal = 1 };
	(void)state;

	assert_int_equal(ray_histogram_bins(&h), 39);
	bins[19] = 1;	   /* 0 */
	bins[19 + 1] = 1;  /* 1 */
	bins[19 + 10] = 2; /* 10 */
	bins[38] = 4;	   /* >= 100 */
	prints(&h, HEAD "              -1 |                                         0        \n"
			"               0 |@@@@@                                    1        \n"
			"               1 |@@@@@                                    1        \n"
			"               2 |                                         0        \n"
			"               3 |                                         0        \n"
			"               4 |                                         0        \n"
			"               5 |                                         0        \n"
			"               6 |                                         0        \n"
			"               7 |                                         0        \n"
			"               8 |                                         0        \n"
			"               9 |                                         0        \n"
			"              10 |@@@@@@@@@@                               2        \n"
			"              20 |                                         0        \n"
			"              30 |                                         0        \n"
			"              40 |                                         0        \n"
			"              50 |                                         0        \n"
			"              60 |                                         0        \n"
			"              70 |                                         0        \n"
			"              80 |                                         0        \n"
			"              90 |                                         0        \n"
			"          >= 100 |@@@@@@@@@@@@@@@@@@@@                     4        \n");
}

static void bins_that_do_not_fit_the_parameters_print_nothing(void **state)
{
	int64_t bins[4] = { 1 };
	struct ray_histogram linear = {
		.kind = RAY_HISTOGRAM_LINEAR, .bins = bins, .count = 4, .high = 1000, .step = 1, .normal = 1
	};
	struct ray_histogram log = {
		.kind = RAY_HISTOGRAM_LOG_LINEAR, .bins = bins, .count = 4, .factor = 0, .normal = 1
	};
	(void)state;

	prints(&linear, "");
	prints(&log, "");
	assert_true(ray_histogram_sum(&log) == 0);
	assert_int_equal(ray_histogram_at_zero(&linear), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(powers_of_two_have_a_row_around_what_is_there),
		cmocka_unit_test(the_outermost_powers_are_those_of_64_bits),
		cmocka_unit_test(nothing_left_shows_what_is_around_zero),
		cmocka_unit_test(bars_of_both_signs_grow_from_the_middle),
		cmocka_unit_test(negative_bars_end_at_the_right),
		cmocka_unit_test(linear_ends_say_below_and_above),
		cmocka_unit_test(log_linear_steps_grow_by_the_factor),
		cmocka_unit_test(bins_that_do_not_fit_the_parameters_print_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
