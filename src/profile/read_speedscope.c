/* read_speedscope.c - files of speedscope, sampled or evented, ours and those that others write. SPDX-License-Identifier: MIT
 *
 * Read twice, because the frames may stand behind the profiles that name them by number. */
#include <string.h>

#include "profile/head.h"
#include "profile/formats.h"
#include "profile/reading.h"
#include "profile/timeline.h"

typedef RAY_VEC(uint32_t) numbers;

enum { NO_STACK = UINT32_MAX }; /* for a node: a sample, but its stack was not to be had */

struct step {
	uint32_t function, node;
};

struct scope {
	struct ray_pull *j;
	struct ray_profile *p;
	numbers frames; /* our functions, by their numbers; 0: of samples without a stack */
	bool is_ours;
	bool has_unit; /* of the first profile: the others must have the same */
	bool is_time;
	double earliest_ns;
	RAY_VEC(struct step) last; /* the stack that was read last, the outermost first */
};

/* One of its profiles, while it is read. */
struct part {
	struct ray_profile_thread thread;
	double scale; /* of its values to nanoseconds, or to what is counted */
	double start; /* in its own values */
	bool is_time, is_known;
	numbers nodes;
	RAY_VEC(double) weights;
	/* evented: */
	numbers open;
	double at;
};

/* ---- frames ---- */

static void read_frame(struct scope *s)
{
	struct ray_reading_function f = { .name = "", .file = "" };
	char kind[16] = "";
	struct ray_pull_text key, text;
	bool is_function = true;

	for (ray_pull_object(s->j); ray_pull_key(s->j, &key);) {
		if (!strcmp(key.bytes, "name")) {
			text = ray_pull_text(s->j);
			f.name = ray_reading_text(s->p, text.bytes, text.length);
		} else if (!strcmp(key.bytes, "file")) {
			text = ray_pull_text(s->j);
			f.file = ray_reading_text(s->p, text.bytes, text.length);
		} else if (!strcmp(key.bytes, "line")) {
			f.line = ray_reading_line(ray_pull_number(s->j));
		} else if (!strcmp(key.bytes, "col")) {
			f.column = ray_reading_line(ray_pull_number(s->j));
		} else if (!strcmp(key.bytes, "kind") && ray_pull_peek(s->j) == '"') {
			text = ray_pull_text(s->j);
			snprintf(kind, sizeof(kind), "%s", text.bytes);
		} else if (!strcmp(key.bytes, "no_stack") && s->is_ours) {
			is_function = false;
			ray_pull_skip(s->j);
		} else {
			ray_pull_skip(s->j);
		}
	}
	f.kind = *kind ? kind : NULL;
	if (!ray_vec_push(&s->frames, is_function ? ray_reading_function(s->p, &f) : 0))
		s->p->failed = true;
}

static void read_shared(struct scope *s)
{
	struct ray_pull_text key;

	for (ray_pull_object(s->j); ray_pull_key(s->j, &key);) {
		if (strcmp(key.bytes, "frames")) {
			ray_pull_skip(s->j);
			continue;
		}
		for (ray_pull_array(s->j); ray_pull_item(s->j);)
			read_frame(s);
	}
}

static bool is_no_stack(const struct scope *s, double number)
{
	return number >= 0 && number < (double)s->frames.n && !s->frames.at[(size_t)number];
}

static uint32_t function_at(struct scope *s, double number)
{
	if (number >= 0 && number < (double)s->frames.n && !is_no_stack(s, number))
		return s->frames.at[(size_t)number];
	ray_pull_fail(s->j, "a frame that is not among the shared ones");
	return 0;
}

/* ---- sampled ---- */

/* Stacks resemble the one before: as long as frames are the same, so are nodes. */
static uint32_t step(struct scope *s, size_t depth, uint32_t parent, uint32_t function)
{
	struct step next = { function, 0 };

	if (depth < s->last.n && s->last.at[depth].function == function)
		return s->last.at[depth].node;
	s->last.n = depth;
	next.node = ray_reading_node(s->p, parent, function, 0, 0);
	if (!ray_vec_push(&s->last, next))
		s->p->failed = true;
	return next.node;
}

static void read_stack(struct scope *s, struct part *part)
{
	uint32_t node = 0;
	bool has_none = false;
	size_t depth = 0;

	for (ray_pull_array(s->j); ray_pull_item(s->j); depth++) {
		double number = (double)ray_pull_integer(s->j);
		uint32_t function;

		if (!depth && is_no_stack(s, number)) {
			has_none = true;
			continue;
		}
		if (has_none)
			ray_pull_fail(s->j, "a call of no stack");
		function = function_at(s, number);
		if (depth == RAY_READING_DEPTH)
			ray_pull_fail(s->j, "a stack is too deep");
		if (s->j->wrong || s->p->failed)
			return;
		node = step(s, depth, node, function);
	}
	if (!ray_vec_push(&part->nodes, has_none && !node ? NO_STACK : node))
		s->p->failed = true;
}

/* ---- evented ---- */

static void add_event(struct scope *s, struct part *part, char type, double at, double frame)
{
	uint32_t top = part->open.n ? part->open.at[part->open.n - 1] : 0;
	double since = part->at;

	if (at < since)
		ray_pull_fail(s->j, "an event before the one before it");
	if (at > since && (!ray_vec_push(&part->nodes, top) || !ray_vec_push(&part->weights, at - since)))
		s->p->failed = true;
	part->at = at;
	if (type == 'O') {
		uint32_t function = function_at(s, frame);

		if (part->open.n >= RAY_READING_DEPTH)
			ray_pull_fail(s->j, "a stack is too deep");
		if (!s->j->wrong && !ray_vec_push(&part->open, ray_reading_node(s->p, top, function, 0, 0)))
			s->p->failed = true;
	} else if (type == 'C' && part->open.n) {
		part->open.n--;
	} else {
		ray_pull_fail(s->j, type == 'C' ? "an end without a beginning" : "an event of no known type");
	}
}

static void read_event(struct scope *s, struct part *part)
{
	struct ray_pull_text key;
	double at = 0, frame = -1;
	char type = '\0';

	for (ray_pull_object(s->j); ray_pull_key(s->j, &key);) {
		if (!strcmp(key.bytes, "type"))
			type = ray_pull_text(s->j).bytes[0];
		else if (!strcmp(key.bytes, "at"))
			at = ray_pull_number(s->j);
		else if (!strcmp(key.bytes, "frame"))
			frame = ray_pull_number(s->j);
		else
			ray_pull_skip(s->j);
	}
	if (s->j->wrong)
		return;
	if (!part->nodes.n && !part->open.n)
		part->start = part->at = at;
	add_event(s, part, type, at, frame);
}

/* ---- profiles ---- */

static void read_unit(struct part *part, const char *word)
{
	static const struct {
		const char *word;
		double scale;
	} rows[] = { { "nanoseconds", 1 }, { "microseconds", 1e3 }, { "milliseconds", 1e6 }, { "seconds", 1e9 } };

	part->is_known = true;
	for (size_t i = 0; i < RAY_COUNT(rows); i++) {
		if (!strcmp(word, rows[i].word)) {
			part->is_time = true;
			part->scale = rows[i].scale;
		}
	}
}

static const char *read_text(struct scope *s)
{
	struct ray_pull_text text = ray_pull_text(s->j);

	return ray_reading_text(s->p, text.bytes, text.length);
}

static void read_unit_member(struct scope *s, struct part *part)
{
	struct ray_pull_text text = ray_pull_text(s->j);
	bool is_bytes = !strcmp(text.bytes, "bytes");

	read_unit(part, text.bytes);
	if (!s->has_unit && !s->is_ours)
		s->p->unit = part->is_time ? RAY_UNIT_NS : is_bytes ? RAY_UNIT_BYTES : RAY_UNIT_SAMPLES;
	if (s->has_unit && (part->is_time != s->is_time || (!s->is_ours && is_bytes != (s->p->unit == RAY_UNIT_BYTES))))
		ray_pull_fail(s->j, "profiles of different units, which cannot become one");
	s->is_time = part->is_time;
	s->has_unit = true;
}

static void read_member(struct scope *s, struct part *part, const char *key)
{
	struct ray_pull *j = s->j;

	if (!strcmp(key, "unit")) {
		read_unit_member(s, part);
	} else if (!strcmp(key, "samples")) {
		for (ray_pull_array(j); ray_pull_item(j);)
			read_stack(s, part);
	} else if (!strcmp(key, "weights")) {
		for (ray_pull_array(j); ray_pull_item(j);)
			if (!ray_vec_push(&part->weights, ray_pull_number(j)))
				s->p->failed = true;
	} else if (!strcmp(key, "events")) {
		for (ray_pull_array(j); ray_pull_item(j);)
			read_event(s, part);
	} else if (!strcmp(key, "startValue")) {
		part->start = ray_pull_number(j);
	} else if (!strcmp(key, "thread")) {
		part->thread.name = read_text(s);
	} else if (!strcmp(key, "name") && !part->thread.name) {
		part->thread.name = read_text(s);
	} else if (!strcmp(key, "process")) {
		part->thread.process = read_text(s);
	} else if (!strcmp(key, "pid") && s->is_ours) {
		part->thread.pid = (uint32_t)ray_pull_integer(j);
	} else if (!strcmp(key, "tid") && s->is_ours) {
		part->thread.tid = (uint32_t)ray_pull_integer(j);
	} else {
		ray_pull_skip(j);
	}
}

/* What was read, as samples. */
static void add_part(struct scope *s, const struct part *part)
{
	uint32_t thread = ray_profile_thread(s->p, &part->thread);
	double at = part->start * part->scale;
	bool by_start = s->p->unit != RAY_UNIT_NS;

	for (size_t i = 0; i < part->nodes.n; i++) {
		double length = part->weights.at[i] * part->scale, time = by_start ? at : at + length;
		struct ray_profile_sample sample = { .node = part->nodes.at[i], .thread = thread, .count = 1 };

		at += length;
		/* Nothing ran then: what we write for the time between samples. */
		if (part->is_time && !sample.node)
			continue;
		if (sample.node == NO_STACK)
			sample.node = 0;
		sample.time_ns = part->is_time ? ray_reading_time(time) : 0;
		sample.weight = part->is_time && s->is_ours ? ray_timeline_weight(s->p, length) :
							      ray_reading_weight(length);
		ray_profile_add(s->p, &sample);
	}
	if (part->is_time && part->start * part->scale < s->earliest_ns)
		s->earliest_ns = part->start * part->scale;
}

static void read_profile(struct scope *s, uint32_t number)
{
	struct part part = { .scale = 1, .thread = { .tid = number } };
	struct ray_pull_text key;

	for (ray_pull_object(s->j); ray_pull_key(s->j, &key);)
		read_member(s, &part, key.bytes);
	if (part.weights.n != part.nodes.n)
		ray_pull_fail(s->j, "as many weights as samples were expected");
	if (!s->j->wrong && !s->p->failed)
		add_part(s, &part);
	ray_vec_free(&part.nodes);
	ray_vec_free(&part.weights);
	ray_vec_free(&part.open);
}

/* ---- the file ---- */

static void read_top(struct scope *s, bool is_first_time)
{
	struct ray_pull_text key;
	uint32_t number = 0;

	for (ray_pull_object(s->j); ray_pull_key(s->j, &key);) {
		if (is_first_time && !strcmp(key.bytes, "shared")) {
			read_shared(s);
		} else if (is_first_time && !strcmp(key.bytes, "name") && !*s->p->title) {
			s->p->title = read_text(s);
		} else if (is_first_time && !strcmp(key.bytes, RAY_PROFILE_HEAD_KEY)) {
			ray_profile_head_read(s->j, s->p);
			s->is_ours = true;
		} else if (!is_first_time && !strcmp(key.bytes, "profiles")) {
			for (ray_pull_array(s->j); ray_pull_item(s->j);)
				read_profile(s, ++number);
		} else {
			ray_pull_skip(s->j);
		}
	}
}

static void settle_times(struct scope *s)
{
	uint64_t earliest = s->earliest_ns < 9e18 ? ray_reading_time(s->earliest_ns) : 0;

	if (!s->is_ours)
		s->p->has_times = s->is_time;
	for (size_t i = 0; i < s->p->samples.n; i++) {
		struct ray_profile_sample *sample = &s->p->samples.at[i];

		sample->time_ns = s->p->has_times && sample->time_ns > earliest ? sample->time_ns - earliest : 0;
	}
	if (s->p->has_times)
		ray_reading_order(s->p);
}

bool ray_is_speedscope(const char *bytes, size_t size)
{
	return ray_reading_is_json(bytes, size, "speedscope.app/file-format-schema", false);
}

struct ray_error *ray_read_speedscope(const char *bytes, size_t size, struct ray_profile **ret)
{
	ray_auto(ray_profile, p) = ray_profile_create();
	ray_auto_pull first = { 0 }, second = { 0 };
	struct scope s = { .j = &first, .p = p, .earliest_ns = 9e18 };
	struct ray_error *err;

	if (!p)
		return &ray_enomem;
	ray_pull_init(&first, bytes, size);
	read_top(&s, true);
	err = ray_pull_error(&first);
	if (!err) {
		ray_pull_init(&second, bytes, size);
		s.j = &second;
		read_top(&s, false);
		err = ray_pull_error(&second);
	}
	ray_vec_free(&s.frames);
	ray_vec_free(&s.last);
	if (err)
		return err;
	settle_times(&s);
	*ret = ray_take(p);
	return NULL;
}
