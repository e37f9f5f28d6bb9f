/* test_view_quantile.c - percentiles and bars out of what aggregations count. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "view/quantile.h"

static void powers_of_two(void **state)
{
	int64_t bins[RAY_POWER_BINS] = { 0 };
	struct ray_histogram h = { .kind = RAY_HISTOGRAM_POWERS, .bins = bins, .count = RAY_POWER_BINS, .normal = 1 };
	ray_auto_text out = { 0 };
	uint64_t low, high;

	(void)state;
	assert_int_equal(ray_histogram_percentile(&h, 50, 0), 0);
	bins[RAY_POWER_ZERO] = 10;	/* 0 */
	bins[RAY_POWER_ZERO + 11] = 90; /* 1024 to 2047 */
	bins[RAY_POWER_ZERO - 3] = 5;	/* negative: not counted */
	assert_int_equal(ray_histogram_count(&h), 100);
	assert_true(ray_histogram_bin(&h, RAY_POWER_ZERO + 11, &low, &high));
	assert_int_equal(low, 1024);
	assert_int_equal(high, 2048);
	assert_int_equal(ray_histogram_percentile(&h, 5, 0), 0);
	assert_int_equal(ray_histogram_percentile(&h, 55, 0), 1024 + 512);
	assert_int_equal(ray_histogram_percentile(&h, 100, 1500), 1500);
	bins[RAY_POWER_ZERO] = 0;
	ray_histogram_bars(&h, RAY_QUANTITY_NS, &out);
	assert_string_equal(ray_text_get(&out),
			    "   1.02us to    2.05us |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|      90 100.0%\n");
	assert_true(ray_text_width(ray_text_get(&out)) <= 81);
}

static void linear_steps(void **state)
{
	int64_t bins[7] = { 1, 0, 2, 0, 0, 0, 1 };
	struct ray_histogram h = { .kind = RAY_HISTOGRAM_LINEAR,
				   .bins = bins,
				   .count = 7,
				   .low = 100,
				   .high = 600,
				   .step = 100,
				   .normal = 1 };

	(void)state;
	assert_int_equal(ray_histogram_count(&h), 4);
	assert_int_equal(ray_histogram_percentile(&h, 50, 0), 250);
	assert_int_equal(ray_histogram_percentile(&h, 100, 900), 900);
	assert_int_equal(ray_histogram_percentile(&h, 100, 0), 600); /* how far above is not known */
}

/* Every value must lie in the bin that says so: llquantize(x, 10, 2, 4, 20) as the kernel counts it. */
static void log_linear_steps(void **state)
{
	struct ray_histogram h = { .kind = RAY_HISTOGRAM_LOG_LINEAR,
				   .factor = 10,
				   .low_power = 2,
				   .high_power = 4,
				   .steps = 20,
				   .normal = 1 };
	uint64_t low, high, end = 0;

	(void)state;
	h.count = ray_histogram_bins(&h);
	h.bins = calloc(h.count, sizeof(int64_t));
	for (size_t i = 0; i < h.count; i++) {
		if (!ray_histogram_bin(&h, i, &low, &high))
			continue;
		assert_int_equal(low, end);
		assert_true(high > low);
		end = high;
	}
	assert_int_equal(end, INT64_MAX);
	free((void *)h.bins);
}

static void what_does_not_fit_its_parameters_is_nothing(void **state)
{
	int64_t bins[3] = { 1, 1, 1 };
	struct ray_histogram h = { .kind = RAY_HISTOGRAM_POWERS, .bins = bins, .count = 3, .normal = 1 };
	ray_auto_text out = { 0 };

	(void)state;
	assert_int_equal(ray_histogram_count(&h), 0);
	ray_histogram_bars(&h, RAY_QUANTITY_NUMBER, &out);
	assert_string_equal(ray_text_get(&out), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(powers_of_two),
		cmocka_unit_test(linear_steps),
		cmocka_unit_test(log_linear_steps),
		cmocka_unit_test(what_does_not_fit_its_parameters_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
