/* write_cpuprofile.c - V8's own form, for DevTools and VS Code. SPDX-License-Identifier: MIT
 *
 * One tree of functions, and a line of samples each of which lasts until the next one. That is a thread; where there are several, each has a node
 * of its own below the root, and they follow one another in time. What lies between samples is "(idle)", marked as a gap: V8 has samples of that name, too.
 * Lines that ran are kept as positionTicks, of the innermost functions alone: the form has no place for the others. "kind", "thread" and "gap" are our
 * own. */
#include <inttypes.h>
#include <string.h>

#include "profile/head.h"
#include "profile/formats.h"
#include "profile/json_out.h"
#include "profile/timeline.h"

struct tick {
	uint32_t node;
	int line;
	uint32_t count;
};

struct sample {
	uint32_t node;
	uint64_t start_ns;
};

/* A thread that ran, with its node: the root, if there is but one. */
struct top {
	uint32_t node, thread;
	uint64_t start_ns;
};

struct build {
	const struct ray_profile *p;
	struct ray_profile *tree;
	uint32_t *there; /* by node of p: its node in the tree, for the thread that is being added; 0: not yet */
	RAY_VEC(uint32_t) touched;
	RAY_VEC(uint32_t) path;
	RAY_VEC(struct tick) ticks;
	RAY_VEC(struct sample) samples;
	uint32_t gap;  /* 0: not made yet */
	bool has_tops; /* a node for each thread */
	RAY_VEC(struct top) tops;
	size_t next_top;
	uint64_t end_ns;
};

static void free_build(struct build *b)
{
	ray_profile_free(b->tree);
	free(b->there);
	ray_vec_free(&b->touched);
	ray_vec_free(&b->path);
	ray_vec_free(&b->ticks);
	ray_vec_free(&b->samples);
	ray_vec_free(&b->tops);
}

/* ---- the tree ---- */

static uint32_t child(struct ray_profile *tree, uint32_t parent, const struct ray_profile_function *f)
{
	struct ray_profile_frame frame = { .function = ray_profile_function(tree, f) };

	return ray_profile_node(tree, parent, ray_profile_frame(tree, &frame));
}

/* The node of the tree for a node of p, below top. */
static bool graft(struct build *b, uint32_t top, uint32_t node, uint32_t *ret)
{
	const struct ray_profile *p = b->p;

	b->path.n = 0;
	while (node && !b->there[node]) {
		if (!ray_vec_push(&b->path, node))
			return false;
		node = p->nodes.at[node].parent;
	}
	*ret = node ? b->there[node] : top;
	for (size_t i = b->path.n; i-- > 0;) {
		uint32_t at = b->path.at[i];

		*ret = child(b->tree, *ret, &p->functions.at[p->frames.at[p->nodes.at[at].frame].function]);
		b->there[at] = *ret;
		if (!ray_vec_push(&b->touched, at))
			return false;
	}
	return true;
}

/* A node of its own, apart from that of samples with the same name. */
static bool add_gap(struct build *b, uint64_t start_ns)
{
	const struct ray_profile_function idle = { .kind = RAY_KIND_IDLE, .name = "(idle)", .file = "" };
	struct ray_profile_frame frame = { .is_inlined = true };

	if (!b->gap) {
		frame.function = ray_profile_function(b->tree, &idle);
		b->gap = ray_profile_node(b->tree, 0, ray_profile_frame(b->tree, &frame));
	}
	return ray_vec_push(&b->samples, (struct sample){ b->gap, start_ns });
}

static bool add_stretch(struct build *b, const struct ray_stretch *s, uint32_t top, uint64_t base)
{
	struct sample sample = { 0, base + s->start_ns };
	int line = b->p->frames.at[b->p->nodes.at[s->node].frame].line;

	if (sample.start_ns > b->end_ns && !add_gap(b, b->end_ns))
		return false;
	b->end_ns = sample.start_ns + s->length_ns;
	return graft(b, top, s->node, &sample.node) && ray_vec_push(&b->samples, sample) &&
	       ray_vec_push(&b->ticks, (struct tick){ sample.node, line, s->count });
}

static bool add_thread(struct build *b, const struct ray_timeline *t, uint32_t thread)
{
	uint64_t base = b->end_ns;
	uint32_t top = 0;

	if (b->has_tops) {
		ray_auto_text name = { 0 };

		ray_timeline_thread(b->p, thread, &name);
		top = child(b->tree, 0,
			    &(struct ray_profile_function){ RAY_KIND_NATIVE, ray_text_get(&name), "", 0, 0, "" });
	}
	for (size_t i = 0; i < b->touched.n; i++)
		b->there[b->touched.at[i]] = 0;
	b->touched.n = 0;
	for (size_t i = t->first[thread]; i < t->first[thread + 1]; i++)
		if (!add_stretch(b, &t->at[i], top, base))
			return false;
	return ray_vec_push(&b->tops, (struct top){ top, thread, base }) && !b->tree->failed;
}

static bool add_threads(struct build *b, const struct ray_timeline *t)
{
	size_t used = 0;

	b->tree = ray_profile_create();
	b->there = calloc(b->p->nodes.n, sizeof(*b->there));
	if (!b->tree || !b->there)
		return false;
	for (size_t i = 0; i < b->p->threads.n; i++)
		used += t->first[i + 1] > t->first[i];
	b->has_tops = used > 1;
	for (uint32_t i = 0; i < b->p->threads.n; i++)
		if (t->first[i + 1] > t->first[i] && !add_thread(b, t, i))
			return false;
	return true;
}

static int by_node_and_line(const void *a, const void *b)
{
	const struct tick *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

/* ---- writing it ---- */

/* Numbers for files, the same for the same file. */
static bool number_files(const struct ray_profile *tree, uint32_t **ret)
{
	uint32_t *numbers = calloc(tree->functions.n, sizeof(*numbers));
	struct ray_profile *set = ray_profile_create();
	bool ok = numbers && set;

	/* Functions that differ in their file alone have one number for each file. */
	for (size_t i = 1; ok && i < tree->functions.n; i++)
		if (*tree->functions.at[i].file)
			numbers[i] = ray_profile_function(
				set, &(struct ray_profile_function){ .name = tree->functions.at[i].file });
	ok = ok && !set->failed;
	ray_profile_free(set);
	if (!ok)
		free(numbers);
	else
		*ret = numbers;
	return ok;
}

static bool is_script(enum ray_profile_kind kind)
{
	return kind == RAY_KIND_JS || kind == RAY_KIND_PACKAGE || kind == RAY_KIND_NODE;
}

static void write_call_frame(const struct ray_profile_function *f, uint32_t file, FILE *out)
{
	bool anonymous = is_script(f->kind) && !strcmp(f->name, "(anonymous)");

	fputs("\"callFrame\":{\"functionName\":", out);
	ray_json_out_text(out, anonymous ? "" : f->name);
	fprintf(out, ",\"scriptId\":\"%" PRIu32 "\",\"url\":", file);
	ray_json_out_text(out, f->file);
	fprintf(out, ",\"lineNumber\":%d,\"columnNumber\":%d", f->line - 1, f->column - 1);
	if (!is_script(f->kind))
		fprintf(out, ",\"kind\":\"%s\"", ray_profile_kind_word(f->kind));
	putc('}', out);
}

/* Nodes come in the order of their numbers, and so do those of threads. */
static void write_thread(struct build *b, uint32_t node, FILE *out)
{
	const struct ray_profile_thread *t;

	while (b->next_top < b->tops.n && b->tops.at[b->next_top].node < node)
		b->next_top++;
	if (b->next_top == b->tops.n || b->tops.at[b->next_top].node != node)
		return;
	t = &b->p->threads.at[b->tops.at[b->next_top].thread];
	fprintf(out, ",\"thread\":{\"pid\":%u,\"tid\":%u", t->pid, t->tid);
	ray_json_out_member(out, "name", t->name);
	ray_json_out_member(out, "process", t->process);
	fputs(",\"start\":", out);
	ray_json_out_us(out, b->tops.at[b->next_top].start_ns);
	putc('}', out);
}

/* Ticks are sorted by node: those of this one begin at *at. */
static void write_ticks(const struct build *b, uint32_t node, size_t *at, FILE *out)
{
	size_t end = *at;
	uint64_t hits = 0;
	bool any = false;

	for (; end < b->ticks.n && b->ticks.at[end].node == node; end++)
		hits += b->ticks.at[end].count;
	fprintf(out, ",\"hitCount\":%" PRIu64, hits);
	while (*at < end) {
		int line = b->ticks.at[*at].line;
		uint64_t sum = 0;

		for (; *at < end && b->ticks.at[*at].line == line; (*at)++)
			sum += b->ticks.at[*at].count;
		if (line <= 0)
			continue;
		fprintf(out, "%s{\"line\":%d,\"ticks\":%" PRIu64 "}", any ? "," : ",\"positionTicks\":[", line, sum);
		any = true;
	}
	if (any)
		putc(']', out);
}

/* first and next: a node's children, in order. */
struct family {
	uint32_t *first, *next;
};

static bool find_children(const struct ray_profile *tree, struct family *f)
{
	f->first = calloc(tree->nodes.n, sizeof(*f->first));
	f->next = calloc(tree->nodes.n, sizeof(*f->next));
	if (!f->first || !f->next)
		return false;
	for (size_t i = tree->nodes.n; i-- > 1;) {
		f->next[i] = f->first[tree->nodes.at[i].parent];
		f->first[tree->nodes.at[i].parent] = (uint32_t)i;
	}
	return true;
}

static void write_node(struct build *b, const struct family *f, const uint32_t *files, uint32_t node, size_t *tick,
		       FILE *out)
{
	static const struct ray_profile_function root = { RAY_KIND_NATIVE, "(root)", "", 0, 0, "" };
	uint32_t function = b->tree->frames.at[b->tree->nodes.at[node].frame].function;

	fprintf(out, "%s{\"id\":%u,", node ? ",\n" : "\n", node + 1);
	write_call_frame(node ? &b->tree->functions.at[function] : &root, files[function], out);
	write_thread(b, node, out);
	if (node && node == b->gap)
		fputs(",\"gap\":true", out);
	write_ticks(b, node, tick, out);
	if (f->first[node]) {
		fputs(",\"children\":[", out);
		for (uint32_t at = f->first[node]; at; at = f->next[at]) {
			ray_json_out_integer(out, at + 1);
			if (f->next[at])
				putc_unlocked(',', out);
		}
		putc(']', out);
	}
	putc('}', out);
}

static bool write_nodes(struct build *b, FILE *out)
{
	ray_auto_memory uint32_t *files = NULL;
	struct family family = { 0 };
	bool ok = find_children(b->tree, &family) && number_files(b->tree, &files);
	size_t tick = 0;

	if (b->ticks.n)
		qsort(b->ticks.at, b->ticks.n, sizeof(*b->ticks.at), by_node_and_line);
	for (uint32_t i = 0; ok && i < b->tree->nodes.n; i++)
		write_node(b, &family, files, i, &tick, out);
	free(family.first);
	free(family.next);
	return ok;
}

static void write_samples(const struct build *b, FILE *out)
{
	uint64_t last_us = 0;

	fputs(",\"samples\":[", out);
	for (size_t i = 0; i < b->samples.n; i++) {
		if (i)
			putc_unlocked(',', out);
		ray_json_out_integer(out, b->samples.at[i].node + 1);
	}
	fputs("],\"timeDeltas\":[", out);
	for (size_t i = 0; i < b->samples.n; i++) {
		uint64_t us = b->samples.at[i].start_ns / 1000;

		if (i)
			putc_unlocked(',', out);
		ray_json_out_integer(out, (int64_t)(us - last_us));
		last_us = us;
	}
}

struct ray_error *ray_write_cpuprofile(const struct ray_profile *p, FILE *out)
{
	ray_auto_timeline timeline = { 0 };
	struct build b = { .p = p };
	uint64_t start_us = p->start_ns / 1000;
	bool ok = ray_timeline_create(p, RAY_TIMELINE_WEIGHT, &timeline) && add_threads(&b, &timeline);

	if (ok) {
		fputs("{\"nodes\":[", out);
		ok = write_nodes(&b, out);
	}
	if (ok) {
		fprintf(out, "],\"startTime\":%" PRIu64 ",\"endTime\":%" PRIu64, start_us, start_us + b.end_ns / 1000);
		write_samples(&b, out);
		fputs("],\"" RAY_PROFILE_HEAD_KEY "\":", out);
		ray_profile_head_write(p, out);
		fputs("}\n", out);
	}
	free_build(&b);
	return ok ? NULL : &ray_enomem;
}
