/* gc.c - see gc.h. SPDX-License-Identifier: MIT */
#include "view/gc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/vec.h"
#include "view/frames.h"
#include "view/live.h"
#include "view/tally.h"

enum { SHOWN_STACKS = 10 };

/* What the collections of one type on one thread add up to. */
struct sum {
	uint32_t pid, tid;
	char type[32];
	uint64_t count, ns, longest, freed;
};

struct allocator {
	char *stack;
	uint64_t count, ns;
};

struct ray_gc_view {
	struct ray_gc_options options;
	FILE *out;
	struct ray_live *live;
	struct ray_text line;
	RAY_VEC(struct sum) sums;
	RAY_VEC(struct allocator) allocators;
	bool failed;
};

static const struct ray_live_column columns[] = {
	{ "time", "TIME", 12, RAY_ALIGN_LEFT, RAY_CUT_NEVER, "when it ended" },
	{ "pid", "PID", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "process" },
	{ "tid", "TID", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "thread: workers have a heap of their own" },
	{ "type", "TYPE", 12, RAY_ALIGN_LEFT, RAY_CUT_NEVER, "what kind of collection" },
	{ "pause", "PAUSE", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "how long the thread did nothing else" },
	{ "before", "BEFORE", 6, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "bytes of the heap in use before" },
	{ "after", "AFTER", 6, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "and after" },
	{ "freed", "FREED", 6, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "the difference" },
	{ "flags", "FLAGS", 5, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "v8::GCCallbackFlags" },
	{ "request", "REQUEST", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "number of the HTTP request it ran for" },
	{ "reason", "REASON", 0, RAY_ALIGN_LEFT, RAY_CUT_END, "why, in V8's own words" },
};

/* ---- life ---- */

struct ray_error *ray_gc_view_create(const struct ray_gc_options *options, FILE *out, struct ray_gc_view **ret)
{
	ray_auto(ray_gc_view, v) = calloc(1, sizeof(*v));
	struct ray_error *err;

	if (!v)
		return &ray_enomem;
	v->options = *options;
	v->out = out;
	err = ray_live_create(columns, RAY_COUNT(columns), "time,tid,type,pause,before,after,reason", options->columns,
			      options->width, &v->live);
	if (err)
		return err;
	*ret = ray_take(v);
	return NULL;
}

void ray_gc_view_free(struct ray_gc_view *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->allocators.n; i++)
		free(v->allocators.at[i].stack);
	ray_vec_free(&v->allocators);
	ray_vec_free(&v->sums);
	ray_live_free(v->live);
	ray_text_deinit(&v->line);
	free(v);
}

/* ---- sums ---- */

static uint64_t number(const struct ray_fact *f, const char *name)
{
	return (uint64_t)ray_fact_number(f, name);
}

static uint64_t freed_by(const struct ray_fact *f)
{
	uint64_t before = number(f, "before"), after = number(f, "after");

	return after && before > after ? before - after : 0;
}

static void add_sum(struct ray_gc_view *v, const struct ray_fact *f)
{
	const char *type = ray_fact_text(f, "type");
	uint64_t ns = number(f, "ns");
	struct sum *sum = NULL;

	for (size_t i = 0; i < v->sums.n && !sum; i++)
		if (v->sums.at[i].tid == f->tid && v->sums.at[i].pid == f->pid && !strcmp(v->sums.at[i].type, type))
			sum = &v->sums.at[i];
	if (!sum) {
		struct sum new = { .pid = f->pid, .tid = f->tid };

		snprintf(new.type, sizeof(new.type), "%s", type);
		if (!ray_vec_push(&v->sums, new)) {
			v->failed = true;
			return;
		}
		sum = &v->sums.at[v->sums.n - 1];
	}
	sum->count++;
	sum->ns += ns;
	sum->freed += freed_by(f);
	if (ns > sum->longest)
		sum->longest = ns;
}

static void add_allocator(struct ray_gc_view *v, const char *stack, uint64_t ns)
{
	struct allocator new = { .count = 1, .ns = ns };

	for (size_t i = 0; i < v->allocators.n; i++)
		if (!strcmp(v->allocators.at[i].stack, stack)) {
			v->allocators.at[i].count++;
			v->allocators.at[i].ns += ns;
			return;
		}
	new.stack = strdup(stack);
	if (!new.stack || !ray_vec_push(&v->allocators, new)) {
		free(new.stack);
		v->failed = true;
	}
}

/* ---- one collection ---- */

static json_t *bytes_json(uint64_t bytes)
{
	return bytes ? json_integer((json_int_t)bytes) : json_null();
}

static void print_json(const struct ray_fact *f)
{
	json_t *o = json_object();
	uint64_t ns = number(f, "ns");
	const char *stack = ray_fact_text(f, "stack"), *reason = ray_fact_text(f, "reason");

	json_object_set_new(o, "time", json_real((double)f->time_ns / 1e9));
	json_object_set_new(o, "pid", json_integer(f->pid));
	json_object_set_new(o, "tid", json_integer(f->tid));
	json_object_set_new(o, "type", ray_json_text(ray_fact_text(f, "type")));
	json_object_set_new(o, "reason", ray_json_text(*reason ? reason : NULL));
	json_object_set_new(o, "pause_ms", ray_json_ms(ns));
	json_object_set_new(o, "before", bytes_json(number(f, "before")));
	json_object_set_new(o, "after", bytes_json(number(f, "after")));
	json_object_set_new(o, "flags", json_integer(ray_fact_number(f, "flags")));
	json_object_set_new(o, "request", bytes_json(number(f, "request")));
	if (ray_fact_find(f, "stack"))
		json_object_set_new(o, "stack", ray_frames_json(stack));
	ray_json_print(o);
}

static void add_size(struct ray_live *l, uint64_t bytes)
{
	char text[8];

	ray_live_add(l, bytes ? ray_format_size(bytes, text) : "-");
}

static void print_line(struct ray_gc_view *v, const struct ray_fact *f)
{
	uint64_t ns = number(f, "ns");
	char text[32];

	ray_text_clear(&v->line);
	ray_live_add(v->live, ray_view_clock(f->time_ns, 3, text));
	ray_live_printf(v->live, "%u", f->pid);
	ray_live_printf(v->live, "%u", f->tid);
	ray_live_add(v->live, ray_fact_text(f, "type"));
	ray_live_add(v->live, ray_duration_format(ns, text));
	add_size(v->live, number(f, "before"));
	add_size(v->live, number(f, "after"));
	add_size(v->live, freed_by(f));
	ray_live_printf(v->live, "%" PRId64, ray_fact_number(f, "flags"));
	ray_live_printf(v->live, "%" PRId64, ray_fact_number(f, "request"));
	ray_live_add(v->live, ray_fact_text(f, "reason"));
	ray_live_end(v->live, &v->line);
	ray_frames_print(ray_fact_text(f, "stack"), 4, v->options.width, &v->line);
	fputs(ray_text_get(&v->line), v->out);
}

void ray_gc_view_take(struct ray_gc_view *v, const struct ray_fact *fact)
{
	if (!ray_fact_is(fact, "gc"))
		return;
	add_sum(v, fact);
	if (v->options.only_summary) {
		if (ray_fact_find(fact, "stack"))
			add_allocator(v, ray_fact_text(fact, "stack"), number(fact, "ns"));
	} else if (v->options.is_json) {
		print_json(fact);
	} else {
		print_line(v, fact);
	}
}

/* ---- the end ---- */

static int by_time(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

static int by_allocator_time(const void *a, const void *b)
{
	const struct allocator *x = a, *y = b;

	return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

static double share(uint64_t ns, uint64_t of_ns)
{
	return of_ns ? (double)ns / (double)of_ns : 0;
}

static void print_sums_json(const struct ray_gc_view *v, uint64_t duration_ns)
{
	for (size_t i = 0; i < v->sums.n; i++) {
		const struct sum *s = &v->sums.at[i];

		ray_json_print(json_pack("{s:i,s:i,s:o,s:I,s:o,s:f,s:o,s:I}", "pid", (int)s->pid, "tid", (int)s->tid,
					 "type", ray_json_text(s->type), "count", (json_int_t)s->count, "total_ms",
					 ray_json_ms(s->ns), "share", share(s->ns, duration_ns), "max_ms",
					 ray_json_ms(s->longest), "freed", (json_int_t)s->freed));
	}
	for (size_t i = 0; i < v->allocators.n; i++)
		ray_json_print(json_pack("{s:o,s:I,s:o}", "stack", ray_frames_json(v->allocators.at[i].stack), "count",
					 (json_int_t)v->allocators.at[i].count, "total_ms",
					 ray_json_ms(v->allocators.at[i].ns)));
}

/* The share is that of the thread that collects most: threads do it side by side. */
static void print_total(struct ray_gc_view *v, uint64_t duration_ns)
{
	uint64_t count = 0, ns = 0, longest = 0, most = 0;
	char total[24], time[24], max[24];

	for (size_t i = 0; i < v->sums.n; i++) {
		uint64_t thread_ns = 0;

		for (size_t k = 0; k < v->sums.n; k++)
			if (v->sums.at[k].tid == v->sums.at[i].tid)
				thread_ns += v->sums.at[k].ns;
		most = thread_ns > most ? thread_ns : most;
		count += v->sums.at[i].count;
		ns += v->sums.at[i].ns;
		longest = v->sums.at[i].longest > longest ? v->sums.at[i].longest : longest;
	}
	fprintf(v->out, "%s%" PRIu64 " collection%s in %s", v->options.only_summary ? "" : "\n", count,
		count == 1 ? "" : "s", ray_duration_format(duration_ns, time));
	if (count)
		fprintf(v->out, ": %s, %.2f%% of the time%s; the longest took %s", ray_duration_format(ns, total),
			100 * share(most, duration_ns), most < ns ? " of the busiest thread" : "",
			ray_duration_format(longest, max));
	fputs("\n", v->out);
}

static void print_table(struct ray_gc_view *v, uint64_t duration_ns)
{
	static const struct ray_column heads[] = {
		{ "TID", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },	{ "TYPE", RAY_ALIGN_LEFT, RAY_CUT_NEVER, 0 },
		{ "COUNT", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 }, { "TOTAL", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
		{ "SHARE", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 }, { "AVERAGE", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
		{ "MAX", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },	{ "FREED", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
	};
	ray_auto(ray_table, t) = ray_table_create(heads, RAY_COUNT(heads));
	char text[24];

	if (!t) {
		v->failed = true;
		return;
	}
	for (size_t i = 0; i < v->sums.n; i++) {
		const struct sum *s = &v->sums.at[i];

		ray_table_printf(t, "%u", s->tid);
		ray_table_add(t, s->type);
		ray_table_printf(t, "%" PRIu64, s->count);
		ray_table_add(t, ray_duration_format(s->ns, text));
		ray_table_printf(t, "%.2f%%", 100 * share(s->ns, duration_ns));
		ray_table_add(t, ray_duration_format(s->ns / s->count, text));
		ray_table_add(t, ray_duration_format(s->longest, text));
		ray_table_add(t, s->freed ? ray_format_size(s->freed, text) : "-");
	}
	if (v->sums.n && !ray_table_print(t, &(struct ray_table_print){ .width = v->options.width }, v->out))
		v->failed = true;
}

static void print_allocators(struct ray_gc_view *v)
{
	char text[24];

	if (v->allocators.n)
		fputs("\nWho allocated, by the time of the collections:\n", v->out);
	ray_text_clear(&v->line);
	for (size_t i = 0; i < v->allocators.n && i < SHOWN_STACKS; i++) {
		ray_text_printf(&v->line, "\n  %s in %" PRIu64 " collection%s\n",
				ray_duration_format(v->allocators.at[i].ns, text), v->allocators.at[i].count,
				v->allocators.at[i].count == 1 ? "" : "s");
		ray_frames_print(v->allocators.at[i].stack, 4, v->options.width, &v->line);
	}
	if (v->allocators.n > SHOWN_STACKS)
		ray_text_printf(&v->line, "\n  and %zu stacks more\n", v->allocators.n - SHOWN_STACKS);
	fputs(ray_text_get(&v->line), v->out);
}

void ray_gc_view_finish(struct ray_gc_view *v, uint64_t duration_ns)
{
	if (v->sums.n)
		qsort(v->sums.at, v->sums.n, sizeof(*v->sums.at), by_time);
	if (v->allocators.n)
		qsort(v->allocators.at, v->allocators.n, sizeof(*v->allocators.at), by_allocator_time);
	if (v->options.is_json) {
		if (v->options.only_summary)
			print_sums_json(v, duration_ns);
	} else {
		print_total(v, duration_ns);
		print_table(v, duration_ns);
		print_allocators(v);
	}
	if (v->failed || v->line.failed)
		fputs("noderay: there was no memory for all of it\n", stderr);
}
