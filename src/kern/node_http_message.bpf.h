/* node_http_message.bpf.h - from header to header, and what the end of a head and of a message of HTTP/1 means. SPDX-License-Identifier: MIT */
#ifndef RAY_KERN_NODE_HTTP_MESSAGE_BPF_H
#define RAY_KERN_NODE_HTTP_MESSAGE_BPF_H

#include "kern/node_http_head.bpf.h"
#include "kern/node_http_tell.bpf.h"

/* ---- the end of a head ---- */

/* How the body is delimited; 0: there is none. */
static __always_inline __u8 ray_http_body(const struct ray_node_stream *stream)
{
	if (stream->flags & RAY_HTTP_IS_CHUNKED)
		return RAY_HTTP_CHUNK;
	if ((stream->flags & (RAY_HTTP_IS_RESPONSE | RAY_HTTP_HAS_CODING)) ==
	    (RAY_HTTP_IS_RESPONSE | RAY_HTTP_HAS_CODING))
		return RAY_HTTP_UNTIL_CLOSE;
	if (stream->flags & RAY_HTTP_HAS_LENGTH)
		return stream->left ? RAY_HTTP_BODY : 0;
	return stream->flags & RAY_HTTP_IS_RESPONSE ? RAY_HTTP_UNTIL_CLOSE : 0;
}

static __always_inline void ray_http_enter_body(struct ray_node_stream *stream, __u8 body, __u8 after)
{
	stream->after = after;
	stream->state = body ? body : stream->flags & RAY_HTTP_IS_RESPONSE ? RAY_HTTP_DONE : after;
	if (body == RAY_HTTP_CHUNK)
		stream->left = stream->length = stream->word = 0;
}

static __always_inline __u64 ray_http_request_head_here(struct ray_http_loop *c)
{
	struct ray_node_stream *stream = c->stream;
	struct ray_node_conn *conn = c->conn;
	struct ray_node_pending *pending = ray_pending_get(conn, stream->number);
	__u32 upgrade = RAY_HTTP_HAS_UPGRADE | RAY_HTTP_WANTS_UPGRADE;
	int is_held = (stream->flags & RAY_HTTP_IS_CONNECT) || (stream->flags & upgrade) == upgrade;

	conn->flags |= c->is_out ? RAY_CONN_IS_CLIENT : RAY_CONN_IS_SERVER;
	conn->next++;
	ray_http_enter_body(stream, ray_http_body(stream), is_held ? RAY_HTTP_HOLD : RAY_HTTP_START);
	if (!pending)
		return 0;
	pending->request.id = ray_node_id();
	pending->request.start = ray_node_now(c->s);
	pending->request.version = stream->version;
	ray_http_set_current(c, pending->request.id);
	/* Only who is in the middle of it is asked for, not how it ends. */
	if (!c->is_out && !RAY_WATCHED(RAY_BITS_SERVER)) {
		ray_pending_free(conn, stream->number);
		conn->first = conn->next;
	}
	return ray_http_event(conn, RAY_EVENT_HTTP_SERVER_REQUEST);
}

static __always_inline __u64 ray_http_response_head_here(struct ray_http_loop *c)
{
	struct ray_node_stream *stream = c->stream;
	struct ray_node_conn *conn = c->conn;
	struct ray_node_stream *requests = c->is_out ? &conn->in : &conn->out;
	struct ray_node_pending *pending = ray_pending_get(conn, stream->number);
	__u32 status = stream->status, kind = 0;
	__u8 body = ray_http_body(stream);

	conn->flags |= c->is_out ? RAY_CONN_IS_SERVER : RAY_CONN_IS_CLIENT;
	if (status < 200 && status != 101) {
		stream->state = RAY_HTTP_START;
		return 0;
	}
	if (pending &&
	    (ray_word_at(pending->request.method) & RAY_FIRST_BYTES(5)) == RAY_WORD('H', 'E', 'A', 'D', 0, 0, 0, 0))
		kind = RAY_HTTP_IS_HEAD;
	if (pending && ray_word_at(pending->request.method) == RAY_WORD('C', 'O', 'N', 'N', 'E', 'C', 'T', 0))
		kind = RAY_HTTP_IS_CONNECT;
	if (kind == RAY_HTTP_IS_HEAD || status == 204 || status == 304)
		body = 0;
	if (status == 101 || (kind == RAY_HTTP_IS_CONNECT && status < 300)) {
		body = 0;
		requests->state = RAY_HTTP_OPAQUE;
		ray_http_enter_body(stream, 0, RAY_HTTP_OPAQUE);
	} else {
		/* A request to upgrade was refused: what came behind it was HTTP, and is lost if it came before the answer. */
		if (requests->state == RAY_HTTP_HOLD)
			requests->state = requests->left ? RAY_HTTP_UNKNOWN : RAY_HTTP_START;
		ray_http_enter_body(stream, body, body == RAY_HTTP_UNTIL_CLOSE ? RAY_HTTP_OPAQUE : RAY_HTTP_START);
	}
	return pending ? ray_http_event(conn, RAY_EVENT_HTTP_SERVER_RESPONSE_START) : 0;
}

/* A request is over. */
static __always_inline void ray_http_answered(struct ray_node_conn *conn, struct ray_node_stream *stream)
{
	if (stream->number) {
		ray_pending_free(conn, stream->number);
		conn->first = stream->number + 1;
	}
	stream->number = 0;
}

/* A message is complete. */
static __always_inline __u64 ray_http_done_here(struct ray_http_loop *c)
{
	struct ray_node_stream *stream = c->stream;
	struct ray_node_conn *conn = c->conn;
	struct ray_node_pending *pending = ray_pending_get(conn, stream->number);
	__u64 event = 0;

	stream->state = stream->after;
	stream->left = 0;
	if (!(stream->flags & RAY_HTTP_IS_RESPONSE)) {
		if (pending)
			pending->body = stream->body;
		return 0;
	}
	if (pending)
		event = ray_http_event(conn, RAY_EVENT_HTTP_SERVER_RESPONSE);
	if (!event)
		ray_http_answered(conn, stream);
	return event;
}

/* The same as functions, for the parser that goes step by step: its code is large enough. Where heads are plain a call would cost more. The end of a
 * request's head is none: 6.1 gives all frames together 512 bytes. */
static __noinline __u64 ray_http_response_head(struct ray_http_loop *c)
{
	return ray_http_response_head_here(c);
}

static __noinline __u64 ray_http_done(struct ray_http_loop *c)
{
	return ray_http_done_here(c);
}

static __always_inline __u64 ray_http_head_end(struct ray_http_loop *c)
{
	struct ray_node_stream *stream = c->stream;

	if (stream->flags & RAY_HTTP_IN_TRAILERS) {
		stream->state = RAY_HTTP_DONE;
		return 0;
	}
	RAY_FORGET();
	return stream->flags & RAY_HTTP_IS_RESPONSE ? ray_http_response_head(c) : ray_http_request_head_here(c);
}

/* A header of ours: its value is next. */
static __always_inline void ray_http_enter_value(struct ray_http_loop *c, struct ray_node_window *w, __u64 used,
						 __u8 field)
{
	struct ray_node_stream *stream = c->stream;
	__u8 state = stream->next;
	__u64 at;

	ray_http_use(c, w, used);
	at = w->at;
	RAY_OPAQUE(at);
	stream->state = state;
	stream->next = RAY_HTTP_NAME;
	stream->field = field;
	stream->length = stream->word = 0;
	if (state == RAY_HTTP_LENGTH) {
		stream->left = 0;
		stream->flags |= RAY_HTTP_HAS_LENGTH;
	} else if (state == RAY_HTTP_CODING) {
		stream->flags |= RAY_HTTP_HAS_CODING;
	} else if (state == RAY_HTTP_VALUE && !ray_http_value_begin(c, field)) {
		stream->state = RAY_HTTP_SKIP;
	} else if (at < w->end && at < RAY_NODE_WINDOW && w->bytes[at] == ' ') {
		ray_http_take(c, w, 1); /* as nearly always */
	}
}

static __always_inline void ray_http_skip_line(struct ray_http_loop *c)
{
	struct ray_node_window *w = ray_http_window(c->s);
	__u64 n = ray_http_find(w, w->at, RAY_EACH_BYTE('\n'));
	int is_end = n < 64 && n < w->end - w->at;

	ray_http_take(c, w, is_end ? n + 1 : n);
	if (is_end)
		c->stream->state = c->stream->next;
}

/* Whether a line is worth a closer look, by its first nine bytes. */
static __always_inline int ray_http_may_be_ours(const struct ray_node_stream *stream, __u64 start, __u8 ninth)
{
	__u64 low = RAY_LOWER(start);
	__u8 first = start;

	if (first == '\r' || first == '\n' || low == RAY_WORD('t', 'r', 'a', 'n', 's', 'f', 'e', 'r'))
		return 1;
	if (low == RAY_WORD('c', 'o', 'n', 't', 'e', 'n', 't', '-'))
		return (ninth | 0x20) == 'l';
	if (stream->flags & RAY_HTTP_IS_RESPONSE)
		return 0;
	return (low & RAY_FIRST_BYTES(5)) == RAY_WORD('h', 'o', 's', 't', ':', 0, 0, 0) ||
	       low == RAY_WORD('u', 's', 'e', 'r', '-', 'a', 'g', 'e') ||
	       low == RAY_WORD('u', 'p', 'g', 'r', 'a', 'd', 'e', ':') ||
	       low == RAY_WORD('x', '-', 'f', 'o', 'r', 'w', 'a', 'r') ||
	       low == RAY_WORD('c', 'o', 'n', 'n', 'e', 'c', 't', 'i');
}

/* Passes over lines that are not, a few at once. */
static __always_inline void ray_http_pass(struct ray_http_loop *c, struct ray_node_window *w)
{
	struct ray_node_stream *stream = c->stream;
	__u64 at = w->at, end = w->end, start = at, n;

	for (int i = 0; i < 4; i++) {
		at ^= w->zero; /* whatever was found out about it is forgotten, else each way here is followed */
		RAY_OPAQUE(at);
		if (at >= RAY_NODE_WINDOW || at + 9 > end ||
		    ray_http_may_be_ours(stream, ray_word_at(&w->bytes[at]), w->bytes[at + 8]))
			break;
		n = ray_http_find(w, at, RAY_EACH_BYTE('\n'));
		at += n;
		if (n >= 64 || at >= end) {
			stream->state = RAY_HTTP_SKIP;
			stream->next = RAY_HTTP_NAME;
			break;
		}
		at++;
	}
	ray_http_take(c, w, at - start);
}

static __always_inline __u64 ray_http_name(struct ray_http_loop *c)
{
	struct ray_node_window *w = ray_http_window(c->s);
	struct ray_node_stream *stream = c->stream;
	__u64 n, used, seen;
	__u8 field = 0;

	if (!stream->carried)
		ray_http_pass(c, w);
	if (stream->state != RAY_HTTP_NAME || w->at >= w->end)
		return 0;
	n = ray_http_gather(c, w);
	if (stream->carry[0] == '\n' || (stream->carry[0] == '\r' && stream->carry[1] == '\n' && n > 1)) {
		ray_http_use(c, w, stream->carry[0] == '\n' ? 1 : 2);
		return ray_http_head_end(c);
	}
	used = stream->flags & RAY_HTTP_IN_TRAILERS ? 0 : ray_http_header(stream, &field);
	if (used && used <= n) {
		ray_http_enter_value(c, w, used, field);
		return 0;
	}
	seen = ray_word_marks(RAY_CARRY_WORD(stream, 0), RAY_EACH_BYTE(':')) |
	       ray_word_marks(RAY_CARRY_WORD(stream, 1), RAY_EACH_BYTE(':')) |
	       ray_word_marks(RAY_CARRY_WORD(stream, 2), RAY_EACH_BYTE(':')) |
	       ray_word_marks(RAY_CARRY_WORD(stream, 0), RAY_EACH_BYTE('\n')) |
	       ray_word_marks(RAY_CARRY_WORD(stream, 1), RAY_EACH_BYTE('\n')) |
	       ray_word_marks(RAY_CARRY_WORD(stream, 2), RAY_EACH_BYTE('\n'));
	if (n < 24 && !seen) {
		ray_http_wait(c, w, n);
		return 0;
	}
	/* Not ours. The line's end is not among the bytes of before, so the search goes on behind them. */
	stream->carried = 0;
	stream->state = RAY_HTTP_SKIP;
	stream->next = RAY_HTTP_NAME;
	ray_http_skip_line(c);
	return 0;
}

#endif
