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
	uint32_t epochs[2];
	unsigned long sent; /* where the ring ends */
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
						     .map = RAY_MAP_OWN + (uint32_t)i,
						     .has_epochs = true,
						     .epoch_at = 4 * (uint32_t)i };
		f->maps[i] = bpf_map_create(BPF_MAP_TYPE_HASH, "test", 16, 8 + 8 * words, 200000, &opts);
	}
	f->program.aggregations.at = f->agg_pointers;
	f->program.aggregations.n = 2;
	f->plan.program = &f->program;
	f->plan.aggregations = f->plans;
	f->trace.plan = &f->plan;
	f->trace.own_maps = f->maps;
	ray_trace_options_init(&f->trace.options);
	f->trace.epochs = f->epochs;
	f->trace.barrier = (struct ray_barrier){ -1, -1 };
	if (f->maps[0] >= 0)
		assert_null(ray_barrier_create(&f->trace.barrier));
	f->consumer.t = &f->trace;
	f->consumer.ring.given = &f->sent;
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
	ray_barrier_close(&f->trace.barrier);
	close(f->maps[0]);
	close(f->maps[1]);
	free(f);
	return 0;
}

/* A new record is consumed: what was counted before it is in the next snapshot. */
static void next_record(struct fixture *f)
{
	f->consumer.ring.at = f->sent++;
}

/* As if clauses had run: n on the first and the last CPU each. Skips the test where maps cannot be made. */
static void put(struct fixture *f, int agg, int64_t key, int64_t n)
{
	uint64_t value[2] = { 1, (uint64_t)n }, whole[2] = { (uint64_t)f->epochs[agg] << 32, (uint64_t)key };

	if (f->maps[agg] < 0)
		skip();
	assert_int_equal(bpf_map_update_elem(f->maps[agg], whole, value, BPF_ANY), 0);
	whole[0] |= (uint64_t)f->cpus - 1;
	assert_int_equal(bpf_map_update_elem(f->maps[agg], whole, value, BPF_ANY), 0);
}

static void dumps(struct fixture *f, const char *expected)
{
	next_record(f);
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
	next_record(f); /* printa(@); clear(@); */
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
	assert_null(ray_agg_trunc(&f->consumer, &f->consumer.aggs[0], INT64_MIN)); /* removes nothing */
	assert_null(ray_agg_trunc(&f->consumer, &f->consumer.aggs[0], 3));
	next_record(f);
	assert_null(ray_agg_trunc(&f->consumer, &f->consumer.aggs[0], -1));
	snprintf(expected, sizeof(expected), "        3 %16lld\n", (long long)on_all(f, 30));
	dumps(f, expected);
	assert_int_not_equal(bpf_map_lookup_elem(f->maps[0], key, value), 0);
	put(f, 0, 1, 1); /* comes again, from nothing */
	snprintf(expected, sizeof(expected), "        1 %16lld\n        3 %16lld\n", (long long)on_all(f, 1),
		 (long long)on_all(f, 30));
	dumps(f, expected);
}

/* ---- against a model ---- */

enum { MODEL_KEYS = 64 };

/* What a user should see of each key, and what arrived after the last printa(). */
struct model {
	bool is_min, is_there[MODEL_KEYS], is_later[MODEL_KEYS];
	int64_t value[MODEL_KEYS], later[MODEL_KEYS];
	int64_t least[MODEL_KEYS]; /* of the values in this epoch */
};

/* As a program does it: the element of this key, CPU and epoch is made or updated. */
static void count(struct fixture *f, bool is_min, int64_t key, int64_t n)
{
	uint64_t whole[2] = { (uint64_t)f->epochs[0] << 32 | (uint64_t)(rand() % f->cpus), (uint64_t)key };
	int64_t value[2] = { 0, 0 };

	if (f->maps[0] < 0)
		skip();
	(void)bpf_map_lookup_elem(f->maps[0], whole, value);
	if (is_min)
		value[1] = value[0] && value[1] < n ? value[1] : n;
	else
		value[1] += n;
	value[0] = is_min;
	assert_int_equal(bpf_map_update_elem(f->maps[0], whole, value, BPF_ANY), 0);
}

static void model_add(bool is_min, bool *is_there, int64_t *value, int64_t n)
{
	if (!is_min)
		*value = *is_there ? *value + n : n;
	else if (!*is_there || n < *value)
		*value = n;
	*is_there = true;
}

/* A value that is no new minimum in its epoch belongs to the one that was printed. */
static void model_count(struct fixture *f, struct model *m, bool is_late)
{
	int64_t key = rand() % MODEL_KEYS, n = 1 + rand() % 1000;

	count(f, m->is_min, key, n);
	if (!is_late)
		model_add(m->is_min, &m->is_there[key], &m->value[key], n);
	else if (!m->is_min || n < m->least[key])
		model_add(m->is_min, &m->is_later[key], &m->later[key], n);
	if (n < m->least[key])
		m->least[key] = n;
}

static int64_t model_rank(const struct model *m, int64_t key)
{
	int64_t above = 0;

	for (int64_t k = 0; k < MODEL_KEYS; k++)
		above += m->is_there[k] && (m->value[k] > m->value[key] || (m->value[k] == m->value[key] && k > key));
	return above;
}

/* keep < 0: clear() */
static void model_remove(struct model *m, int64_t keep)
{
	bool is_kept[MODEL_KEYS];

	for (int64_t k = 0; k < MODEL_KEYS; k++)
		is_kept[k] = keep < 0 || model_rank(m, k) < keep;
	for (int64_t k = 0; k < MODEL_KEYS; k++) {
		if (keep < 0)
			m->value[k] = m->is_min ? INT64_MAX : 0;
		m->is_there[k] &= is_kept[k];
	}
}

static void model_begin_epoch(struct model *m)
{
	for (int64_t k = 0; k < MODEL_KEYS; k++)
		m->least[k] = INT64_MAX;
}

static void model_fold(struct model *m)
{
	for (int64_t k = 0; k < MODEL_KEYS; k++) {
		if (m->is_later[k])
			model_add(m->is_min, &m->is_there[k], &m->value[k], m->later[k]);
		m->is_later[k] = false;
	}
}

static void agrees(struct fixture *f, const struct model *m)
{
	struct ray_agg_group **shown;
	size_t n, expected = 0;

	assert_null(ray_agg_snapshot(&f->consumer, &f->consumer.aggs[0]));
	assert_true(ray_agg_shown(&f->consumer.aggs[0], &shown, &n));
	for (size_t i = 0; i < n; i++) {
		int64_t key;

		memcpy(&key, shown[i]->key + 8, sizeof(key));
		assert_in_range(key, 0, MODEL_KEYS - 1);
		assert_true(m->is_there[key]);
		assert_int_equal(shown[i]->words[0], m->value[key]);
	}
	for (size_t k = 0; k < MODEL_KEYS; k++)
		expected += m->is_there[k];
	assert_int_equal(n, expected);
	free(shown);
}

/* Records with printa(), clear() and trunc() in any order; counts arrive between the records, and after the printa(). */
static void model_run(struct fixture *f, bool is_min, int records)
{
	struct ray_agg *a = &f->consumer.aggs[0];
	struct model m = { .is_min = is_min };

	srand(25);
	model_begin_epoch(&m);
	for (int i = 0; i < records; i++) {
		for (int n = rand() % 100; n; n--)
			model_count(f, &m, false);
		next_record(f);
		agrees(f, &m);
		if (rand() % 4 == 0) /* another record that was sent at the same time */
			f->sent++, f->consumer.ring.at++, a->taken_at++;
		for (int n = rand() % 50; n; n--)
			model_count(f, &m, true);
		if (rand() % 3 == 0)
			a->ended_ns = 0; /* the next trunc() may end the epoch */
		for (int n = rand() % 3; n; n--) {
			int64_t keep = rand() % 4 ? rand() % MODEL_KEYS : -1;

			assert_null(keep < 0 ? ray_agg_clear(&f->consumer, a) : ray_agg_trunc(&f->consumer, a, keep));
			model_remove(&m, keep);
		}
		/* No record is left in the ring. Minima start again only then. */
		if (is_min || rand() % 2) {
			uint32_t epoch = a->epoch;

			f->consumer.ring.at = f->sent;
			assert_null(ray_aggs_end_epochs(&f->consumer));
			if (a->epoch != epoch)
				model_begin_epoch(&m);
		}
		model_fold(&m);
	}
}

static void sums_lose_nothing_by_clear_and_trunc(void **state)
{
	model_run(*state, false, 3000);
}

static void minima_lose_nothing_by_clear_and_trunc(void **state)
{
	model_run(*state, true, 300);
}

/* The table of keys starts with 64 places; it was filled without end when more keys than that remained. */
static void printa_trunc_and_clear_of_many_keys_end(void **state)
{
	static const int64_t counts[] = { 1000, 10000, 100000 };
	struct fixture *f = *state;
	struct ray_agg *a = &f->consumer.aggs[0];

	for (size_t n = 0; n < RAY_COUNT(counts); n++) {
		int64_t all = counts[n], most = 0;

		next_record(f);
		assert_null(ray_agg_trunc(&f->consumer, a, 0));
		for (int64_t i = 1; i <= all; i++)
			count(f, false, i, i);
		for (int64_t keep = all - 1; keep; keep /= 3) {
			a->ended_ns = 0;
			next_record(f);
			assert_null(ray_agg_trunc(&f->consumer, a, keep));
			next_record(f);
			assert_null(ray_agg_snapshot(&f->consumer, a));
			assert_int_equal(a->groups.n, keep);
			for (size_t i = 0; i < a->groups.n; i++) {
				assert_in_range(a->groups.at[i].words[0], all - keep + 1, all);
				most += a->groups.at[i].words[0] == all;
			}
			assert_int_equal(most, 1);
			most = 0;
		}
		next_record(f);
		assert_null(ray_agg_clear(&f->consumer, a));
		assert_int_equal(a->groups.at[0].words[0], 0);
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
		cmocka_unit_test_setup_teardown(sums_lose_nothing_by_clear_and_trunc, setup_sum, teardown),
		cmocka_unit_test_setup_teardown(minima_lose_nothing_by_clear_and_trunc, setup_min, teardown),
		cmocka_unit_test_setup_teardown(printa_trunc_and_clear_of_many_keys_end, setup_sum, teardown),
		cmocka_unit_test_setup_teardown(several_aggregations_join_by_key, setup_sum, teardown),
		cmocka_unit_test_setup_teardown(many_keys_are_all_there, setup_sum, teardown),
		cmocka_unit_test(averages_and_deviations_are_worked_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
