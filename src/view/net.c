/* net.c - what `noderay net` shows of what happens on a socket. SPDX-License-Identifier: MIT */
#include <string.h>

#include "view/error_name.h"
#include "view/operations.h"

static const struct ray_live_column columns[] = {
	{ "time", "TIME", 15, RAY_ALIGN_LEFT, RAY_CUT_NEVER, "when it happened" },
	{ "pid", "PID", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "process" },
	{ "tid", "TID", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "thread" },
	{ "op", "OP", 7, RAY_ALIGN_LEFT, RAY_CUT_NEVER, "accept, connect, read, write, end or close" },
	{ "fd", "FD", 4, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "file descriptor" },
	{ "lport", "LPORT", 5, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "own port" },
	{ "rport", "RPORT", 5, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "port of the other end" },
	{ "bytes", "BYTES", 8, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "that were read or written" },
	{ "latency", "LATENCY", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "how long the connection took to be made" },
	{ "result", "RESULT", 12, RAY_ALIGN_LEFT, RAY_CUT_NEVER, "ok, or the error" },
	{ "request", "REQUEST", 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER, "number of the HTTP request it was done for" },
	{ "raddr", "RADDR", 16, RAY_ALIGN_LEFT, RAY_CUT_NEVER, "address of the other end" },
	{ "peer", "PEER", 0, RAY_ALIGN_LEFT, RAY_CUT_END, "the other end: address, or address and port, or path" },
};

static bool is_op(const struct ray_fact *f, const char *op)
{
	return !strcmp(ray_fact_text(f, "op"), op);
}

static bool has_bytes(const struct ray_fact *f)
{
	return is_op(f, "read") || is_op(f, "write");
}

static void add(struct ray_live *l, const struct ray_fact *f)
{
	char name[24];
	const char *error = ray_view_uv_error(ray_fact_number(f, "result"), name), *peer = ray_fact_text(f, "peer");

	ray_live_add(l, ray_fact_text(f, "op"));
	ray_operation_number(l, f, "fd");
	ray_operation_number(l, f, "lport");
	ray_operation_number(l, f, "rport");
	if (has_bytes(f))
		ray_operation_number(l, f, "bytes");
	else
		ray_live_add(l, "-");
	if (is_op(f, "connect"))
		ray_operation_time(l, f, "latency");
	else
		ray_live_add(l, "-");
	ray_live_add(l, error ? error : "ok");
	if (ray_fact_number(f, "request"))
		ray_operation_number(l, f, "request");
	else
		ray_live_add(l, "-");
	ray_live_add(l, ray_fact_text(f, "raddr"));
	ray_live_add(l, *peer ? peer : "-");
}

static void describe(struct ray_text *o, const struct ray_fact *f)
{
	int64_t result = ray_fact_number(f, "result");
	char name[24];

	ray_operation_json_text(o, "op", f, "op");
	ray_operation_json_number(o, "fd", f, "fd");
	ray_operation_json_text(o, "raddr", f, "raddr");
	ray_operation_json_number(o, "rport", f, "rport");
	ray_operation_json_number(o, "lport", f, "lport");
	if (has_bytes(f))
		ray_operation_json_number(o, "bytes", f, "bytes");
	else
		ray_json_line_null(o, "bytes");
	if (is_op(f, "connect"))
		ray_operation_json_ms(o, "latency_ms", f, "latency");
	else
		ray_json_line_null(o, "latency_ms");
	ray_operation_json_number(o, "result", f, "result");
	ray_json_line_text(o, "error", ray_view_uv_error(result, name));
	ray_json_line_boolean(o, "tls", ray_fact_number(f, "tls"));
	ray_operation_json_number(o, "request", f, "request");
}

const struct ray_operations_kind ray_operations_net = {
	.verb = "net",
	.columns = columns,
	.column_count = RAY_COUNT(columns),
	.usual = "time,pid,op,fd,bytes,latency,result,peer",
	.subject = "peer",
	.title = "PEER",
	.has_bytes = true,
	.add = add,
	.describe = describe,
};
