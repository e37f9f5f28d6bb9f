/* loop.c - `noderay loop`: how busy event loops are, and what blocks them. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cmd/loop_core.h"
#include "cmd/script.h"
#include "view/block.h"
#include "view/loop.h"
#include "view/table.h"

enum { TENTH_NS = 100000000, MS_NS = 1000000, SAMPLES = 8 /* of a callback that is just too long */ };

static const struct ray_option options[] = {
	{ 'i', "interval", "TIME", "report every TIME: 1s, down to 100ms" },
	{ 0, "phases", NULL, "a line for each phase, with its percentiles" },
	{ 'o', "columns", "COL,...", "which columns: time, pid, tid, iterations, util, p50...; '+COL' adds one" },
	{ 'b', "block", "TIME", "instead: each callback that takes longer, and what ran meanwhile" },
	{ 0, "core", NULL, "with --block: a core of the first one while it blocks, then stop" },
	{ 0, "core-file", "FILE", "where it goes, %p stands for the pid (core.%p)" },
	RAY_OPTIONS_SCRIPT,
};

static const char *const examples[] = {
	"noderay loop 4242",
	"every second: iterations, utilisation, lag",
	"noderay loop --block 50ms 4242",
	"each callback of 50 ms or more, with the JavaScript that ran meanwhile",
	"noderay loop --block 1s --core 4242",
	"a core of the first callback that takes a second, for noderay stack",
	"noderay loop --phases -i 10s",
	"percentiles of each phase, of the only node of this machine",
	NULL,
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- reports ---- */

static void loop_start(void *arg, const pid_t *pids, size_t count)
{
	ray_loop_view_start(arg, pids, count, now_ns());
}

static void loop_fact(void *arg, const struct ray_fact *fact)
{
	ray_loop_view_take(arg, fact);
}

static struct ray_error *run_reports(const struct ray_call *call)
{
	struct ray_loop_options o = { .is_json = ray_call_has(call, "json"),
				      .phases = ray_call_has(call, "phases"),
				      .columns = ray_call_value(call, "columns"),
				      .width = ray_view_width(stdout) };
	struct ray_script s = { .call = call, .name = "loop", .on_fact = loop_fact, .on_start = loop_start };
	ray_auto(ray_loop_view, view) = NULL;
	struct ray_error *err = ray_call_duration(call, "interval", 1000000000, 1000000000, &o.interval_ns);

	if (!err && (o.interval_ns < TENTH_NS || o.interval_ns > 86400ULL * 1000000000))
		err = ray_error_new(RAY_USAGE, "loop: -i can be 100ms to a day");
	if (!err)
		err = ray_script_set(&s, "every", "%" PRIu64, (o.interval_ns + TENTH_NS / 2) / TENTH_NS);
	if (!err)
		err = ray_loop_view_create(&o, stdout, &view);
	s.arg = view;
	if (!err)
		err = ray_script_run(&s);
	ray_script_deinit(&s);
	return err;
}

/* ---- blocks ---- */

struct blocks {
	struct ray_script script;
	struct ray_block_view *view;
	struct ray_loop_core core;
	uint64_t start_ns; /* since the epoch */
};

static void block_start(void *arg, const pid_t *pids, size_t count)
{
	(void)pids, (void)count;
	((struct blocks *)arg)->start_ns = now_ns();
}

static void block_fact(void *arg, const struct ray_fact *fact)
{
	struct blocks *b = arg;

	if (b->script.is_done)
		return;
	ray_block_view_take(b->view, fact);
	b->script.is_done = ray_loop_core_look(&b->core, b->view, fact);
}

static struct ray_error *blocks_set(struct blocks *b, uint64_t limit_ns)
{
	struct ray_error *err = ray_script_set(&b->script, "limit", "%" PRIu64, limit_ns);

	if (!err)
		err = ray_script_set(&b->script, "pace", "%" PRIu64, limit_ns / SAMPLES);
	if (!err && b->core.is_wanted)
		err = ray_script_set(&b->script, "beats", "1");
	return err;
}

static bool is_there(uint32_t pid, uint32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u/exe", pid, tid);
	return !access(path, F_OK); /* not of a zombie */
}

static struct ray_error *run_blocks(const struct ray_call *call)
{
	struct ray_block_options o = { .is_json = ray_call_has(call, "json"),
				       .width = ray_view_width(stdout),
				       .is_there = is_there };
	struct blocks b = { .script = { .call = call,
					.name = "loop_block",
					.doing = "waiting for callbacks that block",
					.on_fact = block_fact,
					.on_start = block_start,
					.arg = &b },
			    .core = { .pattern = ray_call_value(call, "core-file"),
				      .is_json = o.is_json,
				      .is_wanted = ray_call_has(call, "core") } };
	struct ray_error *err = ray_call_duration(call, "block", MS_NS, 0, &o.limit_ns);

	if (!err && o.limit_ns < MS_NS)
		err = ray_error_new(RAY_USAGE, "loop: --block can be 1ms or more");
	if (!err)
		err = blocks_set(&b, o.limit_ns);
	if (!err && !(b.view = ray_block_view_create(&o, stdout)))
		err = &ray_enomem;
	if (!err)
		err = ray_script_run(&b.script);
	if (b.script.has_started)
		ray_block_view_finish(b.view, b.start_ns + b.script.duration_ns, b.script.duration_ns);
	if (!err && b.core.err) {
		err = b.core.err;
		b.core.err = NULL;
	}
	ray_block_view_free(b.view);
	ray_loop_core_deinit(&b.core);
	ray_script_deinit(&b.script);
	return err;
}

static struct ray_error *run(const struct ray_call *call)
{
	static const char *const of_reports[] = { "interval", "phases", "columns" };
	static const char *const of_blocks[] = { "core", "core-file" };
	bool has_block = ray_call_has(call, "block");

	for (size_t i = 0; i < RAY_COUNT(of_reports) && has_block; i++)
		if (ray_call_has(call, of_reports[i]))
			return ray_error_new(RAY_USAGE, "loop: --%s and --block do not go together", of_reports[i]);
	for (size_t i = 0; i < RAY_COUNT(of_blocks) && !has_block; i++)
		if (ray_call_has(call, of_blocks[i]))
			return ray_error_new(RAY_USAGE, "loop: --%s needs --block TIME", of_blocks[i]);
	return has_block ? run_blocks(call) : run_reports(call);
}

const struct ray_verb ray_verb_loop = {
	.name = "loop",
	.summary = "show how busy event loops are, and what blocks them",
	.operands = RAY_SCRIPT_OPERANDS,
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = RAY_SCRIPT_MAX_OPERANDS,
	.run = run,
};
