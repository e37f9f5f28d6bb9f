/* pool.c - `noderay pool`: libuv's thread pool. SPDX-License-Identifier: MIT */
#include <time.h>

#include "cmd/script.h"
#include "target/uv_pool.h"
#include "view/pool.h"
#include "view/table.h"

static const struct ray_option options[] = {
	{ 'i', "interval", "SECONDS", "print every SECONDS; 1 if not given" },
	{ 0, "stack", NULL, "at the end: the JavaScript stacks that submitted works" },
	RAY_OPTIONS_SCRIPT,
};

static const char *const examples[] = {
	"noderay pool 4242",
	"queue, busy threads, and times by kind of work, every second",
	"noderay pool -i 10 -d 60 --json 4242",
	"the same of every 10 seconds, for a program, for a minute",
	"noderay pool --stack -d 10 4242",
	"who gives the pool its work",
	NULL,
};

static unsigned int threads(void *arg, uint32_t pid)
{
	return ray_uv_pools_threads(arg, (int)pid);
}

static void on_fact(void *arg, const struct ray_fact *fact)
{
	ray_pool_view_take(arg, fact);
}

static struct ray_error *set(struct ray_script *s, const struct ray_call *call)
{
	long interval;
	struct ray_error *err = ray_call_number(call, "interval", 1, &interval);

	if (!err && interval < 1)
		err = ray_error_new(RAY_USAGE, "pool: --interval must be at least 1, not %ld", interval);
	if (!err)
		err = ray_script_set(s, "interval", "%ld", interval);
	if (!err && ray_call_has(call, "stack"))
		err = ray_script_set(s, "stacks", "1");
	return err;
}

static struct ray_error *run(const struct ray_call *call)
{
	ray_auto(ray_uv_pools, pools) = ray_uv_pools_create();
	struct ray_pool_options o = {
		.is_json = ray_call_has(call, "json"), .width = ray_view_width(stdout), .threads = threads, .arg = pools
	};
	ray_auto(ray_pool_view, view) = ray_pool_view_create(&o, stdout);
	struct ray_script s = { .call = call, .name = "pool", .on_fact = on_fact, .arg = view };
	struct ray_error *err = view && pools ? set(&s, call) : &ray_enomem;
	struct timespec now;

	if (!err)
		err = ray_script_run(&s);
	clock_gettime(CLOCK_REALTIME, &now);
	if (s.has_started)
		ray_pool_view_finish(view, (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
	ray_script_deinit(&s);
	return err;
}

const struct ray_verb ray_verb_pool = {
	.name = "pool",
	.summary = "show libuv's thread pool: what waits, what runs, how long",
	.operands = RAY_SCRIPT_OPERANDS,
	.examples = examples,
	.options = options,
	.option_count = RAY_COUNT(options),
	.max_operands = RAY_SCRIPT_MAX_OPERANDS,
	.run = run,
};
