/* node_http_head.bpf.h - what a head of HTTP/1 holds: URL, version, headers that matter. SPDX-License-Identifier: MIT */
#ifndef RAY_KERN_NODE_HTTP_HEAD_BPF_H
#define RAY_KERN_NODE_HTTP_HEAD_BPF_H

#include "kern/node_http_line.bpf.h"

/* ---- texts that are kept ---- */

/* k bytes of the window, behind the stream->length that are there. */
static __always_inline void ray_http_append(struct ray_http_loop *c, struct ray_node_window *w, char *to, __u64 room,
					    __u64 k)
{
	__u64 have = c->stream->length, at = w->at;

	if (have >= room - 1 || at >= RAY_NODE_WINDOW)
		return;
	if (have < room - 64) { /* by words: what is too much does no harm there */
		for (__u64 i = 0; i < 8; i++)
			if (8 * i < k)
				ray_word_put(to + have + 8 * i, ray_word_at(&w->bytes[at + 8 * i]));
		return;
	}
	if (k > room - 1 - have)
		k = room - 1 - have;
	RAY_OPAQUE(k);
	if (k <= 64)
		bpf_probe_read_kernel(to + have, k, &w->bytes[at]);
}

/* The end of the line and blanks before it are no part of a value. How long it is. */
static __always_inline __u64 ray_http_terminate(struct ray_http_loop *c, char *to, __u64 room)
{
	__u64 length = c->stream->length;

	if (length > room)
		ray_node_was_cut();
	if (length > room - 1)
		length = room - 1;
	for (int i = 0; i < 4; i++) {
		__u64 last = length - 1;

		RAY_OPAQUE(last);
		if (last < room && (to[last] == '\r' || to[last] == ' ' || to[last] == '\t'))
			length = last;
	}
	RAY_OPAQUE(length);
	if (length < room)
		to[length] = 0;
	return length;
}

static __always_inline void ray_http_url(struct ray_http_loop *c)
{
	struct ray_node_window *w = ray_http_window(c->s);
	struct ray_node_stream *stream = c->stream;
	struct ray_node_pending *pending = ray_pending_get(c->conn, stream->number);
	__u64 n = ray_http_find(w, w->at, RAY_EACH_BYTE(' ')), length;
	int is_end = n < 64 && n < w->end - w->at;

	if (pending)
		ray_http_append(c, w, pending->request.url, RAY_NODE_URL, n);
	stream->length = length = stream->length + n;
	ray_http_take(c, w, is_end ? n + 1 : n);
	if (is_end)
		stream->state = RAY_HTTP_VERSION;
	else if (length > RAY_HTTP_URL_MAX)
		ray_http_lost(c);
	if (!is_end || !pending)
		return;
	pending->request.url_length = length;
	if (length > RAY_NODE_URL - 1) {
		ray_node_was_cut();
		length = RAY_NODE_URL - 1;
	}
	pending->request.url[length] = 0;
}

#define RAY_HTTP_1 RAY_WORD('H', 'T', 'T', 'P', '/', '1', '.', 0)

static __always_inline void ray_http_version(struct ray_http_loop *c)
{
	struct ray_node_window *w = ray_http_window(c->s);
	struct ray_node_stream *stream = c->stream;
	__u64 n = ray_http_gather(c, w), word, used;

	word = RAY_CARRY_WORD(stream, 0);
	used = stream->carry[8] == '\r' ? 10 : 9;
	if (n < used) {
		ray_http_wait(c, w, n);
		return;
	}
	if ((word & RAY_FIRST_BYTES(7)) == RAY_HTTP_1 && (used == 10 ? stream->carry[9] : stream->carry[8]) == '\n') {
		stream->version = 10 + (stream->carry[7] - '0');
		stream->state = RAY_HTTP_NAME;
		ray_http_use(c, w, used);
		return;
	}
	ray_http_lost(c);
	if (word != RAY_WORD('H', 'T', 'T', 'P', '/', '2', '.', '0'))
		return;
	ray_http_set_both(c->conn, RAY_HTTP_OPAQUE);
}

/* ---- headers ---- */

static __always_inline void ray_http_value_end(struct ray_http_loop *c, struct ray_node_pending *pending)
{
	struct ray_node_request *request = &pending->request;

	if (c->stream->field == RAY_FIELD_HOST)
		ray_http_terminate(c, request->host, RAY_NODE_HOST);
	else if (c->stream->field == RAY_FIELD_AGENT)
		ray_http_terminate(c, request->user_agent, RAY_NODE_AGENT);
	else
		pending->forwarded = ray_http_terminate(c, request->forwarded_for, RAY_NODE_FORWARDED);
}

static __always_inline void ray_http_value(struct ray_http_loop *c)
{
	struct ray_node_window *w = ray_http_window(c->s);
	struct ray_node_stream *stream = c->stream;
	struct ray_node_pending *pending = ray_pending_get(c->conn, stream->number);
	__u64 at = w->at, n;
	int is_end;

	if (at >= RAY_NODE_WINDOW)
		return;
	if (!stream->word && (w->bytes[at] == ' ' || w->bytes[at] == '\t')) {
		ray_http_take(c, w, 1);
		return;
	}
	stream->word = 1; /* blanks are part of it from now on */
	n = ray_http_find(w, at, RAY_EACH_BYTE('\n'));
	is_end = n < 64 && n < w->end - at;
	if (pending && stream->field == RAY_FIELD_HOST)
		ray_http_append(c, w, pending->request.host, RAY_NODE_HOST, n);
	else if (pending && stream->field == RAY_FIELD_AGENT)
		ray_http_append(c, w, pending->request.user_agent, RAY_NODE_AGENT, n);
	else if (pending)
		ray_http_append(c, w, pending->request.forwarded_for, RAY_NODE_FORWARDED, n);
	stream->length += n;
	ray_http_take(c, w, is_end ? n + 1 : n);
	if (!is_end)
		return;
	stream->state = RAY_HTTP_NAME;
	if (pending)
		ray_http_value_end(c, pending);
}

/* Of a header that comes again, node takes the first; of x-forwarded-for, all. 0: the value is not wanted. */
static __always_inline int ray_http_value_begin(struct ray_http_loop *c, __u8 field)
{
	struct ray_node_pending *pending = ray_pending_get(c->conn, c->stream->number);
	__u64 have;

	if (!pending)
		return 0;
	if (field == RAY_FIELD_HOST)
		return !pending->request.host[0];
	if (field == RAY_FIELD_AGENT)
		return !pending->request.user_agent[0];
	have = pending->forwarded;
	if (!have) {
		c->stream->length = 0;
		return 1;
	}
	RAY_OPAQUE(have);
	if (have < RAY_NODE_FORWARDED - 3) {
		pending->request.forwarded_for[have] = ',';
		pending->request.forwarded_for[have + 1] = ' ';
		have += 2;
	}
	c->stream->length = have;
	return 1;
}

/* Values that are understood, byte by byte: they are short. */
static __always_inline void ray_http_length(struct ray_http_loop *c)
{
	struct ray_node_window *w = ray_http_window(c->s);
	__u64 at = w->at, end = w->end, left = c->stream->left, taken = 0;
	__u8 byte = 0;

	for (int i = 0; i < 8 && byte != '\n'; i++) {
		RAY_OPAQUE(at);
		if (at >= end || at >= RAY_NODE_WINDOW)
			break;
		byte = w->bytes[at++];
		taken++;
		if (byte >= '0' && byte <= '9')
			left = left * 10 + (byte - '0');
	}
	c->stream->left = left;
	if (byte == '\n')
		c->stream->state = RAY_HTTP_NAME;
	ray_http_take(c, w, taken);
}

/* A token of a list: its last eight bytes, without blanks. */
static __always_inline int ray_http_token_ends(struct ray_node_stream *stream, __u8 byte)
{
	if (byte == '\n' || byte == ',')
		return 1;
	if (byte != ' ' && byte != '\t' && byte != '\r')
		stream->word = stream->word << 8 | (byte | 0x20);
	return 0;
}

#define RAY_TOKEN(a, b, c, d, e, f, g) RAY_WORD(g, f, e, d, c, b, a, 0)

/* Chunked counts when it is the last. */
static __always_inline void ray_http_coding_byte(struct ray_node_stream *stream, __u8 byte)
{
	if (!ray_http_token_ends(stream, byte))
		return;
	if (stream->word == RAY_TOKEN('c', 'h', 'u', 'n', 'k', 'e', 'd'))
		stream->flags |= RAY_HTTP_IS_CHUNKED;
	else
		stream->flags &= ~RAY_HTTP_IS_CHUNKED;
	stream->word = 0;
	if (byte == '\n')
		stream->state = RAY_HTTP_NAME;
}

static __always_inline void ray_http_connection_byte(struct ray_node_stream *stream, __u8 byte)
{
	if (!ray_http_token_ends(stream, byte))
		return;
	if (stream->word == RAY_TOKEN('u', 'p', 'g', 'r', 'a', 'd', 'e'))
		stream->flags |= RAY_HTTP_WANTS_UPGRADE;
	stream->word = 0;
	if (byte == '\n')
		stream->state = RAY_HTTP_NAME;
}

/* Length of the header's name with its colon if it is one of ours, and what to do with its value. */
static __always_inline __u64 ray_http_header(struct ray_node_stream *stream, __u8 *field)
{
	__u64 a = RAY_LOWER(RAY_CARRY_WORD(stream, 0)), b = RAY_LOWER(RAY_CARRY_WORD(stream, 1));

	if (a == RAY_WORD('c', 'o', 'n', 't', 'e', 'n', 't', '-')) {
		stream->next = RAY_HTTP_LENGTH;
		return (b & RAY_FIRST_BYTES(7)) == RAY_WORD('l', 'e', 'n', 'g', 't', 'h', ':', 0) ? 15 : 0;
	}
	if (a == RAY_WORD('t', 'r', 'a', 'n', 's', 'f', 'e', 'r')) {
		__u64 d = RAY_LOWER(RAY_CARRY_WORD(stream, 2)) & RAY_FIRST_BYTES(2);

		stream->next = RAY_HTTP_CODING;
		return b == RAY_WORD('-', 'e', 'n', 'c', 'o', 'd', 'i', 'n') &&
				       d == RAY_WORD('g', ':', 0, 0, 0, 0, 0, 0) ?
			       18 :
			       0;
	}
	if (stream->flags & RAY_HTTP_IS_RESPONSE)
		return 0;
	stream->next = RAY_HTTP_VALUE;
	if ((a & RAY_FIRST_BYTES(5)) == RAY_WORD('h', 'o', 's', 't', ':', 0, 0, 0)) {
		*field = RAY_FIELD_HOST;
		return 5;
	}
	if (a == RAY_WORD('u', 's', 'e', 'r', '-', 'a', 'g', 'e')) {
		*field = RAY_FIELD_AGENT;
		return (b & RAY_FIRST_BYTES(3)) == RAY_WORD('n', 't', ':', 0, 0, 0, 0, 0) ? 11 : 0;
	}
	if (a == RAY_WORD('x', '-', 'f', 'o', 'r', 'w', 'a', 'r')) {
		*field = RAY_FIELD_FORWARDED;
		return b == RAY_WORD('d', 'e', 'd', '-', 'f', 'o', 'r', ':') ? 16 : 0;
	}
	if (a == RAY_WORD('u', 'p', 'g', 'r', 'a', 'd', 'e', ':')) {
		stream->flags |= RAY_HTTP_HAS_UPGRADE;
		stream->next = RAY_HTTP_SKIP;
		return 8;
	}
	stream->next = RAY_HTTP_CONNECTION;
	return a == RAY_WORD('c', 'o', 'n', 'n', 'e', 'c', 't', 'i') &&
			       (b & RAY_FIRST_BYTES(3)) == RAY_WORD('o', 'n', ':', 0, 0, 0, 0, 0) ?
		       11 :
		       0;
}

#endif
