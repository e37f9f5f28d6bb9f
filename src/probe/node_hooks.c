/* node_hooks.c - the table of hooks: which handler hangs where, for which events. See watch.h. SPDX-License-Identifier: MIT
 *
 * All knowledge of which function carries what in which node is here. Names are as mangled; * stands for the rest of one. */
#include "probe/watch.h"

#include <sys/syscall.h>

#include "base/error.h"

#define BIT(name) RAY_EVENT_BIT(name)

/* Of HTTP, whatever its version. */
#define HTTP_SERVER                                                                                                     \
	(BIT(HTTP_SERVER_REQUEST) | BIT(HTTP_SERVER_RESPONSE_START) | BIT(HTTP_SERVER_RESPONSE) | BIT(HTTP_SERVER_ABORT))
#define HTTP_CLIENT                                                                                                     \
	(BIT(HTTP_CLIENT_REQUEST) | BIT(HTTP_CLIENT_RESPONSE_START) | BIT(HTTP_CLIENT_RESPONSE) | BIT(HTTP_CLIENT_ABORT))
#define HTTP2 (BIT(HTTP2_STREAM_OPEN) | BIT(HTTP2_STREAM_CLOSE))

#define H2_LOSS "requests of HTTP/2"

#define HTTP2_CALLBACK(symbol) "_ZN4node5http212Http2Session" symbol

/* clang-format off */
const struct ray_hook ray_hooks[] = {
	/* HTTP/2: callbacks that node gives to nghttp2, and what it calls there */
	{ .handler = "ray_on_h2_header", .kind = RAY_SITE_UPROBE, .needed_by = HTTP2, .helps = HTTP_SERVER | HTTP_CLIENT, .loss = H2_LOSS,
	  .names = { HTTP2_CALLBACK("16OnHeaderCallbackEP15nghttp2_sessionPK13nghttp2_frameP13nghttp2_rcbufS8_hPv") } },
	{ .handler = "ray_on_h2_receive", .kind = RAY_SITE_UPROBE, .needed_by = HTTP2, .helps = HTTP_SERVER | HTTP_CLIENT, .loss = H2_LOSS,
	  .names = { HTTP2_CALLBACK("14OnFrameReceiveEP15nghttp2_sessionPK13nghttp2_framePv") } },
	{ .handler = "ray_on_h2_sent", .kind = RAY_SITE_UPROBE, .needed_by = HTTP2, .helps = HTTP_SERVER | HTTP_CLIENT, .loss = H2_LOSS,
	  .names = { HTTP2_CALLBACK("11OnFrameSentEP15nghttp2_sessionPK13nghttp2_framePv") } },
	{ .handler = "ray_on_h2_close", .kind = RAY_SITE_UPROBE, .needed_by = HTTP2, .helps = HTTP_SERVER | HTTP_CLIENT, .loss = H2_LOSS,
	  .names = { HTTP2_CALLBACK("13OnStreamCloseEP15nghttp2_sessionijPv") } },
	{ .handler = "ray_on_h2_respond", .kind = RAY_SITE_UPROBE, .needed_by = HTTP2, .helps = HTTP_SERVER, .loss = H2_LOSS,
	  .names = { "nghttp2_submit_response" } },
	{ .handler = "ray_on_h2_request", .kind = RAY_SITE_UPROBE, .needed_by = HTTP2, .helps = HTTP_CLIENT, .loss = H2_LOSS,
	  .names = { "nghttp2_submit_request" } },
	{ .handler = "ray_on_h2_request_return", .kind = RAY_SITE_URETPROBE, .needed_by = HTTP2, .helps = HTTP_CLIENT, .loss = H2_LOSS,
	  .names = { "nghttp2_submit_request" } },
	{ .handler = "ray_on_h2_delete", .kind = RAY_SITE_UPROBE, .helps = HTTP2 | HTTP_SERVER | HTTP_CLIENT,
	  .loss = "streams that end with their session", .names = { "nghttp2_session_del" } },
	{ .handler = "ray_on_exit", .kind = RAY_SITE_SYSCALL_ENTER, .number = SYS_exit_group, .needed_by = BIT(PROCESS_EXIT) },
};
/* clang-format on */

const size_t ray_hook_count = RAY_COUNT(ray_hooks);
