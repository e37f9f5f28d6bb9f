/* write_text.c - the table of functions, for reading as it is: 80 columns, the heaviest first. SPDX-License-Identifier: MIT
 *
 * Written only: stacks are not in it. */
#include <inttypes.h>
#include <string.h>

#include "base/duration.h"
#include "profile/cell.h"
#include "profile/formats.h"

enum { TOP = 50, TOP_PACKAGES = 20, WIDTH = 80, BEFORE_NAME = 33 };

struct table {
	const struct ray_profile *p;
	FILE *out;
	int64_t whole;
};

static double percent(const struct table *t, int64_t weight)
{
	return t->whole ? 100.0 * (double)weight / (double)t->whole : 0;
}

/* ---- functions ---- */

static void print_function(const struct table *t, const struct ray_profile_row *row)
{
	const struct ray_profile_function *f = &t->p->functions.at[row->function];
	ray_auto_text text = { 0 };
	char self[24];

	ray_cell_function(&text, f, WIDTH - BEFORE_NAME);
	fprintf(t->out, "%7s %5.1f%% %5.1f%%  %-8s  %s\n", ray_cell_value(t->p->unit, row->self, self),
		percent(t, row->self), percent(t, row->total), ray_profile_kind_word(f->kind), ray_text_get(&text));
}

static void print_functions(const struct table *t, const struct ray_profile_row *rows, size_t count)
{
	fprintf(t->out, "\n%7s %6s %6s  %-8s  %s\n", "SELF", "SELF%", "TOTAL%", "KIND", "FUNCTION");
	for (size_t i = 0; i < count && i < TOP; i++)
		print_function(t, &rows[i]);
	if (count > TOP)
		fprintf(t->out, "%zu functions more\n", count - TOP);
}

/* ---- sums ---- */

struct sum {
	const char *name;
	int64_t weight;
};

static int by_weight(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void print_sums(const struct table *t, const char *title, struct sum *sums, size_t count, size_t most)
{
	char text[24];

	qsort(sums, count, sizeof(*sums), by_weight);
	while (count && sums[count - 1].weight <= 0)
		count--;
	if (!count)
		return;
	fprintf(t->out, "\n%7s %6s  %s\n", "SELF", "SELF%", title);
	for (size_t i = 0; i < count && i < most; i++) {
		ray_auto_text name = { 0 };

		ray_cell_cut(&name, sums[i].name, WIDTH - 17);
		fprintf(t->out, "%7s %5.1f%%  %s\n", ray_cell_value(t->p->unit, sums[i].weight, text),
			percent(t, sums[i].weight), ray_text_get(&name));
	}
	if (count > most)
		fprintf(t->out, "%zu more\n", count - most);
}

static void print_kinds(const struct table *t, const struct ray_profile_row *rows, size_t count)
{
	static const char *const words[RAY_KIND_COUNT] = {
		[RAY_KIND_JS] = "js: the program's own JavaScript",
		[RAY_KIND_PACKAGE] = "package: JavaScript of packages",
		[RAY_KIND_NODE] = "node: JavaScript of node itself",
		[RAY_KIND_WASM] = "wasm: WebAssembly",
		[RAY_KIND_BUILTIN] = "builtin: builtins of V8, regular expressions",
		[RAY_KIND_NATIVE] = "native: C and C++",
		[RAY_KIND_GC] = "gc: garbage collection",
		[RAY_KIND_COMPILER] = "compiler: parsing and compiling",
		[RAY_KIND_KERNEL] = "kernel",
		[RAY_KIND_IDLE] = "idle",
		[RAY_KIND_UNKNOWN] = "unknown: addresses without a name",
	};
	struct sum sums[RAY_KIND_COUNT];

	for (size_t i = 0; i < RAY_KIND_COUNT; i++)
		sums[i] = (struct sum){ words[i], 0 };
	for (size_t i = 0; i < count; i++)
		sums[t->p->functions.at[rows[i].function].kind].weight += rows[i].self;
	print_sums(t, "KIND", sums, RAY_KIND_COUNT, RAY_KIND_COUNT);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct sum *)a)->name, ((const struct sum *)b)->name);
}

static bool print_packages(const struct table *t, const struct ray_profile_row *rows, size_t count)
{
	ray_auto_memory struct sum *sums = calloc(count + 1, sizeof(*sums));
	size_t n = 0, kept = 0;

	if (!sums)
		return false;
	for (size_t i = 0; i < count; i++)
		if (*t->p->functions.at[rows[i].function].package)
			sums[n++] = (struct sum){ t->p->functions.at[rows[i].function].package, rows[i].self };
	qsort(sums, n, sizeof(*sums), by_name);
	for (size_t i = 0; i < n; i++) {
		if (kept && !strcmp(sums[kept - 1].name, sums[i].name))
			sums[kept - 1].weight += sums[i].weight;
		else
			sums[kept++] = sums[i];
	}
	print_sums(t, "PACKAGE", sums, kept, TOP_PACKAGES);
	return true;
}

static bool print_threads(const struct table *t)
{
	ray_auto_memory struct sum *sums = calloc(t->p->threads.n + 1, sizeof(*sums));
	ray_auto_memory size_t *at = calloc(t->p->threads.n + 1, sizeof(*at));
	ray_auto_text names = { 0 };

	if (!sums || !at)
		return false;
	if (t->p->threads.n < 2)
		return true;
	for (size_t i = 0; i < t->p->threads.n; i++) {
		const struct ray_profile_thread *thread = &t->p->threads.at[i];

		at[i] = names.length;
		ray_text_printf(&names, "%s (%u/%u)%s%s", *thread->name ? thread->name : "thread", thread->pid,
				thread->tid, *thread->process ? " " : "", thread->process);
		ray_text_add_bytes(&names, "", 1);
	}
	for (size_t i = 0; i < t->p->threads.n; i++)
		sums[i].name = ray_text_get(&names) + at[i];
	for (size_t i = 0; i < t->p->samples.n; i++)
		sums[t->p->samples.at[i].thread].weight += t->p->samples.at[i].weight;
	print_sums(t, "THREAD", sums, t->p->threads.n, TOP);
	return !names.failed;
}

/* ---- around it ---- */

static void print_head(const struct table *t)
{
	const struct ray_profile *p = t->p;
	const char *units[] = { "samples", "of time", "allocated or moved", "events" };
	char text[24];

	if (*p->title)
		fprintf(t->out, "%s\n", p->title);
	if (*p->event)
		fprintf(t->out, "%s\n", p->event);
	fprintf(t->out, "%s %s", ray_cell_value(p->unit, t->whole, text), units[p->unit]);
	if (p->duration_ns)
		fprintf(t->out, " in %s", ray_duration_format(p->duration_ns, text));
	if (*p->host)
		fprintf(t->out, " on %s", p->host);
	if (*p->node_version)
		fprintf(t->out, ", node %s", p->node_version);
	putc('\n', t->out);
}

static void print_loss(const struct table *t)
{
	const struct ray_profile *p = t->p;
	const struct {
		uint64_t count;
		const char *one, *many;
	} rows[] = {
		{ p->lost_samples, "sample was lost", "samples were lost" },
		{ p->cut_stacks, "stack does not reach its root", "stacks do not reach their root" },
		{ p->unnamed_frames, "frame of V8's code has no name", "frames of V8's code have no name" },
	};
	bool any = false;

	for (size_t i = 0; i < RAY_COUNT(rows); i++) {
		if (rows[i].count)
			fprintf(t->out, "%s%" PRIu64 " %s\n", any ? "" : "\n", rows[i].count,
				rows[i].count == 1 ? rows[i].one : rows[i].many);
		any = any || rows[i].count;
	}
}

struct ray_error *ray_write_text(const struct ray_profile *p, FILE *out)
{
	ray_auto_memory struct ray_profile_row *rows = NULL;
	struct table t = { p, out, ray_profile_weight(p) };
	size_t count;

	if (!ray_profile_rank(p, UINT32_MAX, &rows, &count))
		return &ray_enomem;
	print_head(&t);
	print_functions(&t, rows, count);
	print_kinds(&t, rows, count);
	if (!print_packages(&t, rows, count) || !print_threads(&t))
		return &ray_enomem;
	print_loss(&t);
	return NULL;
}
