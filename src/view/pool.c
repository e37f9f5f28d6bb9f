/* pool.c - see pool.h. SPDX-License-Identifier: MIT */
#include "view/pool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/vec.h"
#include "view/asked.h"
#include "view/live.h"
#include "view/screen.h"
#include "view/tally.h"
#include "view/work_name.h"

struct process {
	uint32_t pid;
	int64_t queue, busy;	       /* now */
	int64_t most_queue, most_busy; /* of this page */
	unsigned int threads;
	struct ray_tally *works; /* first distribution: how long they ran, second: how long they waited */
};

struct ray_pool_view {
	struct ray_pool_options options;
	FILE *out;
	RAY_VEC(struct process) processes;
	struct ray_text who;
	bool has_page, failed;
};

struct ray_pool_view *ray_pool_view_create(const struct ray_pool_options *options, FILE *out)
{
	struct ray_pool_view *v = calloc(1, sizeof(*v));

	if (v) {
		v->options = *options;
		v->out = out;
	}
	return v;
}

void ray_pool_view_free(struct ray_pool_view *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->processes.n; i++)
		ray_tally_free(v->processes.at[i].works);
	ray_vec_free(&v->processes);
	ray_text_deinit(&v->who);
	free(v);
}

/* ---- facts ---- */

static struct process *process_of(struct ray_pool_view *v, uint32_t pid)
{
	struct process made = { .pid = pid };

	for (size_t i = 0; i < v->processes.n; i++)
		if (v->processes.at[i].pid == pid)
			return &v->processes.at[i];
	made.works = ray_tally_create();
	if (made.works && ray_vec_push(&v->processes, made))
		return &v->processes.at[v->processes.n - 1];
	ray_tally_free(made.works);
	v->failed = true;
	return NULL;
}

static void take_work(struct process *p, const struct ray_fact *f)
{
	uint64_t longest = (uint64_t)ray_fact_number(f, "longest");
	struct ray_work_name name;
	struct ray_tally_row *row;

	ray_work_name(ray_fact_text(f, "kind"), ray_fact_text(f, "operation"), ray_fact_text(f, "function"), &name);
	row = ray_tally_row(p->works, ray_text_get(&name.kind), ray_text_get(&name.what));
	ray_work_name_deinit(&name);
	if (row && ray_fact_is(f, "runs")) {
		ray_tally_add(p->works, row, ray_fact_histogram(f, "runs"));
		row->longest = longest > row->longest ? longest : row->longest;
	} else if (row) {
		ray_tally_add_second(p->works, row, ray_fact_histogram(f, "waits"));
		row->total = longest > row->total ? longest : row->total; /* of waits: the longest */
	}
}

static void take_who(struct ray_pool_view *v, const struct ray_fact *f)
{
	const char *kind, *what;
	struct ray_work_name name;

	ray_work_name(ray_fact_text(f, "kind"), ray_fact_text(f, "operation"), ray_fact_text(f, "function"), &name);
	kind = ray_text_get(&name.kind);
	what = ray_text_get(&name.what);
	if (v->options.is_json) {
		json_t *o = json_object();

		json_object_set_new(o, "pid", json_integer(ray_fact_number(f, "pid")));
		json_object_set_new(o, "kind", ray_json_text(kind));
		json_object_set_new(o, "what", *what ? ray_json_text(what) : json_null());
		json_object_set_new(o, "count", json_integer(ray_fact_number(f, "count")));
		json_object_set_new(o, "stack", ray_view_stack_json(ray_fact_text(f, "stack")));
		ray_json_print(o);
	} else {
		ray_text_printf(&v->who, "\n%" PRId64 " times %s%s%s by\n", ray_fact_number(f, "count"), kind,
				*what ? " " : "", what);
		ray_view_stack_lines(ray_fact_text(f, "stack"), &v->who);
	}
	ray_work_name_deinit(&name);
}

/* ---- a page ---- */

static json_t *work_json(const struct ray_tally_row *row)
{
	json_t *o = json_object();

	json_object_set_new(o, "kind", ray_json_text(row->kind));
	json_object_set_new(o, "what", *row->name ? ray_json_text(row->name) : json_null());
	json_object_set_new(o, "count", json_integer((json_int_t)row->count));
	json_object_set_new(o, "wait_ms", ray_tally_json(&row->second, row->total));
	json_object_set_new(o, "run_ms", ray_tally_json(&row->histogram, row->longest));
	return o;
}

static void print_json(const struct process *p, struct ray_tally_row *const *rows, size_t count, uint64_t epoch_ns)
{
	json_t *o = json_object(), *kinds = json_array();

	json_object_set_new(o, "time", json_real((double)epoch_ns / 1e9));
	json_object_set_new(o, "pid", json_integer(p->pid));
	json_object_set_new(o, "queue", json_integer(p->queue));
	json_object_set_new(o, "queue_max", json_integer(p->most_queue));
	json_object_set_new(o, "busy", json_integer(p->busy));
	json_object_set_new(o, "busy_max", json_integer(p->most_busy));
	json_object_set_new(o, "threads", p->threads ? json_integer(p->threads) : json_null());
	for (size_t i = 0; i < count; i++)
		json_array_append_new(kinds, work_json(rows[i]));
	json_object_set_new(o, "kinds", kinds);
	ray_json_print(o);
}

static void add_times(struct ray_table *table, const struct ray_histogram *h, uint64_t longest)
{
	static const double percents[] = { 50, 99 };
	bool is_there = h->count && ray_histogram_count(h);
	char text[24];

	for (size_t i = 0; i < RAY_COUNT(percents); i++)
		ray_table_add(table,
			      is_there ? ray_duration_format(ray_histogram_percentile(h, percents[i], longest), text) :
					 "-");
	ray_table_add(table, is_there ? ray_duration_format(longest, text) : "-");
}

static void print_table(const struct ray_pool_view *v, struct ray_tally_row *const *rows, size_t count)
{
	static const struct ray_column columns[] = {
		{ "KIND", RAY_ALIGN_LEFT, RAY_CUT_NEVER, 0 },	  { "COUNT", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
		{ "WAIT50", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },  { "WAIT99", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
		{ "WAITMAX", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 }, { "RUN50", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
		{ "RUN99", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },	  { "RUNMAX", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
		{ "WORK", RAY_ALIGN_LEFT, RAY_CUT_END, 0 },
	};
	ray_auto(ray_table, table) = ray_table_create(columns, RAY_COUNT(columns));

	if (!table || !count)
		return;
	for (size_t i = 0; i < count; i++) {
		ray_table_add(table, rows[i]->kind);
		ray_table_printf(table, "%" PRIu64, rows[i]->count);
		add_times(table, &rows[i]->second, rows[i]->total);
		add_times(table, &rows[i]->histogram, rows[i]->longest);
		ray_table_add(table, *rows[i]->name ? rows[i]->name : "-");
	}
	ray_table_print(table, &(struct ray_table_print){ .width = v->options.width }, v->out);
}

static void print_head(const struct ray_pool_view *v, const struct process *p, uint64_t epoch_ns)
{
	char clock[32];

	fprintf(v->out,
		"%s process %u: queue %" PRId64 " (at most %" PRId64 "), busy %" PRId64 " (at most %" PRId64 ")",
		ray_view_clock(epoch_ns, 0, clock), p->pid, p->queue, p->most_queue, p->busy, p->most_busy);
	if (p->threads)
		fprintf(v->out, " of %u threads", p->threads);
	fputc('\n', v->out);
}

static void print_process(struct ray_pool_view *v, struct process *p, uint64_t epoch_ns)
{
	size_t count;
	struct ray_tally_row *const *rows = ray_tally_sorted(p->works, RAY_TALLY_BY_COUNT, &count);

	unsigned int threads = v->options.threads ? v->options.threads(v->options.arg, p->pid) : 0;

	if (threads) /* it may have ended */
		p->threads = threads;
	if (v->options.is_json) {
		print_json(p, rows, count, epoch_ns);
	} else {
		print_head(v, p, epoch_ns);
		print_table(v, rows, count);
	}
	v->failed |= ray_tally_failed(p->works);
	ray_tally_clear(p->works);
	p->most_queue = p->most_busy = 0;
}

static void print_page(struct ray_pool_view *v, uint64_t epoch_ns)
{
	if (!v->options.is_json)
		ray_screen_begin(v->out, !v->has_page);
	for (size_t i = 0; i < v->processes.n; i++)
		print_process(v, &v->processes.at[i], epoch_ns);
	if (!v->processes.n && !v->options.is_json)
		fprintf(v->out, "nothing was given to the pool yet\n");
	v->has_page = true;
	fflush(v->out);
}

void ray_pool_view_take(struct ray_pool_view *v, const struct ray_fact *f)
{
	struct process *p;

	if (ray_fact_is(f, "page")) {
		print_page(v, f->time_ns);
		return;
	}
	if (f->is_end)
		return;
	if (ray_fact_is(f, "who")) {
		take_who(v, f);
		return;
	}
	p = process_of(v, (uint32_t)ray_fact_number(f, "pid"));
	if (!p)
		return;
	if (ray_fact_is(f, "queue")) {
		p->queue = ray_fact_number(f, "now");
		p->most_queue = ray_fact_number(f, "most");
	} else if (ray_fact_is(f, "busy")) {
		p->busy = ray_fact_number(f, "now");
		p->most_busy = ray_fact_number(f, "most");
	} else {
		take_work(p, f);
	}
}

void ray_pool_view_finish(struct ray_pool_view *v, uint64_t epoch_ns)
{
	print_page(v, epoch_ns);
	fputs(ray_text_get(&v->who), v->out);
	if (v->failed)
		fprintf(stderr, "noderay: pool: not enough memory for all works\n");
}
