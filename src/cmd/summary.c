/* summary.c - `noderay summary`: one page about a node, for a person who knows nothing yet. SPDX-License-Identifier: MIT */
#include "cmd/script.h"
#include "cmd/summary_about.h"
#include "view/table.h"

enum { DEFAULT_SECONDS = 10 };

static const struct ray_option options[] = {
	RAY_OPTIONS_SCRIPT,
};

static const char *const examples[] = {
	"noderay summary",
	"ten seconds of the only node on this machine, on one page",
	"noderay summary -d 60 4242",
	"a minute of process 4242",
	"noderay summary --json 4242 | jq .advice",
	"what is worth a look, for a program",
	NULL,
};

struct page {
	struct ray_summary *view;
	int pid;
};

static void on_fact(void *arg, const struct ray_fact *fact)
{
	ray_summary_take(((struct page *)arg)->view, fact);
}

static void on_start(void *arg, const pid_t *pids, size_t count)
{
	if (count)
		((struct page *)arg)->pid = pids[0];
}

static struct ray_error *run(const struct ray_call *call)
{
	struct page page = { 0 };
	struct ray_script s = { .call = call,
				.name = "summary",
				.doing = "looking at everything",
				.duration_ns = DEFAULT_SECONDS * 1000000000ULL,
				.on_fact = on_fact,
				.on_start = on_start,
				.arg = &page };
	struct ray_arena *arena = ray_arena_create();
	ray_auto(ray_summary, view) = ray_summary_create(stdout, ray_call_has(call, "json"), ray_view_width(stdout));
	struct ray_summary_about about;
	struct ray_error *err;

	page.view = view;
	err = arena && view ? ray_script_run(&s) : &ray_enomem;
	if (s.has_started) {
		ray_summary_look(page.pid, arena, &about);
		ray_summary_print(view, &about, s.duration_ns);
	}
	ray_script_deinit(&s);
	ray_arena_free(arena);
	return err;
}

const struct ray_verb ray_verb_summary = {
	.name = "summary",
	.summary = "one page about a node, and what to look at next",
	.operands = RAY_SCRIPT_OPERANDS,
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = RAY_SCRIPT_MAX_OPERANDS,
	.run = run,
};
