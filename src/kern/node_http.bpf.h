/* node_http.bpf.h - HTTP/1 as it passes by: both streams of a connection, followed byte for byte, and the requests and responses in them.
 * SPDX-License-Identifier: MIT
 *
 * Bytes come as the process gives and takes them, cut anywhere. What a message consists of is followed exactly; what it carries is not looked at: a body
 * is stepped over by its length. A window of the bytes is copied to the event area. Everything that changes lies in maps, so that the verifier
 * sees each step once.
 *
 * Knows no sockets: whoever has bytes (node_socket.bpf.h, TLS) sets up the cursor by ray_http_begin() and calls ray_http_go() until it returns 0. */
#ifndef RAY_KERN_NODE_HTTP_BPF_H
#define RAY_KERN_NODE_HTTP_BPF_H

#include "kern/node_http_direct.bpf.h"

/* ---- chunks ---- */

static __always_inline void ray_http_chunk_digit(struct ray_node_stream *stream, __u8 digit)
{
	stream->left = stream->left << 4 | digit;
	stream->length++;
}

/* The size is followed by the end of the line, or by an extension that nobody uses. */
static __always_inline void ray_http_chunk_byte(struct ray_http_loop *c, __u8 byte)
{
	struct ray_node_stream *stream = c->stream;
	__u8 low = byte | 0x20;

	if (byte == '\n' && stream->length && stream->length <= 16) {
		stream->state = stream->left ? RAY_HTTP_CHUNK_DATA : RAY_HTTP_NAME;
		if (stream->left)
			stream->left += 2;
		else
			stream->flags |= RAY_HTTP_IN_TRAILERS;
	} else if (stream->word && byte != '\n') {
		return;
	} else if (byte >= '0' && byte <= '9') {
		ray_http_chunk_digit(stream, byte - '0');
	} else if (low >= 'a' && low <= 'f') {
		ray_http_chunk_digit(stream, low - 'a' + 10);
	} else if (byte == '\r' || byte == ';' || byte == ' ' || byte == '\t') {
		stream->word = 1;
	} else {
		ray_http_lost(c);
	}
}

/* ---- one step ---- */

static __always_inline void ray_http_byte(struct ray_http_loop *c, __u8 byte)
{
	struct ray_node_stream *stream = c->stream;

	if (stream->state == RAY_HTTP_CHUNK)
		ray_http_chunk_byte(c, byte);
	else if (stream->state == RAY_HTTP_CODING)
		ray_http_coding_byte(stream, byte);
	else
		ray_http_connection_byte(stream, byte);
}

/* A few at once, as long as it is one value. */
static __always_inline void ray_http_bytes(struct ray_http_loop *c)
{
	struct ray_node_window *w = ray_http_window(c->s);
	__u8 state = c->stream->state;

	for (int i = 0; i < 8; i++) {
		__u64 at = w->at;

		if (at >= w->end || at >= RAY_NODE_WINDOW || c->stream->state != state)
			break;
		ray_http_take(c, w, 1);
		ray_http_byte(c, w->bytes[at]);
	}
}

static __always_inline int ray_http_is(const struct ray_http_loop *c, const struct ray_node_window *w, __u8 state)
{
	return c->stream->state == state && w->at < w->end;
}

/* Nothing can come of the call any more. */
static __always_inline int ray_http_is_over(const struct ray_http_loop *c, const struct ray_node_window *w)
{
	const __u64 *cursor = c->s->cursor;

	return w->at >= w->end && !cursor[RAY_AT_SIZE] && !cursor[RAY_AT_REST] && c->stream->state != RAY_HTTP_DONE;
}

/* As far as it goes on in this order: a short message needs a few steps only. */
static long ray_http_step(__u64 i, struct ray_http_loop *c)
{
	struct ray_node_window *w = ray_http_window(c->s);
	struct ray_node_stream *stream = c->stream;
	__u64 event = 0;

	(void)i;
	if (stream->state != RAY_HTTP_DONE && w->at >= w->end && ray_http_refill(c))
		return 1;
	if (ray_http_is(c, w, RAY_HTTP_START))
		ray_http_start(c);
	if (ray_http_is(c, w, RAY_HTTP_URL))
		ray_http_url(c);
	if (ray_http_is(c, w, RAY_HTTP_VERSION))
		ray_http_version(c);
	if (ray_http_is(c, w, RAY_HTTP_SKIP))
		ray_http_skip_line(c);
	if (ray_http_is(c, w, RAY_HTTP_NAME))
		event = ray_http_name(c);
	w->event = event;
	if (event)
		return 1;
	if (ray_http_is(c, w, RAY_HTTP_VALUE))
		ray_http_value(c);
	if (ray_http_is(c, w, RAY_HTTP_LENGTH))
		ray_http_length(c);
	if (w->at < w->end && stream->state >= RAY_HTTP_CODING && stream->state <= RAY_HTTP_CHUNK)
		ray_http_bytes(c);
	if (w->at < w->end && stream->state >= RAY_HTTP_BODY)
		w->at += ray_http_skip(stream, w->end - w->at);
	if (stream->state == RAY_HTTP_DONE) {
		RAY_FORGET();
		w->event = event = ray_http_done(c);
	}
	return event || ray_http_is_over(c, w);
}

/* ---- for those who have bytes ---- */

/* size bytes at address of the process were read or (RAY_AT_OUT) written; with vectors, address is that of as many struct iovec. key: the
 * connection's, in node_conns. */
static __always_inline void ray_http_begin(struct ray_slot *s, struct ray_node_conn *conn, __u64 flags, __u64 key,
					   __u64 address, __u64 size, __u64 vectors)
{
	struct ray_node_window *w = ray_http_window(s);

	s->cursor[RAY_AT_FLAGS] = flags;
	s->cursor[RAY_AT_KEY] = key;
	s->cursor[RAY_AT_ADDRESS] = address;
	s->cursor[RAY_AT_SIZE] = vectors ? 0 : size;
	s->cursor[RAY_AT_REST] = vectors ? size : 0;
	s->cursor[RAY_AT_VECTOR] = address;
	s->cursor[RAY_AT_VECTORS] = vectors;
	w->at = w->end = 0;
	w->now = 0;
	w->filled = 0;
	ray_http_try(flags & RAY_AT_OUT ? &conn->out : &conn->in);
}

/* The stream has ended: what lasts until then is complete. */
static __always_inline void ray_http_eof(struct ray_node_stream *stream)
{
	if (stream->state == RAY_HTTP_UNTIL_CLOSE)
		stream->state = RAY_HTTP_DONE;
}

/* What the last step found. The request is forgotten when that was its end. Called when the loop is over: it would be too deep in it. */
static __always_inline void ray_http_tell(struct ray_http_loop *c, __u64 event)
{
	__u64 number = c->stream->number;
	struct ray_node_pending *pending = ray_pending_get(c->conn, number);

	if (!pending)
		return;
	if (event == RAY_EVENT_HTTP_SERVER_REQUEST || event == RAY_EVENT_HTTP_CLIENT_REQUEST) {
		ray_http_tell_request(c, pending);
		return;
	}
	ray_http_tell_response(c, pending, number);
	if (event == RAY_EVENT_HTTP_SERVER_RESPONSE || event == RAY_EVENT_HTTP_CLIENT_RESPONSE)
		ray_http_answered(c->conn, c->stream);
}

/* Whether bytes that begin here are a plain head: then it is parsed now. */
static __always_inline int ray_http_is_plain(struct ray_http_loop *c, struct ray_node_window *w)
{
	__u64 *cursor = c->s->cursor, filled = w->filled;

	if (filled) {
		w->filled = 0;
		w->end = filled;
		cursor[RAY_AT_ADDRESS] += filled;
		cursor[RAY_AT_SIZE] -= filled;
		return w->is_plain;
	}
	return c->stream->state == RAY_HTTP_START && !c->stream->carried && w->at >= w->end && cursor[RAY_AT_SIZE] &&
	       !ray_http_refill(c) && ray_quick_parse(w);
}

static __always_inline void ray_http_loop_set(struct ray_http_loop *c, struct ray_slot *s, struct ray_node_conn *conn)
{
	c->s = s;
	c->conn = conn;
	c->is_out = s->cursor[RAY_AT_FLAGS] & RAY_AT_OUT;
	c->stream = ray_http_stream(conn, c->is_out);
	ray_http_window(s)->event = 0;
}

/* A plain head, if there is one: whether nothing is left to do but to tell w->event, if there is one. */
static __always_inline int ray_http_plain(struct ray_http_loop *c, struct ray_node_window *w)
{
	return ray_http_is_plain(c, w) && ray_http_quick(c) && (w->event || ray_http_is_over(c, w));
}

static __always_inline __u64 ray_http_told(struct ray_http_loop *c, const struct ray_node_window *w)
{
	__u64 event = w->event;

	if (!event)
		return 0;
	ray_http_tell(c, event);
	c->s->is_last = ray_http_is_over(c, w);
	return event;
}

/* The next event in the bytes that ray_http_begin() was told of; 0: no more. */
RAY_RUNTIME __u64 ray_http_go(__u64 slot, struct ray_node_conn *conn)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_window *w;
	struct ray_http_loop c;

	if (!s || !conn)
		return 0;
	ray_http_loop_set(&c, s, conn);
	w = ray_http_window(s);
	if (!ray_http_plain(&c, w))
		if (bpf_loop(RAY_HTTP_STEPS, ray_http_step, &c, 0) == RAY_HTTP_STEPS)
			ray_http_unreadable(&c);
	return ray_http_told(&c, w);
}

/* ---- the end of a connection ---- */

static long ray_http_end_step(__u64 i, struct ray_http_loop *c)
{
	struct ray_node_conn *conn = c->conn;
	__u64 number = conn->first;

	(void)i;
	if (number >= conn->next)
		return 1;
	if (ray_pending_get(conn, number))
		return 1;
	conn->first = number + 1;
	return 0;
}

static long ray_http_forget_step(__u64 i, struct ray_node_conn **conn)
{
	(void)i;
	if ((*conn)->first > (*conn)->next)
		return 1;
	ray_pending_free(*conn, (*conn)->first);
	(*conn)->first++;
	return 0;
}

/* Nobody is told of what was on its way, half a head included. */
static __always_inline void ray_http_forget(struct ray_node_conn *conn)
{
	bpf_loop(RAY_HTTP_STEPS, ray_http_forget_step, &conn, 0);
}

/* The connection is gone: the next request that has no answer, or not all of it; 0: no more, and nothing of it is left but the element itself. */
RAY_RUNTIME __u64 ray_http_end(__u64 slot, struct ray_node_conn *conn)
{
	struct ray_http_loop c = { .s = ray_slot_get(slot), .conn = conn };
	struct ray_node_pending *pending;
	__u64 event;

	if (!c.s || !conn)
		return 0;
	event = ray_http_event(conn, RAY_EVENT_HTTP_SERVER_ABORT);
	bpf_loop(RAY_HTTP_STEPS, ray_http_end_step, &c, 0);
	pending = event && conn->first < conn->next ? ray_pending_get(conn, conn->first) : (void *)0;
	if (!pending) {
		ray_http_forget(conn);
		return 0;
	}
	ray_http_tell_response(&c, pending, conn->first);
	ray_node_area(c.s)->response.aborted = 1;
	ray_pending_free(conn, conn->first);
	conn->first++;
	return event;
}

#endif
