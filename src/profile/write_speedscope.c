/* write_speedscope.c - for https://www.speedscope.app, by its published schema. SPDX-License-Identifier: MIT
 *
 * One sampled profile for each thread; where samples have times, what lies between them is a sample of no frames, so that the view by time is true: one
 * whose stack was not to be had has a frame that says so. Frames are functions, because speedscope merges by them; the lines that ran are not kept. "kind", "thread", "no_stack" and the like are our own. */
#include <string.h>

#include "profile/head.h"
#include "profile/formats.h"
#include "profile/json_out.h"
#include "profile/timeline.h"

enum { KEPT_TEXT = 64 << 20 };

#define NO_STACK "{\"name\":\"(no stack)\",\"kind\":\"unknown\",\"no_stack\":true}"

static bool has_no_stack(const struct ray_profile *p)
{
	for (size_t i = 0; i < p->samples.n; i++)
		if (!p->samples.at[i].node && p->samples.at[i].weight > 0)
			return true;
	return false;
}

static void write_frames(const struct ray_profile *p, FILE *out)
{
	for (size_t i = 1; i < p->functions.n; i++) {
		const struct ray_profile_function *f = &p->functions.at[i];

		fputs(i > 1 ? ",\n{\"name\":" : "\n{\"name\":", out);
		ray_json_out_text(out, f->name);
		ray_json_out_member(out, "file", f->file);
		if (f->line)
			fprintf(out, ",\"line\":%d", f->line);
		if (f->column)
			fprintf(out, ",\"col\":%d", f->column);
		fprintf(out, ",\"kind\":\"%s\"}", ray_profile_kind_word(f->kind));
	}
	/* The last: nobody's function. */
	if (has_no_stack(p))
		fputs(p->functions.n > 1 ? ",\n" NO_STACK : "\n" NO_STACK, out);
}

/* Each stack is written out once and then copied: the same ones come again and again. */
struct stacks {
	struct ray_text text;
	struct piece {
		size_t at;
		size_t length; /* 0: not written yet */
	} * pieces;	       /* by node */
	RAY_VEC(uint32_t) path;
};

static bool render(struct stacks *s, const struct ray_profile *p, uint32_t node)
{
	/* Stacks that are very many and very deep are written out again rather than kept. */
	if (s->text.length > KEPT_TEXT) {
		ray_text_clear(&s->text);
		memset(s->pieces, 0, p->nodes.n * sizeof(*s->pieces));
	}
	s->path.n = 0;
	for (uint32_t at = node; at; at = p->nodes.at[at].parent)
		if (!ray_vec_push(&s->path, p->frames.at[p->nodes.at[at].frame].function - 1))
			return false;
	if (!node && !ray_vec_push(&s->path, (uint32_t)p->functions.n - 1))
		return false;
	s->pieces[node].at = s->text.length;
	ray_text_add(&s->text, "[");
	for (size_t i = s->path.n; i-- > 0;)
		ray_text_printf(&s->text, i ? "%u," : "%u", s->path.at[i]);
	ray_text_add(&s->text, "]");
	s->pieces[node].length = s->text.length - s->pieces[node].at;
	return !s->text.failed;
}

static bool write_stack(struct stacks *s, const struct ray_profile *p, uint32_t node, FILE *out)
{
	if (!s->pieces[node].length && !render(s, p, node))
		return false;
	fwrite_unlocked(s->text.bytes + s->pieces[node].at, 1, s->pieces[node].length, out);
	return true;
}

/* What of a stretch counts: time, or the weight as it is. */
static int64_t value_of(const struct ray_profile *p, const struct ray_stretch *s)
{
	return ray_timeline_is_time(p) ? (int64_t)s->length_ns : s->weight;
}

static uint64_t gap_before(const struct ray_profile *p, const struct ray_stretch *s, uint64_t end)
{
	return ray_timeline_is_time(p) && s->start_ns > end ? s->start_ns - end : 0;
}

static bool write_samples(const struct ray_profile *p, const struct ray_timeline *t, size_t thread,
			  struct stacks *stacks, FILE *out)
{
	uint64_t end = 0;

	for (size_t i = t->first[thread]; i < t->first[thread + 1]; i++) {
		if (i > t->first[thread])
			putc_unlocked(',', out);
		if (gap_before(p, &t->at[i], end))
			fputs("[],", out);
		if (!write_stack(stacks, p, t->at[i].node, out))
			return false;
		end = t->at[i].start_ns + t->at[i].length_ns;
	}
	return true;
}

/* Their sum. */
static int64_t write_weights(const struct ray_profile *p, const struct ray_timeline *t, size_t thread, FILE *out)
{
	int64_t sum = 0;
	uint64_t end = 0, gap;

	for (size_t i = t->first[thread]; i < t->first[thread + 1]; i++) {
		const struct ray_stretch *s = &t->at[i];

		if (i > t->first[thread])
			putc_unlocked(',', out);
		gap = gap_before(p, s, end);
		if (gap) {
			ray_json_out_integer(out, (int64_t)gap);
			putc_unlocked(',', out);
		}
		ray_json_out_integer(out, value_of(p, s));
		end = s->start_ns + s->length_ns;
		sum += value_of(p, s) + (int64_t)gap;
	}
	return sum;
}

static const char *unit_of(const struct ray_profile *p)
{
	if (ray_timeline_is_time(p))
		return "nanoseconds";
	return p->unit == RAY_UNIT_BYTES ? "bytes" : "none";
}

static bool write_thread(const struct ray_profile *p, const struct ray_timeline *t, uint32_t thread,
			 struct stacks *stacks, FILE *out)
{
	const struct ray_profile_thread *of = &p->threads.at[thread];
	ray_auto_text name = { 0 };
	int64_t sum;

	ray_timeline_thread(p, thread, &name);
	fputs(thread ? ",\n{\"type\":\"sampled\",\"name\":" : "\n{\"type\":\"sampled\",\"name\":", out);
	ray_json_out_text(out, ray_text_get(&name));
	fprintf(out, ",\"pid\":%u,\"tid\":%u", of->pid, of->tid);
	ray_json_out_member(out, "thread", of->name);
	ray_json_out_member(out, "process", of->process);
	fprintf(out, ",\"unit\":\"%s\",\"startValue\":0,\"samples\":[", unit_of(p));
	if (!write_samples(p, t, thread, stacks, out))
		return false;
	fputs("],\"weights\":[", out);
	sum = write_weights(p, t, thread, out);
	fputs("],\"endValue\":", out);
	ray_json_out_integer(out, sum);
	putc('}', out);
	return true;
}

static bool write_threads(const struct ray_profile *p, const struct ray_timeline *t, FILE *out)
{
	struct stacks stacks = { .pieces = calloc(p->nodes.n, sizeof(*stacks.pieces)) };
	bool ok = stacks.pieces != NULL;

	for (uint32_t i = 0; ok && i < p->threads.n; i++)
		ok = write_thread(p, t, i, &stacks, out);
	ray_text_deinit(&stacks.text);
	free(stacks.pieces);
	ray_vec_free(&stacks.path);
	return ok;
}

struct ray_error *ray_write_speedscope(const struct ray_profile *p, FILE *out)
{
	ray_auto_timeline timeline = { 0 };

	if (!ray_timeline_create(p, RAY_TIMELINE_WEIGHT, &timeline))
		return &ray_enomem;
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"noderay\"", out);
	ray_json_out_member(out, "name", p->title);
	fputs(",\"activeProfileIndex\":0,\"" RAY_PROFILE_HEAD_KEY "\":", out);
	ray_profile_head_write(p, out);
	fputs(",\"shared\":{\"frames\":[", out);
	write_frames(p, out);
	fputs("]},\"profiles\":[", out);
	if (!write_threads(p, &timeline, out))
		return &ray_enomem;
	fputs("]}\n", out);
	return NULL;
}
