/* operations.c - see operations.h. SPDX-License-Identifier: MIT */
#include "cmd/operations.h"

#include <inttypes.h>

static void on_start(void *arg, const pid_t *pids, size_t count)
{
	(void)pids, (void)count;
	ray_operations_start(arg);
}

static void on_fact(void *arg, const struct ray_fact *fact)
{
	ray_operations_take(arg, fact);
}

static struct ray_error *set_filters(struct ray_script *s, const struct ray_call *call)
{
	struct ray_error *err = NULL;
	uint64_t slow = 0;

	if (ray_call_value(call, "slow"))
		err = ray_call_duration(call, "slow", 1000000, 0, &slow);
	if (!err && slow)
		err = ray_script_set(s, "slow", "%" PRIu64, slow);
	if (!err && ray_call_has(call, "failed"))
		err = ray_script_set(s, "failed", "1");
	if (!err && ray_call_has(call, "stack"))
		err = ray_script_set(s, "stacks", "1");
	return err;
}

static struct ray_error *set_table(struct ray_script *s, const struct ray_call *call, struct ray_operations_options *o)
{
	long interval, rows;
	struct ray_error *err = ray_call_number(call, "interval", 0, &interval);

	if (!err)
		err = ray_call_number(call, "rows", 0, &rows);
	if (err)
		return err;
	if (interval < 0 || rows < 0)
		return ray_error_new(RAY_USAGE, "%s: --%s must not be negative", s->name,
				     rows < 0 ? "rows" : "interval");
	o->most = (size_t)rows;
	o->by_operation = ray_call_has(call, "count");
	o->by_subject = ray_call_has(call, "top");
	if (!o->by_operation && !o->by_subject)
		return NULL;
	s->doing = "summing up operations";
	err = ray_script_set(s, "sums", "1");
	if (!err && interval)
		err = ray_script_set(s, "repeats", "1");
	return err || !interval ? err : ray_script_set(s, "interval", "%ld", interval);
}

/* Stacks of a table are counted in the kernel, by whatever asks. */
static struct ray_error *check(const struct ray_script *s, const struct ray_operations_options *o)
{
	if (!o->glob || !ray_call_has(s->call, "stack") || (!o->by_operation && !o->by_subject))
		return NULL;
	return ray_error_remedy(ray_error_new(RAY_USAGE, "%s: a pattern does not go with --stack in a table", s->name),
				"leave out -c and --top: each line then has its stack");
}

struct ray_error *ray_operations_run(const struct ray_call *call, const struct ray_operations_kind *kind,
				     const char *glob)
{
	struct ray_operations_options o = { .is_json = ray_call_has(call, "json"),
					    .columns = ray_call_value(call, "columns"),
					    .glob = ray_call_value(call, glob),
					    .width = ray_view_width(stdout) };
	struct ray_script s = { .call = call, .name = kind->verb, .on_fact = on_fact, .on_start = on_start };
	ray_auto(ray_operations, view) = NULL;
	struct ray_error *err = set_filters(&s, call);

	if (!err)
		err = set_table(&s, call, &o);
	if (!err)
		err = check(&s, &o);
	if (!err)
		err = ray_operations_create(kind, &o, stdout, &view);
	s.arg = view;
	if (!err)
		err = ray_script_run(&s);
	if (s.has_started)
		ray_operations_finish(view);
	ray_script_deinit(&s);
	return err;
}
