/* http_top.c - requests by URL: how many, how fast, how many errors. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "base/duration.h"
#include "view/http_internal.h"
#include "view/screen.h"

static const struct ray_column columns[] = {
	{ "COUNT", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },	 { "RATE", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
	{ "P50", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },	 { "P90", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
	{ "P99", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },	 { "MAX", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
	{ "ERRORS", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 }, { "METHOD", RAY_ALIGN_LEFT, RAY_CUT_NEVER, 0 },
	{ "URL", RAY_ALIGN_LEFT, RAY_CUT_END, 0 },
};

/* As a string, or in two numbers of eight letters each. */
static const char *method_of(const struct ray_fact *f, char out[17])
{
	uint64_t words[2] = { (uint64_t)ray_fact_number(f, "start"), (uint64_t)ray_fact_number(f, "rest") };

	if (ray_fact_find(f, "method"))
		return ray_fact_text(f, "method");
	memcpy(out, words, sizeof(words));
	out[16] = '\0';
	return out;
}

/* A row's name, as it is shown. */
static struct ray_tally_row *row_of(struct ray_http_view *v, const struct ray_fact *f)
{
	const char *url = ray_fact_text(f, "url");
	ray_auto_text name = { 0 };
	char method[17];

	if (!ray_http_is_wanted(v, url))
		return NULL;
	ray_view_fold(url, v->options.folds, v->options.keeps_query, &name);
	/* One row for all that begin so: it shows that there is more. */
	if (v->options.url_size && strlen(url) >= v->options.url_size && (v->options.keeps_query || !strchr(url, '?')))
		ray_text_add(&name, "...");
	return ray_tally_row(v->tally, method_of(f, method), ray_text_get(&name));
}

void ray_http_top_take(struct ray_http_view *v, const struct ray_fact *f)
{
	struct ray_tally_row *row;

	if (ray_fact_is(f, "table")) {
		ray_http_top_print(v, f->time_ns);
		return;
	}
	if (f->is_end)
		return;
	row = row_of(v, f);
	if (!row)
		return;
	if (ray_fact_is(f, "latency")) {
		ray_tally_add(v->tally, row, ray_fact_histogram(f, "latency"));
	} else if (ray_fact_is(f, "longest")) {
		uint64_t longest = (uint64_t)ray_fact_number(f, "longest");

		row->longest = longest > row->longest ? longest : row->longest;
	} else if (ray_fact_is(f, "errors")) {
		row->errors += (uint64_t)ray_fact_number(f, "count");
	} else if (ray_fact_is(f, "aborts")) {
		row->cut += (uint64_t)ray_fact_number(f, "count");
	}
}

static void print_json(const struct ray_http_view *v, const struct ray_tally_row *row, uint64_t epoch_ns)
{
	double seconds = (double)(epoch_ns - v->start_ns) / 1e9;
	json_t *o = json_object();

	json_object_set_new(o, "time", json_real((double)epoch_ns / 1e9));
	json_object_set_new(o, "method", ray_json_text(row->kind));
	json_object_set_new(o, "url", ray_json_text(row->name));
	json_object_set_new(o, "count", json_integer((json_int_t)row->count));
	json_object_set_new(o, "rate", json_real(seconds > 0 ? (double)row->count / seconds : 0));
	json_object_set_new(o, "errors", json_integer((json_int_t)row->errors));
	json_object_set_new(o, "aborted", json_integer((json_int_t)row->cut));
	json_object_set_new(o, "latency_ms", ray_tally_json(&row->histogram, row->longest));
	ray_json_print(o);
}

static void add_row(const struct ray_http_view *v, struct ray_table *table, const struct ray_tally_row *row,
		    uint64_t epoch_ns)
{
	static const double percents[] = { 50, 90, 99 };
	double seconds = (double)(epoch_ns - v->start_ns) / 1e9;
	char text[24];

	ray_table_printf(table, "%" PRIu64, row->count);
	ray_table_printf(table, "%.1f/s", seconds > 0 ? (double)row->count / seconds : 0);
	for (size_t i = 0; i < RAY_COUNT(percents); i++)
		ray_table_add(table, row->count ?
					     ray_duration_format(ray_histogram_percentile(&row->histogram, percents[i],
											  row->longest),
								 text) :
					     "-");
	ray_table_add(table, row->count ? ray_duration_format(row->longest, text) : "-");
	ray_table_printf(table, "%" PRIu64 "%s", row->errors + row->cut, row->cut ? "!" : "");
	ray_table_add(table, row->kind);
	ray_table_add(table, row->name);
}

static void print_table(const struct ray_http_view *v, struct ray_tally_row *const *rows, size_t count,
			uint64_t epoch_ns)
{
	struct ray_table_print how = { .width = v->options.width };
	ray_auto(ray_table, table) = ray_table_create(columns, RAY_COUNT(columns));
	size_t most = ray_screen_lines(v->out, 3);

	if (v->options.most && v->options.most < most)
		most = v->options.most;
	for (size_t i = 0; table && i < count && i < most; i++)
		add_row(v, table, rows[i], epoch_ns);
	if (table)
		ray_table_print(table, &how, v->out);
	if (count > most)
		fprintf(v->out, "... and %zu more\n", count - most);
}

static void print_bars(const struct ray_http_view *v, const struct ray_tally_row *row)
{
	ray_auto_text text = { 0 };

	ray_text_printf(&text, "%s ", row->kind);
	ray_text_add_safe(&text, row->name, strlen(row->name));
	ray_text_printf(&text, ": %" PRIu64 " requests\n", row->count);
	ray_histogram_bars(&row->histogram, RAY_QUANTITY_NS, &text);
	fprintf(v->out, "%s\n", ray_text_get(&text));
}

void ray_http_top_print(struct ray_http_view *v, uint64_t epoch_ns)
{
	size_t count;
	struct ray_tally_row *const *rows = ray_tally_sorted(v->tally, RAY_TALLY_BY_COUNT, &count);

	if (!v->options.is_json)
		ray_screen_begin(v->out, !v->has_table);
	for (size_t i = 0; i < count && v->options.is_json; i++)
		print_json(v, rows[i], epoch_ns);
	for (size_t i = 0; i < count && v->options.bars && !v->options.is_json; i++)
		if (rows[i]->histogram.count && (!v->options.most || i < v->options.most))
			print_bars(v, rows[i]);
	if (v->options.top && !v->options.is_json)
		print_table(v, rows, count, epoch_ns);
	if (ray_tally_failed(v->tally))
		fprintf(stderr, "noderay: http: not enough memory for all URLs\n");
	v->has_table = true;
	ray_tally_clear(v->tally);
	fflush(v->out);
}
