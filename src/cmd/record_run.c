/* record_run.c - from the first sample to the file. See record.h. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "cmd/record.h"
#include "cmd/source_maps.h"
#include "engine/engine.h"
#include "target/about.h"
#include "target/node.h"
#include "view/frame.h"

enum { MOST_NODES = 1000000, MOST_FUNCTIONS = 30000, SHOW_NS = 200000000, TITLE_BYTES = 200 };

static uint64_t epoch_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- who ---- */

/* "node server.js --port 80": the program without its directories. */
static void add_process(uint32_t pid, struct ray_text *out)
{
	ray_auto(ray_arena, arena) = ray_arena_create();
	struct ray_about about;
	struct ray_error *err = arena ? ray_about_read((int)pid, arena, &about) : &ray_enomem;

	if (err) {
		ray_error_free(err);
		return;
	}
	for (size_t at = 0; at < about.args_size && out->length < TITLE_BYTES; at += strlen(about.args + at) + 1) {
		const char *word = at ? about.args + at : ray_frame_module(about.args);

		if (at)
			ray_text_add(out, " ");
		ray_text_add_safe(out, word, strnlen(word, TITLE_BYTES));
	}
}

static bool name_thread(void *arg, uint32_t pid, uint32_t tid, struct ray_text *name, struct ray_text *process)
{
	struct ray_record_run *r = arg;
	const struct ray_role_info *role = ray_script_thread_role(&r->script, pid, tid);

	if (!role)
		return false;
	ray_text_add_safe(name, role->text, strlen(role->text));
	add_process(pid, process);
	return true;
}

/* ---- while it runs ---- */

static void show_progress(struct ray_record_run *r)
{
	uint64_t now = ray_clock_ns();

	if (now - r->shown_ns < SHOW_NS)
		return;
	r->shown_ns = now;
	if (!isatty(STDERR_FILENO))
		return;
	r->is_shown = true;
	fprintf(stderr, "\rnoderay: %" PRIu64 " samples\033[K", ray_recorder_count(r->recorder));
	fflush(stderr);
}

static void wipe_progress(struct ray_record_run *r)
{
	if (r->is_shown)
		fputs("\r\033[K", stderr);
	r->is_shown = false;
}

static void find_version(struct ray_record_run *r)
{
	struct ray_node node = { 0 };
	struct ray_error *err = r->pid ? ray_node_identify_files((int)r->pid, &node) : NULL;

	if (!err)
		memcpy(r->node_version, node.version, sizeof(r->node_version));
	ray_error_free(err);
}

static void on_start(void *arg, const pid_t *pids, size_t count)
{
	struct ray_record_run *r = arg;

	r->pid = count ? (uint32_t)pids[0] : 0;
	ray_recorder_start(r->recorder, epoch_ns());
	find_version(r);
}

static void on_fact(void *arg, const struct ray_fact *fact)
{
	ray_recorder_take(((struct ray_record_run *)arg)->recorder, fact);
}

static void on_round(void *arg)
{
	struct ray_record_run *r = arg;

	ray_recorder_name_threads(r->recorder);
	r->lost = ray_script_lost(&r->script);
	show_progress(r);
}

/* ---- about the profile ---- */

static void set_event(const struct ray_record_run *r, struct ray_profile *p)
{
	char text[64];

	switch (r->mode) {
	case RAY_MODE_OFF_CPU:
		p->event = "off-CPU";
		return;
	case RAY_MODE_EVENT:
		p->event = ray_profile_text(p, r->event);
		return;
	case RAY_MODE_ALLOC:
		p->event = "memory taken from the kernel";
		return;
	case RAY_MODE_GC:
		p->event = "garbage collections";
		return;
	case RAY_MODE_WALL:
		snprintf(text, sizeof(text), "on-CPU, %u Hz, and off-CPU", r->frequency);
		break;
	default:
		snprintf(text, sizeof(text), "on-CPU%s, %u Hz", r->script.plain_period_ns ? " in user space" : "",
			 r->frequency);
	}
	p->event = ray_profile_text(p, text);
}

static void set_command(const struct ray_record_run *r, struct ray_profile *p)
{
	const struct ray_call *call = r->script.call;
	const struct ray_option *o;
	ray_auto_text text = { 0 };
	const char *value;

	ray_text_add(&text, "noderay record");
	for (size_t i = 0; (o = ray_call_given(call, i, &value)); i++)
		ray_text_printf(&text, " --%s%s%s", o->name, value ? " " : "", value ? value : "");
	for (size_t i = 0; i < ray_call_operands(call); i++)
		ray_text_printf(&text, " %s", ray_call_operand(call, i));
	p->command = ray_profile_text(p, ray_text_get(&text));
}

/* Of the first target, which the first of its threads told. */
static void set_title(const struct ray_record_run *r, struct ray_profile *p)
{
	const char *process = "";
	ray_auto_text text = { 0 };
	uint32_t processes = 0, last = 0;

	for (size_t i = 0; i < p->threads.n; i++) {
		processes += p->threads.at[i].pid != last;
		last = p->threads.at[i].pid;
		if (p->threads.at[i].pid == r->pid && !*process)
			process = p->threads.at[i].process;
	}
	if (r->pid)
		ray_text_printf(&text, "%s (%" PRIu32 ")", *process ? process : "process", r->pid);
	else
		ray_text_add(&text, "every node");
	p->title = ray_profile_text(p, ray_text_get(&text));
}

static void describe(const struct ray_record_run *r, struct ray_profile *p)
{
	char host[256] = "";

	set_event(r, p);
	set_command(r, p);
	set_title(r, p);
	if (!gethostname(host, sizeof(host) - 1))
		p->host = ray_profile_text(p, host);
	p->node_version = ray_profile_text(p, r->node_version);
	p->lost_samples += r->lost;
	if (r->script.plain_period_ns)
		p->period_ns = r->script.plain_period_ns;
}

/* ---- the result ---- */

static char *make_path(const struct ray_record_run *r)
{
	ray_auto_text pattern = { 0 };

	if (r->pattern)
		return !strcmp(r->pattern, "-") ? strdup("-") : ray_profile_expand(r->pattern, r->pid);
	ray_text_printf(&pattern, "noderay-%s%%t%s", r->pid ? "%p-" : "", r->format->suffix);
	return pattern.failed ? NULL : ray_profile_expand(ray_text_get(&pattern), r->pid);
}

static uint64_t size_of(const char *path)
{
	struct stat st;

	return strcmp(path, "-") && !stat(path, &st) ? (uint64_t)st.st_size : 0;
}

static void print_json(const struct ray_record_run *r, const struct ray_profile *p, const char *path, uint64_t samples)
{
	json_t *o = json_object();

	json_object_set_new(o, "file", ray_json_text(path));
	json_object_set_new(o, "format", ray_json_text(r->format->name));
	json_object_set_new(o, "bytes", json_integer((json_int_t)size_of(path)));
	json_object_set_new(o, "event", ray_json_text(p->event));
	json_object_set_new(o, "unit", ray_json_text(ray_profile_unit_word(p->unit)));
	json_object_set_new(o, "samples", json_integer((json_int_t)samples));
	json_object_set_new(o, "weight", json_integer((json_int_t)ray_profile_weight(p)));
	json_object_set_new(o, "threads", json_integer((json_int_t)p->threads.n));
	json_object_set_new(o, "start", json_real((double)p->start_ns / 1e9));
	json_object_set_new(o, "duration_ns", json_integer((json_int_t)p->duration_ns));
	json_object_set_new(o, "lost_samples", json_integer((json_int_t)p->lost_samples));
	json_object_set_new(o, "cut_stacks", json_integer((json_int_t)p->cut_stacks));
	json_object_set_new(o, "unnamed_frames", json_integer((json_int_t)p->unnamed_frames));
	ray_json_print(o);
}

static void say_losses(const struct ray_record_run *r, const struct ray_profile *p)
{
	if (ray_recorder_is_thinned(r->recorder))
		fprintf(stderr,
			"noderay: there were too many functions: those that were seen rarely are one, [rarely seen]\n");
	if (p->lost_samples)
		fprintf(stderr, "noderay: %" PRIu64 " samples were lost: no room in a buffer%s\n", p->lost_samples,
			r->frequency ? "; -F asks for fewer" : "");
	if (p->cut_stacks)
		fprintf(stderr, "noderay: %" PRIu64 " stacks do not reach the root of their thread\n", p->cut_stacks);
	if (p->unnamed_frames)
		fprintf(stderr, "noderay: %" PRIu64 " frames of V8's code have no name\n", p->unnamed_frames);
	if (p->failed)
		fprintf(stderr, "noderay: no memory: some of the profile is missing\n");
}

static void say_result(const struct ray_record_run *r, const struct ray_profile *p, const char *path, uint64_t samples)
{
	char size[8];

	if (!samples && r->mode == RAY_MODE_CPU)
		fprintf(stderr, "noderay: no sample: nothing of it ran on a CPU meanwhile; "
				"--wall shows what it waits for\n");
	else if (!samples && (r->mode == RAY_MODE_OFF_CPU || r->mode == RAY_MODE_WALL))
		fprintf(stderr,
			"noderay: no sample: its threads slept all the time; 'noderay stack' shows where they stand\n");
	else if (!samples)
		fprintf(stderr, "noderay: no sample: nothing of it happened meanwhile\n");
	say_losses(r, p);
	if (r->is_json)
		print_json(r, p, path, samples);
	else if (strcmp(path, "-"))
		fprintf(stderr, "noderay: %s: %s, %" PRIu64 " samples in %.1f s\n", path,
			ray_format_size(size_of(path), size), samples, (double)p->duration_ns / 1e9);
}

static struct ray_error *write_profile(struct ray_record_run *r)
{
	uint64_t samples;
	ray_auto(ray_profile, p) = ray_recorder_finish(r->recorder, epoch_ns());
	ray_auto_memory char *path = make_path(r);
	struct ray_error *err;

	samples = ray_recorder_count(r->recorder);
	if (!path)
		return &ray_enomem;
	if (strcmp(path, "-"))
		ray_interrupt_writing(RAY_WRITING_FILE, -1);
	describe(r, p);
	err = r->maps ? ray_source_maps_tell(r->maps, &p) : NULL;
	if (!err && r->maps)
		ray_source_maps_say(r->maps);
	if (!err)
		err = ray_profile_write(p, r->format, path);
	if (!err)
		say_result(r, p, path, samples);
	return err;
}

static bool prepare_maps(struct ray_record_run *r)
{
	if (!ray_call_has(r->script.call, "source-maps"))
		return true;
	r->maps = ray_source_maps_create(true);
	if (r->maps)
		r->script.script_maps = ray_source_maps_listener(r->maps);
	return r->maps;
}

struct ray_error *ray_record_run(struct ray_record_run *r)
{
	static const enum ray_profile_unit units[] = {
		[RAY_MODE_CPU] = RAY_UNIT_SAMPLES, [RAY_MODE_OFF_CPU] = RAY_UNIT_NS,  [RAY_MODE_WALL] = RAY_UNIT_NS,
		[RAY_MODE_EVENT] = RAY_UNIT_COUNT, [RAY_MODE_ALLOC] = RAY_UNIT_BYTES, [RAY_MODE_GC] = RAY_UNIT_NS,
	};
	bool is_timed = r->mode == RAY_MODE_CPU || r->mode == RAY_MODE_WALL;
	struct ray_recorder_options o = { .unit = units[r->mode],
					  .period_ns = is_timed ? r->period_ns : 0,
					  .sample_weight = r->mode == RAY_MODE_WALL ? r->period_ns : 1,
					  .tells_heaps = r->mode == RAY_MODE_ALLOC,
					  .tells_collections = r->mode == RAY_MODE_GC,
					  .name_thread = name_thread,
					  .most_nodes = MOST_NODES,
					  .most_functions = MOST_FUNCTIONS,
					  .arg = r };
	struct ray_error *err = NULL;

	if (r->mode != RAY_MODE_CPU && !ray_call_has(r->script.call, "show-script"))
		err = ray_script_check_rights("cannot load BPF programs, without which only what runs can be recorded");
	if (err)
		return err;
	r->recorder = ray_recorder_create(&o);
	if (!r->recorder || !prepare_maps(r)) {
		ray_recorder_free(r->recorder);
		return &ray_enomem;
	}
	r->script.on_fact = on_fact;
	r->script.on_start = on_start;
	r->script.on_round = on_round;
	r->script.arg = r;
	r->script.wants_frames = true;
	r->script.doing = "a recording";
	if (r->mode == RAY_MODE_CPU)
		r->script.plain_hz = r->frequency;
	err = ray_script_run(&r->script);
	wipe_progress(r);
	if (r->script.has_started)
		err = ray_error_first(err, write_profile(r));
	ray_recorder_free(r->recorder);
	ray_source_maps_free(r->maps);
	return err;
}
