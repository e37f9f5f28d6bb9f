/* operations.c - see operations.h. SPDX-License-Identifier: MIT */
#include "view/operations.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "view/screen.h"

struct ray_operations {
	const struct ray_operations_kind *kind;
	struct ray_operations_options options;
	FILE *out;
	struct ray_live *live;
	struct ray_asked *asked;
	struct ray_tally *tally;
	struct ray_text text;
	struct ray_text who; /* stacks of a table's operations */
	bool has_table;	     /* printed one already */
	bool has_counts;     /* the script counts apart from times */
};

/* ---- life ---- */

static bool has_table(const struct ray_operations *v)
{
	return v->options.by_operation || v->options.by_subject;
}

struct ray_error *ray_operations_create(const struct ray_operations_kind *kind,
					const struct ray_operations_options *options, FILE *out,
					struct ray_operations **ret)
{
	ray_auto(ray_operations, v) = calloc(1, sizeof(*v));
	struct ray_error *err;

	if (!v)
		return &ray_enomem;
	v->kind = kind;
	v->options = *options;
	v->out = out;
	v->asked = ray_asked_create();
	v->tally = ray_tally_create();
	if (!v->asked || !v->tally)
		return &ray_enomem;
	err = ray_live_create(kind->columns, kind->column_count, kind->usual, options->columns, options->width,
			      &v->live);
	if (err)
		return err;
	*ret = ray_take(v);
	return NULL;
}

void ray_operations_free(struct ray_operations *v)
{
	if (!v)
		return;
	ray_live_free(v->live);
	ray_asked_free(v->asked);
	ray_tally_free(v->tally);
	ray_text_deinit(&v->text);
	ray_text_deinit(&v->who);
	free(v);
}

static void flush(struct ray_operations *v)
{
	fputs(ray_text_get(&v->text), v->out);
	ray_text_clear(&v->text);
}

void ray_operations_start(struct ray_operations *v)
{
	if (v->options.is_json || has_table(v))
		return;
	ray_live_heading(v->live, &v->text);
	flush(v);
}

/* ---- one by one ---- */

void ray_operation_time(struct ray_live *l, const struct ray_fact *f, const char *field)
{
	char text[24];

	ray_live_add(l, ray_duration_format((uint64_t)ray_fact_number(f, field), text));
}

void ray_operation_number(struct ray_live *l, const struct ray_fact *f, const char *field)
{
	ray_live_number(l, ray_fact_number(f, field));
}

void ray_operation_json_ms(struct ray_text *o, const char *key, const struct ray_fact *f, const char *field)
{
	ray_json_line_ms(o, key, (uint64_t)ray_fact_number(f, field));
}

void ray_operation_json_number(struct ray_text *o, const char *key, const struct ray_fact *f, const char *field)
{
	ray_json_line_integer(o, key, ray_fact_number(f, field));
}

void ray_operation_json_text(struct ray_text *o, const char *key, const struct ray_fact *f, const char *field)
{
	const char *text = ray_fact_text(f, field);

	ray_json_line_text(o, key, *text ? text : NULL);
}

static bool is_wanted(const struct ray_operations *v, const char *subject)
{
	return !v->options.glob || !fnmatch(v->options.glob, subject, 0);
}

static void print_json(struct ray_operations *v, const struct ray_fact *f, const char *stack)
{
	ray_json_line_seconds(&v->text, "time", f->time_ns);
	ray_json_line_integer(&v->text, "pid", f->pid);
	ray_operation_json_number(&v->text, "tid", f, "tid");
	v->kind->describe(&v->text, f);
	if (stack)
		ray_json_line_value(&v->text, "stack", ray_view_stack_json(stack));
	ray_json_line_end(&v->text);
}

static void print_line(struct ray_operations *v, const struct ray_fact *f, const char *stack)
{
	char clock[32];

	ray_live_add(v->live, ray_view_clock(f->time_ns, 6, clock));
	ray_live_number(v->live, f->pid);
	ray_operation_number(v->live, f, "tid");
	v->kind->add(v->live, f);
	ray_live_end(v->live, &v->text);
	if (stack)
		ray_view_stack_lines(stack, &v->text);
	flush(v);
}

static void take_one(struct ray_operations *v, const struct ray_fact *f)
{
	ray_auto_memory char *taken = ray_asked_take(v->asked, f->pid, (uint64_t)ray_fact_number(f, "id"));
	uint64_t work = (uint64_t)ray_fact_number(f, "work");
	const char *stack = taken, *own = ray_fact_text(f, "stack");

	if (!is_wanted(v, ray_fact_text(f, v->kind->subject)))
		return;
	if (work) /* several operations are part of it */
		stack = ray_asked_find(v->asked, f->pid, work);
	else if (!stack && *own)
		stack = own;
	if (v->options.is_json)
		print_json(v, f, stack);
	else
		print_line(v, f, stack);
}

/* ---- sums ---- */

static struct ray_tally_row *row_of(struct ray_operations *v, const struct ray_fact *f)
{
	const char *subject = ray_fact_text(f, v->kind->subject), *op = ray_fact_text(f, "op");

	if (!is_wanted(v, subject))
		return NULL;
	return ray_tally_row(v->tally, v->options.by_operation ? op : "", v->options.by_subject ? subject : "");
}

static void take_row(struct ray_operations *v, const struct ray_fact *f)
{
	struct ray_tally_row *row = row_of(v, f);
	uint64_t longest = (uint64_t)ray_fact_number(f, "longest");

	if (!row)
		return;
	if (ray_fact_is(f, "times")) {
		uint64_t count = row->count;

		ray_tally_add(v->tally, row, ray_fact_histogram(f, "times"));
		if (v->has_counts) /* they tell all, not only those that took time */
			row->count = count;
		row->total += (uint64_t)ray_fact_number(f, "total");
		row->longest = longest > row->longest ? longest : row->longest;
	} else if (ray_fact_is(f, "waits")) {
		ray_tally_add_second(v->tally, row, ray_fact_histogram(f, "waits"));
	} else if (ray_fact_is(f, "counts")) {
		v->has_counts = true;
		row->count += (uint64_t)ray_fact_number(f, "count");
	} else if (ray_fact_is(f, "errors")) {
		row->errors += (uint64_t)ray_fact_number(f, "count");
	} else if (ray_fact_is(f, "bytes")) {
		row->bytes += (uint64_t)ray_fact_number(f, "bytes");
	}
}

static const char *percentile(const struct ray_histogram *h, double percent, uint64_t longest, char out[24])
{
	return h->count && ray_histogram_count(h) ?
		       ray_duration_format(ray_histogram_percentile(h, percent, longest), out) :
		       "-";
}

static void add_row(const struct ray_operations *v, struct ray_table *table, const struct ray_tally_row *row)
{
	char text[24];

	ray_table_printf(table, "%" PRIu64, row->count);
	ray_table_printf(table, "%" PRIu64, row->errors);
	ray_table_add(table, row->histogram.count ? ray_duration_format(row->total, text) : "-");
	ray_table_add(table, percentile(&row->histogram, 50, row->longest, text));
	ray_table_add(table, percentile(&row->histogram, 99, row->longest, text));
	ray_table_add(table, row->longest ? ray_duration_format(row->longest, text) : "-");
	if (v->kind->has_waits)
		ray_table_add(table, percentile(&row->second, 99, 0, text));
	if (v->kind->has_bytes)
		ray_table_add(table, ray_format_size(row->bytes, text));
	if (v->options.by_operation)
		ray_table_add(table, row->kind);
	if (v->options.by_subject)
		ray_table_add(table, *row->name ? row->name : "-");
}

static void print_row_json(const struct ray_operations *v, const struct ray_tally_row *row)
{
	json_t *o = json_object();

	if (v->options.by_operation)
		json_object_set_new(o, "op", ray_json_text(row->kind));
	if (v->options.by_subject)
		json_object_set_new(o, v->kind->subject, *row->name ? ray_json_text(row->name) : json_null());
	json_object_set_new(o, "count", json_integer((json_int_t)row->count));
	json_object_set_new(o, "errors", json_integer((json_int_t)row->errors));
	if (v->kind->has_bytes)
		json_object_set_new(o, "bytes", json_integer((json_int_t)row->bytes));
	json_object_set_new(o, "sum_ms", ray_json_ms(row->total));
	json_object_set_new(o, "total_ms",
			    row->histogram.count ? ray_tally_json(&row->histogram, row->longest) : json_null());
	if (v->kind->has_waits)
		json_object_set_new(o, "wait_ms",
				    ray_histogram_count(&row->second) ? ray_tally_json(&row->second, 0) : json_null());
	ray_json_print(o);
}

enum { MOST_COLUMNS = 10 };

static size_t choose_columns(const struct ray_operations *v, struct ray_column *ret)
{
	const struct {
		bool is_shown;
		const char *title;
		enum ray_align align;
	} all[MOST_COLUMNS] = {
		{ true, "COUNT", RAY_ALIGN_RIGHT },
		{ true, "ERRORS", RAY_ALIGN_RIGHT },
		{ true, "TOTAL", RAY_ALIGN_RIGHT },
		{ true, "P50", RAY_ALIGN_RIGHT },
		{ true, "P99", RAY_ALIGN_RIGHT },
		{ true, "MAX", RAY_ALIGN_RIGHT },
		{ v->kind->has_waits, "WAIT99", RAY_ALIGN_RIGHT },
		{ v->kind->has_bytes, "BYTES", RAY_ALIGN_RIGHT },
		{ v->options.by_operation, "OP", RAY_ALIGN_LEFT },
		{ v->options.by_subject, v->kind->title, RAY_ALIGN_LEFT },
	};
	size_t count = 0;

	for (size_t i = 0; i < MOST_COLUMNS; i++)
		if (all[i].is_shown)
			ret[count++] = (struct ray_column){ all[i].title, all[i].align,
							    i + 1 == MOST_COLUMNS ? RAY_CUT_START : RAY_CUT_NEVER, 0 };
	return count;
}

static void print_table(struct ray_operations *v, struct ray_tally_row *const *rows, size_t count)
{
	struct ray_column columns[MOST_COLUMNS];
	size_t column_count = choose_columns(v, columns);
	ray_auto(ray_table, table) = ray_table_create(columns, column_count);
	size_t most = ray_screen_lines(v->out, 3);

	if (v->options.most && v->options.most < most)
		most = v->options.most;
	for (size_t i = 0; table && i < count && i < most; i++)
		add_row(v, table, rows[i]);
	if (!count)
		fprintf(v->out, "nothing happened\n");
	else if (table)
		ray_table_print(table, &(struct ray_table_print){ .width = v->options.width }, v->out);
	if (count > most)
		fprintf(v->out, "... and %zu more\n", count - most);
}

static void print_sums(struct ray_operations *v)
{
	size_t count;
	struct ray_tally_row *const *rows = ray_tally_sorted(v->tally, RAY_TALLY_BY_TOTAL, &count);

	if (v->options.is_json) {
		for (size_t i = 0; i < count; i++)
			print_row_json(v, rows[i]);
	} else {
		ray_screen_begin(v->out, !v->has_table);
		print_table(v, rows, count);
		fputs(ray_text_get(&v->who), v->out);
	}
	if (ray_tally_failed(v->tally))
		fprintf(stderr, "noderay: %s: not enough memory for all rows\n", v->kind->verb);
	v->has_table = true;
	ray_tally_clear(v->tally);
	ray_text_clear(&v->who);
	fflush(v->out);
}

/* Who asked, of a table: the stacks that did so most often come last in printa()'s order, and are told like that. */
static void take_who(struct ray_operations *v, const struct ray_fact *f)
{
	if (!v->options.is_json) {
		ray_text_printf(&v->who, "\n%" PRId64 " times by\n", ray_fact_number(f, "count"));
		ray_view_stack_lines(ray_fact_text(f, "stack"), &v->who);
		return;
	}
	ray_operation_json_number(&v->text, "count", f, "count");
	ray_json_line_value(&v->text, "stack", ray_view_stack_json(ray_fact_text(f, "stack")));
	ray_json_line_end(&v->text);
}

void ray_operations_take(struct ray_operations *v, const struct ray_fact *f)
{
	if (ray_fact_is(f, v->kind->verb))
		take_one(v, f);
	else if (ray_fact_is(f, "asked"))
		ray_asked_put(v->asked, f->pid, (uint64_t)ray_fact_number(f, "id"), ray_fact_text(f, "stack"));
	else if (ray_fact_is(f, "table"))
		print_sums(v);
	else if (f->is_end)
		return;
	else if (ray_fact_is(f, "who"))
		take_who(v, f);
	else
		take_row(v, f);
}

void ray_operations_finish(struct ray_operations *v)
{
	if (has_table(v))
		print_sums(v);
}
