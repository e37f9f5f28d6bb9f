/* fake_profile.h - small profiles with something of everything, and how two are compared. SPDX-License-Identifier: MIT */
#ifndef RAY_FAKE_PROFILE_H
#define RAY_FAKE_PROFILE_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "profile/format.h"

struct fake_frame {
	struct ray_profile_function function;
	int line, column;
	bool inlined;
};

/* clang-format off */
static const struct fake_frame fake_frames[] = {
	{ { RAY_KIND_NATIVE, "node::Start(int, char**)", "/usr/bin/node", 0, 0, "" }, 0, 0, false },
	{ { RAY_KIND_BUILTIN, "JSEntry", "", 0, 0, "" }, 0, 0, false },
	{ { RAY_KIND_NODE, "Module._compile", "node:internal/modules/cjs/loader", 1412, 37, "" }, 1469, 14, false },
	{ { RAY_KIND_JS, "(anonymous)", "/srv/app.js", 1, 1, "" }, 20, 3, false },
	{ { RAY_KIND_JS, "handle", "/srv/app.js", 5, 18, "" }, 7, 10, false },
	{ { RAY_KIND_JS, "Odd;name \"quoted\"", "/srv/app.js", 30, 2, "" }, 31, 9, true },
	{ { RAY_KIND_PACKAGE, "next", "/srv/node_modules/@hapi/hapi/lib/route.js", 90, 12, "@hapi/hapi" }, 95, 5, false },
	{ { RAY_KIND_GC, "v8::internal::Heap::Scavenge()", "/usr/bin/node", 0, 0, "" }, 0, 0, false },
	{ { RAY_KIND_COMPILER, "v8::internal::Compiler::Compile(v8::internal::Isolate*)", "/usr/bin/node", 0, 0, "" }, 0, 0, false },
	{ { RAY_KIND_KERNEL, "do_syscall_64", "", 0, 0, "" }, 0, 0, false },
	{ { RAY_KIND_UNKNOWN, "0x7f0012345678", "", 0, 0, "" }, 0, 0, false },
	{ { RAY_KIND_JS, "caf\xc3\xa9", "file:///srv/caf\xc3\xa9.mjs", 3, 1, "" }, 4, 2, false },
};
/* clang-format on */

/* Frames by index, root first; -1 ends. */
static const struct fake_sample {
	int thread;
	int frames[10];
	uint64_t time_ns;
	int64_t weight;
} fake_samples[] = {
	{ 0, { 0, 1, 2, 3, 4, -1 }, 10000000, 1 },
	{ 0, { 0, 1, 2, 3, 4, 5, -1 }, 20000000, 1 },
	{ 1, { 0, 1, 11, -1 }, 20000000, 1 },
	{ 0, { 0, 1, 2, 3, 4, 5, -1 }, 30000000, 1 },
	{ 0, { 0, 1, 2, 3, 6, 4, 7, -1 }, 40000000, 1 },
	{ 0, { 0, 1, 2, 3, 4, 9, -1 }, 50000000, 1 },
	{ 1, { 0, 8, -1 }, 50000000, 1 },
	{ 0, { 0, 10, -1 }, 60000000, 1 },
	{ 2, { 0, 8, -1 }, 70000000, 1 },
};

static inline RAY_UNUSED struct ray_profile *fake_profile(void)
{
	struct ray_profile *p = ray_profile_create();

	p->title = ray_profile_text(p, "node app.js (4242)");
	p->event = ray_profile_text(p, "on-CPU, 100 Hz");
	p->command = ray_profile_text(p, "noderay record 4242");
	p->host = ray_profile_text(p, "box");
	p->node_version = ray_profile_text(p, "v22.1.0");
	p->start_ns = 1700000000000000000;
	p->duration_ns = 80000000;
	p->period_ns = 10000000;
	p->has_times = true;
	p->lost_samples = 3;
	p->cut_stacks = 1;
	ray_profile_thread(p, &(struct ray_profile_thread){ 4242, 4242, "main", "node app.js" });
	ray_profile_thread(p,
			   &(struct ray_profile_thread){ 4242, 4250, "worker_threads worker 1 (a;b)", "node app.js" });
	ray_profile_thread(p, &(struct ray_profile_thread){ 4300, 4301, "V8 platform worker 1", "node child.js" });
	for (size_t i = 0; i < RAY_COUNT(fake_samples); i++) {
		const struct fake_sample *f = &fake_samples[i];
		struct ray_profile_sample s = { f->time_ns, 0, (uint32_t)f->thread, f->weight, 1 };

		for (const int *at = f->frames; *at >= 0; at++) {
			const struct fake_frame *frame = &fake_frames[*at];

			s.node = ray_profile_node(
				p, s.node,
				ray_profile_frame(
					p, &(struct ray_profile_frame){ ray_profile_function(p, &frame->function),
									frame->line, frame->column, frame->inlined }));
		}
		ray_profile_add(p, &s);
	}
	return p;
}

/* What of a profile shall be compared: formats hold more or less. */
enum {
	FAKE_KINDS = 1,
	FAKE_FILES = 2, /* of scripts, with where functions begin */
	FAKE_LINES = 4,
	FAKE_TIMES = 8,
	FAKE_THREADS = 16,
	FAKE_BINARIES = 32,
	FAKE_INLINED = 64,
	FAKE_PROCESSES = 128,
	FAKE_COLUMNS = 256,
};

static inline RAY_UNUSED bool fake_is_script(enum ray_profile_kind kind)
{
	return kind == RAY_KIND_JS || kind == RAY_KIND_PACKAGE || kind == RAY_KIND_NODE || kind == RAY_KIND_WASM;
}

static inline RAY_UNUSED void fake_add_frame(const struct ray_profile *p, uint32_t node, unsigned what,
					     struct ray_text *out)
{
	const struct ray_profile_frame *frame = &p->frames.at[p->nodes.at[node].frame];
	const struct ray_profile_function *f = &p->functions.at[frame->function];
	bool named = fake_is_script(f->kind) ? what & FAKE_FILES : what & FAKE_BINARIES;

	ray_text_printf(out, "|%s", f->name);
	if (what & FAKE_KINDS)
		ray_text_printf(out, " %s %s", ray_profile_kind_word(f->kind), f->package);
	if (named)
		ray_text_printf(out, " %s:%d", f->file, f->line);
	if (named && what & FAKE_COLUMNS)
		ray_text_printf(out, ":%d", f->column);
	if (what & FAKE_LINES)
		ray_text_printf(out, " @%d", frame->line);
	if (what & FAKE_LINES && what & FAKE_COLUMNS)
		ray_text_printf(out, ":%d", frame->column);
	if (what & FAKE_INLINED && frame->is_inlined)
		ray_text_add(out, " inlined");
}

struct fake_line {
	char *text;
	int64_t weight;
};

static inline RAY_UNUSED int fake_by_text(const void *a, const void *b)
{
	return strcmp(((const struct fake_line *)a)->text, ((const struct fake_line *)b)->text);
}

/* Every sample as a line, sorted; those that differ in nothing that counts become one. */
static inline RAY_UNUSED char *fake_text(const struct ray_profile *p, unsigned what)
{
	RAY_VEC(struct fake_line) lines = { 0 };
	ray_auto_text all = { 0 };

	for (size_t i = 0; i < p->samples.n; i++) {
		const struct ray_profile_sample *s = &p->samples.at[i];
		const struct ray_profile_thread *t = &p->threads.at[s->thread];
		ray_auto_text line = { 0 };

		if (what & FAKE_TIMES)
			ray_text_printf(&line, "%" PRIu64 " ", s->time_ns);
		if (what & FAKE_THREADS)
			ray_text_printf(&line, "%u/%u %s", t->pid, t->tid, t->name);
		if (what & FAKE_PROCESSES)
			ray_text_printf(&line, " %s", t->process);
		for (uint32_t at = s->node; at; at = p->nodes.at[at].parent)
			fake_add_frame(p, at, what, &line);
		(void)ray_vec_push(&lines, (struct fake_line){ strdup(ray_text_get(&line)), s->weight });
	}
	if (lines.n)
		qsort(lines.at, lines.n, sizeof(*lines.at), fake_by_text);
	for (size_t i = 0; i < lines.n; i++) {
		if (i + 1 < lines.n && !strcmp(lines.at[i].text, lines.at[i + 1].text))
			lines.at[i + 1].weight += lines.at[i].weight;
		else
			ray_text_printf(&all, "%s = %" PRId64 "\n", lines.at[i].text, lines.at[i].weight);
	}
	for (size_t i = 0; i < lines.n; i++)
		free(lines.at[i].text);
	ray_vec_free(&lines);
	return strdup(ray_text_get(&all));
}

static inline RAY_UNUSED char *fake_written(const struct ray_profile *p, const char *format, size_t *size_ret)
{
	const struct ray_profile_format *f;
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, size_ret);

	if (ray_profile_format_find(format, "x", &f) || f->write(p, out))
		abort();
	fclose(out);
	return bytes;
}

#endif
