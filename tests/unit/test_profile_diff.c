/* test_profile_diff.c - two profiles compared. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "fake_profile.h"
#include "profile/diff.h"

static struct ray_profile *parsed(const char *text)
{
	struct ray_profile *p = NULL;

	assert_null(ray_profile_parse(text, strlen(text), &p));
	return p;
}

static struct ray_profile_diff *difference(const char *before, const char *after)
{
	ray_auto(ray_profile, a) = parsed(before);
	ray_auto(ray_profile, b) = parsed(after);
	struct ray_profile_diff *d = NULL;

	assert_null(ray_profile_diff_create(a, b, &d));
	return d;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static void shares_are_compared_not_weights(void **state)
{
	ray_auto(ray_profile_diff, d) = difference("a;b 10\na;c 10\n", "a;b 300\na;c 100\n");
	ray_auto_memory struct ray_profile_diff_row *rows = NULL;
	size_t count;
	(void)state;

	assert_int_equal(d->sides[0].weight, 20);
	assert_int_equal(d->sides[1].weight, 400);
	assert_int_equal(d->tree->nodes.n, 4);
	assert_true(near(ray_profile_diff_self(d, 2), 0.25));
	assert_true(near(ray_profile_diff_total(d, 1), 0));
	assert_true(ray_profile_diff_rank(d, &rows, &count));
	assert_int_equal(count, 3);
	assert_string_equal(d->tree->functions.at[rows[0].function].name, "b");
	assert_true(near(rows[0].self[0], 0.5) && near(rows[0].self[1], 0.75));
	assert_true(near(rows[2].total[0], 1) && near(rows[2].total[1], 1));
}

static void a_function_that_moved_in_its_file_is_the_same(void **state)
{
	ray_auto(ray_profile_diff, d) =
		difference("f (/a.js:3:1)_[j];g (/a.js:9:1)_[j] 4\n", "f (/a.js:5:1)_[j];g (/a.js:11:2)_[j] 4\n");
	(void)state;

	assert_int_equal(d->tree->nodes.n, 3);
	assert_int_equal(d->tree->functions.at[1].line, 3);
}

static void names_that_stand_for_several_functions_are_told_apart(void **state)
{
	ray_auto(ray_profile_diff, d) =
		difference("f (/a.js:3:1)_[j] 4\nf (/a.js:20:1)_[j] 4\n(anonymous) (/a.js:1:1)_[j] 1",
			   "f (/a.js:5:1)_[j] 4\n(anonymous) (/a.js:2:1)_[j] 1");
	(void)state;

	assert_int_equal(d->tree->nodes.n, 6);
}

static void what_is_on_one_side_only_has_no_share_on_the_other(void **state)
{
	ray_auto(ray_profile_diff, d) = difference("a;gone 1\n", "a;new 1\n");
	(void)state;

	assert_int_equal(d->sides[1].self[2], 0);
	assert_int_equal(d->sides[0].self[3], 0);
	assert_true(near(ray_profile_diff_self(d, 3), 1));
}

static void different_units_are_refused(void **state)
{
	ray_auto(ray_profile, a) = parsed("a 1\n");
	ray_auto(ray_profile, b) = parsed("a 1\n");
	struct ray_profile_diff *d = NULL;
	ray_auto(ray_error, err) = NULL;
	(void)state;

	/* Samples of which nothing is known may be anything; those that stand for time may not. */
	b->unit = RAY_UNIT_BYTES;
	assert_null(ray_profile_diff_create(a, b, &d));
	ray_profile_diff_free(ray_take(d));
	a->period_ns = 1;
	err = ray_profile_diff_create(a, b, &d);
	assert_string_equal(ray_error_text(err), "one is measured in samples, the other in bytes");
}

static void nothing_against_nothing_is_nothing(void **state)
{
	ray_auto(ray_profile, a) = ray_profile_create();
	ray_auto(ray_profile_diff, d) = NULL;
	ray_auto_memory struct ray_profile_diff_row *rows = NULL;
	size_t count;
	(void)state;

	assert_null(ray_profile_diff_create(a, a, &d));
	assert_true(ray_profile_diff_rank(d, &rows, &count));
	assert_int_equal(count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_are_compared_not_weights),
		cmocka_unit_test(a_function_that_moved_in_its_file_is_the_same),
		cmocka_unit_test(names_that_stand_for_several_functions_are_told_apart),
		cmocka_unit_test(what_is_on_one_side_only_has_no_share_on_the_other),
		cmocka_unit_test(different_units_are_refused),
		cmocka_unit_test(nothing_against_nothing_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
