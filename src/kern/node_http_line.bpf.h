/* node_http_line.bpf.h - the first line of a message of HTTP/1, and how lines are put together. SPDX-License-Identifier: MIT
 *
 * A line's start that came in pieces is put together in the stream's carry: 32 bytes tell what any line is that matters. */
#ifndef RAY_KERN_NODE_HTTP_LINE_BPF_H
#define RAY_KERN_NODE_HTTP_LINE_BPF_H

#include "kern/node_http_base.bpf.h"

/* ---- a line's start, put together ---- */

/* Bytes of it that are in the carry now. */
static __always_inline __u64 ray_http_gather(struct ray_http_loop *c, struct ray_node_window *w)
{
	struct ray_node_stream *stream = c->stream;
	__u64 have = stream->carried, at = w->at, rest = w->end - at;

	if (at >= RAY_NODE_WINDOW)
		return 0;
	if (!have) {
		for (int i = 0; i < 4; i++)
			ray_word_put(&stream->carry[8 * i], ray_word_at(&w->bytes[at + 8 * i]));
		return rest < 32 ? rest : 32;
	}
	if (have >= 32)
		return 32;
	if (rest > 32 - have)
		rest = 32 - have;
	RAY_OPAQUE(rest);
	if (rest > 32)
		return 0;
	bpf_probe_read_kernel((char *)stream + __builtin_offsetof(struct ray_node_stream, carry) + have, rest,
			      &w->bytes[at]);
	return have + rest;
}

/* used bytes of the carry are understood; more than lie in it when nothing was carried over. */
static __always_inline void ray_http_use(struct ray_http_loop *c, struct ray_node_window *w, __u64 used)
{
	ray_http_take(c, w, used - c->stream->carried);
	c->stream->carried = 0;
}

/* n bytes do not tell yet what it is. */
static __always_inline void ray_http_wait(struct ray_http_loop *c, struct ray_node_window *w, __u64 n)
{
	struct ray_node_stream *stream = c->stream;

	if (!stream->carried && stream->state == RAY_HTTP_START)
		stream->start = ray_node_now(c->s);
	ray_http_take(c, w, n - stream->carried);
	stream->carried = n;
}

#define RAY_CARRY_WORD(stream, i) ray_word_at(&(stream)->carry[8 * (i)])

/* ---- the first line ---- */

/* It is no message of HTTP/1; or a chunk is none, then the end of the message is not known. */
static __always_inline void ray_http_do_lost(struct ray_http_loop *c)
{
	struct ray_node_stream *stream = c->stream;
	struct ray_node_conn *conn = c->conn;
	__u64 number = stream->number, known = RAY_CONN_IS_SERVER | RAY_CONN_IS_CLIENT;

	stream->carried = 0;
	if (stream->state == RAY_HTTP_OPAQUE)
		return;
	stream->state = (conn->flags & RAY_CONN_IS_FRESH) && !(conn->flags & known) ? RAY_HTTP_OPAQUE :
										      RAY_HTTP_UNKNOWN;
	stream->number = 0;
	if (!(stream->flags & RAY_HTTP_IS_RESPONSE)) {
		if (number && number == conn->next)
			ray_pending_free(conn, number);
		return;
	}
	if (!number)
		return;
	ray_node_dropped();
	ray_pending_free(conn, number);
	conn->first = number + 1;
}

static __noinline void ray_http_lost_call(struct ray_http_loop *c)
{
	ray_http_do_lost(c);
	RAY_NOTHING();
}

static __always_inline void ray_http_lost(struct ray_http_loop *c)
{
	RAY_FORGET();
	ray_http_lost_call(c);
}

/* A message begins that this connection can have; 0: it cannot, or nobody wants to know. */
static __always_inline int ray_http_message(struct ray_http_loop *c, __u32 flags)
{
	struct ray_node_stream *stream = c->stream;
	struct ray_node_conn *conn = c->conn;
	int is_response = flags & RAY_HTTP_IS_RESPONSE;
	__u64 role = is_response ? (c->is_out ? RAY_CONN_IS_SERVER : RAY_CONN_IS_CLIENT) :
				   (c->is_out ? RAY_CONN_IS_CLIENT : RAY_CONN_IS_SERVER);

	if (conn->flags & (RAY_CONN_IS_SERVER | RAY_CONN_IS_CLIENT) & ~role)
		return 0;
	if (!RAY_WATCHED(role == RAY_CONN_IS_SERVER ? RAY_BITS_SERVER | RAY_BITS_CARRY : RAY_BITS_CLIENT)) {
		ray_http_set_both(conn, RAY_HTTP_OPAQUE);
		return 0;
	}
	if (!stream->carried)
		stream->start = ray_node_now(c->s);
	stream->flags = flags;
	stream->bytes = stream->carried;
	stream->body = stream->left = 0;
	if (is_response) {
		stream->number = conn->first < conn->next ? conn->first : 0;
	} else {
		stream->number = conn->next;
		ray_pending_new(c, conn->next);
	}
	return 1;
}

static __always_inline void ray_http_status_line(struct ray_http_loop *c, struct ray_node_window *w, __u64 n)
{
	struct ray_node_stream *stream = c->stream;
	__u32 a = stream->carry[9] - '0', b = stream->carry[10] - '0', d = stream->carry[11] - '0';

	if (n < 12) {
		ray_http_wait(c, w, n);
		return;
	}
	if (a > 9 || b > 9 || d > 9 || stream->carry[8] != ' ' || !ray_http_message(c, RAY_HTTP_IS_RESPONSE)) {
		ray_http_lost(c);
		return;
	}
	stream->status = a * 100 + b * 10 + d;
	stream->version = 10 + (stream->carry[7] - '0');
	ray_http_use(c, w, 12);
	stream->state = RAY_HTTP_SKIP;
	stream->next = RAY_HTTP_NAME;
}

/* Methods that node's parser knows: it refuses a request with another one, so that is none. a, b: the name as two words. */
static __always_inline int ray_http_is_method(__u64 a, __u64 b)
{
	switch (a) {
	case RAY_WORD('D', 'E', 'L', 'E', 'T', 'E', 0, 0):
	case RAY_WORD('G', 'E', 'T', 0, 0, 0, 0, 0):
	case RAY_WORD('H', 'E', 'A', 'D', 0, 0, 0, 0):
	case RAY_WORD('P', 'O', 'S', 'T', 0, 0, 0, 0):
	case RAY_WORD('P', 'U', 'T', 0, 0, 0, 0, 0):
	case RAY_WORD('C', 'O', 'N', 'N', 'E', 'C', 'T', 0):
	case RAY_WORD('O', 'P', 'T', 'I', 'O', 'N', 'S', 0):
	case RAY_WORD('T', 'R', 'A', 'C', 'E', 0, 0, 0):
	case RAY_WORD('C', 'O', 'P', 'Y', 0, 0, 0, 0):
	case RAY_WORD('L', 'O', 'C', 'K', 0, 0, 0, 0):
	case RAY_WORD('M', 'K', 'C', 'O', 'L', 0, 0, 0):
	case RAY_WORD('M', 'O', 'V', 'E', 0, 0, 0, 0):
	case RAY_WORD('P', 'R', 'O', 'P', 'F', 'I', 'N', 'D'):
	case RAY_WORD('S', 'E', 'A', 'R', 'C', 'H', 0, 0):
	case RAY_WORD('U', 'N', 'L', 'O', 'C', 'K', 0, 0):
	case RAY_WORD('B', 'I', 'N', 'D', 0, 0, 0, 0):
	case RAY_WORD('R', 'E', 'B', 'I', 'N', 'D', 0, 0):
	case RAY_WORD('U', 'N', 'B', 'I', 'N', 'D', 0, 0):
	case RAY_WORD('A', 'C', 'L', 0, 0, 0, 0, 0):
	case RAY_WORD('R', 'E', 'P', 'O', 'R', 'T', 0, 0):
	case RAY_WORD('C', 'H', 'E', 'C', 'K', 'O', 'U', 'T'):
	case RAY_WORD('M', 'E', 'R', 'G', 'E', 0, 0, 0):
	case RAY_WORD('M', '-', 'S', 'E', 'A', 'R', 'C', 'H'):
	case RAY_WORD('N', 'O', 'T', 'I', 'F', 'Y', 0, 0):
	case RAY_WORD('P', 'A', 'T', 'C', 'H', 0, 0, 0):
	case RAY_WORD('P', 'U', 'R', 'G', 'E', 0, 0, 0):
	case RAY_WORD('L', 'I', 'N', 'K', 0, 0, 0, 0):
	case RAY_WORD('U', 'N', 'L', 'I', 'N', 'K', 0, 0):
	case RAY_WORD('S', 'O', 'U', 'R', 'C', 'E', 0, 0):
	case RAY_WORD('Q', 'U', 'E', 'R', 'Y', 0, 0, 0):
	case RAY_WORD('P', 'R', 'I', 0, 0, 0, 0, 0):
		return !b;
	case RAY_WORD('P', 'R', 'O', 'P', 'P', 'A', 'T', 'C'):
		return b == RAY_WORD('H', 0, 0, 0, 0, 0, 0, 0);
	case RAY_WORD('M', 'K', 'A', 'C', 'T', 'I', 'V', 'I'):
		return b == RAY_WORD('T', 'Y', 0, 0, 0, 0, 0, 0);
	case RAY_WORD('S', 'U', 'B', 'S', 'C', 'R', 'I', 'B'):
		return b == RAY_WORD('E', 0, 0, 0, 0, 0, 0, 0);
	case RAY_WORD('U', 'N', 'S', 'U', 'B', 'S', 'C', 'R'):
		return b == RAY_WORD('I', 'B', 'E', 0, 0, 0, 0, 0);
	case RAY_WORD('M', 'K', 'C', 'A', 'L', 'E', 'N', 'D'):
		return b == RAY_WORD('A', 'R', 0, 0, 0, 0, 0, 0);
	}
	return 0;
}

/* Letters, - and _: a client may send any. */
static __always_inline int ray_http_is_token(const struct ray_node_stream *stream, __u64 length)
{
	for (int i = 0; i < RAY_NODE_METHOD - 1; i++) {
		__u8 byte = stream->carry[i], low = byte | 0x20;

		if ((__u64)i < length && (low < 'a' || low > 'z') && byte != '-' && byte != '_')
			return 0;
	}
	return 1;
}

static __always_inline int ray_http_can_be_method(const struct ray_http_loop *c, __u64 length)
{
	__u64 a = RAY_CARRY_WORD(c->stream, 0), b = RAY_CARRY_WORD(c->stream, 1);

	if (length < 8) {
		a &= RAY_FIRST_BYTES(length);
		b = 0;
	} else if (length < 16) {
		b &= RAY_FIRST_BYTES(length - 8);
	}
	return (length < 16 && ray_http_is_method(a, b)) || (c->is_out && ray_http_is_token(c->stream, length));
}

static __always_inline void ray_http_method(struct ray_http_loop *c, struct ray_node_window *w, __u64 length)
{
	struct ray_node_stream *stream = c->stream;
	struct ray_node_pending *pending;
	__u64 word = RAY_CARRY_WORD(stream, 0);
	__u32 flags = 0;

	if ((word & RAY_FIRST_BYTES(5)) == RAY_WORD('H', 'E', 'A', 'D', ' ', 0, 0, 0))
		flags = RAY_HTTP_IS_HEAD;
	else if (word == RAY_WORD('C', 'O', 'N', 'N', 'E', 'C', 'T', ' '))
		flags = RAY_HTTP_IS_CONNECT;
	if (!ray_http_can_be_method(c, length) || !ray_http_message(c, flags)) {
		ray_http_lost(c);
		return;
	}
	pending = ray_pending_get(c->conn, stream->number);
	/* Through memory: the verifier of 6.1 has learnt things of it that contradict each other. */
	stream->length = length;
	length = *(volatile __u64 *)&stream->length;
	if (pending && length < RAY_NODE_METHOD) {
		for (int i = 0; i < RAY_NODE_METHOD / 8; i++)
			ray_word_put(&pending->request.method[8 * i], RAY_CARRY_WORD(stream, i));
		pending->request.method[length] = 0;
	}
	ray_http_use(c, w, length + 1);
	stream->state = RAY_HTTP_URL;
	stream->length = 0;
}

/* The first space of the carry; 24: none in as many bytes. */
static __always_inline __u64 ray_http_space(const struct ray_node_stream *stream)
{
	__u64 marks;

	for (int i = 0; i < 3; i++) {
		marks = ray_word_marks(RAY_CARRY_WORD(stream, i), RAY_EACH_BYTE(' '));
		if (marks)
			return 8 * i + ray_word_place(marks);
	}
	return 24;
}

static __always_inline void ray_http_start(struct ray_http_loop *c)
{
	struct ray_node_window *w = ray_http_window(c->s);
	struct ray_node_stream *stream = c->stream;
	__u64 n = ray_http_gather(c, w), space;
	__u8 first = stream->carry[0];

	if (first == '\r' || first == '\n') {
		ray_http_use(c, w, 1); /* between messages, where it is ignored */
		return;
	}
	if ((RAY_CARRY_WORD(stream, 0) & RAY_FIRST_BYTES(7)) == RAY_WORD('H', 'T', 'T', 'P', '/', '1', '.', 0)) {
		ray_http_status_line(c, w, n);
		return;
	}
	space = ray_http_space(stream);
	if (space < n && space && space < RAY_NODE_METHOD && (first | 0x20) >= 'a' && (first | 0x20) <= 'z') {
		ray_http_method(c, w, space);
		return;
	}
	if (first == 0x16 && n > 1 && stream->carry[1] == 3) /* a record of TLS, in which hands are shaken */
		c->conn->connection.is_tls = 1;
	if (n >= 24 || (first | 0x20) < 'a' || (first | 0x20) > 'z')
		ray_http_lost(c);
	else
		ray_http_wait(c, w, n);
}

#endif
