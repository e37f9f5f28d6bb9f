/* read_pprof.c - pprof's profile.proto, unpacked: what write_pprof.c, Go, and the pprof packages of npm write. SPDX-License-Identifier: MIT
 *
 * Taken apart by hand: fields in any order, unknown ones left out, every number checked before it leads anywhere. Of several values that a sample has,
 * the one that the file prefers counts, or the last. */
#include <string.h>

#include "profile/formats.h"
#include "profile/pprof.h"
#include "profile/reading.h"

/* ---- frames ---- */

static uint32_t make_frame(struct ray_pprof *r, const struct ray_pprof_location *l, const struct ray_pprof_line *line,
			   bool is_inlined)
{
	const struct ray_pprof_mapping *m = l->mapping ? ray_pprof_mapping(r, l->mapping) : NULL;
	const struct ray_pprof_function *fn = line ? ray_pprof_function(r, line->function) : NULL;
	const char *module = m ? ray_pprof_string(r, m->file) : "";
	struct ray_reading_function f = { .name = "", .file = "" };
	struct ray_profile_frame frame = { .is_inlined = is_inlined };
	char address[32];

	if (line && !fn)
		ray_pprof_wrong(r, "a line of no function");
	snprintf(address, sizeof(address), "0x%jx", (uintmax_t)l->address);
	f.name = fn ? ray_pprof_string(r, fn->name) : address;
	f.file = fn ? ray_pprof_string(r, fn->file) : "";
	f.line = fn && fn->line < INT32_MAX ? (int)fn->line : 0;
	if (!ray_reading_is_script(f.file) && *module)
		f.file = module;
	if (!strcmp(module, "[builtin]") || !strcmp(module, "[idle]")) {
		f.kind = module[1] == 'b' ? "builtin" : "idle";
		f.file = "";
	} else if (!strncmp(module, "[kernel", strlen("[kernel"))) {
		f.kind = "kernel";
		f.file = "";
	}
	frame.function = ray_reading_function(r->p, &f);
	frame.line = line && line->line < INT32_MAX ? (int)line->line : 0;
	frame.column = line && line->column < INT32_MAX ? (int)line->column : 0;
	/* Nothing more than where the function begins: not the line that ran. */
	if (!ray_reading_is_script(f.file) && frame.line == f.line)
		frame.line = frame.column = 0;
	return ray_profile_frame(r->p, &frame);
}

static void make_frames(struct ray_pprof *r, struct ray_pprof_location *l)
{
	if (l->made)
		return;
	l->made = true;
	if (!l->count) {
		l->first = r->frames.n;
		l->count = 1;
		if (!ray_vec_push(&r->frames, make_frame(r, l, NULL, false)))
			r->no_memory = true;
		return;
	}
	for (size_t i = 0; i < l->count && !r->wrong; i++)
		r->frames.at[l->first + i] = make_frame(r, l, &r->lines.at[l->first + i], i + 1 < l->count);
}

/* ---- samples ---- */

struct raw_sample {
	RAY_VEC(uint64_t) locations;
	RAY_VEC(int64_t) values;
	struct ray_profile_thread thread;
};

static void add_location(struct ray_pprof *r, uint64_t value, void *arg)
{
	struct raw_sample *s = arg;

	if (s->locations.n >= RAY_READING_DEPTH)
		ray_pprof_wrong(r, "a stack is too deep");
	else if (!ray_vec_push(&s->locations, value))
		r->no_memory = true;
}

static void add_value(struct ray_pprof *r, uint64_t value, void *arg)
{
	struct raw_sample *s = arg;

	if (s->values.n < 64 && !ray_vec_push(&s->values, (int64_t)value))
		r->no_memory = true;
}

static void label_field(struct ray_pprof *r, const struct ray_proto_field *f, void *arg)
{
	uint64_t *label = arg; /* key, text, number */

	(void)r;
	if (f->number >= 1 && f->number <= 3)
		label[f->number - 1] = f->value;
}

static uint32_t label_number(struct ray_pprof *r, const uint64_t *label)
{
	return (uint32_t)(label[2] ? label[2] : strtoul(ray_pprof_string(r, label[1]), NULL, 10));
}

static void read_label(struct ray_pprof *r, const struct ray_proto_field *f, struct raw_sample *s)
{
	uint64_t label[3] = { 0 };

	ray_pprof_each(r, f->span, label_field, label);
	if (r->wrong)
		return;
	if (ray_pprof_is(r, label[0], "thread") || ray_pprof_is(r, label[0], "thread name"))
		s->thread.name = ray_pprof_string(r, label[1]);
	else if (ray_pprof_is(r, label[0], "tid") || ray_pprof_is(r, label[0], "os thread id") ||
		 (ray_pprof_is(r, label[0], "thread id") && !s->thread.tid))
		s->thread.tid = label_number(r, label);
	else if (ray_pprof_is(r, label[0], "pid") || ray_pprof_is(r, label[0], "process_id"))
		s->thread.pid = label_number(r, label);
	else if (ray_pprof_is(r, label[0], "process"))
		s->thread.process = ray_pprof_string(r, label[1]);
}

static void sample_field(struct ray_pprof *r, const struct ray_proto_field *f, void *arg)
{
	if (f->number == 1)
		ray_pprof_numbers(r, f, add_location, arg);
	else if (f->number == 2)
		ray_pprof_numbers(r, f, add_value, arg);
	else if (f->number == 3 && f->span.at)
		read_label(r, f, arg);
}

static void add_sample(struct ray_pprof *r, const struct raw_sample *raw)
{
	struct ray_profile_sample s = { .count = 1 };
	size_t depth = 0;

	if (r->chosen >= raw->values.n) {
		ray_pprof_wrong(r, "a sample has fewer values than there are types");
		return;
	}
	for (size_t i = raw->locations.n; i-- > 0 && !r->wrong;) {
		struct ray_pprof_location *l = ray_pprof_location(r, raw->locations.at[i]);

		if (!l) {
			ray_pprof_wrong(r, "a sample of no location");
			return;
		}
		make_frames(r, l);
		depth += l->count;
		if (depth > RAY_READING_DEPTH)
			ray_pprof_wrong(r, "a stack is too deep");
		for (size_t k = l->count; k-- > 0 && !r->wrong && !r->no_memory;)
			s.node = ray_profile_node(r->p, s.node, r->frames.at[l->first + k]);
	}
	s.thread = ray_profile_thread(r->p, &raw->thread);
	s.weight = ray_reading_weight((double)raw->values.at[r->chosen] * r->scale);
	if (r->is_ours && r->chosen == 1 && raw->values.at[0] > 0 && raw->values.at[0] < UINT32_MAX)
		s.count = (uint32_t)raw->values.at[0];
	ray_profile_add(r->p, &s);
}

static void top_sample(struct ray_pprof *r, const struct ray_proto_field *f, void *arg)
{
	struct raw_sample *s = arg;

	if (f->number != 2 || !f->span.at)
		return;
	s->locations.n = s->values.n = 0;
	s->thread = (struct ray_profile_thread){ 0 };
	ray_pprof_each(r, f->span, sample_field, s);
	if (!r->wrong && !r->no_memory)
		add_sample(r, s);
}

/* ---- about it ---- */

static void read_comment(struct ray_pprof *r, const char *text)
{
	static const char start[] = "noderay ";
	struct ray_profile *p = r->p;
	const char *value = strchr(text, '=');
	const struct {
		const char *key, **text;
		uint64_t *number;
	} rows[] = {
		{ "title", &p->title, NULL },
		{ "event", &p->event, NULL },
		{ "command", &p->command, NULL },
		{ "host", &p->host, NULL },
		{ "node_version", &p->node_version, NULL },
		{ "lost_samples", NULL, &p->lost_samples },
		{ "cut_stacks", NULL, &p->cut_stacks },
		{ "unnamed_frames", NULL, &p->unnamed_frames },
	};

	if (strncmp(text, start, strlen(start)) || !value)
		return;
	text += strlen(start);
	for (size_t i = 0; i < RAY_COUNT(rows); i++) {
		if ((size_t)(value - text) != strlen(rows[i].key) || strncmp(text, rows[i].key, strlen(rows[i].key)))
			continue;
		if (rows[i].text)
			*rows[i].text = ray_profile_text(p, value + 1);
		else
			*rows[i].number = strtoull(value + 1, NULL, 10);
	}
	for (int i = 0; !strncmp(text, "unit=", 5) && i <= RAY_UNIT_COUNT; i++) {
		if (!strcmp(value + 1, ray_profile_unit_word((enum ray_profile_unit)i))) {
			p->unit = (enum ray_profile_unit)i;
			r->is_ours = true;
		}
	}
}

static void choose_value(struct ray_pprof *r)
{
	static const struct {
		const char *word;
		double scale;
		enum ray_profile_unit unit;
	} units[] = {
		{ "nanoseconds", 1, RAY_UNIT_NS },	  { "microseconds", 1e3, RAY_UNIT_NS },
		{ "milliseconds", 1e6, RAY_UNIT_NS },	  { "seconds", 1e9, RAY_UNIT_NS },
		{ "bytes", 1, RAY_UNIT_BYTES },		  { "kilobytes", 1024, RAY_UNIT_BYTES },
		{ "megabytes", 1048576, RAY_UNIT_BYTES },
	};
	const struct ray_pprof_value_type *type;

	r->scale = 1;
	if (!r->types.n) {
		ray_pprof_wrong(r, "it does not say what its samples are");
		return;
	}
	r->chosen = r->types.n - 1;
	if (r->is_ours) {
		if (r->p->unit == RAY_UNIT_SAMPLES || r->p->unit == RAY_UNIT_COUNT)
			r->chosen = 0;
		return;
	}
	for (size_t i = 0; r->preferred && i < r->types.n; i++)
		if (r->types.at[i].type == r->preferred)
			r->chosen = i;
	type = &r->types.at[r->chosen];
	r->p->event = ray_pprof_string(r, type->type);
	r->p->unit = ray_pprof_is(r, type->type, "samples") ? RAY_UNIT_SAMPLES : RAY_UNIT_COUNT;
	for (size_t i = 0; i < RAY_COUNT(units); i++) {
		if (ray_pprof_is(r, type->unit, units[i].word)) {
			r->p->unit = units[i].unit;
			r->scale = units[i].scale;
		}
	}
	if (r->p->unit != RAY_UNIT_SAMPLES)
		r->p->period_ns = 0;
}

/* ---- all of it ---- */

/* Its fields can be walked from end to end, and the first text is the empty one. */
bool ray_is_pprof(const char *bytes, size_t size)
{
	struct ray_proto_span s = { (const uint8_t *)bytes, (const uint8_t *)bytes + size };
	bool has_text = false;
	struct ray_proto_field f;
	int more;

	while ((more = ray_proto_next(&s, &f)) > 0) {
		if (f.number > 100)
			return false;
		if (f.number == 6 && !has_text) {
			if (!f.span.at || f.span.at != f.span.end)
				return false;
			has_text = true;
		}
	}
	return !more && has_text;
}

static void read_all(struct ray_pprof *r)
{
	struct raw_sample sample = { 0 };

	ray_pprof_tables(r);
	for (size_t i = 0; i < r->comments.n && !r->wrong; i++)
		read_comment(r, ray_pprof_string(r, r->comments.at[i]));
	if (!r->wrong)
		choose_value(r);
	ray_pprof_each(r, r->all, top_sample, &sample);
	ray_vec_free(&sample.locations);
	ray_vec_free(&sample.values);
}

struct ray_error *ray_read_pprof(const char *bytes, size_t size, struct ray_profile **ret)
{
	ray_auto(ray_profile, p) = ray_profile_create();
	struct ray_pprof r = { .p = p, .all = { (const uint8_t *)bytes, (const uint8_t *)bytes + size } };

	if (!p)
		return &ray_enomem;
	read_all(&r);
	ray_pprof_deinit(&r);
	if (r.wrong)
		return ray_error_new(RAY_UNREADABLE, "%s", r.wrong);
	if (r.no_memory)
		return &ray_enomem;
	*ret = ray_take(p);
	return NULL;
}
