/* fs.c - what `noderay fs` shows of an operation on a file. SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "view/error_name.h"
#include "view/operations.h"

static const struct ray_live_column columns[] = {
	{ "time", "TIME", 15, RAY_ALIGN_LEFT, RAY_CUT_NEVER, "when it was done" },
	{ "pid", "PID", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "process" },
	{ "tid", "TID", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "thread that asked for it" },
	{ "op", "OP", 9, RAY_ALIGN_LEFT, RAY_CUT_NEVER, "operation, as libuv calls it" },
	{ "fd", "FD", 4, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "file descriptor" },
	{ "wait", "WAIT", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER,
	  "how long it waited for a thread of the pool; sync: it needs none" },
	{ "run", "RUN", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "how long it took then" },
	{ "total", "TOTAL", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "both" },
	{ "result", "RESULT", 8, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "bytes, a descriptor, 0, or the error" },
	{ "request", "REQUEST", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "number of the HTTP request it was done for" },
	{ "path", "PATH", 0, RAY_ALIGN_LEFT, RAY_CUT_END, "path, and the other one of rename and its like" },
};

static void add(struct ray_live *l, const struct ray_fact *f)
{
	int64_t result = ray_fact_number(f, "result"), fd = ray_fact_number(f, "fd");
	const char *path = ray_fact_text(f, "path"), *to = ray_fact_text(f, "to");
	char name[24];

	ray_live_add(l, ray_fact_text(f, "op"));
	if (fd < 0)
		ray_live_add(l, "-");
	else
		ray_operation_number(l, f, "fd");
	if (ray_fact_number(f, "sync"))
		ray_live_add(l, "sync");
	else if (ray_fact_number(f, "wait"))
		ray_operation_time(l, f, "wait");
	else
		ray_live_add(l, "-");
	ray_operation_time(l, f, "run");
	ray_operation_time(l, f, "total");
	if (result < 0)
		ray_live_add(l, ray_view_uv_error(result, name));
	else
		ray_operation_number(l, f, "result");
	if (ray_fact_number(f, "request"))
		ray_operation_number(l, f, "request");
	else
		ray_live_add(l, "-");
	ray_live_printf(l, "%s%s%s", *path ? path : "-", *to ? " -> " : "", to);
}

static void describe(struct ray_text *o, const struct ray_fact *f)
{
	int64_t result = ray_fact_number(f, "result"), fd = ray_fact_number(f, "fd");
	char name[24];

	ray_operation_json_text(o, "op", f, "op");
	ray_operation_json_text(o, "path", f, "path");
	if (*ray_fact_text(f, "to"))
		ray_operation_json_text(o, "new_path", f, "to");
	if (fd < 0)
		ray_json_line_null(o, "fd");
	else
		ray_json_line_integer(o, "fd", fd);
	ray_json_line_boolean(o, "sync", ray_fact_number(f, "sync"));
	ray_operation_json_ms(o, "wait_ms", f, "wait");
	ray_operation_json_ms(o, "run_ms", f, "run");
	ray_operation_json_ms(o, "total_ms", f, "total");
	ray_operation_json_number(o, "result", f, "result");
	ray_json_line_text(o, "error", ray_view_uv_error(result, name));
	ray_operation_json_number(o, "request", f, "request");
}

const struct ray_operations_kind ray_operations_fs = {
	.verb = "fs",
	.columns = columns,
	.column_count = RAY_COUNT(columns),
	.usual = "time,pid,op,wait,run,result,path",
	.subject = "path",
	.title = "PATH",
	.has_waits = true,
	.has_bytes = true,
	.add = add,
	.describe = describe,
};
