/* record.c - `noderay record`: a profile of what runs, waits, takes memory or collects garbage. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/record.h"
#include "cmd/script.h"
#include "profile/format.h"

enum { FREQUENCY = 99, MAX_FREQUENCY = 5000 };

static const struct ray_option options[] = {
	{ 'o', "output", "FILE", "where to: its end tells the format; '-' is standard output" },
	{ 'f', "format", "FORMAT", "html, svg, folded, speedscope, cpuprofile, pprof, chrome or text" },
	{ 'F', "frequency", "HZ", "samples a second of each CPU (99), 1 to 5000" },
	{ 0, "off-cpu", NULL, "instead: where threads wait, for what, and how long" },
	{ 0, "wall", NULL, "both: where they run and where they wait" },
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
	char probe[32];
	long hz;

	err = ray_call_number(call, "frequency", FREQUENCY, &hz);
	if (err)
		return err;
	if (hz < 1 || hz > MAX_FREQUENCY)
		return ray_error_new(RAY_USAGE, "record: --frequency can be 1 to %d, not %ld", MAX_FREQUENCY, hz);
	r->period_ns = 1000000000 / (uint64_t)hz;
	r->frequency = (unsigned)hz;
	snprintf(probe, sizeof(probe), "profile-%ld", hz);
	return ray_script_set_probe(&r->script, "profile-99", probe);
}

static struct ray_error *choose_mode(const struct ray_call *call, struct ray_record_run *r)
{
	bool off_cpu = ray_call_has(call, "off-cpu"), wall = ray_call_has(call, "wall");
	struct ray_error *err = NULL;

	if (off_cpu && wall)
		return ray_error_new(RAY_USAGE, "record: --off-cpu and --wall: which one?");
	if (off_cpu && ray_call_has(call, "frequency"))
		return ray_error_new(RAY_USAGE, "record: --off-cpu sees every wait; --frequency is of what runs");
	r->mode = off_cpu ? RAY_RECORD_OFF_CPU : wall ? RAY_RECORD_WALL : RAY_RECORD_CPU;
	if (off_cpu)
		err = ray_script_set(&r->script, "runs", "0");
	if (!err && (off_cpu || wall))
		err = ray_script_set(&r->script, "waits", "1");
	/* Threads change places a thousand times as often as samples are taken. */
	if (!err && (off_cpu || wall))
		err = ray_script_set_option(&r->script, "bufsize", "8m");
	return err;
}

static struct ray_error *choose_output(const struct ray_call *call, struct ray_record_run *r)
{
	struct ray_error *err;

	r->pattern = ray_call_value(call, "output");
	err = ray_profile_format_find(ray_call_value(call, "format"), r->pattern ? r->pattern : "", &r->format);
	if (err)
		return err;
	r->is_json = ray_call_has(call, "json");
	if (r->pattern && !*r->pattern)
		return ray_error_new(RAY_USAGE, "record: --output needs the name of a file, or '-'");
	if (r->is_json && r->pattern && !strcmp(r->pattern, "-"))
		return ray_error_new(RAY_USAGE, "record: --json and the profile cannot both go to standard output");
	return NULL;
}

static struct ray_error *run(const struct ray_call *call)
{
	struct ray_record_run r = { .script = { .call = call, .name = "record" } };
	struct ray_error *err = choose_output(call, &r);

	if (!err)
		err = choose_mode(call, &r);
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
