/* loop.c - see loop.h. SPDX-License-Identifier: MIT */
#include "view/loop.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/vec.h"
#include "view/lag.h"
#include "view/live.h"
#include "view/tally.h"

enum phase { ALL, TIMERS, POLL, CHECK, PHASES };
static const char *const phase_names[PHASES] = { "all", "timers", "poll", "check" };

/* What an interval says of one phase, or of all. */
struct lag {
	bool is_known;
	uint64_t p50, p99, max;
};

struct loop {
	uint32_t pid, tid;
	bool is_heard, is_gone;
	struct ray_lag_work work;
	struct ray_lag_bins bins[PHASES];
};

struct ray_loop_view {
	struct ray_loop_options options;
	FILE *out;
	struct ray_live *live;
	struct ray_text line;
	RAY_VEC(struct loop) loops;
	uint64_t last_ns; /* when the last report was made, or all began */
	bool is_reported, failed;
};

static const struct ray_live_column columns[] = {
	{ "time", "TIME", 8, RAY_ALIGN_LEFT, RAY_CUT_NEVER, "end of the interval" },
	{ "pid", "PID", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "process" },
	{ "tid", "TID", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "thread: each worker has a loop of its own" },
	{ "iterations", "ITER", 6, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "iterations that ended in the interval" },
	{ "util", "UTIL", 6, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "share of the interval in which it worked" },
	{ "phase", "PHASE", 6, RAY_ALIGN_LEFT, RAY_CUT_NEVER, "of the percentiles, with --phases" },
	{ "p50", "P50", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER,
	  "median lag: how long an iteration worked before it polled again" },
	{ "p99", "P99", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "of 99 of 100 iterations" },
	{ "max", "MAX", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "the longest" },
	{ "timers", "TIMERS", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "the longest phase timers" },
	{ "poll", "POLL", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "the longest phase poll, without the time it slept" },
	{ "check", "CHECK", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "the longest phase check" },
};

/* ---- life ---- */

struct ray_error *ray_loop_view_create(const struct ray_loop_options *options, FILE *out, struct ray_loop_view **ret)
{
	const char *usual = options->phases ? "time,tid,iterations,util,phase,p50,p99,max" :
					      "time,tid,iterations,util,p50,p99,max,timers,poll,check";
	ray_auto(ray_loop_view, v) = calloc(1, sizeof(*v));
	struct ray_error *err;

	if (!v)
		return &ray_enomem;
	v->options = *options;
	v->out = out;
	err = ray_live_create(columns, RAY_COUNT(columns), usual, options->columns, options->width, &v->live);
	if (err)
		return err;
	*ret = ray_take(v);
	return NULL;
}

static void loop_free(struct loop *l)
{
	for (size_t i = 0; i < PHASES; i++)
		ray_lag_free(&l->bins[i]);
}

void ray_loop_view_free(struct ray_loop_view *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->loops.n; i++)
		loop_free(&v->loops.at[i]);
	ray_vec_free(&v->loops);
	ray_live_free(v->live);
	ray_text_deinit(&v->line);
	free(v);
}

static struct loop *loop_get(struct ray_loop_view *v, uint32_t pid, uint32_t tid)
{
	struct loop new = { .pid = pid, .tid = tid, .work.end_ns = v->last_ns };

	for (size_t i = 0; i < v->loops.n; i++)
		if (v->loops.at[i].pid == pid && v->loops.at[i].tid == tid)
			return &v->loops.at[i];
	if (!ray_vec_push(&v->loops, new)) {
		v->failed = true;
		return NULL;
	}
	return &v->loops.at[v->loops.n - 1];
}

void ray_loop_view_start(struct ray_loop_view *v, const pid_t *pids, size_t count, uint64_t epoch_ns)
{
	v->last_ns = epoch_ns;
	for (size_t i = 0; i < count; i++)
		loop_get(v, (uint32_t)pids[i], (uint32_t)pids[i]);
}

/* ---- what the script tells ---- */

/* A maximum of nothing, since it was cleared, is less than 0. */
static uint64_t number(const struct ray_fact *f, const char *name)
{
	int64_t value = ray_fact_number(f, name);

	return value > 0 ? (uint64_t)value : 0;
}

static void bins_take(struct ray_loop_view *v, struct ray_lag_bins *b, const struct ray_histogram *h, uint64_t longest)
{
	if (!ray_lag_take(b, h, longest))
		v->failed = true;
}

static void take_loop(struct ray_loop_view *v, const struct ray_fact *f)
{
	struct loop *l = loop_get(v, (uint32_t)number(f, "pid"), (uint32_t)number(f, "tid"));

	if (!l)
		return;
	l->is_heard = true;
	l->work.awake = number(f, "awake");
	l->work.asleep = number(f, "asleep");
	l->work.busy = number(f, "busy");
	bins_take(v, &l->bins[ALL], ray_fact_histogram(f, "lag"), number(f, "longest"));
}

static void take_phases(struct ray_loop_view *v, const struct ray_fact *f)
{
	static const char *const longest[PHASES] = { NULL, "longest_timers", "longest_poll", "longest_check" };
	struct loop *l = loop_get(v, (uint32_t)number(f, "pid"), (uint32_t)number(f, "tid"));

	for (size_t i = TIMERS; i < PHASES && l; i++)
		bins_take(v, &l->bins[i], ray_fact_histogram(f, phase_names[i]), number(f, longest[i]));
}

/* ---- an interval ---- */

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* so_far: how long an iteration that has not ended works already. */
static struct lag lag_of(const struct ray_lag_bins *b, uint64_t so_far, uint64_t *count_ret)
{
	struct lag lag = { .is_known = b->now || so_far };
	struct ray_histogram h = b->shape;
	ray_auto_memory int64_t *difference = ray_lag_difference(b);

	*count_ret = 0;
	lag.max = most(b->longest, so_far);
	if (!difference)
		return lag;
	h.bins = difference;
	*count_ret = ray_histogram_count(&h);
	lag.max = most(lag.max, *count_ret ? ray_lag_highest(&h) : 0);
	lag.p50 = ray_histogram_percentile(&h, 50, lag.max);
	lag.p99 = ray_histogram_percentile(&h, 99, lag.max);
	return lag;
}

struct interval {
	uint64_t end_ns, length_ns, iterations;
	double utilization; /* less than 0: not known */
	struct lag lags[PHASES];
};

static void measure(struct loop *l, uint64_t end_ns, struct interval *ret)
{
	struct ray_lag_share share = ray_lag_work_end(&l->work, end_ns);
	uint64_t count;

	*ret = (struct interval){ .end_ns = end_ns, .length_ns = share.length_ns, .utilization = -1 };
	if (l->is_heard && share.length_ns)
		ret->utilization = (double)share.busy_ns / (double)share.length_ns;
	for (size_t i = 0; i < PHASES; i++) {
		ret->lags[i] = lag_of(&l->bins[i], i == ALL ? share.so_far_ns : 0, &count);
		if (i == ALL)
			ret->iterations = count;
		ray_lag_pass(&l->bins[i]);
	}
}

/* ---- how it looks ---- */

static json_t *lag_json(const struct lag *lag, bool has_any)
{
	if (!lag->is_known)
		return json_null();
	return json_pack("{s:o,s:o,s:o}", "p50", has_any ? ray_json_ms(lag->p50) : json_null(), "p99",
			 has_any ? ray_json_ms(lag->p99) : json_null(), "max",
			 has_any || lag->max ? ray_json_ms(lag->max) : json_null());
}

static void print_json(const struct loop *l, const struct interval *n)
{
	json_t *o = json_object(), *phases = n->lags[POLL].is_known ? json_object() : json_null();

	json_object_set_new(o, "time", json_real((double)n->end_ns / 1e9));
	json_object_set_new(o, "pid", json_integer(l->pid));
	json_object_set_new(o, "tid", json_integer(l->tid));
	json_object_set_new(o, "interval_ms", ray_json_ms(n->length_ns));
	json_object_set_new(o, "iterations", json_integer((json_int_t)n->iterations));
	json_object_set_new(o, "utilization", n->utilization < 0 ? json_null() : json_real(n->utilization));
	json_object_set_new(o, "lag_ms", lag_json(&n->lags[ALL], n->iterations));
	for (size_t i = TIMERS; i < PHASES; i++)
		if (json_is_object(phases))
			json_object_set_new(phases, phase_names[i], lag_json(&n->lags[i], n->iterations));
	json_object_set_new(o, "phases", phases);
	ray_json_print(o);
}

static void add_time(struct ray_live *live, uint64_t ns, bool has_any)
{
	char text[24];

	ray_live_add(live, has_any ? ray_duration_format(ns, text) : "-");
}

static void print_line(struct ray_loop_view *v, const struct loop *l, const struct interval *n, enum phase phase)
{
	const struct lag *lag = &n->lags[phase];
	bool is_first = phase == ALL;
	char text[32];

	ray_live_add(v->live, is_first ? ray_view_clock(n->end_ns, 0, text) : "");
	ray_live_printf(v->live, is_first ? "%u" : "", l->pid);
	ray_live_printf(v->live, is_first ? "%u" : "", l->tid);
	ray_live_printf(v->live, is_first ? "%" PRIu64 : "", n->iterations);
	if (is_first && n->utilization >= 0)
		ray_live_printf(v->live, "%.1f%%", 100 * n->utilization);
	else
		ray_live_add(v->live, is_first ? "-" : "");
	ray_live_add(v->live, phase_names[phase]);
	add_time(v->live, lag->p50, n->iterations && lag->is_known);
	add_time(v->live, lag->p99, n->iterations && lag->is_known);
	add_time(v->live, lag->max, lag->max);
	for (size_t i = TIMERS; i < PHASES; i++)
		add_time(v->live, n->lags[i].max, n->lags[i].max);
	ray_live_end(v->live, &v->line);
}

static void print_text(struct ray_loop_view *v, const struct loop *l, const struct interval *n)
{
	ray_text_clear(&v->line);
	print_line(v, l, n, ALL);
	for (size_t i = TIMERS; i < PHASES && v->options.phases && n->lags[POLL].is_known; i++)
		print_line(v, l, n, (enum phase)i);
	fputs(ray_text_get(&v->line), v->out);
}

static void report(struct ray_loop_view *v, uint64_t now_ns)
{
	struct interval interval;
	size_t kept = 0;

	for (size_t i = 0; i < v->loops.n; i++) {
		struct loop *l = &v->loops.at[i];

		measure(l, now_ns, &interval);
		if (v->options.is_json)
			print_json(l, &interval);
		else
			print_text(v, l, &interval);
	}
	for (size_t i = 0; i < v->loops.n; i++) { /* what has ended is told for the last time */
		if (v->loops.at[i].is_gone)
			loop_free(&v->loops.at[i]);
		else
			v->loops.at[kept++] = v->loops.at[i];
	}
	v->loops.n = kept;
	v->last_ns = now_ns;
	v->is_reported = true;
	if (v->failed)
		fputs("noderay: there was no memory for all of it\n", stderr);
	v->failed = false;
}

static void take_gone(struct ray_loop_view *v, const struct ray_fact *f)
{
	for (size_t i = 0; i < v->loops.n; i++)
		if (v->loops.at[i].tid == number(f, "tid"))
			v->loops.at[i].is_gone = true;
}

void ray_loop_view_take(struct ray_loop_view *v, const struct ray_fact *f)
{
	if (f->is_end)
		return;
	if (ray_fact_is(f, "loop"))
		take_loop(v, f);
	else if (ray_fact_is(f, "phases"))
		take_phases(v, f);
	else if (ray_fact_is(f, "gone"))
		take_gone(v, f);
	else if (ray_fact_is(f, "report"))
		report(v, f->time_ns);
	else if (ray_fact_is(f, "end") && (!v->is_reported || f->time_ns - v->last_ns > v->options.interval_ns / 2))
		report(v, f->time_ns); /* less than that says nothing */
}
