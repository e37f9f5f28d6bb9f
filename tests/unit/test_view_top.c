/* test_view_top.c - the model of `top`: windows, threads, loops, what is kept and what is forgotten. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "top_sample.h"

static const uint64_t SECOND = 1000000000;

static const struct ray_profile_row *row_of(const struct ray_top_answer *a, const char *name)
{
	for (size_t i = 0; i < a->row_count; i++)
		if (!strcmp(a->profile->functions.at[a->rows[i].function].name, name))
			return &a->rows[i];
	return NULL;
}

static struct ray_top_answer ask(struct ray_top *t, struct ray_top_query query)
{
	struct ray_top_answer a;

	assert_null(ray_top_ask(t, &query, &a));
	return a;
}

static void windows_add_slices_up(void **state)
{
	ray_auto(ray_top, t) = sample_top(8);
	struct ray_top_answer a = ask(t, (struct ray_top_query){ .window_ns = 2 * SECOND });

	(void)state;
	assert_int_equal(a.weight, 200);
	assert_int_equal(a.length_ns, 2 * SECOND);
	assert_int_equal(row_of(&a, "letterDistance")->self, 120);
	assert_int_equal(row_of(&a, "letterDistance")->total, 144);
	ray_top_answer_deinit(&a);
	a = ask(t, (struct ray_top_query){ .window_ns = SECOND / 10 });
	assert_int_equal(a.length_ns, SECOND); /* a slice is never cut */
	ray_top_answer_deinit(&a);
	a = ask(t, (struct ray_top_query){ .window_ns = 60 * SECOND });
	assert_int_equal(a.length_ns, 8 * SECOND); /* there is no more */
	assert_int_equal(a.weight, 800);
	ray_top_answer_deinit(&a);
	a = ask(t, (struct ray_top_query){ .window_ns = SECOND, .is_cumulative = true });
	assert_int_equal(a.weight, 800);
	assert_int_equal(a.figures.window_ns, SECOND);
	ray_top_answer_deinit(&a);
}

static void kinds_by_who_runs(void **state)
{
	ray_auto(ray_top, t) = sample_top(1);
	struct ray_top_answer a = ask(t, (struct ray_top_query){ .window_ns = SECOND });

	(void)state;
	assert_int_equal(a.kinds[RAY_KIND_GC], 12); /* memmove runs for the collector */
	assert_int_equal(a.kinds[RAY_KIND_JS], 66);
	assert_int_equal(a.kinds[RAY_KIND_COMPILER], 10);
	ray_top_answer_deinit(&a);
	a = ask(t,
		(struct ray_top_query){ .window_ns = SECOND,
					.hidden = 1u << RAY_KIND_GC | 1u << RAY_KIND_NATIVE | 1u << RAY_KIND_KERNEL });
	assert_int_equal(row_of(&a, "letterDistance")->self, 72);
	assert_int_equal(row_of(&a, "Shop.handle")->self, 4);
	assert_int_equal(a.kinds[RAY_KIND_GC], 12); /* the shares stay */
	ray_top_answer_deinit(&a);
}

static void threads_in_groups(void **state)
{
	ray_auto(ray_top, t) = sample_top(3);
	struct ray_top_answer a = ask(t, (struct ray_top_query){ .window_ns = 2 * SECOND });
	const struct ray_top_group *g = a.figures.groups;
	uint64_t platform;

	(void)state;
	assert_int_equal(a.figures.group_count, 4);
	assert_string_equal(g[0].label, "main");
	assert_true(g[0].cpu > 0.89 && g[0].cpu < 0.91);
	assert_int_equal(g[0].weight, 180);
	assert_string_equal(g[1].label, "worker 1 (parser)");
	assert_string_equal(g[2].label, "V8 platform (2)");
	assert_int_equal(g[2].threads, 2);
	assert_string_equal(g[3].label, "pool");
	assert_true(a.figures.cpu > 1.09 && a.figures.cpu < 1.11);
	assert_int_equal(a.figures.threads, 5);
	platform = g[2].id;
	ray_top_answer_deinit(&a);
	a = ask(t, (struct ray_top_query){ .window_ns = 2 * SECOND, .group = platform });
	assert_int_equal(a.weight, 20);
	assert_int_equal(a.row_count, 1);
	ray_top_answer_deinit(&a);
}

static void loops_and_collections(void **state)
{
	ray_auto(ray_top, t) = sample_top(4);
	struct ray_top_answer a = ask(t, (struct ray_top_query){ .window_ns = 2 * SECOND });
	const struct ray_top_loop *l = &a.figures.loop;

	(void)state;
	assert_true(l->is_known);
	assert_true(l->utilization > 0.79 && l->utilization < 0.81);
	assert_int_equal(l->iterations, 200);
	assert_int_equal(l->max, 183000000);
	assert_true(l->p50 >= 1 << 19 && l->p50 <= 1 << 20);
	assert_true(l->p99 > l->p50 && l->p99 <= 1 << 24);
	assert_true(a.figures.groups[0].loop.is_known);
	assert_false(a.figures.groups[1].loop.is_known);
	assert_int_equal(a.figures.gc_count, 10);
	assert_true(a.figures.gc_share > 0.019 && a.figures.gc_share < 0.021);
	assert_int_equal(a.figures.gc_longest, 4000000);
	assert_int_equal(a.figures.heap, 43 << 20);
	assert_true(a.figures.requests > 194 && a.figures.requests < 196);
	ray_top_answer_deinit(&a);
}

/* What is not told is not 0. */
static void without_events(void **state)
{
	ray_auto(ray_top, t) = ray_top_create();
	struct ray_top_answer a;

	(void)state;
	sample_moment(t, 0);
	sample_moment(t, 1);
	a = ask(t, (struct ray_top_query){ .window_ns = SECOND });
	assert_false(a.figures.has_gc);
	assert_false(a.figures.has_requests);
	assert_false(a.figures.loop.is_known);
	ray_top_answer_deinit(&a);
}

static void holding_keeps_the_moment(void **state)
{
	ray_auto(ray_top, t) = sample_top(2);
	struct ray_top_answer a;

	(void)state;
	ray_top_hold(t, true);
	for (int i = 3; i < 200; i++)
		sample_moment(t, i);
	a = ask(t, (struct ray_top_query){ .window_ns = 60 * SECOND });
	assert_int_equal(a.weight, 200);
	ray_top_answer_deinit(&a);
	a = ask(t, (struct ray_top_query){ .window_ns = SECOND, .is_cumulative = true });
	assert_int_equal(a.weight, 200);
	ray_top_answer_deinit(&a);
	ray_top_hold(t, false);
	a = ask(t, (struct ray_top_query){ .window_ns = 5 * SECOND });
	assert_int_equal(a.weight, 500);
	ray_top_answer_deinit(&a);
	ray_top_reset(t);
	a = ask(t, (struct ray_top_query){ .window_ns = 5 * SECOND, .is_cumulative = true });
	assert_int_equal(a.weight, 0);
	assert_int_equal(a.length_ns, 0);
	ray_top_answer_deinit(&a);
}

/* Stacks that never come again: the profile since the start stays bounded, and what was dropped is counted. */
static void long_runs_stay_bounded(void **state)
{
	ray_auto(ray_top, t) = sample_top(1);
	struct ray_top_answer a;
	int serial = 0;

	(void)state;
	for (int second = 2; second < 90; second++) {
		struct ray_profile *p = sample_profile();
		struct ray_top_moment m = { .time_ns = (uint64_t)(second + 50) * SECOND };

		for (int i = 0; i < 2000; i++) {
			struct sample_frame f = { RAY_KIND_JS, "once", "/srv/app.js", ++serial, 0 };
			struct ray_profile_sample s = { .weight = 1, .count = 1 };

			s.node = sample_call(p, sample_call(p, 0, &sample_root[0]), &f);
			ray_profile_add(p, &s);
		}
		ray_top_cut(t, p, &m);
	}
	assert_false(ray_top_failed(t));
	a = ask(t, (struct ray_top_query){ .window_ns = SECOND, .is_cumulative = true });
	assert_true(a.profile->nodes.n < 140000);
	assert_true(a.dropped > 0);
	assert_int_equal(a.weight + a.dropped, 89 * 100 + 88 * 2000);
	assert_int_equal(row_of(&a, "letterDistance")->self, 89 * 60); /* the heavy ones stay exact */
	ray_top_answer_deinit(&a);
	a = ask(t, (struct ray_top_query){ .window_ns = 60 * SECOND });
	assert_int_equal(a.length_ns, 60 * SECOND);
	ray_top_answer_deinit(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_add_slices_up),  cmocka_unit_test(kinds_by_who_runs),
		cmocka_unit_test(threads_in_groups),	  cmocka_unit_test(loops_and_collections),
		cmocka_unit_test(without_events),	  cmocka_unit_test(holding_keeps_the_moment),
		cmocka_unit_test(long_runs_stay_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
