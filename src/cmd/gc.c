/* gc.c - `noderay gc`: collections of garbage, as they happen and summed up. SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "cmd/script.h"
#include "view/gc.h"
#include "view/table.h"

static const struct ray_option options[] = {
	{ 0, "summary", NULL, "only what they add up to, at the end" },
	{ 0, "stack", NULL, "what allocated: the JavaScript stack of each" },
	{ 0, "slow", "TIME", "only those that took longer: 10ms" },
	{ 'o', "columns", "COL,...", "which columns: time, pid, tid, type, pause, reason...; '+COL' adds one" },
	RAY_OPTIONS_SCRIPT,
};

static const char *const examples[] = {
	"noderay gc 4242",
	"each collection of process 4242: its type, its pause, why, how much it freed",
	"noderay gc --summary -d 10 4242",
	"which share of 10 seconds went into collections",
	"noderay gc --stack --summary -d 10 4242",
	"and who allocated what they had to collect",
	"noderay gc --slow 50ms --stack",
	"long pauses only, with the code that caused them",
	NULL,
};

static void on_fact(void *arg, const struct ray_fact *fact)
{
	ray_gc_view_take(arg, fact);
}

static struct ray_error *run(const struct ray_call *call)
{
	struct ray_gc_options o = { .is_json = ray_call_has(call, "json"),
				    .only_summary = ray_call_has(call, "summary"),
				    .columns = ray_call_value(call, "columns"),
				    .width = ray_view_width(stdout) };
	struct ray_script s = { .call = call, .name = "gc", .on_fact = on_fact };
	ray_auto(ray_gc_view, view) = NULL;
	uint64_t slow;
	struct ray_error *err = ray_call_duration(call, "slow", 1000000, 0, &slow);

	s.doing = o.only_summary ? "counting collections" : NULL;
	if (!err && slow)
		err = ray_script_set(&s, "slow", "%" PRIu64, slow);
	if (!err && ray_call_has(call, "stack"))
		err = ray_script_set(&s, "stacks", "1");
	if (!err)
		err = ray_gc_view_create(&o, stdout, &view);
	s.arg = view;
	if (!err)
		err = ray_script_run(&s);
	if (s.has_started)
		ray_gc_view_finish(view, s.duration_ns);
	ray_script_deinit(&s);
	return err;
}

const struct ray_verb ray_verb_gc = {
	.name = "gc",
	.summary = "list garbage collections: pause, reason, heap, who allocated",
	.operands = RAY_SCRIPT_OPERANDS,
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = RAY_SCRIPT_MAX_OPERANDS,
	.run = run,
};
