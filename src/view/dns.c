/* dns.c - what `noderay dns` shows of a name that was looked up. SPDX-License-Identifier: MIT */
#include "view/error_name.h"
#include "view/operations.h"

static const struct ray_live_column columns[] = {
	{ "time", "TIME", 15, RAY_ALIGN_LEFT, RAY_CUT_NEVER, "when the answer came" },
	{ "pid", "PID", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "process" },
	{ "tid", "TID", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "thread that asked" },
	{ "op", "OP", 7, RAY_ALIGN_LEFT, RAY_CUT_NEVER,
	  "lookup (by the system, on the pool), resolve (over the network), reverse" },
	{ "type", "TYPE", 5, RAY_ALIGN_LEFT, RAY_CUT_NEVER, "type of record that was asked for" },
	{ "wait", "WAIT", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "how long it waited for a thread of the pool" },
	{ "run", "RUN", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "how long it took then" },
	{ "total", "TOTAL", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "both" },
	{ "result", "RESULT", 10, RAY_ALIGN_LEFT, RAY_CUT_NEVER, "ok, or the error" },
	{ "request", "REQUEST", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "number of the HTTP request it was done for" },
	{ "host", "HOST", 0, RAY_ALIGN_LEFT, RAY_CUT_END, "name, or address and port" },
};

static void add(struct ray_live *l, const struct ray_fact *f)
{
	const char *type = ray_fact_text(f, "type"), *service = ray_fact_text(f, "service");
	bool is_resolve = !ray_fact_number(f, "pool");
	const char *error;
	char name[24];

	ray_live_add(l, ray_fact_text(f, "op"));
	ray_live_add(l, *type ? type : "-");
	if (is_resolve)
		ray_live_add(l, "-");
	else
		ray_operation_time(l, f, "wait");
	ray_operation_time(l, f, "run");
	ray_operation_time(l, f, "total");
	error = ray_view_dns_error(ray_fact_number(f, "result"), name);
	ray_live_add(l, error ? error : "ok");
	if (ray_fact_number(f, "request"))
		ray_operation_number(l, f, "request");
	else
		ray_live_add(l, "-");
	ray_live_printf(l, "%s%s%s", ray_fact_text(f, "host"), *service ? " port " : "", service);
}

static void describe(struct ray_text *o, const struct ray_fact *f)
{
	char name[24];

	ray_operation_json_text(o, "kind", f, "op");
	ray_operation_json_text(o, "host", f, "host");
	ray_operation_json_text(o, "service", f, "service");
	ray_operation_json_text(o, "type", f, "type");
	ray_operation_json_ms(o, "wait_ms", f, "wait");
	ray_operation_json_ms(o, "run_ms", f, "run");
	ray_operation_json_ms(o, "total_ms", f, "total");
	ray_operation_json_number(o, "result", f, "result");
	ray_json_line_text(o, "error", ray_view_dns_error(ray_fact_number(f, "result"), name));
	ray_operation_json_number(o, "request", f, "request");
}

const struct ray_operations_kind ray_operations_dns = {
	.verb = "dns",
	.columns = columns,
	.column_count = RAY_COUNT(columns),
	.usual = "time,pid,op,type,wait,run,result,host",
	.subject = "host",
	.title = "HOST",
	.has_waits = true,
	.add = add,
	.describe = describe,
};
