/* record.c - `noderay record`: a profile of what runs, waits, takes memory or collects garbage. SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/record.h"
#include "cmd/script.h"
#include "cmd/source_maps.h"
#include "profile/format.h"

static const struct ray_option options[] = {
	{ 'o', "output", "FILE", "where to: its end tells the format; '-' is standard output" },
	{ 'f', "format", "FORMAT", "html, svg, folded, speedscope, cpuprofile, pprof, chrome or text" },
	RAY_SCRIPT_OPTION_FREQUENCY,
	{ 0, "off-cpu", NULL, "instead: where threads wait, for what, and how long" },
	{ 0, "wall", NULL, "both: where they run and where they wait" },
	{ 'e', "event", "PROBE", "instead: stacks at an event: page-faults, syscalls:sys_enter_mmap, any D probe" },
	{ 0, "alloc", NULL, "instead: who grows V8's heap and the native heap, in bytes" },
	{ 0, "gc", NULL, "instead: who allocates what makes V8 collect garbage, by pause" },
	RAY_OPTION_SOURCE_MAPS,
	{ 0, "thread", "TID", "only this thread; 'main' is the first of a process" },
	RAY_OPTIONS_SCRIPT,
};

static const char *const examples[] = {
	"noderay record -d 10 4242",
	"what process 4242 and its children run for 10 seconds, as a page",
	"noderay record -d 10 -o cpu.svg 4242",
	"the same as an interactive flame graph",
	"noderay record -o app.cpuprofile -- node app.js",
	"a whole run, for DevTools and VS Code",
	"noderay record --off-cpu --thread main -d 30 -o waits.html 4242",
	"what the main thread waits for",
	"noderay record --alloc -d 60 -o grows.html 4242",
	"which JavaScript makes it take more memory",
	"noderay record --event 'syscall::write:entry /arg2 > 4096/' 4242",
	"who writes much at once",
	"noderay record -d 5 -f folded -o - 4242 | grep JSON",
	"stacks as lines",
	NULL,
};

/* ---- options ---- */

static struct ray_error *choose_thread(struct ray_script *s, const char *thread)
{
	char *end = NULL;
	long tid;

	if (!thread)
		return NULL;
	s->plain_thread = strcmp(thread, "main") == 0 ? -1 : 0;
	if (s->plain_thread)
		return ray_script_set(s, "thread", "-1");
	tid = strtol(thread, &end, 10);
	if (end == thread || *end || tid <= 0 || tid > INT32_MAX)
		return ray_error_remedy(ray_error_new(RAY_USAGE,
						      "record: --thread needs 'main' or a thread's number, not '%s'",
						      thread),
					"'noderay stack PID' shows the threads of a process");
	s->plain_thread = (int)tid;
	return ray_script_set(s, "thread", "%ld", tid);
}

static struct ray_error *choose_frequency(const struct ray_call *call, struct ray_record_run *r)
{
	struct ray_error *err;
	long hz;

	if (r->mode != RAY_MODE_CPU && r->mode != RAY_MODE_WALL)
		return ray_call_has(call, "frequency") ?
			       ray_error_new(RAY_USAGE,
					     "record: --frequency is of what runs: here every event counts") :
			       NULL;
	err = ray_script_set_frequency(&r->script, call, "record", &hz);
	if (err)
		return err;
	r->period_ns = 1000000000 / (uint64_t)hz;
	r->frequency = (unsigned)hz;
	return NULL;
}

static const struct mode {
	const char *option, *script;
	enum ray_record_mode mode;
} modes[] = {
	{ "off-cpu", "record", RAY_MODE_OFF_CPU },   { "wall", "record", RAY_MODE_WALL },
	{ "event", "record_event", RAY_MODE_EVENT }, { "alloc", "record_alloc", RAY_MODE_ALLOC },
	{ "gc", "record_gc", RAY_MODE_GC },
};

static struct ray_error *choose_mode(const struct ray_call *call, struct ray_record_run *r)
{
	const struct mode *chosen = NULL;
	struct ray_error *err = NULL;
	bool waits;

	for (size_t i = 0; i < RAY_COUNT(modes); i++) {
		if (!ray_call_has(call, modes[i].option))
			continue;
		if (chosen)
			return ray_error_new(RAY_USAGE, "record: --%s and --%s: which one?", chosen->option,
					     modes[i].option);
		chosen = &modes[i];
	}
	r->mode = chosen ? chosen->mode : RAY_MODE_CPU;
	r->script.name = chosen ? chosen->script : "record";
	if (r->mode == RAY_MODE_OFF_CPU)
		err = ray_script_set(&r->script, "runs", "0");
	waits = r->mode == RAY_MODE_OFF_CPU || r->mode == RAY_MODE_WALL;
	if (!err && waits)
		err = ray_script_set(&r->script, "waits", "1");
	/* Threads change places a thousand times as often as samples are taken. */
	if (!err && waits)
		err = ray_script_set_option(&r->script, "bufsize", "8m");
	return err;
}

/* GROUP:NAME is a tracepoint, as other tools write it. */
static bool is_tracepoint(const char *event)
{
	const char *colon = strchr(event, ':');

	return colon && colon > event && colon[1] && !strpbrk(colon + 1, ":/ \t,");
}

static struct ray_error *choose_event(const struct ray_call *call, struct ray_record_run *r)
{
	ray_auto_text probe = { 0 };

	if (r->mode != RAY_MODE_EVENT)
		return NULL;
	r->event = ray_call_value(call, "event");
	r->script.is_strict = true;
	if (!*r->event || strpbrk(r->event, "{};\n"))
		return ray_error_remedy(
			ray_error_new(RAY_USAGE, "record: --event needs a probe, not '%s'", r->event),
			"page-faults, syscalls:sys_enter_mmap, or as in D: 'syscall::write:entry /arg2 > 4096/'");
	if (ray_call_has(call, "thread"))
		return ray_error_remedy(ray_error_new(RAY_USAGE, "record: --event and --thread do not go together"),
					"a condition does: --event 'syscall::write:entry /tid == pid/'");
	if (!strcmp(r->event, "page-faults"))
		ray_text_add(&probe, "tracepoint:exceptions::page_fault_user");
	else if (is_tracepoint(r->event))
		ray_text_printf(&probe, "tracepoint:%.*s::%s", (int)strcspn(r->event, ":"), r->event,
				strchr(r->event, ':') + 1);
	else
		ray_text_add(&probe, r->event);
	return ray_script_set_probe(&r->script, "syscall::mmap:entry", ray_text_get(&probe));
}

/* Better now than when everything has been recorded. */
static struct ray_error *check_directory(const char *pattern)
{
	ray_auto_memory char *path = ray_profile_expand(pattern, 0);
	char *slash = path ? strrchr(path, '/') : NULL;
	struct stat st;

	if (!path)
		return &ray_enomem;
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return ray_error_new(RAY_USAGE, "record: %s is a directory", path);
	if (!slash)
		return access(".", W_OK) ? ray_error_errno(RAY_FAILED, errno, "the current directory") : NULL;
	*(slash == path ? slash + 1 : slash) = '\0';
	return access(path, W_OK) ? ray_error_errno(RAY_FAILED, errno, "%s", path) : NULL;
}

static struct ray_error *choose_output(const struct ray_call *call, struct ray_record_run *r)
{
	struct ray_error *err;

	r->pattern = ray_call_value(call, "output");
	if (r->pattern && !*r->pattern)
		return ray_error_new(RAY_USAGE, "record: --output needs the name of a file, or '-'");
	err = ray_profile_format_find(ray_call_value(call, "format"), r->pattern ? r->pattern : "noderay.html",
				      &r->format);
	if (err)
		return err;
	r->is_json = ray_call_has(call, "json");
	if (r->is_json && r->pattern && !strcmp(r->pattern, "-"))
		return ray_error_new(RAY_USAGE, "record: --json and the profile cannot both go to standard output");
	if (ray_call_has(call, "show-script") || (r->pattern && !strcmp(r->pattern, "-")))
		return NULL;
	return check_directory(r->pattern ? r->pattern : "noderay.html");
}

static struct ray_error *run(const struct ray_call *call)
{
	struct ray_record_run r = { .script = { .call = call } };
	struct ray_error *err = choose_output(call, &r);

	if (!err)
		err = choose_mode(call, &r);
	if (!err)
		err = choose_event(call, &r);
	if (!err)
		err = choose_frequency(call, &r);
	if (!err)
		err = choose_thread(&r.script, ray_call_value(call, "thread"));
	if (!err)
		err = ray_record_run(&r);
	ray_script_deinit(&r.script);
	return err;
}

const struct ray_verb ray_verb_record = {
	.name = "record",
	.summary = "record a profile: JavaScript, C++ and the kernel in one picture",
	.operands = RAY_SCRIPT_OPERANDS,
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = RAY_SCRIPT_MAX_OPERANDS,
	.run = run,
};
