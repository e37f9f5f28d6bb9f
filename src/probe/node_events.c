/* node_events.c - see node_events.h. SPDX-License-Identifier: MIT
 *
 * What argN holds is what the handler puts there (kern/node_*.bpf.h). Those of http-*-request, http-*-response, net-* and gc-* begin
 * as node's own probes of old did, so that old scripts run. */
#include "probe/node_events.h"

#define REQUEST(n)                                                                    \
	{                                                                             \
		"node_http_request_t *", "request", n, "struct node_native_request *" \
	}
#define CONNECTION(n)                                                                     \
	{                                                                                 \
		"node_connection_t *", "connection", n, "struct node_native_connection *" \
	}
#define RESPONSE(n)                                                                      \
	{                                                                                \
		"node_http_response_t *", "response", n, "struct node_native_response *" \
	}
#define NATIVE(n, type, name)                                                 \
	{                                                                     \
		"node_" type "_t *", name, n, "struct node_native_" type " *" \
	}
#define STRING(n, name)                 \
	{                               \
		"string", name, n, NULL \
	}
#define INT(n, name)                 \
	{                            \
		"int", name, n, NULL \
	}
#define WORD(n, name)                     \
	{                                 \
		"uint64_t", name, n, NULL \
	}

#define ROW(event, group, ...)                   \
	[RAY_EVENT_##event] = { group,           \
				{ __VA_ARGS__ }, \
				sizeof((struct ray_probe_arg[]){ __VA_ARGS__ }) / sizeof(struct ray_probe_arg) }

#define HTTP_REQUEST                                                                                            \
	REQUEST(0), CONNECTION(1), STRING(2, "address"), INT(3, "port"), STRING(4, "method"), STRING(5, "url"), \
		INT(6, "fd"), WORD(7, "id")
#define HTTP_RESPONSE                                                                                       \
	CONNECTION(0), STRING(1, "address"), INT(2, "port"), INT(3, "fd"), INT(4, "status"), WORD(5, "id"), \
		REQUEST(6), RESPONSE(7)
#define NET CONNECTION(0), STRING(1, "address"), INT(2, "port"), INT(3, "fd")
#define NET_BYTES                                                                                                  \
	CONNECTION(0), WORD(1, "bytes"), STRING(2, "address"), INT(3, "port"), INT(4, "fd"), WORD(5, "requestId"), \
		INT(6, "result")

/* clang-format off */
const struct ray_node_event_row ray_node_events[RAY_NODE_EVENT_COUNT] = {
	ROW(HTTP_SERVER_REQUEST, "http", HTTP_REQUEST),
	ROW(HTTP_SERVER_RESPONSE_START, "http", HTTP_RESPONSE),
	ROW(HTTP_SERVER_RESPONSE, "http", HTTP_RESPONSE),
	ROW(HTTP_SERVER_ABORT, "http", HTTP_RESPONSE),
	ROW(HTTP_CLIENT_REQUEST, "http", HTTP_REQUEST),
	ROW(HTTP_CLIENT_RESPONSE_START, "http", HTTP_RESPONSE),
	ROW(HTTP_CLIENT_RESPONSE, "http", HTTP_RESPONSE),
	ROW(HTTP_CLIENT_ABORT, "http", HTTP_RESPONSE),
	ROW(HTTP2_STREAM_OPEN, "http2", NATIVE(0, "http2", "stream"), CONNECTION(1), REQUEST(2)),
	ROW(HTTP2_STREAM_CLOSE, "http2", NATIVE(0, "http2", "stream"), CONNECTION(1), REQUEST(2)),
	ROW(NET_SERVER_CONNECTION, "net", NET, WORD(4, "requestId")),
	ROW(NET_CLIENT_CONNECT, "net", NET, INT(4, "result"), WORD(5, "latency"), WORD(6, "requestId")),
	ROW(NET_SOCKET_READ, "net", NET_BYTES),
	ROW(NET_SOCKET_WRITE, "net", NET_BYTES),
	ROW(NET_STREAM_END, "net", NET, WORD(4, "requestId")),
	ROW(NET_STREAM_CLOSE, "net", NET, WORD(4, "requestId")),
	ROW(TLS_READ, "tls", CONNECTION(0), WORD(1, "buffer"), WORD(2, "bytes")),
	ROW(TLS_WRITE, "tls", CONNECTION(0), WORD(1, "buffer"), WORD(2, "bytes")),
	ROW(GC_START, "gc", INT(0, "type"), INT(1, "flags"), NATIVE(2, "gc", "gc")),
	ROW(GC_DONE, "gc", INT(0, "type"), INT(1, "flags"), NATIVE(2, "gc", "gc")),
	ROW(LOOP_START, "loop", NATIVE(0, "loop", "loop")),
	ROW(LOOP_DONE, "loop", NATIVE(0, "loop", "loop")),
	ROW(LOOP_PHASE_START, "loop", NATIVE(0, "loop", "loop")),
	ROW(LOOP_PHASE_DONE, "loop", NATIVE(0, "loop", "loop")),
	ROW(CALLBACK_START, "loop", NATIVE(0, "callback", "callback")),
	ROW(CALLBACK_DONE, "loop", NATIVE(0, "callback", "callback")),
	ROW(TIMER_FIRE, "loop", WORD(0, "timer"), WORD(1, "late")),
	ROW(FS_START, "fs", NATIVE(0, "fs", "fs")),
	ROW(FS_DONE, "fs", NATIVE(0, "fs", "fs")),
	ROW(DNS_START, "dns", NATIVE(0, "dns", "dns")),
	ROW(DNS_DONE, "dns", NATIVE(0, "dns", "dns")),
	ROW(WORK_SUBMIT, "work", NATIVE(0, "work", "work")),
	ROW(WORK_START, "work", NATIVE(0, "work", "work")),
	ROW(WORK_DONE, "work", NATIVE(0, "work", "work")),
	ROW(WORKER_START, "worker", NATIVE(0, "worker", "worker")),
	ROW(WORKER_EXIT, "worker", NATIVE(0, "worker", "worker")),
	ROW(EXCEPTION_THROW, "exception", STRING(0, "message"), WORD(1, "object")),
	ROW(PROCESS_EXIT, "process", INT(0, "code")),
};
/* clang-format on */
