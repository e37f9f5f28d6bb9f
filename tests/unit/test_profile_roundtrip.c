/* test_profile_roundtrip.c - what a format can hold is there again after it was written and read. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "fake_profile.h"

static const struct row {
	const char *format;
	unsigned what;
	bool has_about; /* titles, units and what was lost */
} rows[] = {
	{ "speedscope",
	  FAKE_KINDS | FAKE_FILES | FAKE_COLUMNS | FAKE_TIMES | FAKE_THREADS | FAKE_BINARIES | FAKE_PROCESSES, true },
	{ "cpuprofile",
	  FAKE_KINDS | FAKE_FILES | FAKE_COLUMNS | FAKE_TIMES | FAKE_THREADS | FAKE_BINARIES | FAKE_PROCESSES, true },
	{ "chrome", FAKE_KINDS | FAKE_FILES | FAKE_COLUMNS | FAKE_THREADS | FAKE_BINARIES | FAKE_PROCESSES, true },
	{ "pprof", FAKE_KINDS | FAKE_FILES | FAKE_LINES | FAKE_THREADS | FAKE_BINARIES | FAKE_PROCESSES | FAKE_INLINED,
	  true },
};

static struct ray_profile *through(const struct ray_profile *p, const char *format)
{
	struct ray_profile *again = NULL;
	const struct ray_profile_format *f;
	char path[] = "/tmp/noderay-roundtrip-XXXXXX";
	struct ray_error *err;

	close(mkstemp(path));
	assert_null(ray_profile_format_find(format, "", &f));
	assert_null(ray_profile_write(p, f, path));
	err = ray_profile_read(path, &again);
	unlink(path);
	if (err)
		print_error("%s: %s\n", format, ray_error_text(err));
	assert_null(err);
	return again;
}

static void check_about(const struct ray_profile *p, const struct ray_profile *again)
{
	assert_string_equal(again->title, p->title);
	assert_string_equal(again->event, p->event);
	assert_string_equal(again->command, p->command);
	assert_string_equal(again->host, p->host);
	assert_string_equal(again->node_version, p->node_version);
	assert_int_equal(again->unit, p->unit);
	assert_int_equal(again->start_ns, p->start_ns);
	assert_int_equal(again->duration_ns, p->duration_ns);
	assert_int_equal(again->period_ns, p->period_ns);
	assert_int_equal(again->lost_samples, p->lost_samples);
	assert_int_equal(again->cut_stacks, p->cut_stacks);
}

static void check(const struct ray_profile *p)
{
	for (size_t i = 0; i < RAY_COUNT(rows); i++) {
		ray_auto(ray_profile, again) = through(p, rows[i].format);
		unsigned what = p->has_times ? rows[i].what : rows[i].what & ~(unsigned)FAKE_TIMES;
		ray_auto_memory char *before = fake_text(p, what), *after = fake_text(again, what);

		if (strcmp(before, after))
			print_error("%s:\n%s---\n%s", rows[i].format, before, after);
		assert_string_equal(after, before);
		if (rows[i].has_about)
			check_about(p, again);
	}
}

/* V8's own profiler has samples of "(idle)" and of its root. What lies between samples must not be taken for them, nor they for it. */
static void nothing_ran_is_not_a_gap(void **state)
{
	static const struct ray_profile_function idle = { RAY_KIND_IDLE, "(idle)", "", 0, 0, "" };
	ray_auto(ray_profile, p) = fake_profile();
	struct ray_profile_frame frame = { .function = ray_profile_function(p, &idle) };
	uint32_t node = ray_profile_node(p, 0, ray_profile_frame(p, &frame));
	(void)state;

	/* Behind gaps of 30 ms, of two threads and then of one. */
	ray_profile_add(p, &(struct ray_profile_sample){ 100000000, node, 0, 1, 1 });
	ray_profile_add(p, &(struct ray_profile_sample){ 110000000, 0, 0, 1, 1 });
	check(p);
	for (size_t i = 0; i < p->samples.n; i++)
		p->samples.at[i].thread = 0;
	for (size_t i = 0; i < p->samples.n; i++)
		p->samples.at[i].time_ns = 10000000 * (i + 1 + (i > 5 ? 3 : 0));
	check(p);
}

static void samples_with_times(void **state)
{
	ray_auto(ray_profile, p) = fake_profile();
	(void)state;

	check(p);
}

static void samples_without_times(void **state)
{
	ray_auto(ray_profile, p) = fake_profile();
	(void)state;

	p->has_times = false;
	for (size_t i = 0; i < p->samples.n; i++)
		p->samples.at[i].time_ns = 0;
	p->samples.at[1].weight = 5;
	check(p);
	p->period_ns = 0;
	check(p);
}

static void bytes_and_calls(void **state)
{
	ray_auto(ray_profile, p) = fake_profile();
	(void)state;

	p->has_times = false;
	p->period_ns = 0;
	p->unit = RAY_UNIT_BYTES;
	for (size_t i = 0; i < p->samples.n; i++)
		p->samples.at[i].weight = (int64_t)i + 1;
	check(p);
	p->unit = RAY_UNIT_COUNT;
	check(p);
}

static void time_that_was_waited(void **state)
{
	ray_auto(ray_profile, p) = fake_profile();
	(void)state;

	p->period_ns = 0;
	p->unit = RAY_UNIT_NS;
	for (size_t i = 0; i < p->samples.n; i++)
		p->samples.at[i].weight = 2000000 + 1000 * (int64_t)i;
	check(p);
}

static void nothing_at_all(void **state)
{
	(void)state;
	for (size_t i = 0; i < RAY_COUNT(rows); i++) {
		ray_auto(ray_profile, p) = ray_profile_create();
		ray_auto(ray_profile, again) = through(p, rows[i].format);

		assert_int_equal(again->samples.n, 0);
	}
}

static void one_thread_of_which_nothing_is_known(void **state)
{
	(void)state;
	for (size_t i = 0; i < RAY_COUNT(rows); i++) {
		ray_auto(ray_profile, p) = NULL;
		ray_auto(ray_profile, again) = NULL;

		assert_null(ray_profile_parse("a;b 7\n", 6, &p));
		again = through(p, rows[i].format);
		assert_int_equal(ray_profile_weight(again), 7);
		assert_int_equal(again->threads.n, 1);
		assert_int_equal(again->threads.at[0].tid, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_ran_is_not_a_gap),
		cmocka_unit_test(samples_with_times),
		cmocka_unit_test(samples_without_times),
		cmocka_unit_test(bytes_and_calls),
		cmocka_unit_test(time_that_was_waited),
		cmocka_unit_test(nothing_at_all),
		cmocka_unit_test(one_thread_of_which_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
