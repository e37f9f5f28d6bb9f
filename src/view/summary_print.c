/* summary_print.c - the page itself, as text and as JSON. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "base/duration.h"
#include "view/summary_internal.h"
#include "view/table.h"

enum { ROWS = 5, LINE = 80 };

static const char *const cpu_names[RAY_CPU_KINDS] = { "JavaScript", "GC", "native", "kernel" };

/* ---- text ---- */

static void print_head(const struct ray_summary *s, const struct ray_summary_about *about)
{
	ray_auto_text script = { 0 };

	ray_text_add_safe(&script, about->script, strlen(about->script));
	fprintf(s->out, "process %d, node %s%s%s: %.1f seconds\n\n", about->pid, *about->version ? about->version : "?",
		about->script[0] ? ", " : "", ray_text_get(&script), (double)s->duration_ns / 1e9);
}

static void print_cpu(const struct ray_summary *s)
{
	double all = 0;

	for (int i = 0; i < RAY_CPU_KINDS; i++)
		all += ray_summary_cpu(s, i);
	fprintf(s->out, "CPU      %.0f %%:", 100 * all);
	for (int i = 0; i < RAY_CPU_KINDS; i++)
		fprintf(s->out, "%s %s %.0f %%", i ? "," : "", cpu_names[i], 100 * ray_summary_cpu(s, i));
	fprintf(s->out, ", idle %.0f %%\n", all < 1 ? 100 - 100 * all : 0);
}

static void print_loop(const struct ray_summary *s)
{
	const struct ray_tally_row *loop = ray_summary_loop(s);
	char p50[24], p99[24], longest[24];

	if (!loop) {
		fprintf(s->out, "loop     no iteration seen\n");
		return;
	}
	fprintf(s->out, "loop     busy %.0f %%, %" PRIu64 " iterations; lag p50 %s, p99 %s, max %s\n",
		100 * ray_summary_utilization(loop), loop->count,
		ray_duration_format(ray_histogram_percentile(&loop->histogram, 50, loop->longest), p50),
		ray_duration_format(ray_histogram_percentile(&loop->histogram, 99, loop->longest), p99),
		ray_duration_format(loop->longest, longest));
}

static void print_gc(const struct ray_summary *s)
{
	char total[24], longest[24];

	fprintf(s->out, "GC       %" PRIu64 " collections, %s in all (%.1f %% of the time), %s at the longest\n",
		s->collections, ray_duration_format(s->pauses, total), 100 * ray_summary_gc_share(s),
		ray_duration_format(s->longest_pause, longest));
}

static void print_memory(const struct ray_summary *s, const struct ray_summary_about *about)
{
	char size[8];

	if (about->rss) {
		int column = fprintf(s->out, "memory   %s resident:", ray_format_size(about->rss, size));

		for (size_t i = 0; i < RAY_SUMMARY_KINDS && about->memory[i].name; i++) {
			char part[64];
			int length = snprintf(part, sizeof(part), "%s %s", about->memory[i].name,
					      ray_format_size(about->memory[i].rss, size));

			if (i)
				column += fprintf(s->out, ",");
			if (column + length + 1 >= LINE)
				column = fprintf(s->out, "\n        ") - 1;
			column += fprintf(s->out, " %s", part);
		}
		fprintf(s->out, "\n");
	}
	if (about->files) {
		fprintf(s->out, "files    %zu open", about->files);
		if (about->file_limit && about->file_limit != UINT64_MAX)
			fprintf(s->out, " of %" PRIu64, about->file_limit);
		fprintf(s->out, "; %zu threads\n", about->threads);
	}
}

static void print_works(const struct ray_summary *s)
{
	size_t count;
	struct ray_tally_row *const *rows = ray_tally_sorted(s->works, RAY_TALLY_BY_COUNT, &count);
	char p99[24];

	if (!count)
		return;
	fprintf(s->out, "pool    ");
	for (size_t i = 0; i < count && i < ROWS; i++)
		fprintf(s->out, "%s %" PRIu64 " %s", i ? "," : "", rows[i]->count, rows[i]->name);
	if (s->waits_bins)
		fprintf(s->out, "; wait p99 %s",
			ray_duration_format(ray_histogram_percentile(&s->waits, 99, s->longest_wait), p99));
	fprintf(s->out, "\n");
}

/* A few rows of a table under a title; nothing if there is none. */
static void print_rows(const struct ray_summary *s, const char *title, struct ray_tally *tally,
		       enum ray_tally_order order, const struct ray_column *columns, size_t column_count,
		       void (*add)(const struct ray_summary *s, struct ray_table *t, const struct ray_tally_row *row))
{
	struct ray_table_print how = { .width = s->width, .indent = 2 };
	ray_auto(ray_table, table) = ray_table_create(columns, column_count);
	size_t count;
	struct ray_tally_row *const *rows = ray_tally_sorted(tally, order, &count);

	if (!count || !table)
		return;
	fprintf(s->out, "\n%s\n", title);
	for (size_t i = 0; i < count && i < ROWS; i++)
		add(s, table, rows[i]);
	ray_table_print(table, &how, s->out);
}

static const struct ray_column latency_columns[] = {
	{ "COUNT", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },	 { "P50", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
	{ "P99", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },	 { "MAX", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
	{ "FAILED", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 }, { "WHAT", RAY_ALIGN_LEFT, RAY_CUT_END, 0 },
};

static void add_latency(const struct ray_summary *s, struct ray_table *t, const struct ray_tally_row *row)
{
	char text[24];

	(void)s;
	ray_table_printf(t, "%" PRIu64, row->count);
	ray_table_add(t, ray_duration_format(ray_histogram_percentile(&row->histogram, 50, row->longest), text));
	ray_table_add(t, ray_duration_format(ray_histogram_percentile(&row->histogram, 99, row->longest), text));
	ray_table_add(t, ray_duration_format(row->longest, text));
	ray_table_printf(t, "%" PRIu64, row->errors);
	ray_table_printf(t, "%s%s%s", row->kind, *row->kind ? " " : "", row->name);
}

static const struct ray_column share_columns[] = {
	{ "CPU", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
	{ "FUNCTION, AND WHAT IT CALLS IN C++", RAY_ALIGN_LEFT, RAY_CUT_START, 0 },
};

static void add_share(const struct ray_summary *s, struct ray_table *t, const struct ray_tally_row *row)
{
	uint64_t all = 0;

	for (int i = 0; i < RAY_CPU_KINDS; i++)
		all += s->samples[i];
	ray_table_printf(t, "%.1f %%", all ? 100.0 * (double)row->count / (double)all : 0);
	ray_table_add(t, row->name);
}

static const struct ray_column total_columns[] = {
	{ "COUNT", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
	{ "TIME", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
	{ "WHAT", RAY_ALIGN_LEFT, RAY_CUT_START, 0 },
};

static void add_total(const struct ray_summary *s, struct ray_table *t, const struct ray_tally_row *row)
{
	char text[24];

	(void)s;
	ray_table_printf(t, "%" PRIu64, row->count);
	ray_table_add(t, ray_duration_format(row->total ? row->total : row->longest, text));
	ray_table_add(t, row->name);
}

static void print_advice(const struct ray_summary *s, const struct ray_summary_about *about)
{
	struct ray_summary_advice advice[RAY_ADVICE_ALL];
	size_t count = ray_summary_advise(s, about, advice);

	fprintf(s->out, "\n%s\n", count ? "Worth a look:" : "Nothing stands out. To see what it is doing:");
	for (size_t i = 0; i < count; i++) {
		ray_auto_text text = { 0 };

		ray_text_add_safe(&text, advice[i].text, strlen(advice[i].text));
		fprintf(s->out, "%zu. %s\n     %s\n", i + 1, ray_text_get(&text), advice[i].command);
	}
	if (!count)
		fprintf(s->out, "     noderay stack %d\n", about->pid);
}

void ray_summary_print_text(struct ray_summary *s, const struct ray_summary_about *about)
{
	print_head(s, about);
	print_cpu(s);
	print_loop(s);
	print_gc(s);
	print_works(s);
	print_memory(s, about);
	print_rows(s, "Requests answered, by URL:", s->urls, RAY_TALLY_BY_COUNT, latency_columns,
		   RAY_COUNT(latency_columns), add_latency);
	print_rows(s, "Requests made, by host:", s->outgoing, RAY_TALLY_BY_COUNT, latency_columns,
		   RAY_COUNT(latency_columns), add_latency);
	print_rows(s, "JavaScript:", s->functions, RAY_TALLY_BY_COUNT, share_columns, RAY_COUNT(share_columns),
		   add_share);
	print_rows(s, "Files, by time:", s->files, RAY_TALLY_BY_TOTAL, total_columns, RAY_COUNT(total_columns),
		   add_total);
	print_rows(s, "Names looked up, the slowest first:", s->names, RAY_TALLY_BY_LONGEST, total_columns,
		   RAY_COUNT(total_columns), add_total);
	print_advice(s, about);
}

/* ---- JSON ---- */

static json_t *rows_json(struct ray_tally *tally, enum ray_tally_order order, const char *key, bool has_kind)
{
	json_t *list = json_array();
	size_t count;
	struct ray_tally_row *const *rows = ray_tally_sorted(tally, order, &count);

	for (size_t i = 0; i < count && i < 4 * ROWS; i++) {
		json_t *o = json_object();

		if (has_kind)
			json_object_set_new(o, "method", ray_json_text(rows[i]->kind));
		json_object_set_new(o, key, ray_json_text(rows[i]->name));
		json_object_set_new(o, "count", json_integer((json_int_t)rows[i]->count));
		if (rows[i]->histogram.count)
			json_object_set_new(o, "latency_ms", ray_tally_json(&rows[i]->histogram, rows[i]->longest));
		else if (rows[i]->total || rows[i]->longest)
			json_object_set_new(o, "ms", ray_json_ms(rows[i]->total ? rows[i]->total : rows[i]->longest));
		if (has_kind)
			json_object_set_new(o, "failed", json_integer((json_int_t)rows[i]->errors));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *cpu_json(const struct ray_summary *s)
{
	static const char *const keys[RAY_CPU_KINDS] = { "js", "gc", "native", "kernel" };
	json_t *o = json_object();
	double idle = 1;

	for (int i = 0; i < RAY_CPU_KINDS; i++) {
		json_object_set_new(o, keys[i], json_real(ray_summary_cpu(s, i)));
		idle -= ray_summary_cpu(s, i);
	}
	json_object_set_new(o, "idle", json_real(idle > 0 ? idle : 0));
	return o;
}

static json_t *loop_json(const struct ray_summary *s)
{
	const struct ray_tally_row *loop = ray_summary_loop(s);

	if (!loop)
		return json_null();
	return json_pack("{sfsIso}", "utilization", ray_summary_utilization(loop), "iterations",
			 (json_int_t)loop->count, "lag_ms", ray_tally_json(&loop->histogram, loop->longest));
}

static json_t *memory_json(const struct ray_summary_about *about)
{
	json_t *o = json_pack("{sI}", "rss", (json_int_t)about->rss);

	for (size_t i = 0; i < RAY_SUMMARY_KINDS && about->memory[i].name; i++)
		json_object_set_new(o, about->memory[i].name, json_integer((json_int_t)about->memory[i].rss));
	return o;
}

static json_t *advice_json(const struct ray_summary *s, const struct ray_summary_about *about)
{
	struct ray_summary_advice advice[RAY_ADVICE_ALL];
	size_t count = ray_summary_advise(s, about, advice);
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(
			list, json_pack("{soss}", "text", ray_json_text(advice[i].text), "command", advice[i].command));
	return list;
}

void ray_summary_print_json(struct ray_summary *s, const struct ray_summary_about *about)
{
	json_t *o = json_object();

	json_object_set_new(o, "pid", json_integer(about->pid));
	json_object_set_new(o, "node", ray_json_text(about->version));
	json_object_set_new(o, "script", ray_json_text(about->script));
	json_object_set_new(o, "seconds", json_real((double)s->duration_ns / 1e9));
	json_object_set_new(o, "cpu", cpu_json(s));
	json_object_set_new(o, "loop", loop_json(s));
	json_object_set_new(o, "gc",
			    json_pack("{sIsfso}", "collections", (json_int_t)s->collections, "share",
				      ray_summary_gc_share(s), "max_ms", ray_json_ms(s->longest_pause)));
	json_object_set_new(o, "memory", memory_json(about));
	json_object_set_new(o, "files", json_integer((json_int_t)about->files));
	json_object_set_new(o, "urls", rows_json(s->urls, RAY_TALLY_BY_COUNT, "url", true));
	json_object_set_new(o, "outgoing", rows_json(s->outgoing, RAY_TALLY_BY_COUNT, "host", false));
	json_object_set_new(o, "functions", rows_json(s->functions, RAY_TALLY_BY_COUNT, "function", false));
	json_object_set_new(o, "paths", rows_json(s->files, RAY_TALLY_BY_TOTAL, "path", false));
	json_object_set_new(o, "names", rows_json(s->names, RAY_TALLY_BY_LONGEST, "host", false));
	json_object_set_new(o, "works", rows_json(s->works, RAY_TALLY_BY_COUNT, "kind", false));
	json_object_set_new(o, "advice", advice_json(s, about));
	ray_json_print(o);
}
