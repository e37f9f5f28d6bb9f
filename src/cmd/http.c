/* http.c - `noderay http`: HTTP requests of node as they end, or by URL. SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/script.h"
#include "view/http.h"
#include "view/table.h"

static const struct ray_option options[] = {
	{ 's', "server", NULL, "requests that it answers (the default)" },
	{ 'c', "client", NULL, "requests that it makes" },
	{ 'g', "gc", NULL, "garbage collections" },
	{ 'l', "long", NULL, "two lines for each: when it begins, when it ends" },
	{ 'o', "columns", "COL,...", "which columns; '-o help' lists them, '+COL' adds one" },
	{ 0, "slow", "TIME", "only those that took longer: 50ms" },
	{ 0, "url", "GLOB", "only URLs that match: '/api/*'" },
	{ 0, "status", "WHICH", "only this status, or kind of status: 404, 5xx, 400-499" },
	{ 0, "top", NULL, "a table by URL: count, rate, percentiles, errors" },
	{ 0, "hist", NULL, "the distribution of latencies by URL" },
	{ 0, "fold", NULL, "with --top, --hist: /user/123 and /user/456 are /user/:n" },
	{ 0, "query", NULL, "with --top, --hist: what follows ? is part of a URL's name" },
	{ 0, "rows", "N", "with --top, --hist: the N most frequent URLs" },
	{ 'i', "interval", "SECONDS", "with --top, --hist: print every SECONDS, not only at the end" },
	{ 0, "stack", NULL, "the JavaScript stack that sent the response" },
	{ 0, "url-size", "BYTES", "keep this much of a URL: 255 (127 with --top), up to 1023" },
	{ 't', "translation", "HOW", "how the script reads arguments: translated or simple" },
	{ 'n', "script", NULL, "the same as --show-script" },
	RAY_OPTIONS_SCRIPT,
};

static const char *const examples[] = {
	"noderay http 4242",
	"a line for each request that process 4242 answers",
	"noderay http --top -d 10 4242",
	"which URLs are slow: percentiles of 10 seconds",
	"noderay http --status 5xx --stack 4242",
	"each failed request, and the JavaScript that answered it",
	"noderay http -c --slow 100ms",
	"slow requests that the only node of this machine makes itself",
	NULL,
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void on_start(void *arg, const pid_t *pids, size_t count)
{
	(void)pids, (void)count;
	ray_http_view_start(arg, now_ns());
}

static void on_fact(void *arg, const struct ray_fact *fact)
{
	ray_http_view_take(arg, fact);
}

static struct ray_error *status_refuse(const char *text)
{
	return ray_error_new(RAY_USAGE, "http: --status needs a status such as 404, 5xx or 400-499, not '%s'", text);
}

/* 404, 5xx, 400-499 */
static struct ray_error *status_set(struct ray_script *s, const char *text)
{
	unsigned int low, high;
	struct ray_error *err;
	int end = 0;

	if (!text)
		return NULL;
	if (strlen(text) == 3 && text[0] >= '1' && text[0] <= '9' && !strcasecmp(text + 1, "xx")) {
		low = (unsigned int)(text[0] - '0') * 100;
		high = low + 99;
	} else if (sscanf(text, "%3u-%3u%n", &low, &high, &end) != 2 || text[end]) {
		end = 0;
		if (sscanf(text, "%3u%n", &low, &end) != 1 || text[end])
			return status_refuse(text);
		high = low;
	}
	err = ray_script_set(s, "status_low", "%u", low);
	return err ? err : ray_script_set(s, "status_high", "%u", high);
}

static struct ray_error *flag_set(struct ray_script *s, const char *name, bool value)
{
	return ray_script_set(s, name, "%d", value);
}

static struct ray_error *probes_set(struct ray_script *s, const struct ray_call *call)
{
	bool client = ray_call_has(call, "client"), gc = ray_call_has(call, "gc");
	struct ray_error *err = flag_set(s, "server", ray_call_has(call, "server") || (!client && !gc));

	if (!err)
		err = flag_set(s, "client", client);
	if (!err)
		err = flag_set(s, "collections", gc);
	if (!err)
		err = flag_set(s, "begins", ray_call_has(call, "long"));
	return err;
}

static bool is_table(const struct ray_call *call)
{
	return ray_call_has(call, "top") || ray_call_has(call, "hist");
}

static struct ray_error *filters_set(struct ray_script *s, const struct ray_call *call, struct ray_http_options *o)
{
	/* Rows of a table are found by their names, twice for each request: long ones cost. */
	const long usual = is_table(call) ? 127 : 255;
	uint64_t slow;
	long size;
	struct ray_error *err = ray_call_duration(call, "slow", 1000000, 0, &slow);

	if (!err && slow)
		err = ray_script_set(s, "slow", "%llu", (unsigned long long)slow);
	if (!err)
		err = status_set(s, ray_call_value(call, "status"));
	if (!err)
		err = ray_call_number(call, "url-size", usual, &size);
	if (!err && (size < 15 || size > 1023))
		err = ray_error_new(RAY_USAGE, "http: --url-size can be 15 to 1023, not %ld", size);
	o->url_size = (size_t)size;
	if (!err && size != 255)
		err = ray_script_set_option(s, "strsize", "%ld", size + 1);
	return err;
}

static struct ray_error *top_set(struct ray_script *s, const struct ray_call *call, struct ray_http_options *o)
{
	long interval, rows;
	struct ray_error *err = ray_call_number(call, "interval", 0, &interval);

	if (!err)
		err = ray_call_number(call, "rows", 0, &rows);
	if (err)
		return err;
	if (interval < 0 || rows < 0)
		return ray_error_new(RAY_USAGE, "http: --%s must not be negative", rows < 0 ? "rows" : "interval");
	o->most = (size_t)rows;
	o->top = ray_call_has(call, "top");
	o->bars = ray_call_has(call, "hist");
	o->folds = ray_call_has(call, "fold");
	o->keeps_query = ray_call_has(call, "query");
	if (!o->top && !o->bars)
		return flag_set(s, "stacks", ray_call_has(call, "stack"));
	s->doing = "counting requests";
	err = flag_set(s, "top", true);
	if (!err && interval)
		err = flag_set(s, "repeats", true);
	return err || !interval ? err : ray_script_set(s, "interval", "%ld", interval);
}

/* nhttpsnoop's -t: which form of the probes' arguments the script reads. */
static struct ray_error *translation_check(const struct ray_call *call, struct ray_script *s)
{
	const char *how = ray_call_value(call, "translation");

	if (!how || !strcmp(how, "translated"))
		return NULL;
	if (strcmp(how, "simple") != 0)
		return ray_error_new(RAY_USAGE, "http: -t is 'translated' or 'simple', not '%s'", how);
	s->name = "http_simple";
	return NULL;
}

static struct ray_error *run(const struct ray_call *call)
{
	struct ray_http_options o = { .is_json = ray_call_has(call, "json"),
				      .begins = ray_call_has(call, "long"),
				      .columns = ray_call_value(call, "columns"),
				      .url = ray_call_value(call, "url"),
				      .width = ray_view_width(stdout) };
	struct ray_script s = { .call = call, .name = "http", .on_fact = on_fact, .on_start = on_start };
	ray_auto(ray_http_view, view) = NULL;
	struct ray_error *err = translation_check(call, &s);

	s.only_show = ray_call_has(call, "script");
	if (!err)
		err = probes_set(&s, call);
	if (!err)
		err = filters_set(&s, call, &o);
	if (!err)
		err = top_set(&s, call, &o);
	if (!err)
		err = ray_http_view_create(&o, stdout, &view);
	s.arg = view;
	if (!err)
		err = ray_script_run(&s);
	if (s.has_started)
		ray_http_view_finish(view, now_ns());
	ray_script_deinit(&s);
	return err;
}

const struct ray_verb ray_verb_http = {
	.name = "http",
	.summary = "list HTTP requests as they end, or count them by URL",
	.operands = RAY_SCRIPT_OPERANDS,
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = RAY_SCRIPT_MAX_OPERANDS,
	.run = run,
};
