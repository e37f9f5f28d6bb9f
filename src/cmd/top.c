/* top.c - `noderay top`: where a running node spends its time, live. SPDX-License-Identifier: MIT */
#include "cmd/top.h"

#include <string.h>

#include "cmd/terminal.h"

enum { BATCH_ROWS = 20 };

static const struct ray_option options[] = {
	{ 'b', "batch", NULL, "no screen: a table for each interval" },
	{ 'n', "count", "N", "with -b: stop after N tables" },
	{ 'i', "interval", "TIME", "how often it is brought up to date (1s), 100ms at least" },
	{ 'w', "window", "TIME", "how far back functions are counted: 1, 2, 5 (seconds, the default), 10, 30, 60" },
	{ 's', "sort", "COLUMN", "self, total or name" },
	{ 0, "filter", "PATTERN", "only functions whose name, file or kind matches" },
	{ 0, "hide", "KINDS", "count these for their callers: package,node,wasm,builtin,native,gc,compiler,kernel" },
	{ 0, "rows", "N", "with -b: functions in a table (20); 0: all" },
	RAY_SCRIPT_OPTION_FREQUENCY,
	{ 0, "http", NULL, "count requests that are answered" },
	{ 0, "no-events", NULL, "samples alone: nothing of loops and collections, and nothing in their way" },
	RAY_OPTION_SOURCE_MAPS,
	RAY_OPTIONS_SCRIPT,
};

static const char *const examples[] = {
	"noderay top",
	"the only node on this machine, live; ? lists the keys, q quits",
	"noderay top -w 30 --hide kernel,native 4242",
	"the last 30 seconds of process 4242, JavaScript alone",
	"noderay top -b -n 1 -i 5 4242",
	"one table of 5 seconds, for a mail or a log",
	"noderay top --json -i 10 4242 | jq -c '[.cpu, .functions[0].name]'",
	"for a program: an object every ten seconds",
	"noderay top -- node app.js",
	"from the start of a program",
	NULL,
};

static struct ray_error *choose_sort(const struct ray_call *call, struct ray_top_screen *s)
{
	static const char *const words[] = { "self", "total", "name" };
	const char *word = ray_call_value(call, "sort");

	for (size_t i = 0; word && i < RAY_COUNT(words); i++) {
		if (strcmp(word, words[i]) != 0)
			continue;
		s->order = (enum ray_top_order)i;
		return NULL;
	}
	return word ? ray_error_new(RAY_USAGE, "top: --sort is self, total or name, not '%s'", word) : NULL;
}

static struct ray_error *choose_hidden(const struct ray_call *call, struct ray_top_screen *s)
{
	const char *list = ray_call_value(call, "hide");
	ray_auto_memory char *copy = list ? strdup(list) : NULL;
	char *rest = copy, *word;
	enum ray_profile_kind kind;

	if (list && !copy)
		return &ray_enomem;
	while ((word = strsep(&rest, ","))) {
		if (!ray_profile_kind_parse(word, &kind))
			return ray_error_remedy(
				ray_error_new(RAY_USAGE, "top: --hide: there is no kind '%s'", word),
				"there are js, package, node, wasm, builtin, native, gc, compiler, kernel");
		s->hidden |= 1u << kind;
	}
	return NULL;
}

static struct ray_error *choose_window(const struct ray_call *call, struct ray_top_screen *s)
{
	uint64_t ns = 0;
	struct ray_error *err = ray_call_duration(call, "window", 1000000000, 0, &ns);

	if (err || !ray_call_has(call, "window"))
		return err;
	for (s->window = 0; ray_top_windows[s->window]; s->window++)
		if (ray_top_windows[s->window] == ns)
			return NULL;
	return ray_error_new(RAY_USAGE, "top: --window can be 1, 2, 5, 10, 30 or 60 seconds");
}

static struct ray_error *choose_screen(const struct ray_call *call, struct ray_top_screen *s)
{
	const char *pattern = ray_call_value(call, "filter");
	struct ray_error *err = choose_sort(call, s);

	if (!err)
		err = choose_hidden(call, s);
	if (!err)
		err = choose_window(call, s);
	if (!err && pattern && !ray_top_screen_filter(s, pattern))
		err = ray_error_new(RAY_USAGE, "top: --filter takes at most %d bytes", RAY_TOP_PATTERN - 1);
	return err;
}

static struct ray_error *choose_batch(const struct ray_call *call, struct ray_top_run *r)
{
	long rows;
	struct ray_error *err = ray_call_number(call, "count", 0, &r->count);

	if (!err)
		err = ray_call_number(call, "rows", BATCH_ROWS, &rows);
	if (err)
		return err;
	r->batch = (struct ray_top_batch){ .out = stdout,
					   .is_json = ray_call_has(call, "json"),
					   .width = ray_view_width(stdout) };
	r->has_count = ray_call_has(call, "count");
	r->is_batch = ray_call_has(call, "batch") || r->batch.is_json || r->has_count || !ray_terminal_is_there();
	r->screen.is_batch = r->is_batch;
	r->batch.rows = (size_t)rows;
	if (rows < 0 || (r->has_count && r->count < 1))
		return ray_error_new(RAY_USAGE, "top: --%s",
				     rows < 0 ? "rows must not be negative" : "count must be 1 or more");
	if (r->is_batch && ray_call_has(call, "window"))
		return ray_error_new(
			RAY_USAGE,
			"top: without a screen each table is of its interval: --interval instead of --window");
	return NULL;
}

static struct ray_error *choose_pace(const struct ray_call *call, struct ray_top_run *r)
{
	struct ray_error *err = ray_call_duration(call, "interval", 1000000000, 1000000000, &r->interval_ns);
	long hz;

	if (err)
		return err;
	if (r->interval_ns < 100000000 || r->interval_ns > 3600000000000)
		return ray_error_new(RAY_USAGE, "top: --interval can be 100ms to 1h");
	r->interval_ns -= r->interval_ns % 100000000; /* the script counts tenths of a second */
	err = ray_script_set_frequency(&r->script, call, "top", &hz);
	if (err)
		return err;
	snprintf(r->source, sizeof(r->source), "%ld Hz", hz);
	r->screen.source = r->source;
	r->screen.period_ns = 1000000000 / (uint64_t)hz;
	return ray_script_set(&r->script, "every", "%ld", (long)(r->interval_ns / 100000000));
}

static struct ray_error *choose_events(const struct ray_call *call, struct ray_top_run *r)
{
	struct ray_error *err = NULL;

	if (ray_call_has(call, "no-events"))
		err = ray_script_set(&r->script, "events", "0");
	if (!err && ray_call_has(call, "http"))
		err = ray_script_set(&r->script, "requests", "1");
	return err;
}

static struct ray_error *run(const struct ray_call *call)
{
	struct ray_top_run r = { .script = { .call = call, .name = "top" },
				 .has_maps = ray_call_has(call, "source-maps"),
				 .is_timed = ray_call_has(call, "duration") };
	struct ray_error *err;

	ray_top_screen_init(&r.screen);
	err = choose_screen(call, &r.screen);
	if (!err)
		err = choose_batch(call, &r);
	if (!err)
		err = choose_pace(call, &r);
	if (!err)
		err = choose_events(call, &r);
	if (!err)
		err = ray_top_run(&r);
	else
		ray_top_screen_deinit(&r.screen);
	ray_script_deinit(&r.script);
	return err;
}

const struct ray_verb ray_verb_top = {
	.name = "top",
	.summary = "show live where a node spends its time: functions, threads, loop, GC",
	.operands = RAY_SCRIPT_OPERANDS,
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = RAY_SCRIPT_MAX_OPERANDS,
	.run = run,
};
