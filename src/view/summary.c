/* summary.c - see summary.h: takes what the script tells. SPDX-License-Identifier: MIT */
#include "view/summary.h"

#include <stdlib.h>
#include <string.h>

#include "view/summary_internal.h"

struct ray_summary *ray_summary_create(FILE *out, bool is_json, size_t width)
{
	ray_auto(ray_summary, s) = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->out = out;
	s->is_json = is_json;
	s->width = width;
	s->loops = ray_tally_create();
	s->urls = ray_tally_create();
	s->outgoing = ray_tally_create();
	s->functions = ray_tally_create();
	s->files = ray_tally_create();
	s->blocking = ray_tally_create();
	s->names = ray_tally_create();
	s->works = ray_tally_create();
	if (!s->loops || !s->urls || !s->outgoing || !s->functions || !s->files || !s->blocking || !s->names ||
	    !s->works)
		return NULL;
	return ray_take(s);
}

void ray_summary_free(struct ray_summary *s)
{
	if (!s)
		return;
	ray_tally_free(s->loops);
	ray_tally_free(s->urls);
	ray_tally_free(s->outgoing);
	ray_tally_free(s->functions);
	ray_tally_free(s->files);
	ray_tally_free(s->blocking);
	ray_tally_free(s->names);
	ray_tally_free(s->works);
	free(s->waits_bins);
	free(s);
}

/* ---- processors ---- */

/* A frame of JavaScript is "name (file:line:col)"; all others name their module before a `. */
static bool is_js(const char *frame, size_t length)
{
	return !memchr(frame, '`', length) && length && frame[length - 1] == ')';
}

/* "name (file:12:3)" is wherever it was at that moment; the function is "name (file)". */
static void name_function(const char *line, size_t length, char *out, size_t size)
{
	size_t end = length - 1; /* at the ) */

	for (int colons = 0; colons < 2; colons++) {
		size_t at = end;

		while (at && strchr("0123456789", line[at - 1]))
			at--;
		if (at < 2 || at == end || line[at - 1] != ':')
			break;
		end = at - 1;
	}
	snprintf(out, size, "%.*s)", (int)end, line);
}

/* Samples by what runs, and by the JavaScript nearest to it: what that calls in C++ is its cost, too. */
static void take_user(struct ray_summary *s, const struct ray_fact *f)
{
	const char *stack = ray_fact_text(f, "stack");
	uint64_t count = (uint64_t)ray_fact_number(f, "count");
	enum ray_summary_cpu kind = RAY_CPU_NATIVE;
	bool is_top = true;

	for (const char *at = stack; *at;) {
		const char *line = at + strspn(at, " ");
		size_t length = strcspn(line, "\n");

		at = line + length + (line[length] == '\n');
		if (!length)
			continue;
		if (is_js(line, length)) {
			char name[512];
			struct ray_tally_row *row;

			if (is_top)
				kind = RAY_CPU_JS;
			name_function(line, length, name, sizeof(name));
			row = ray_tally_row(s->functions, "", name);
			if (row)
				row->count += count;
			break;
		}
		is_top = false;
	}
	s->samples[kind] += count;
	if (ray_fact_number(f, "main"))
		s->main_samples[kind] += count;
}

static void take_samples(struct ray_summary *s, const struct ray_fact *f, enum ray_summary_cpu kind)
{
	s->samples[kind] += (uint64_t)ray_fact_number(f, "count");
	if (ray_fact_number(f, "main"))
		s->main_samples[kind] += (uint64_t)ray_fact_number(f, "count");
}

/* ---- the rest ---- */

/* Which tally a fact belongs to, the fields that name its row, and what its number is. */
enum what { COUNT, TOTAL, LONGEST, ERRORS, BYTES, HISTOGRAM };

static const struct row {
	const char *fact;
	size_t tally; /* offset in struct ray_summary */
	const char *kind, *name;
	enum what what;
} rows[] = {
	{ "busy", offsetof(struct ray_summary, loops), "pid", "tid", TOTAL },
	{ "idle", offsetof(struct ray_summary, loops), "pid", "tid", BYTES },
	{ "lags", offsetof(struct ray_summary, loops), "pid", "tid", HISTOGRAM },
	{ "lag", offsetof(struct ray_summary, loops), "pid", "tid", LONGEST },
	{ "latencies", offsetof(struct ray_summary, urls), "method", "url", HISTOGRAM },
	{ "latency", offsetof(struct ray_summary, urls), "method", "url", LONGEST },
	{ "failed", offsetof(struct ray_summary, urls), "method", "url", ERRORS },
	{ "outgoing", offsetof(struct ray_summary, outgoing), NULL, "host", HISTOGRAM },
	{ "slowest", offsetof(struct ray_summary, outgoing), NULL, "host", LONGEST },
	{ "files", offsetof(struct ray_summary, files), NULL, "path", COUNT },
	{ "file_times", offsetof(struct ray_summary, files), NULL, "path", TOTAL },
	{ "blocking", offsetof(struct ray_summary, blocking), "operation", "path", TOTAL },
	{ "names", offsetof(struct ray_summary, names), NULL, "host", COUNT },
	{ "name_times", offsetof(struct ray_summary, names), NULL, "host", LONGEST },
	{ "works", offsetof(struct ray_summary, works), NULL, "kind", COUNT },
};

/* A field as a name: numbers too. */
static const char *name_of(const struct ray_fact *f, const char *field, char number[24])
{
	const char *text = field ? ray_fact_text(f, field) : "";

	if (*text || !field || !ray_fact_find(f, field) || ray_fact_find(f, field)->value.kind != RAY_VALUE_INTEGER)
		return text;
	snprintf(number, 24, "%lld", (long long)ray_fact_number(f, field));
	return number;
}

static void take_row(struct ray_summary *s, const struct row *r, const struct ray_fact *f)
{
	struct ray_tally *tally = *(struct ray_tally **)((char *)s + r->tally);
	const char *name, *kind;
	char numbers[2][24];
	struct ray_tally_row *row;
	ray_auto_text folded = { 0 };

	name = name_of(f, r->name, numbers[0]);
	kind = name_of(f, r->kind, numbers[1]);
	if (r->tally == offsetof(struct ray_summary, urls)) {
		ray_view_fold(name, true, false, &folded);
		name = ray_text_get(&folded);
	}
	row = ray_tally_row(tally, kind, name);
	if (!row)
		return;
	switch (r->what) {
	case COUNT:
		row->count += (uint64_t)ray_fact_number(f, "count");
		break;
	case ERRORS:
		row->errors += (uint64_t)ray_fact_number(f, "count");
		break;
	case TOTAL:
		row->total += (uint64_t)ray_fact_number(f, "ns");
		break;
	case BYTES:
		row->bytes += (uint64_t)ray_fact_number(f, "ns");
		break;
	case LONGEST:
		if ((uint64_t)ray_fact_number(f, "ns") > row->longest)
			row->longest = (uint64_t)ray_fact_number(f, "ns");
		break;
	case HISTOGRAM:
		ray_tally_add(tally, row, ray_fact_histogram(f, "ns"));
		break;
	}
}

static void take_waits(struct ray_summary *s, const struct ray_histogram *h)
{
	if (!h || s->waits_bins)
		return;
	s->waits_bins = malloc(h->count * sizeof(*s->waits_bins));
	if (!s->waits_bins)
		return;
	s->waits = *h;
	s->waits.bins = memcpy(s->waits_bins, h->bins, h->count * sizeof(*s->waits_bins));
}

void ray_summary_take(struct ray_summary *s, const struct ray_fact *f)
{
	if (f->is_end)
		return;
	if (ray_fact_is(f, "user_samples"))
		take_user(s, f);
	else if (ray_fact_is(f, "gc_samples"))
		take_samples(s, f, RAY_CPU_GC);
	else if (ray_fact_is(f, "kernel_samples"))
		take_samples(s, f, RAY_CPU_KERNEL);
	else if (ray_fact_is(f, "pauses"))
		s->pauses = (uint64_t)ray_fact_number(f, "ns");
	else if (ray_fact_is(f, "pause"))
		s->longest_pause = (uint64_t)ray_fact_number(f, "ns");
	else if (ray_fact_is(f, "collections"))
		s->collections = (uint64_t)ray_fact_number(f, "count");
	else if (ray_fact_is(f, "waits"))
		take_waits(s, ray_fact_histogram(f, "ns"));
	else if (ray_fact_is(f, "wait"))
		s->longest_wait = (uint64_t)ray_fact_number(f, "ns");
	for (size_t i = 0; i < RAY_COUNT(rows); i++)
		if (ray_fact_is(f, rows[i].fact))
			take_row(s, &rows[i], f);
}

/* ---- what it comes to ---- */

double ray_summary_utilization(const struct ray_tally_row *loop)
{
	uint64_t all = loop ? loop->total + loop->bytes : 0;

	return all ? (double)loop->total / (double)all : 0;
}

const struct ray_tally_row *ray_summary_loop(const struct ray_summary *s)
{
	size_t count;
	struct ray_tally_row *const *loops = ray_tally_sorted(s->loops, RAY_TALLY_BY_TOTAL, &count);

	return count ? loops[0] : NULL;
}

double ray_summary_cpu(const struct ray_summary *s, enum ray_summary_cpu kind)
{
	double samples = (double)s->duration_ns / 1e9 * RAY_SUMMARY_HERTZ;

	return samples > 0 ? (double)s->samples[kind] / samples : 0;
}

double ray_summary_gc_share(const struct ray_summary *s)
{
	return s->duration_ns ? (double)s->pauses / (double)s->duration_ns : 0;
}

void ray_summary_print(struct ray_summary *s, const struct ray_summary_about *about, uint64_t duration_ns)
{
	s->duration_ns = duration_ns;
	if (s->is_json)
		ray_summary_print_json(s, about);
	else
		ray_summary_print_text(s, about);
}
