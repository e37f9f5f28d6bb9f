/* write_chrome.c - Chrome's trace events, for chrome://tracing and https://ui.perfetto.dev. SPDX-License-Identifier: MIT
 *
 * What a thread ran is a row of slices that nest; one goes on as long as the same function stays where it is in the stack. A slice is written when
 * it begins, before those in it, because viewers take slices of the same time in the order of the file. What is no time (bytes, events)
 * has a slice for each sample, with its weight. */
#include <string.h>

#include "profile/formats.h"
#include "profile/head.h"
#include "profile/json_out.h"
#include "profile/timeline.h"

enum { MOST_SLICES = 1 << 20 }; /* in memory: then all that are open are cut */

struct slice {
	uint64_t start_ns, end_ns;
	uint32_t function;
	int64_t weight; /* 0: not told */
};

struct writer {
	const struct ray_profile *p;
	FILE *out;
	struct ray_text names; /* of each function: its name, kind and file as members */
	size_t *name_at;       /* where each begins; one more than there are functions */
	RAY_VEC(struct slice) slices;
	RAY_VEC(size_t) open; /* indices of slices, the outermost first */
	RAY_VEC(uint32_t) path;
	uint64_t end_ns; /* of the last stretch */
	bool any;
};

/* ---- texts ---- */

static void add_function(struct ray_text *t, const char *name, const struct ray_profile_function *f)
{
	ray_text_add(t, ",\"name\":");
	ray_json_add_text(t, name);
	ray_text_printf(t, ",\"cat\":\"%s\"", f ? ray_profile_kind_word(f->kind) : "unknown");
	if (!f || !*f->file)
		return;
	ray_text_add(t, ",\"args\":{\"file\":");
	ray_json_add_text(t, f->file);
	if (f->line)
		ray_text_printf(t, ",\"line\":%d,\"column\":%d", f->line, f->column);
	ray_text_add(t, "}");
}

static bool make_names(struct writer *w)
{
	w->name_at = calloc(w->p->functions.n + 1, sizeof(*w->name_at));
	if (!w->name_at)
		return false;
	add_function(&w->names, "(no stack)", NULL);
	for (size_t i = 1; i < w->p->functions.n; i++) {
		w->name_at[i] = w->names.length;
		add_function(&w->names, w->p->functions.at[i].name, &w->p->functions.at[i]);
	}
	w->name_at[w->p->functions.n] = w->names.length;
	return !w->names.failed;
}

static void begin(struct writer *w)
{
	fputs(w->any ? ",\n" : "\n", w->out);
	w->any = true;
}

static void write_name(struct writer *w, const char *what, const struct ray_profile_thread *t, const char *name)
{
	begin(w);
	fprintf(w->out, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":0,\"args\":{\"name\":", what,
		t->pid, t->tid);
	ray_json_out_text(w->out, name);
	fputs("}}", w->out);
}

static void write_threads(struct writer *w)
{
	for (size_t i = 0; i < w->p->threads.n; i++) {
		const struct ray_profile_thread *t = &w->p->threads.at[i];

		if (*t->process)
			write_name(w, "process_name", t, t->process);
		if (*t->name)
			write_name(w, "thread_name", t, t->name);
	}
}

/* ---- slices ---- */

static void write_slice(struct writer *w, const struct ray_profile_thread *t, const struct slice *s)
{
	size_t from = w->name_at[s->function];

	begin(w);
	fputs("{\"ph\":\"X\",\"pid\":", w->out);
	ray_json_out_integer(w->out, t->pid);
	fputs(",\"tid\":", w->out);
	ray_json_out_integer(w->out, t->tid);
	fputs(",\"ts\":", w->out);
	ray_json_out_us(w->out, s->start_ns);
	fputs(",\"dur\":", w->out);
	ray_json_out_us(w->out, s->end_ns - s->start_ns);
	if (s->weight) {
		fputs(",\"weight\":", w->out);
		ray_json_out_integer(w->out, s->weight);
	}
	fwrite_unlocked(w->names.bytes + from, 1, w->name_at[s->function + 1] - from, w->out);
	putc_unlocked('}', w->out);
}

static void close_to(struct writer *w, size_t depth)
{
	while (w->open.n > depth)
		w->slices.at[w->open.at[--w->open.n]].end_ns = w->end_ns;
}

static void flush(struct writer *w, const struct ray_profile_thread *t)
{
	close_to(w, 0);
	for (size_t i = 0; i < w->slices.n; i++)
		write_slice(w, t, &w->slices.at[i]);
	w->slices.n = 0;
}

/* The stack of functions, the innermost first. */
static bool find_path(struct writer *w, uint32_t node)
{
	w->path.n = 0;
	if (!node)
		return ray_vec_push(&w->path, 0);
	for (; node; node = w->p->nodes.at[node].parent)
		if (!ray_vec_push(&w->path, w->p->frames.at[w->p->nodes.at[node].frame].function))
			return false;
	return true;
}

/* How much of what is open stays so. */
static size_t shared_depth(const struct writer *w)
{
	size_t depth = 0, most = w->path.n < w->open.n ? w->path.n : w->open.n;

	while (depth < most && w->slices.at[w->open.at[depth]].function == w->path.at[w->path.n - 1 - depth])
		depth++;
	return depth;
}

static bool add_stretch(struct writer *w, const struct ray_profile_thread *t, const struct ray_stretch *s)
{
	bool is_time = ray_timeline_is_time(w->p);
	size_t depth;

	if (!find_path(w, s->node))
		return false;
	if (s->start_ns > w->end_ns)
		close_to(w, 0);
	if (w->slices.n > MOST_SLICES)
		flush(w, t);
	depth = shared_depth(w);
	if (!is_time && depth == w->path.n)
		depth--;
	close_to(w, depth);
	for (; depth < w->path.n; depth++) {
		struct slice slice = { s->start_ns, 0, w->path.at[w->path.n - 1 - depth], 0 };

		if (!is_time && depth + 1 == w->path.n)
			slice.weight = s->weight;
		if (!ray_vec_push(&w->open, w->slices.n) || !ray_vec_push(&w->slices, slice))
			return false;
	}
	w->end_ns = s->start_ns + s->length_ns;
	return true;
}

static bool write_events(struct writer *w, const struct ray_timeline *timeline)
{
	write_threads(w);
	for (size_t thread = 0; thread < w->p->threads.n; thread++) {
		const struct ray_profile_thread *t = &w->p->threads.at[thread];

		w->end_ns = 0;
		for (size_t i = timeline->first[thread]; i < timeline->first[thread + 1]; i++)
			if (!add_stretch(w, t, &timeline->at[i]))
				return false;
		flush(w, t);
	}
	return true;
}

struct ray_error *ray_write_chrome(const struct ray_profile *p, FILE *out)
{
	ray_auto_timeline timeline = { 0 };
	struct writer w = { .p = p, .out = out };
	bool ok = ray_timeline_create(p, RAY_TIMELINE_TIME, &timeline) && make_names(&w);

	if (ok) {
		fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"" RAY_PROFILE_HEAD_KEY "\":", out);
		ray_profile_head_write(p, out);
		fputs("},\"traceEvents\":[", out);
		ok = write_events(&w, &timeline);
		fputs("]}\n", out);
	}
	ray_text_deinit(&w.names);
	free(w.name_at);
	ray_vec_free(&w.slices);
	ray_vec_free(&w.open);
	ray_vec_free(&w.path);
	return ok ? NULL : &ray_enomem;
}
