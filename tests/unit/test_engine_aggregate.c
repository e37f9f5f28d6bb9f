/* test_engine_aggregate.c - aggregations in a map of the kernel: snapshots, clear, trunc, order. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/consume.h"

static const struct ray_type int_type = {
	.kind = RAY_TYPE_INTEGER, .flags = RAY_TYPE_SIGNED, .size = 4, .name = "int"
};

struct fixture {
	struct ray_trace trace;
	struct ray_program program;
	struct ray_plan plan;
	struct ray_aggregation aggs[2], *agg_pointers[2];
	struct ray_agg_plan plans[2];
	struct ray_field field;
	int maps[2];
	int cpus;
	struct ray_consumer consumer;
};

static int make(void **state, enum ray_aggregator function, uint32_t words)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	f->cpus = libbpf_num_possible_cpus();
	f->field = (struct ray_field){ .offset = 8, .size = 8, .type = &int_type, .kind = RAY_VALUE_INTEGER };
	for (int i = 0; i < 2; i++) {
		f->aggs[i] = (struct ray_aggregation){ .name = i ? "b" : "a", .id = (uint32_t)i, .function = function };
		f->agg_pointers[i] = &f->aggs[i];
		f->plans[i] = (struct ray_agg_plan){ .aggregation = &f->aggs[i],
						     .key = { .fields = &f->field, .field_count = 1, .size = 16 },
						     .words = words,
						     .value_size = 8 + 8 * words,
						     .element_size = 8 + 8 * words,
						     .map = RAY_MAP_OWN + (uint32_t)i };
		f->maps[i] = bpf_map_create(BPF_MAP_TYPE_HASH, "test", 16, 8 + 8 * words, 200000, &opts);
	}
	f->program.aggregations.at = f->agg_pointers;
	f->program.aggregations.n = 2;
	f->plan.program = &f->program;
	f->plan.aggregations = f->plans;
	f->trace.plan = &f->plan;
	f->trace.own_maps = f->maps;
	ray_trace_options_init(&f->trace.options);
	f->consumer.t = &f->trace;
	assert_null(ray_aggs_create(&f->consumer));
	return 0;
}

static int setup_sum(void **state)
{
	return make(state, RAY_AGG_SUM, 1);
}

static int setup_min(void **state)
{
	return make(state, RAY_AGG_MIN, 1);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	ray_aggs_free(&f->consumer);
	ray_text_deinit(&f->consumer.out);
	ray_trace_options_deinit(&f->trace.options);
	close(f->maps[0]);
	close(f->maps[1]);
	free(f);
	return 0;
}

/* As if clauses had run: n on the first and the last CPU each. Skips the test where maps cannot be made. */
static void put(struct fixture *f, int agg, int64_t key, int64_t n)
{
	uint64_t value[2] = { 1, (uint64_t)n }, whole[2] = { 0, (uint64_t)key };

	if (f->maps[agg] < 0)
		skip();
	assert_int_equal(bpf_map_update_elem(f->maps[agg], whole, value, BPF_ANY), 0);
	whole[0] = (uint64_t)f->cpus - 1;
	assert_int_equal(bpf_map_update_elem(f->maps[agg], whole, value, BPF_ANY), 0);
}

static void dumps(struct fixture *f, const char *expected)
{
	assert_null(ray_aggs_dump(&f->consumer));
	assert_string_equal(ray_text_get(&f->consumer.out), expected);
	ray_text_clear(&f->consumer.out);
}

static int64_t on_all(const struct fixture *f, int64_t n)
{
	return f->cpus > 1 ? 2 * n : n;
}

static void values_of_all_cpus_are_added_and_sorted(void **state)
{
	struct fixture *f = *state;
	char expected[256];

	put(f, 0, 7, 30);
	put(f, 0, 8, 10);
	put(f, 0, 9, 20);
	put(f, 1, 1, 5);
	snprintf(expected, sizeof(expected), "        8 %16lld\n        9 %16lld\n        7 %16lld\n        1 %16lld\n",
		 (long long)on_all(f, 10), (long long)on_all(f, 20), (long long)on_all(f, 30), (long long)on_all(f, 5));
	dumps(f, expected);
	f->trace.options.aggsortkey = true;
	f->trace.options.aggsortrev = true;
	snprintf(expected, sizeof(expected), "        1 %16lld\n        9 %16lld\n        8 %16lld\n        7 %16lld\n",
		 (long long)on_all(f, 5), (long long)on_all(f, 20), (long long)on_all(f, 10), (long long)on_all(f, 30));
	dumps(f, expected);
}

static void negative_keys_sort_behind_the_others(void **state)
{
	struct fixture *f = *state;
	char expected[256];

	put(f, 0, -1, 1);
	put(f, 0, 1, 1);
	snprintf(expected, sizeof(expected), "        1 %16lld\n       -1 %16lld\n", (long long)on_all(f, 1),
		 (long long)on_all(f, 1));
	dumps(f, expected);
}

static void clear_keeps_the_key_and_what_comes_later(void **state)
{
	struct fixture *f = *state;
	char expected[128];

	put(f, 0, 7, 30);
	assert_null(ray_agg_clear(&f->consumer, &f->consumer.aggs[0]));
	dumps(f, "        7                0\n");
	put(f, 0, 7, 31); /* one more on each CPU */
	snprintf(expected, sizeof(expected), "        7 %16lld\n", (long long)on_all(f, 1));
	dumps(f, expected);
}

static void what_is_counted_between_printa_and_clear_is_not_lost(void **state)
{
	struct fixture *f = *state;
	char expected[128];

	put(f, 0, 7, 30);
	f->consumer.round = 1; /* one record: printa(@); clear(@); */
	assert_null(ray_agg_snapshot(&f->consumer, &f->consumer.aggs[0]));
	put(f, 0, 7, 40);
	assert_null(ray_agg_clear(&f->consumer, &f->consumer.aggs[0]));
	snprintf(expected, sizeof(expected), "        7 %16lld\n", (long long)on_all(f, 10));
	dumps(f, expected);
}

static void minima_start_anew_after_clear(void **state)
{
	struct fixture *f = *state;

	put(f, 0, 7, -5);
	dumps(f, "        7               -5\n");
	assert_null(ray_agg_clear(&f->consumer, &f->consumer.aggs[0]));
	dumps(f, "        7 9223372036854775807\n");
	put(f, 0, 7, 12);
	dumps(f, "        7               12\n");
}

static void trunc_keeps_the_largest_or_the_smallest(void **state)
{
	struct fixture *f = *state;
	char expected[128];
	uint64_t key[2] = { 0, 1 }, value[2];

	for (int64_t i = 1; i <= 5; i++)
		put(f, 0, i, i * 10);
	assert_null(ray_agg_trunc(&f->consumer, &f->consumer.aggs[0], 3));
	f->consumer.round++;
	assert_null(ray_agg_trunc(&f->consumer, &f->consumer.aggs[0], -1));
	snprintf(expected, sizeof(expected), "        3 %16lld\n", (long long)on_all(f, 30));
	dumps(f, expected);
	assert_int_not_equal(bpf_map_lookup_elem(f->maps[0], key, value), 0);
	put(f, 0, 1, 1); /* comes again, from nothing */
	snprintf(expected, sizeof(expected), "        1 %16lld\n        3 %16lld\n", (long long)on_all(f, 1),
		 (long long)on_all(f, 30));
	dumps(f, expected);
}

/* More raw keys stay than an empty table has places for. */
static void trunc_ends_with_many_keys_left(void **state)
{
	static const int64_t counts[] = { 1000, 10000, 100000 };
	struct fixture *f = *state;
	struct ray_agg *a = &f->consumer.aggs[0];

	for (size_t n = 0; n < RAY_COUNT(counts); n++) {
		for (int64_t i = 1; i <= counts[n]; i++)
			put(f, 0, i, i);
		for (int64_t keep = counts[n] - 1; keep; keep /= 3) {
			f->consumer.round++;
			assert_null(ray_agg_trunc(&f->consumer, a, keep));
			f->consumer.round++;
			assert_null(ray_agg_snapshot(&f->consumer, a));
			assert_int_equal(a->groups.n, keep);
			for (size_t i = 0; i < a->groups.n; i++)
				assert_in_range(a->groups.at[i].words[0], on_all(f, counts[n] - keep + 1),
						on_all(f, counts[n]));
		}
	}
}

static void several_aggregations_join_by_key(void **state)
{
	struct fixture *f = *state;
	struct ray_expr a = { .kind = RAY_EXPR_AGGREGATION, .aggregation = &f->aggs[0] };
	struct ray_expr b = { .kind = RAY_EXPR_AGGREGATION, .aggregation = &f->aggs[1] };
	struct ray_expr *args[] = { &a, &b };
	struct ray_statement s = { .args = args, .arg_count = 2 };
	char expected[256];

	put(f, 0, 1, 9);
	put(f, 0, 2, 4);
	put(f, 1, 2, 1);
	put(f, 1, 3, 6);
	assert_null(ray_agg_printa(&f->consumer, &s));
	snprintf(expected, sizeof(expected),
		 "\n        3                0 %16lld\n        2 %16lld %16lld\n        1 %16lld                0\n",
		 (long long)on_all(f, 6), (long long)on_all(f, 4), (long long)on_all(f, 1), (long long)on_all(f, 9));
	assert_string_equal(ray_text_get(&f->consumer.out), expected);
	ray_text_clear(&f->consumer.out);
	f->trace.options.aggsortpos = 1;
	assert_null(ray_agg_printa(&f->consumer, &s));
	snprintf(expected, sizeof(expected),
		 "\n        1 %16lld                0\n        2 %16lld %16lld\n        3                0 %16lld\n",
		 (long long)on_all(f, 9), (long long)on_all(f, 4), (long long)on_all(f, 1), (long long)on_all(f, 6));
	assert_string_equal(ray_text_get(&f->consumer.out), expected);
	ray_text_clear(&f->consumer.out);
	dumps(f, ""); /* both were printed */
}

static void many_keys_are_all_there(void **state)
{
	struct fixture *f = *state;
	size_t lines = 0;

	for (int64_t i = 0; i < 20000; i++)
		put(f, 0, i, i);
	assert_null(ray_aggs_dump(&f->consumer));
	for (size_t i = 0; i < f->consumer.out.length; i++)
		lines += f->consumer.out.bytes[i] == '\n';
	assert_int_equal(lines, 20000);
}

static void averages_and_deviations_are_worked_out(void **state)
{
	struct ray_aggregation avg = { .function = RAY_AGG_AVG }, dev = { .function = RAY_AGG_STDDEV };
	struct ray_agg_plan pavg = { .aggregation = &avg, .words = 2 }, pdev = { .aggregation = &dev, .words = 4 };
	int64_t words[4] = { 4, -100, 0, 0 }, more[4] = { 0, 0, -1, 0 };
	(void)state;

	assert_int_equal(ray_agg_number(&pavg, words, 1), -25);
	assert_int_equal(ray_agg_number(&pavg, words, 5), -5);
	words[0] = 0;
	assert_int_equal(ray_agg_number(&pavg, words, 1), 0);
	/* 1, 2, 3, 4, 100: squares 10030, sum 110 */
	words[0] = 5, words[1] = 110, words[2] = 10030;
	assert_int_equal(ray_agg_number(&pdev, words, 1), 39);
	/* The low half of the squares carries into the high one. */
	words[2] = 1;
	ray_agg_merge(&pdev, words, more);
	assert_int_equal(words[2], 0);
	assert_int_equal(words[3], 1);
	ray_agg_subtract(&pdev, words, more);
	assert_int_equal(words[2], 1);
	assert_int_equal(words[3], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(values_of_all_cpus_are_added_and_sorted, setup_sum, teardown),
		cmocka_unit_test_setup_teardown(negative_keys_sort_behind_the_others, setup_sum, teardown),
		cmocka_unit_test_setup_teardown(clear_keeps_the_key_and_what_comes_later, setup_sum, teardown),
		cmocka_unit_test_setup_teardown(what_is_counted_between_printa_and_clear_is_not_lost, setup_sum,
						teardown),
		cmocka_unit_test_setup_teardown(minima_start_anew_after_clear, setup_min, teardown),
		cmocka_unit_test_setup_teardown(trunc_keeps_the_largest_or_the_smallest, setup_sum, teardown),
		cmocka_unit_test_setup_teardown(trunc_ends_with_many_keys_left, setup_sum, teardown),
		cmocka_unit_test_setup_teardown(several_aggregations_join_by_key, setup_sum, teardown),
		cmocka_unit_test_setup_teardown(many_keys_are_all_there, setup_sum, teardown),
		cmocka_unit_test(averages_and_deviations_are_worked_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
