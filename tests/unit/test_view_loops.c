/* How collections, intervals of event loops and blocks look. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "view/block.h"
#include "view/frames.h"
#include "view/gc.h"
#include "view/loop.h"
#include "view/quantile.h"
#include "view/way.h"

enum { PID = 4242, MS = 1000000 };
static const uint64_t second = 1000000000;

/* ---- facts ---- */

static struct ray_fact_field number(const char *name, uint64_t value)
{
	return (struct ray_fact_field){ .name = name,
					.value = { .kind = RAY_VALUE_INTEGER, .integer = value, .size = 8 } };
}

static struct ray_fact_field text(const char *name, const char *value)
{
	return (struct ray_fact_field){ .name = name,
					.value = { .kind = RAY_VALUE_STRING,
						   .bytes = value,
						   .length = (uint32_t)strlen(value),
						   .size = (uint32_t)strlen(value) + 1 } };
}

static struct ray_fact_field stack(const char *lines)
{
	struct ray_fact_field field = text("stack", lines);

	field.value.kind = RAY_VALUE_JSTACK;
	return field;
}

static struct ray_fact_field bins(const char *name, const struct ray_histogram *h)
{
	return (struct ray_fact_field){ .name = name, .histogram = h };
}

#define FACT(name_, time, tid_, ...)                                                         \
	&(struct ray_fact)                                                                   \
	{                                                                                    \
		.name = (name_), .time_ns = (time), .pid = PID, .tid = (tid_),               \
		.fields = (struct ray_fact_field[]){ number("", 0), ##__VA_ARGS__ },         \
		.count = sizeof((struct ray_fact_field[]){ number("", 0), ##__VA_ARGS__ }) / \
			 sizeof(struct ray_fact_field)                                       \
	}

/* Everything that is written to the stream meanwhile. */
struct page {
	char *bytes;
	size_t length;
	FILE *out;
};

static void page_open(struct page *p)
{
	setenv("TZ", "UTC", 1);
	p->out = open_memstream(&p->bytes, &p->length);
	assert_non_null(p->out);
}

static void page_is(struct page *p, const char *expected)
{
	fclose(p->out);
	assert_string_equal(p->bytes, expected);
	free(p->bytes);
}

/* ---- collections ---- */

static void collection(struct ray_gc_view *v, uint64_t time, uint32_t tid, const char *type, uint64_t ns,
		       uint64_t before, uint64_t after)
{
	ray_gc_view_take(v,
			 FACT("gc", time, tid, text("type", type), text("reason", "allocation failure"),
			      number("ns", ns), number("before", before), number("after", after), number("flags", 0)));
}

static void collections_are_listed_and_summed_up(void **state)
{
	ray_auto(ray_gc_view, v) = NULL;
	struct page page;

	(void)state;
	page_open(&page);
	assert_null(ray_gc_view_create(&(struct ray_gc_options){ .width = 80 }, page.out, &v));
	collection(v, 3600 * second, PID, "scavenge", 2 * MS, 30 << 20, 20 << 20);
	collection(v, 3601 * second, PID + 7, "mark-compact", 40 * MS, 50 << 20, 10 << 20);
	collection(v, 3602 * second, PID, "incremental", 1 * MS, 0, 0);
	collection(v, 3603 * second, PID, "scavenge", 4 * MS, 30 << 20, 30 << 20);
	ray_gc_view_finish(v, 10 * second);
	page_is(&page,
		"TIME             TID TYPE           PAUSE BEFORE  AFTER REASON\n"
		"01:00:00.000    4242 scavenge      2.00ms    30M    20M allocation failure\n"
		"01:00:01.000    4249 mark-compact  40.0ms    50M    10M allocation failure\n"
		"01:00:02.000    4242 incremental   1.00ms      -      - allocation failure\n"
		"01:00:03.000    4242 scavenge      4.00ms    30M    30M allocation failure\n"
		"\n"
		"4 collections in 10.0s: 47.0ms, 0.40% of the time of the busiest thread; the longest took 40.0ms\n"
		" TID  TYPE          COUNT   TOTAL  SHARE  AVERAGE     MAX  FREED\n"
		"4249  mark-compact      1  40.0ms  0.40%   40.0ms  40.0ms    40M\n"
		"4242  scavenge          2  6.00ms  0.06%   3.00ms  4.00ms    10M\n"
		"4242  incremental       1  1.00ms  0.01%   1.00ms  1.00ms      -\n");
}

static void no_collection_is_a_result(void **state)
{
	ray_auto(ray_gc_view, v) = NULL;
	struct page page;

	(void)state;
	page_open(&page);
	assert_null(ray_gc_view_create(&(struct ray_gc_options){ .only_summary = true }, page.out, &v));
	ray_gc_view_finish(v, 2 * second);
	page_is(&page, "0 collections in 2.00s\n");
}

static void who_allocated(void **state)
{
	ray_auto(ray_gc_view, v) = NULL;
	struct page page;

	(void)state;
	page_open(&page);
	assert_null(ray_gc_view_create(&(struct ray_gc_options){ .only_summary = true }, page.out, &v));
	for (int i = 0; i < 3; i++)
		ray_gc_view_take(v,
				 FACT("gc", second, PID, text("type", "scavenge"), text("reason", ""), number("ns", MS),
				      stack(i ? "  often (a.js:1:1)\n" : "  once (b.js:2:2)\n  main (b.js:9:1)\n")));
	ray_gc_view_finish(v, second);
	page_is(&page, "3 collections in 1.00s: 3.00ms, 0.30% of the time; the longest took 1.00ms\n"
		       " TID  TYPE      COUNT   TOTAL  SHARE  AVERAGE     MAX  FREED\n"
		       "4242  scavenge      3  3.00ms  0.30%   1.00ms  1.00ms      -\n"
		       "\nWho allocated, by the time of the collections:\n"
		       "\n  2.00ms in 2 collections\n    often (a.js:1:1)\n"
		       "\n  1.00ms in 1 collection\n    once (b.js:2:2)\n    main (b.js:9:1)\n");
}

static void a_column_that_is_none(void **state)
{
	ray_auto(ray_gc_view, v) = NULL;
	ray_auto(ray_error, err) = NULL;

	(void)state;
	err = ray_gc_view_create(&(struct ray_gc_options){ .columns = "time,why" }, stdout, &v);
	assert_non_null(err);
	assert_int_equal(ray_error_code(err), RAY_USAGE);
}

/* ---- intervals ---- */

/* llquantize(x, 2, 10, 38, 16), with some values in it. */
static struct ray_histogram lags = {
	.kind = RAY_HISTOGRAM_LOG_LINEAR, .factor = 2, .low_power = 10, .high_power = 38, .steps = 16, .normal = 1
};
static int64_t counts[2048];

static size_t bin_of(uint64_t ns)
{
	uint64_t low, high;

	for (size_t i = 0; i < lags.count; i++)
		if (ray_histogram_bin(&lags, i, &low, &high) && ns >= low && ns < high)
			return i;
	fail();
	return 0;
}

static void iterations(uint64_t ns, int64_t count)
{
	counts[bin_of(ns)] += count;
}

static void loop_fact(struct ray_loop_view *v, uint64_t awake, uint64_t asleep, uint64_t busy, uint64_t longest)
{
	ray_loop_view_take(v, FACT("loop", 0, 0, number("pid", PID), number("tid", PID), number("awake", awake),
				   number("asleep", asleep), number("busy", busy), number("longest", longest),
				   bins("lag", &lags)));
}

static void what_happened_is_the_difference(void **state)
{
	const uint64_t start = 3600 * second;
	ray_auto(ray_loop_view, v) = NULL;
	struct page page;
	pid_t pid = PID;

	(void)state;
	lags.count = ray_histogram_bins(&lags);
	assert_true(lags.count && lags.count <= RAY_COUNT(counts));
	lags.bins = counts;
	memset(counts, 0, sizeof(counts));
	page_open(&page);
	assert_null(
		ray_loop_view_create(&(struct ray_loop_options){ .width = 80, .interval_ns = second }, page.out, &v));
	ray_loop_view_start(v, &pid, 1, start);
	ray_loop_view_take(v, FACT("report", start + second, 0)); /* nothing was heard */
	iterations(1 * MS, 100);
	iterations(90 * MS, 1);
	loop_fact(v, start + 2 * second - 50 * MS, start + 2 * second - 40 * MS, 190 * MS, 90 * MS);
	ray_loop_view_take(v, FACT("report", start + 2 * second, 0));
	/* Works since 2.5 s, and goes on. */
	loop_fact(v, start + 2 * second + 500 * MS, start + 2 * second, 190 * MS,
		  1ULL << 63); /* a maximum of nothing */
	ray_loop_view_take(v, FACT("report", start + 3 * second, 0));
	loop_fact(v, start + 2 * second + 500 * MS, start + 2 * second, 190 * MS, 0);
	ray_loop_view_take(v, FACT("report", start + 4 * second, 0));
	/* It has ended, at 4.2 s: 1.7 s. */
	iterations(1700 * MS, 1);
	loop_fact(v, start + 2 * second + 500 * MS, start + 4 * second + 200 * MS, 1890 * MS, 1700 * MS);
	ray_loop_view_take(v, FACT("report", start + 5 * second, 0));
	ray_loop_view_take(v, FACT("end", start + 5 * second + 100 * MS, 0)); /* too short to tell */
	page_is(&page, "TIME         TID   ITER   UTIL     P50     P99     MAX  TIMERS    POLL   CHECK\n"
		       "01:00:01    4242      0      -       -       -       -       -       -       -\n"
		       "01:00:02    4242    101  19.0%  1.02ms  1.05ms  90.0ms       -       -       -\n"
		       "01:00:03    4242      0  50.0%       -       -   500ms       -       -       -\n"
		       "01:00:04    4242      0 100.0%       -       -   1.50s       -       -       -\n"
		       "01:00:05    4242      1  20.0%   1.66s   1.70s   1.70s       -       -       -\n");
}

static void a_thread_that_has_ended_is_told_once_more(void **state)
{
	ray_auto(ray_loop_view, v) = NULL;
	struct page page;
	pid_t pid = PID;

	(void)state;
	page_open(&page);
	assert_null(ray_loop_view_create(&(struct ray_loop_options){ .interval_ns = second }, page.out, &v));
	ray_loop_view_start(v, &pid, 1, 0);
	ray_loop_view_take(v, FACT("gone", second / 2, PID, number("tid", PID)));
	ray_loop_view_take(v, FACT("report", second, 0));
	ray_loop_view_take(v, FACT("report", 2 * second, 0));
	page_is(&page, "TIME         TID   ITER   UTIL     P50     P99     MAX  TIMERS    POLL   CHECK\n"
		       "00:00:01    4242      0      -       -       -       -       -       -       -\n");
}

/* ---- blocks ---- */

static bool is_there(uint32_t pid, uint32_t tid)
{
	(void)pid;
	return tid == PID;
}

static const struct ray_block_options blocks = { .limit_ns = 50 * MS, .width = 80, .is_there = is_there };

static void sample(struct ray_block_view *v, uint64_t time, uint32_t tid, uint64_t since, const char *lines)
{
	ray_block_view_take(v, FACT("sample", time, tid, number("since", since), stack(lines)));
}

static void done(struct ray_block_view *v, uint64_t time, uint32_t tid, uint64_t since)
{
	ray_block_view_take(v, FACT("done", time, tid, number("since", since), number("ns", time - since),
				    number("cpu", 40 * MS), text("phase", "poll"), text("callback", "tcp"),
				    number("fd", 23), number("request", 0)));
}

static void a_block_shows_where_the_time_went(void **state)
{
	const uint64_t since = 3600 * second;
	struct page page;

	(void)state;
	page_open(&page);
	ray_auto(ray_block_view, v) = ray_block_view_create(&blocks, page.out);
	sample(v, since + 10 * MS, PID, since, "  inner (a.js:1:1)\n  handler (a.js:9:1)\n  node`uv_run+0x10\n");
	sample(v, since + 60 * MS, PID, since,
	       "  node`read+0x1\n  other (a.js:5:1)\n  handler (a.js:9:1)\n  node`uv_run+0x10\n");
	done(v, since + 100 * MS, PID, since);
	done(v, since + 201 * MS, PID, since + 200 * MS); /* short: its samples are of no use */
	ray_block_view_finish(v, since + second, second);
	page_is(&page, "01:00:00.100 thread 4242 blocked for 100ms (CPU: 40.0ms) in poll, callback of tcp fd 23\n"
		       "   60%  inner (a.js:1:1)\n"
		       "  100%  handler (a.js:9:1)\n"
		       "\n1 callback of 50.0ms or more in 1.00s: 100ms in all, the longest took 100ms\n");
}

static void what_goes_on_is_overdue(void **state)
{
	struct ray_block_open open;
	struct page page;

	(void)state;
	page_open(&page);
	ray_auto(ray_block_view, v) = ray_block_view_create(&blocks, page.out);
	sample(v, second + 10 * MS, PID, second, "  spin (a.js:1:1)\n");
	sample(v, second + 10 * MS, PID + 1, second, "  spin (a.js:1:1)\n"); /* a thread that is gone at the end */
	assert_false(ray_block_view_overdue(v, second + 40 * MS, &open));
	assert_true(ray_block_view_overdue(v, second + 60 * MS, &open));
	assert_int_equal(open.tid, PID);
	assert_true(open.since_ns == second);
	ray_block_view_finish(v, second + 80 * MS, second);
	page_is(&page, "00:00:01.080 thread 4242 has been blocked for 80.0ms, and still is\n"
		       "  100%  spin (a.js:1:1)\n"
		       "\n1 callback of 50.0ms or more in 1.00s: 80.0ms in all, the longest took 80.0ms\n");
}

static void frames_are_lines(void **state)
{
	ray_auto_text out = { 0 };
	json_t *json = ray_frames_json("\n  a (x.js:1:1)\n\n\tb\x1b[31m\n");

	(void)state;
	assert_int_equal(json_array_size(json), 2);
	assert_string_equal(json_string_value(json_array_get(json, 0)), "a (x.js:1:1)");
	json_decref(json);
	ray_frames_print("  first (x.js:1:1)\n  second\n", 2, 12, &out);
	assert_string_equal(ray_text_get(&out), "  first (x.…\n  second\n");
}

static void stacks_without_javascript_show_what_there_is(void **state)
{
	const struct ray_way_stack stacks[] = { { "  libc`read\n  node`uv_run\n", 10 }, { "  node`uv_run\n", 2 } };
	ray_auto_text out = { 0 };

	(void)state;
	assert_true(ray_way_print(stacks, 2, 0, &out));
	assert_string_equal(ray_text_get(&out), "   83%  libc`read\n  100%  node`uv_run\n");
	ray_text_clear(&out);
	assert_true(ray_way_print(NULL, 0, 0, &out));
	assert_string_equal(ray_text_get(&out), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(collections_are_listed_and_summed_up),
		cmocka_unit_test(no_collection_is_a_result),
		cmocka_unit_test(who_allocated),
		cmocka_unit_test(a_column_that_is_none),
		cmocka_unit_test(what_happened_is_the_difference),
		cmocka_unit_test(a_thread_that_has_ended_is_told_once_more),
		cmocka_unit_test(a_block_shows_where_the_time_went),
		cmocka_unit_test(what_goes_on_is_overdue),
		cmocka_unit_test(frames_are_lines),
		cmocka_unit_test(stacks_without_javascript_show_what_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
