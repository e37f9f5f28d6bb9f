/* read_chrome.c - trace events of Chrome, node and others, and our own. SPDX-License-Identifier: MIT
 *
 * Where V8's profiler left its samples in a trace (Profile and ProfileChunk), those are the profile. Else slices are: complete ones, and ones
 * of which beginning and end are apart. Other events are left out. A file may end in the middle, as traces do. */
#include <string.h>

#include "profile/cpu_tree.h"
#include "profile/formats.h"
#include "profile/head.h"
#include "profile/reading.h"
#include "profile/slices.h"

enum { MOST_CPUS = 1000 };

/* What V8's profiler wrote in one process under one id. */
struct cpu {
	uint32_t pid, tid;
	const char *id;
	double start_us;
	struct ray_cpu_tree *tree;
};

struct trace {
	struct ray_pull *j;
	struct ray_profile *p;
	ray_slices slices;
	RAY_VEC(struct cpu) cpus;
	double first_us;
	int64_t base_ns; /* of the earliest slice, from the first one on */
	bool is_ours;
	const char *wrong;
};

/* One event, while it is read. */
struct event {
	char type;
	const char *name, *kind, *id;
	double ts, dur;
	int64_t weight;
	uint32_t pid, tid;
	struct ray_pull args; /* where they begin; at is NULL without any */
};

static const char *read_text(struct trace *t, struct ray_pull *j)
{
	struct ray_pull_text text;

	/* Ids are texts or numbers. */
	if (ray_pull_peek(j) != '"') {
		const char *from = j->at;

		ray_pull_skip(j);
		return ray_reading_text(t->p, from, (size_t)(j->at - from));
	}
	text = ray_pull_text(j);
	return ray_reading_text(t->p, text.bytes, text.length);
}

static uint32_t read_id(struct trace *t, struct ray_pull *j)
{
	if (ray_pull_peek(j) == '"')
		return (uint32_t)strtoul(read_text(t, j), NULL, 0);
	return (uint32_t)ray_pull_integer(j);
}

static void read_member(struct trace *t, struct event *e, const char *key)
{
	struct ray_pull *j = t->j;

	if (!strcmp(key, "ph"))
		e->type = ray_pull_text(j).bytes[0];
	else if (!strcmp(key, "name"))
		e->name = read_text(t, j);
	else if (!strcmp(key, "cat"))
		e->kind = read_text(t, j);
	else if (!strcmp(key, "id"))
		e->id = read_text(t, j);
	else if (!strcmp(key, "ts"))
		e->ts = ray_pull_number(j);
	else if (!strcmp(key, "dur"))
		e->dur = ray_pull_number(j);
	else if (!strcmp(key, "weight"))
		e->weight = ray_pull_integer(j);
	else if (!strcmp(key, "pid"))
		e->pid = read_id(t, j);
	else if (!strcmp(key, "tid"))
		e->tid = read_id(t, j);
	else {
		if (!strcmp(key, "args")) {
			ray_pull_peek(j);
			e->args = *j;
			e->args.key = e->args.text = (struct ray_text){ 0 };
		}
		ray_pull_skip(j);
	}
}

/* ---- names ---- */

static void read_thread_name(struct trace *t, struct event *e)
{
	struct ray_profile_thread thread = { e->pid, e->tid, NULL, NULL };
	struct ray_pull_text key;
	bool is_process = !strcmp(e->name, "process_name");
	uint32_t number;

	if (!is_process && strcmp(e->name, "thread_name"))
		return;
	for (ray_pull_object(&e->args); ray_pull_key(&e->args, &key);) {
		if (strcmp(key.bytes, "name"))
			ray_pull_skip(&e->args);
		else if (is_process)
			thread.process = read_text(t, &e->args);
		else
			thread.name = read_text(t, &e->args);
	}
	number = ray_profile_thread(t->p, &thread);
	/* One that was renamed has its last name. */
	if (number < t->p->threads.n && thread.name)
		t->p->threads.at[number].name = thread.name;
}

/* ---- slices ---- */

static void read_place(struct trace *t, struct event *e, struct ray_reading_function *f)
{
	struct ray_pull_text key;

	for (ray_pull_object(&e->args); ray_pull_key(&e->args, &key);) {
		if (!strcmp(key.bytes, "file") && ray_pull_peek(&e->args) == '"')
			f->file = read_text(t, &e->args);
		else if (t->is_ours && !strcmp(key.bytes, "line"))
			f->line = ray_reading_line(ray_pull_number(&e->args));
		else if (t->is_ours && !strcmp(key.bytes, "column"))
			f->column = ray_reading_line(ray_pull_number(&e->args));
		else
			ray_pull_skip(&e->args);
	}
}

/* A hundred days either way: far from where sums overflow. */
static int64_t span_ns(double us)
{
	return ray_reading_weight(us * 1000);
}

static void add_slice(struct trace *t, struct event *e)
{
	struct ray_reading_function f = { .name = e->name, .file = "" };
	struct ray_slice s = { .type = e->type };

	s.thread = ray_profile_thread(t->p, &(struct ray_profile_thread){ e->pid, e->tid, NULL, NULL });
	s.weight = e->weight;
	s.order = (uint32_t)t->slices.n;
	if (e->args.at && e->type != 'E')
		read_place(t, e, &f);
	if (t->is_ours)
		f.kind = e->kind;
	if (e->type != 'E' && !(t->is_ours && !strcmp(e->name, "(no stack)")))
		s.function = ray_reading_function(t->p, &f);
	/* From the first one on, so that large clocks lose nothing; whole nanoseconds, so that an end is the next beginning. */
	if (!t->slices.n && !t->is_ours)
		t->first_us = e->ts;
	s.start_ns = span_ns(e->ts - t->first_us);
	s.end_ns = s.start_ns + (e->dur > 0 ? span_ns(e->dur) : 0);
	if (!t->is_ours && s.start_ns < t->base_ns)
		t->base_ns = s.start_ns;
	if (!ray_vec_push(&t->slices, s))
		t->p->failed = true;
}

/* ---- V8's profiler ---- */

static struct cpu *find_cpu(struct trace *t, const struct event *e)
{
	struct cpu new = { e->pid, e->tid, e->id, e->ts, NULL };

	for (size_t i = 0; i < t->cpus.n; i++)
		if (t->cpus.at[i].pid == e->pid && !strcmp(t->cpus.at[i].id, e->id))
			return &t->cpus.at[i];
	if (t->cpus.n >= MOST_CPUS) {
		t->wrong = "it holds too many profiles";
		return NULL;
	}
	new.tree = ray_cpu_tree_create(t->p);
	if (!new.tree || !ray_vec_push(&t->cpus, new)) {
		ray_cpu_tree_free(new.tree);
		t->p->failed = true;
		return NULL;
	}
	return &t->cpus.at[t->cpus.n - 1];
}

static void read_cpu_profile(struct cpu *cpu, struct ray_pull *j)
{
	struct ray_pull_text key;

	for (ray_pull_object(j); ray_pull_key(j, &key);) {
		if (!strcmp(key.bytes, "nodes"))
			ray_cpu_tree_nodes(cpu->tree, j);
		else if (!strcmp(key.bytes, "samples"))
			ray_cpu_tree_samples(cpu->tree, j);
		else
			ray_pull_skip(j);
	}
}

static void read_cpu_data(struct cpu *cpu, struct ray_pull *j)
{
	struct ray_pull_text key;

	for (ray_pull_object(j); ray_pull_key(j, &key);) {
		if (!strcmp(key.bytes, "cpuProfile"))
			read_cpu_profile(cpu, j);
		else if (!strcmp(key.bytes, "timeDeltas"))
			ray_cpu_tree_deltas(cpu->tree, j);
		else if (!strcmp(key.bytes, "startTime"))
			cpu->start_us = ray_pull_number(j);
		else
			ray_pull_skip(j);
	}
}

static void read_cpu(struct trace *t, struct event *e)
{
	struct cpu *cpu = find_cpu(t, e);
	struct ray_pull_text key;

	if (!cpu)
		return;
	if (!strcmp(e->name, "Profile"))
		cpu->tid = e->tid;
	for (ray_pull_object(&e->args); ray_pull_key(&e->args, &key);) {
		if (!strcmp(key.bytes, "data"))
			read_cpu_data(cpu, &e->args);
		else
			ray_pull_skip(&e->args);
	}
}

static struct ray_error *finish_cpus(struct trace *t)
{
	struct ray_error *err = NULL;
	double base = 0;

	for (size_t i = 0; i < t->cpus.n; i++)
		if (!i || t->cpus.at[i].start_us < base)
			base = t->cpus.at[i].start_us;
	for (size_t i = 0; i < t->cpus.n && !err; i++) {
		struct cpu *cpu = &t->cpus.at[i];
		struct ray_cpu_times times = { .thread = { cpu->pid, cpu->tid, "", "" },
					       .start_us = cpu->start_us - base };

		err = ray_cpu_tree_finish(cpu->tree, &times);
	}
	return err;
}

/* ---- the file ---- */

static void read_event(struct trace *t)
{
	struct event e = { .name = "", .kind = "", .id = "" };
	struct ray_pull_text key;

	for (ray_pull_object(t->j); ray_pull_key(t->j, &key);)
		read_member(t, &e, key.bytes);
	if (t->j->wrong)
		return;
	if (e.type == 'M' && e.args.at)
		read_thread_name(t, &e);
	else if ((e.type == 'P' || e.type == 'I') && e.args.at &&
		 (!strcmp(e.name, "Profile") || !strcmp(e.name, "ProfileChunk")))
		read_cpu(t, &e);
	else if (e.type == 'X' || e.type == 'B' || e.type == 'E')
		add_slice(t, &e);
	if (e.args.wrong && !t->wrong)
		t->wrong = e.args.wrong;
	ray_pull_deinit(&e.args);
}

static void read_other(struct trace *t)
{
	struct ray_pull_text key;

	for (ray_pull_object(t->j); ray_pull_key(t->j, &key);) {
		if (!strcmp(key.bytes, RAY_PROFILE_HEAD_KEY)) {
			ray_profile_head_read(t->j, t->p);
			t->is_ours = true;
		} else {
			ray_pull_skip(t->j);
		}
	}
}

static void read_events(struct trace *t)
{
	for (ray_pull_array(t->j); ray_pull_item(t->j);)
		read_event(t);
	/* A trace is often cut off: what came before counts. */
	if (t->j->wrong && t->j->ended && (t->slices.n || t->cpus.n))
		t->j->wrong = NULL;
}

static void read_top(struct trace *t)
{
	struct ray_pull_text key;

	if (ray_pull_peek(t->j) == '[') {
		read_events(t);
		return;
	}
	for (ray_pull_object(t->j); ray_pull_key(t->j, &key);) {
		if (!strcmp(key.bytes, "traceEvents")) {
			read_events(t);
			if (t->j->ended)
				return;
		} else if (!strcmp(key.bytes, "otherData")) {
			read_other(t);
		} else {
			ray_pull_skip(t->j);
		}
	}
}

static struct ray_error *finish(struct trace *t)
{
	struct ray_error *err = ray_pull_error(t->j);
	const char *wrong = t->wrong;

	if (err)
		return err;
	if (!t->is_ours) {
		t->p->unit = RAY_UNIT_NS;
		t->p->has_times = true;
		t->p->event = t->cpus.n ? "on-CPU, by V8's profiler" : "slices of a trace";
	}
	if (!wrong && t->cpus.n)
		err = finish_cpus(t);
	else if (!wrong)
		wrong = ray_slices_finish(t->p, &t->slices, t->base_ns, t->is_ours);
	if (!err && wrong)
		err = ray_error_new(RAY_UNREADABLE, "%s", wrong);
	if (!err && t->p->has_times)
		ray_reading_order(t->p);
	return err;
}

bool ray_is_chrome(const char *bytes, size_t size)
{
	return ray_reading_is_json(bytes, size, "\"traceEvents\"", false) ||
	       (ray_reading_is_json(bytes, size, "\"ph\"", true) && ray_reading_is_json(bytes, size, "\"pid\"", true));
}

struct ray_error *ray_read_chrome(const char *bytes, size_t size, struct ray_profile **ret)
{
	ray_auto(ray_profile, p) = ray_profile_create();
	ray_auto_pull j = { 0 };
	struct trace t = { .j = &j, .p = p };
	struct ray_error *err;

	if (!p)
		return &ray_enomem;
	ray_pull_init(&j, bytes, size);
	read_top(&t);
	err = finish(&t);
	ray_vec_free(&t.slices);
	for (size_t i = 0; i < t.cpus.n; i++)
		ray_cpu_tree_free(t.cpus.at[i].tree);
	ray_vec_free(&t.cpus);
	if (!err)
		*ret = ray_take(p);
	return err;
}
