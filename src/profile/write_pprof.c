/* write_pprof.c - pprof's profile.proto, packed with gzip, for go tool pprof, Pyroscope, Parca and others. SPDX-License-Identifier: MIT
 *
 * A location is a place with what was inlined there, innermost first. Binaries are mappings, and so are "[kernel.kallsyms]" and "[builtin]", by which
 * those kinds are known again. Samples of the same stack and thread are one; their times are not kept. What the format has no place for
 * stands in comments, "noderay KEY=VALUE". */
#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "profile/formats.h"
#include "profile/merge.h"
#include "profile/timeline.h"

/* ---- bytes ---- */

enum { PACKED_CHUNK = 1 << 16, LEVEL = 4 };

struct pack {
	z_stream z;
	FILE *out;
	unsigned char room[PACKED_CHUNK];
};

static void pack(struct pack *k, const void *bytes, size_t size, int flush)
{
	k->z.next_in = (Bytef *)(uintptr_t)bytes;
	k->z.avail_in = (uInt)size;
	do {
		k->z.next_out = k->room;
		k->z.avail_out = sizeof(k->room);
		deflate(&k->z, flush);
		fwrite(k->room, 1, sizeof(k->room) - k->z.avail_out, k->out);
	} while (!k->z.avail_out);
}

static void add_varint(struct ray_text *t, uint64_t value)
{
	char bytes[10];
	size_t n = 0;

	for (; value > 0x7f; value >>= 7)
		bytes[n++] = (char)(value | 0x80);
	bytes[n++] = (char)value;
	ray_text_add_bytes(t, bytes, n);
}

static void add_number(struct ray_text *t, unsigned field, uint64_t value)
{
	if (!value)
		return;
	add_varint(t, field << 3);
	add_varint(t, value);
}

static void add_bytes(struct ray_text *t, unsigned field, const char *bytes, size_t size)
{
	add_varint(t, field << 3 | 2);
	add_varint(t, size);
	ray_text_add_bytes(t, bytes, size);
}

static void add_message(struct ray_text *t, unsigned field, const struct ray_text *message)
{
	add_bytes(t, field, ray_text_get(message), message->length);
}

/* ---- what is known by number ---- */

enum {
	TOP_SAMPLE_TYPE = 1,
	TOP_SAMPLE,
	TOP_MAPPING,
	TOP_LOCATION,
	TOP_FUNCTION,
	TOP_STRING,
	TOP_TIME = 9,
	TOP_DURATION
};
enum { TOP_PERIOD_TYPE = 11, TOP_PERIOD, TOP_COMMENT };

struct writer {
	const struct ray_profile *p;
	struct ray_profile *strings;   /* its functions are our strings: a set that numbers what it holds */
	struct ray_profile *mappings;  /* likewise */
	struct ray_profile *locations; /* its nodes are: a path of frames of p, from one that is not inlined inwards */
	uint32_t *location;	       /* by node of p */
	struct ray_text message, sample, labels;
	struct pack *out;
};

static uint32_t number_of(struct ray_profile *set, const char *text)
{
	return *text ? ray_profile_function(set, &(struct ray_profile_function){ .name = text }) : 0;
}

static uint32_t string(struct writer *w, const char *text)
{
	return number_of(w->strings, text);
}

static void flush(struct writer *w, unsigned field)
{
	struct ray_text head = { 0 };

	add_varint(&head, field << 3 | 2);
	add_varint(&head, w->message.length);
	pack(w->out, ray_text_get(&head), head.length, Z_NO_FLUSH);
	pack(w->out, ray_text_get(&w->message), w->message.length, Z_NO_FLUSH);
	ray_text_clear(&w->message);
	ray_text_deinit(&head);
}

static bool is_script(enum ray_profile_kind kind)
{
	return kind == RAY_KIND_JS || kind == RAY_KIND_PACKAGE || kind == RAY_KIND_NODE || kind == RAY_KIND_WASM;
}

static uint32_t mapping_of(struct writer *w, const struct ray_profile_function *f)
{
	if (f->kind == RAY_KIND_KERNEL)
		return number_of(w->mappings, "[kernel.kallsyms]");
	if (f->kind == RAY_KIND_BUILTIN)
		return number_of(w->mappings, "[builtin]");
	if (f->kind == RAY_KIND_IDLE)
		return number_of(w->mappings, "[idle]");
	return is_script(f->kind) ? 0 : number_of(w->mappings, f->file);
}

/* ---- tables ---- */

static void write_value_type(struct writer *w, unsigned field, const char *type, const char *unit)
{
	add_number(&w->message, 1, string(w, type));
	add_number(&w->message, 2, string(w, unit));
	flush(w, field);
}

static void write_types(struct writer *w)
{
	const struct ray_profile *p = w->p;

	write_value_type(w, TOP_SAMPLE_TYPE, p->unit == RAY_UNIT_COUNT ? "events" : "samples", "count");
	if (p->unit == RAY_UNIT_BYTES)
		write_value_type(w, TOP_SAMPLE_TYPE, "space", "bytes");
	else if (ray_timeline_is_time(p))
		write_value_type(w, TOP_SAMPLE_TYPE, p->unit == RAY_UNIT_NS ? "time" : "cpu", "nanoseconds");
}

static void write_functions(struct writer *w)
{
	for (size_t i = 1; i < w->p->functions.n; i++) {
		const struct ray_profile_function *f = &w->p->functions.at[i];

		add_number(&w->message, 1, i);
		add_number(&w->message, 2, string(w, f->name));
		add_number(&w->message, 3, string(w, f->name));
		if (is_script(f->kind))
			add_number(&w->message, 4, string(w, f->file));
		add_number(&w->message, 5, (uint64_t)f->line);
		flush(w, TOP_FUNCTION);
	}
}

/* Each node's location; those of the functions that it was inlined into are part of it. */
static bool find_locations(struct writer *w)
{
	const struct ray_profile *p = w->p;

	w->location = calloc(p->nodes.n, sizeof(*w->location));
	if (!w->location)
		return false;
	for (size_t i = 1; i < p->nodes.n; i++) {
		const struct ray_profile_node *node = &p->nodes.at[i];
		uint32_t outer = p->frames.at[node->frame].is_inlined ? w->location[node->parent] : 0;

		w->location[i] = ray_profile_node(w->locations, outer, node->frame);
	}
	return !w->locations->failed;
}

static void write_location(struct writer *w, uint32_t location)
{
	const struct ray_profile *p = w->p;
	const struct ray_profile_function *f = NULL;
	ray_auto_text lines = { 0 };
	uint32_t mapping;

	for (uint32_t at = location; at; at = w->locations->nodes.at[at].parent) {
		const struct ray_profile_frame *frame = &p->frames.at[w->locations->nodes.at[at].frame];
		ray_auto_text line = { 0 };

		f = &p->functions.at[frame->function];
		add_number(&line, 1, frame->function);
		add_number(&line, 2, (uint64_t)(frame->line ? frame->line : f->line));
		add_number(&line, 3, (uint64_t)(frame->line ? frame->column : f->column));
		add_message(&lines, 4, &line);
	}
	mapping = f ? mapping_of(w, f) : 0;
	add_number(&w->message, 1, location);
	add_number(&w->message, 2, mapping);
	ray_text_add_bytes(&w->message, ray_text_get(&lines), lines.length);
	flush(w, TOP_LOCATION);
}

static void write_mappings(struct writer *w)
{
	for (size_t i = 1; i < w->mappings->functions.n; i++) {
		add_number(&w->message, 1, i);
		add_number(&w->message, 5, string(w, w->mappings->functions.at[i].name));
		/* Nothing is left to be looked up: has_functions, has_filenames, has_line_numbers, has_inline_frames. */
		for (unsigned field = 7; field <= 10; field++)
			add_number(&w->message, field, 1);
		flush(w, TOP_MAPPING);
	}
}

/* ---- samples ---- */

static void add_label(struct writer *w, struct ray_text *out, const char *key, const char *text, uint64_t number)
{
	ray_auto_text label = { 0 };

	if (!*text && !number)
		return;
	add_number(&label, 1, string(w, key));
	add_number(&label, 2, string(w, text));
	add_number(&label, 3, number);
	add_message(out, 3, &label);
}

static void make_labels(struct writer *w, const struct ray_profile_thread *t)
{
	ray_text_clear(&w->labels);
	add_label(w, &w->labels, "thread", t->name, 0);
	add_label(w, &w->labels, "tid", "", t->tid);
	add_label(w, &w->labels, "pid", "", t->pid);
	add_label(w, &w->labels, "process", t->process, 0);
}

static void write_sample(struct writer *w, const struct ray_profile_sample *s)
{
	const struct ray_profile *p = w->p;
	bool counts = p->unit == RAY_UNIT_SAMPLES || p->unit == RAY_UNIT_COUNT;
	int64_t weight = s->weight;

	ray_text_clear(&w->sample);
	for (uint32_t at = s->node; at; at = p->nodes.at[at].parent) {
		add_varint(&w->sample, w->location[at]);
		while (at && p->frames.at[p->nodes.at[at].frame].is_inlined)
			at = p->nodes.at[at].parent;
		/* What is said to be inlined into nothing is the outermost. */
		if (!at)
			break;
	}
	add_message(&w->message, 1, &w->sample);
	ray_text_clear(&w->sample);
	add_varint(&w->sample, (uint64_t)(counts ? weight : (int64_t)s->count));
	if (p->unit == RAY_UNIT_SAMPLES && p->period_ns &&
	    __builtin_mul_overflow(weight, (int64_t)p->period_ns, &weight))
		weight = INT64_MAX;
	if (p->unit == RAY_UNIT_BYTES || ray_timeline_is_time(p))
		add_varint(&w->sample, (uint64_t)weight);
	add_message(&w->message, 2, &w->sample);
	ray_text_add_bytes(&w->message, ray_text_get(&w->labels), w->labels.length);
	flush(w, TOP_SAMPLE);
}

/* ---- the rest ---- */

static void write_comment(struct writer *w, const char *key, const char *text, uint64_t number)
{
	ray_auto_text comment = { 0 };

	if (!*text && !number)
		return;
	ray_text_printf(&comment, "noderay %s=", key);
	if (*text)
		ray_text_add(&comment, text);
	else
		ray_text_printf(&comment, "%" PRIu64, number);
	add_number(&w->message, TOP_COMMENT, string(w, ray_text_get(&comment)));
}

/* These are fields of the whole, not messages. */
static void write_about(struct writer *w)
{
	const struct ray_profile *p = w->p;

	write_comment(w, "unit", ray_profile_unit_word(p->unit), 0);
	write_comment(w, "title", p->title, 0);
	write_comment(w, "event", p->event, 0);
	write_comment(w, "command", p->command, 0);
	write_comment(w, "host", p->host, 0);
	write_comment(w, "node_version", p->node_version, 0);
	write_comment(w, "lost_samples", "", p->lost_samples);
	write_comment(w, "cut_stacks", "", p->cut_stacks);
	write_comment(w, "unnamed_frames", "", p->unnamed_frames);
	add_number(&w->message, TOP_TIME, p->start_ns);
	add_number(&w->message, TOP_DURATION, p->duration_ns);
	add_number(&w->message, TOP_PERIOD, p->period_ns);
	pack(w->out, ray_text_get(&w->message), w->message.length, Z_NO_FLUSH);
	ray_text_clear(&w->message);
	if (p->period_ns)
		write_value_type(w, TOP_PERIOD_TYPE, "cpu", "nanoseconds");
}

static void write_strings(struct writer *w)
{
	flush(w, TOP_STRING); /* the first is "" */
	for (size_t i = 1; i < w->strings->functions.n; i++) {
		ray_text_add(&w->message, w->strings->functions.at[i].name);
		flush(w, TOP_STRING);
	}
}

/* Samples by thread and stack. */
static int by_stack(const void *a, const void *b)
{
	const struct ray_profile_sample *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static bool write_samples(struct writer *w)
{
	size_t n = w->p->samples.n;
	ray_auto_memory struct ray_profile_sample *list = calloc(n + 1, sizeof(*list));

	if (!list)
		return false;
	if (n)
		memcpy(list, w->p->samples.at, n * sizeof(*list));
	qsort(list, n, sizeof(*list), by_stack);
	for (size_t i = 0; i < n;) {
		struct ray_profile_sample sum = list[i];

		if (!i || list[i].thread != list[i - 1].thread)
			make_labels(w, &w->p->threads.at[sum.thread]);
		for (i++; i < n && !by_stack(&list[i], &sum); i++) {
			sum.weight += list[i].weight;
			sum.count += list[i].count;
		}
		write_sample(w, &sum);
	}
	return true;
}

static bool write_all(struct writer *w)
{
	bool ok;

	w->strings = ray_profile_create();
	w->mappings = ray_profile_create();
	w->locations = ray_profile_create();
	if (!w->strings || !w->mappings || !w->locations || !find_locations(w))
		return false;
	write_types(w);
	ok = write_samples(w);
	for (uint32_t i = 1; i < w->locations->nodes.n; i++)
		write_location(w, i);
	write_functions(w);
	write_mappings(w);
	write_about(w);
	write_strings(w);
	pack(w->out, NULL, 0, Z_FINISH);
	return ok && !w->strings->failed && !w->mappings->failed && !w->message.failed && !w->sample.failed;
}

struct ray_error *ray_write_pprof(const struct ray_profile *p, FILE *out)
{
	ray_auto_memory struct pack *packed = calloc(1, sizeof(*packed));
	struct writer w = { .p = p, .out = packed };
	bool ok = false;

	if (!packed)
		return &ray_enomem;
	packed->out = out;
	/* 16: with a head and an end as gzip has them. */
	if (deflateInit2(&packed->z, LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK) {
		ok = write_all(&w);
		deflateEnd(&packed->z);
	}
	ray_profile_free(w.strings);
	ray_profile_free(w.mappings);
	ray_profile_free(w.locations);
	free(w.location);
	ray_text_deinit(&w.message);
	ray_text_deinit(&w.sample);
	ray_text_deinit(&w.labels);
	return ok ? NULL : &ray_enomem;
}
