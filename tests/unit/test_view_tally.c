/* test_view_tally.c - rows by name, and names folded. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "view/tally.h"

static void rows_add_up(void **state)
{
	ray_auto(ray_tally, t) = ray_tally_create();
	int64_t bins[RAY_POWER_BINS] = { [RAY_POWER_ZERO + 11] = 3, [RAY_POWER_ZERO + 21] = 1 };
	struct ray_histogram h = { .kind = RAY_HISTOGRAM_POWERS, .bins = bins, .count = RAY_POWER_BINS, .normal = 1 };
	struct ray_tally_row *const *rows;
	size_t n;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "/%d", i % 500);
		ray_tally_add(t, ray_tally_row(t, "GET", name), &h);
	}
	ray_tally_row(t, "POST", "/7")->count = 100;
	ray_tally_row(t, "GET", "/3")->longest = 9;
	assert_false(ray_tally_failed(t));
	rows = ray_tally_sorted(t, RAY_TALLY_BY_COUNT, &n);
	assert_int_equal(n, 501);
	assert_string_equal(rows[0]->kind, "POST");
	assert_int_equal(rows[1]->count, 8);
	assert_int_equal(rows[1]->histogram.bins[RAY_POWER_ZERO + 11], 6);
	assert_string_equal(ray_tally_sorted(t, RAY_TALLY_BY_LONGEST, &n)[0]->name, "/3");
	ray_tally_clear(t);
	ray_tally_sorted(t, RAY_TALLY_BY_COUNT, &n);
	assert_int_equal(n, 0);
}

static void percentiles_as_json(void **state)
{
	int64_t bins[RAY_POWER_BINS] = { [RAY_POWER_ZERO + 21] = 4 };
	struct ray_histogram h = { .kind = RAY_HISTOGRAM_POWERS, .bins = bins, .count = RAY_POWER_BINS, .normal = 1 };
	json_t *o = ray_tally_json(&h, 1500000);

	(void)state;
	assert_non_null(o);
	assert_int_equal(json_integer_value(json_object_get(o, "count")), 4);
	assert_true(json_real_value(json_object_get(o, "p50")) >= 1);
	assert_true(json_real_value(json_object_get(o, "max")) == 1.5);
	json_decref(o);
}

static void what_varies_is_folded(void **state)
{
	static const struct {
		const char *url, *folded;
	} cases[] = {
		{ "/user/123", "/user/:n" },
		{ "/user/123/posts/4?page=2", "/user/:n/posts/:n" },
		{ "/", "/" },
		{ "", "" },
		{ "/v2/7/", "/v2/:n/" },
		{ "//1//", "//:n//" },
		{ "/o/550e8400-e29b-41d4-a716-446655440000", "/o/:uuid" },
		{ "/b/507f1f77bcf86cd799439011.png", "/b/507f1f77bcf86cd799439011.png" },
		{ "/b/507f1f77bcf86cd799439011", "/b/:hex" },
		{ "/defaced/facade", "/defaced/facade" },
		{ "?a=1", "" },
		{ "*", "*" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ray_auto_text out = { 0 };

		ray_view_fold(cases[i].url, true, false, &out);
		assert_string_equal(ray_text_get(&out), cases[i].folded);
	}
	ray_auto_text whole = { 0 };
	ray_view_fold("/user/1?x=2", false, true, &whole);
	assert_string_equal(ray_text_get(&whole), "/user/1?x=2");
}

static void a_distribution_as_json(void **state)
{
	int64_t bins[RAY_POWER_BINS] = { [RAY_POWER_ZERO + 21] = 2 };
	struct ray_histogram h = { .kind = RAY_HISTOGRAM_POWERS, .bins = bins, .count = RAY_POWER_BINS, .normal = 1 };
	json_t *o = ray_tally_json(&h, 2000000);

	(void)state;
	assert_int_equal(json_object_size(o), 5);
	assert_int_equal(json_integer_value(json_object_get(o, "count")), 2);
	assert_true(json_real_value(json_object_get(o, "max")) == 2.0);
	assert_true(json_real_value(json_object_get(o, "p50")) >= 1.0);
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_add_up),
		cmocka_unit_test(percentiles_as_json),
		cmocka_unit_test(what_varies_is_folded),
		cmocka_unit_test(a_distribution_as_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
