/* syscalls_table.c - see syscalls_table.h. SPDX-License-Identifier: MIT */
#include "view/syscalls_table.h"

#include <inttypes.h>
#include <string.h>

#include "base/duration.h"
#include "base/vec.h"
#include "view/asked.h"
#include "view/quantile.h"
#include "view/table.h"

struct counted {
	const char *name;
	uint64_t count, errors, ns, max;
};

struct caller {
	const char *name;
	char *stack; /* as it is shown */
	uint64_t ns;
};

struct spread {
	const char *name;
	struct ray_histogram histogram;
	int64_t *bins;
	uint64_t max;
};

struct ray_syscalls_table {
	struct ray_syscalls_settings settings;
	RAY_VEC(struct counted) counted;
	RAY_VEC(struct caller) callers;
	RAY_VEC(struct spread) spreads;
	bool is_counting, is_measuring, is_cut;
};

enum { CALLERS_SHOWN = 20 };

struct ray_syscalls_table *ray_syscalls_table_create(const struct ray_syscalls_settings *settings)
{
	struct ray_syscalls_table *t = calloc(1, sizeof(*t));

	if (t)
		t->settings = *settings;
	return t;
}

void ray_syscalls_table_free(struct ray_syscalls_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->callers.n; i++)
		free(t->callers.at[i].stack);
	for (size_t i = 0; i < t->spreads.n; i++)
		free(t->spreads.at[i].bins);
	ray_vec_free(&t->counted);
	ray_vec_free(&t->callers);
	ray_vec_free(&t->spreads);
	free(t);
}

/* ---- taking ---- */

static const char *shown_name(const struct ray_fact *f)
{
	const char *name = ray_fact_text(f, "name");
	const struct ray_syscall *call = ray_syscall_find(name, strlen(name));

	return call ? ray_call_name(call) : "unknown call";
}

static bool take_counted(struct ray_syscalls_table *t, const struct ray_fact *f)
{
	struct counted c = { .name = shown_name(f),
			     .errors = (uint64_t)ray_fact_number(f, "errors"),
			     .max = (uint64_t)ray_fact_number(f, "max") };
	int64_t count, ns;

	ray_fact_average(f, "avg", &count, &ns);
	c.count = (uint64_t)count;
	c.ns = (uint64_t)ns;
	return ray_vec_push(&t->counted, c);
}

static bool take_caller(struct ray_syscalls_table *t, const struct ray_fact *f)
{
	ray_auto_text lines = { 0 };
	struct caller c = { .name = shown_name(f), .ns = (uint64_t)ray_fact_number(f, "ns") };

	ray_view_stack_lines(ray_fact_text(f, "stack"), &lines);
	c.stack = strdup(ray_text_get(&lines));
	if (c.stack && !lines.failed && ray_vec_push(&t->callers, c))
		return true;
	free(c.stack);
	return false;
}

static bool take_spread(struct ray_syscalls_table *t, const struct ray_fact *f)
{
	const struct ray_histogram *h = ray_fact_histogram(f, "bars");
	struct spread s = { .name = shown_name(f), .max = (uint64_t)ray_fact_number(f, "max") };

	if (!h)
		return true;
	s.histogram = *h;
	s.bins = malloc(h->count * sizeof(*s.bins));
	if (!s.bins || !ray_vec_push(&t->spreads, s)) {
		free(s.bins);
		return false;
	}
	memcpy(s.bins, h->bins, h->count * sizeof(*s.bins));
	return true;
}

void ray_syscalls_table_tell(struct ray_syscalls_table *t, const struct ray_fact *f)
{
	t->is_counting |= ray_fact_is(f, "calls");
	t->is_measuring |= ray_fact_is(f, "latency");
	if (f->is_end)
		return;
	if (ray_fact_is(f, "callers"))
		t->is_cut |= !take_caller(t, f);
	else if (ray_fact_is(f, "latency"))
		t->is_cut |= !take_spread(t, f);
	else if (ray_fact_is(f, "calls"))
		t->is_cut |= !take_counted(t, f);
}

/* ---- counts ---- */

static int by_time(const void *a, const void *b)
{
	const struct counted *ca = a, *cb = b;

	return ca->ns != cb->ns ? (ca->ns < cb->ns ? 1 : -1) : strcmp(ca->name, cb->name);
}

static const struct ray_column columns[] = {
	{ "CALL", RAY_ALIGN_LEFT, RAY_CUT_NEVER, 0 },	{ "COUNT", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
	{ "RATE", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },	{ "ERRORS", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
	{ "TOTAL", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 }, { "AVG", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
	{ "MAX", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 },
};

static void add_counted(struct ray_table *table, const struct counted *c, uint64_t duration_ns)
{
	double rate = duration_ns ? (double)c->count * 1e9 / (double)duration_ns : 0;
	char text[24];

	ray_table_add(table, c->name);
	ray_table_printf(table, "%" PRIu64, c->count);
	ray_table_printf(table, "%.*f/s", rate < 10 ? 1 : 0, rate);
	ray_table_printf(table, "%" PRIu64, c->errors);
	ray_table_add(table, ray_duration_format(c->ns, text));
	ray_table_add(table, ray_duration_format(c->count ? c->ns / c->count : 0, text));
	ray_table_add(table, ray_duration_format(c->max, text));
}

static void print_counts(const struct ray_syscalls_table *t, uint64_t duration_ns)
{
	ray_auto(ray_table, table) = ray_table_create(columns, RAY_COUNT(columns));
	struct counted all = { .name = "all" };

	for (size_t i = 0; table && i < t->counted.n; i++) {
		const struct counted *c = &t->counted.at[i];

		add_counted(table, c, duration_ns);
		all.count += c->count;
		all.errors += c->errors;
		all.ns += c->ns;
		all.max = c->max > all.max ? c->max : all.max;
	}
	if (!table)
		return;
	add_counted(table, &all, duration_ns);
	ray_table_print(table, &(struct ray_table_print){ .width = t->settings.width }, t->settings.out);
}

static void print_counts_json(const struct ray_syscalls_table *t)
{
	for (size_t i = 0; i < t->counted.n; i++) {
		const struct counted *c = &t->counted.at[i];
		json_t *o = json_object();

		json_object_set_new(o, "name", ray_json_text(c->name));
		json_object_set_new(o, "count", json_integer((json_int_t)c->count));
		json_object_set_new(o, "errors", json_integer((json_int_t)c->errors));
		json_object_set_new(o, "total_ms", json_real((double)c->ns / 1e6));
		json_object_set_new(o, "avg_ms", json_real(c->count ? (double)c->ns / 1e6 / (double)c->count : 0));
		json_object_set_new(o, "max_ms", json_real((double)c->max / 1e6));
		ray_json_print(o);
	}
}

/* ---- callers ---- */

static int by_caller_time(const void *a, const void *b)
{
	const struct caller *ca = a, *cb = b;

	return ca->ns != cb->ns ? (ca->ns < cb->ns ? 1 : -1) : strcmp(ca->stack, cb->stack);
}

static int by_caller(const void *a, const void *b)
{
	const struct caller *ca = a, *cb = b;
	int n = strcmp(ca->name, cb->name);

	return n ? n : strcmp(ca->stack, cb->stack);
}

/* Stacks that read the same, as their native frames are not shown, are one. */
static void merge_callers(struct ray_syscalls_table *t)
{
	size_t n = 0;

	qsort(t->callers.at, t->callers.n, sizeof(*t->callers.at), by_caller);
	for (size_t i = 0; i < t->callers.n; i++) {
		if (n && by_caller(&t->callers.at[n - 1], &t->callers.at[i]) == 0) {
			t->callers.at[n - 1].ns += t->callers.at[i].ns;
			free(t->callers.at[i].stack);
		} else {
			t->callers.at[n++] = t->callers.at[i];
		}
	}
	t->callers.n = n;
}

static void print_callers(const struct ray_syscalls_table *t)
{
	size_t count = t->callers.n < CALLERS_SHOWN ? t->callers.n : CALLERS_SHOWN;
	char text[24];

	for (size_t i = 0; i < count; i++) {
		const struct caller *c = &t->callers.at[i];

		fprintf(t->settings.out, "\n%s: %s in calls from\n%s", c->name, ray_duration_format(c->ns, text),
			c->stack);
	}
	if (count < t->callers.n)
		fprintf(t->settings.out, "\nand %zu more callers\n", t->callers.n - count);
}

static void print_callers_json(const struct ray_syscalls_table *t)
{
	for (size_t i = 0; i < t->callers.n; i++) {
		json_t *o = json_object();

		json_object_set_new(o, "name", ray_json_text(t->callers.at[i].name));
		json_object_set_new(o, "total_ms", json_real((double)t->callers.at[i].ns / 1e6));
		json_object_set_new(o, "stack", ray_view_stack_json(t->callers.at[i].stack));
		ray_json_print(o);
	}
}

/* ---- distributions ---- */

static int by_count(const void *a, const void *b)
{
	const struct spread *sa = a, *sb = b;
	uint64_t na = ray_histogram_count(&sa->histogram), nb = ray_histogram_count(&sb->histogram);

	return na != nb ? (na < nb ? 1 : -1) : strcmp(sa->name, sb->name);
}

static void print_spread(const struct ray_syscalls_table *t, const struct spread *s)
{
	static const int percents[] = { 50, 90, 99 };
	ray_auto_text bars = { 0 };
	char text[24];

	fprintf(t->settings.out, "%s: %" PRIu64 " calls", s->name, ray_histogram_count(&s->histogram));
	for (size_t i = 0; i < RAY_COUNT(percents); i++)
		fprintf(t->settings.out, ", p%d %s", percents[i],
			ray_duration_format(ray_histogram_percentile(&s->histogram, percents[i], s->max), text));
	fprintf(t->settings.out, ", max %s\n", ray_duration_format(s->max, text));
	ray_histogram_bars(&s->histogram, RAY_QUANTITY_NS, &bars);
	fputs(ray_text_get(&bars), t->settings.out);
}

static void print_spread_json(const struct spread *s)
{
	json_t *o = json_object(), *buckets = json_array();
	uint64_t low, high;

	json_object_set_new(o, "name", ray_json_text(s->name));
	json_object_set_new(o, "count", json_integer((json_int_t)ray_histogram_count(&s->histogram)));
	json_object_set_new(o, "p50_ms", json_real((double)ray_histogram_percentile(&s->histogram, 50, s->max) / 1e6));
	json_object_set_new(o, "p90_ms", json_real((double)ray_histogram_percentile(&s->histogram, 90, s->max) / 1e6));
	json_object_set_new(o, "p99_ms", json_real((double)ray_histogram_percentile(&s->histogram, 99, s->max) / 1e6));
	json_object_set_new(o, "max_ms", json_real((double)s->max / 1e6));
	for (size_t i = 0; i < s->histogram.count; i++) {
		json_t *b;

		if (!s->bins[i] || !ray_histogram_bin(&s->histogram, i, &low, &high))
			continue;
		b = json_object();
		json_object_set_new(b, "from_ms", json_real((double)low / 1e6));
		json_object_set_new(b, "to_ms", json_real((double)high / 1e6));
		json_object_set_new(b, "count", json_integer(s->bins[i]));
		json_array_append_new(buckets, b);
	}
	json_object_set_new(o, "buckets", buckets);
	ray_json_print(o);
}

/* ---- all ---- */

static void print_counting(struct ray_syscalls_table *t, uint64_t duration_ns)
{
	qsort(t->counted.at, t->counted.n, sizeof(*t->counted.at), by_time);
	merge_callers(t);
	qsort(t->callers.at, t->callers.n, sizeof(*t->callers.at), by_caller_time);
	if (t->settings.is_json) {
		print_counts_json(t);
		print_callers_json(t);
	} else {
		print_counts(t, duration_ns);
		print_callers(t);
	}
}

static void print_measuring(struct ray_syscalls_table *t)
{
	for (size_t i = 0; i < t->spreads.n; i++)
		t->spreads.at[i].histogram.bins = t->spreads.at[i].bins;
	qsort(t->spreads.at, t->spreads.n, sizeof(*t->spreads.at), by_count);
	for (size_t i = 0; i < t->spreads.n; i++) {
		if (t->settings.is_json) {
			print_spread_json(&t->spreads.at[i]);
			continue;
		}
		fputs(i || t->is_counting ? "\n" : "", t->settings.out);
		print_spread(t, &t->spreads.at[i]);
	}
}

void ray_syscalls_table_print(struct ray_syscalls_table *t, uint64_t duration_ns)
{
	if (t->is_counting)
		print_counting(t, duration_ns);
	if (t->is_measuring)
		print_measuring(t);
	if (t->is_cut)
		fputs("noderay: no memory: some rows are missing\n", stderr);
}
