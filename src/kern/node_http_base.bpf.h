/* node_http_base.bpf.h - what the parser of HTTP/1 consists of: its states, the bytes of a call, the requests on their way.
 * SPDX-License-Identifier: MIT
 *
 * See node_http.bpf.h. Knows no syntax. */
#ifndef RAY_KERN_NODE_HTTP_BASE_BPF_H
#define RAY_KERN_NODE_HTTP_BASE_BPF_H

#include "kern/node.bpf.h"

enum ray_http_state {
	RAY_HTTP_START,
	RAY_HTTP_URL,
	RAY_HTTP_VERSION,
	RAY_HTTP_NAME,	     /* of a header; or the end of all */
	RAY_HTTP_VALUE,	     /* of one that is kept: field */
	RAY_HTTP_SKIP,	     /* up to the end of the line, then next */
	RAY_HTTP_LENGTH,     /* of content-length */
	RAY_HTTP_CODING,     /* of transfer-encoding */
	RAY_HTTP_CONNECTION, /* of connection */
	RAY_HTTP_CHUNK,	     /* the line with the size of one */
	RAY_HTTP_DONE,	     /* a response is complete: to be told; then after */
	/* Here bytes are only counted. */
	RAY_HTTP_BODY,
	RAY_HTTP_CHUNK_DATA,  /* with the end of line behind it */
	RAY_HTTP_UNTIL_CLOSE, /* a body that ends with the stream */
	RAY_HTTP_HOLD,	      /* behind a request to upgrade: the response says what it is */
	RAY_HTTP_UNKNOWN,     /* in the middle of something: a call whose bytes begin like a message gets us back */
	RAY_HTTP_OPAQUE,      /* never HTTP/1 (again) */
};

enum ray_http_field { RAY_FIELD_HOST, RAY_FIELD_AGENT, RAY_FIELD_FORWARDED };

/* stream->flags, all about the message that is read */
enum {
	RAY_HTTP_IS_RESPONSE = 1,
	RAY_HTTP_IS_CHUNKED = 2,
	RAY_HTTP_HAS_LENGTH = 4,
	RAY_HTTP_HAS_CODING = 8,
	RAY_HTTP_HAS_UPGRADE = 16,   /* the header */
	RAY_HTTP_WANTS_UPGRADE = 32, /* the word in connection */
	RAY_HTTP_IN_TRAILERS = 64,
	RAY_HTTP_IS_CONNECT = 128,
	RAY_HTTP_IS_HEAD = 256,
};

/* conn->flags */
enum {
	RAY_CONN_IS_FRESH = 1,	/* seen from its first byte on */
	RAY_CONN_IS_SERVER = 2, /* requests come in */
	RAY_CONN_IS_CLIENT = 4, /* requests go out; neither: no message yet */
	/* Of what is spoken over TLS (node_tls.bpf.h): its socket is known; there were bytes in clear; some were not taken yet */
	RAY_CONN_IS_SURE = 8,
	RAY_CONN_HAS_SPOKEN = 16,
	RAY_CONN_IS_WAITING = 32,
};

/* slot->cursor, between the events of one call */
enum {
	RAY_AT_FLAGS,	/* RAY_AT_* below */
	RAY_AT_ADDRESS, /* of bytes that are not yet in the window */
	RAY_AT_SIZE,	/* of them, in this buffer */
	RAY_AT_REST,	/* in the buffers after it */
	RAY_AT_VECTOR,	/* struct iovec of the next buffer */
	RAY_AT_VECTORS, /* how many */
	RAY_AT_PHASE,	/* whose turn it is: 0, nobody's; else as it likes that calls ray_http_go() */
	RAY_AT_KEY,	/* id in node_conns */
};
enum { RAY_AT_OUT = 1, RAY_AT_TLS = 2 };

enum { RAY_HTTP_STEPS = 1 << 20, RAY_HTTP_URL_MAX = 1 << 18 };

#define RAY_BITS_SERVER                                                                   \
	(RAY_EVENT_BIT(HTTP_SERVER_REQUEST) | RAY_EVENT_BIT(HTTP_SERVER_RESPONSE_START) | \
	 RAY_EVENT_BIT(HTTP_SERVER_RESPONSE) | RAY_EVENT_BIT(HTTP_SERVER_ABORT))
#define RAY_BITS_CLIENT                                                                   \
	(RAY_EVENT_BIT(HTTP_CLIENT_REQUEST) | RAY_EVENT_BIT(HTTP_CLIENT_RESPONSE_START) | \
	 RAY_EVENT_BIT(HTTP_CLIENT_RESPONSE) | RAY_EVENT_BIT(HTTP_CLIENT_ABORT))
/* Events that tell which request they happen for: then requests are followed though nobody asks for them. */
#define RAY_BITS_CARRY                                                                                               \
	(RAY_EVENT_BIT(NET_SERVER_CONNECTION) | RAY_EVENT_BIT(NET_CLIENT_CONNECT) | RAY_EVENT_BIT(NET_SOCKET_READ) | \
	 RAY_EVENT_BIT(NET_SOCKET_WRITE) | RAY_EVENT_BIT(NET_STREAM_END) | RAY_EVENT_BIT(NET_STREAM_CLOSE) |         \
	 RAY_EVENT_BIT(FS_START) | RAY_EVENT_BIT(FS_DONE) | RAY_EVENT_BIT(DNS_START) | RAY_EVENT_BIT(DNS_DONE) |     \
	 RAY_EVENT_BIT(WORK_SUBMIT) | RAY_EVENT_BIT(WORK_START) | RAY_EVENT_BIT(WORK_DONE))

struct ray_http_loop {
	struct ray_slot *s;
	struct ray_node_conn *conn;
	struct ray_node_stream *stream;
	__u64 is_out;
};

static __always_inline struct ray_node_window *ray_http_window(struct ray_slot *s)
{
	return &ray_node_area(s)->window;
}

/* When the call returned: the same for all that is told of it. */
static __always_inline __u64 ray_node_now(struct ray_slot *s)
{
	struct ray_node_window *w = ray_http_window(s);
	__u64 now = w->now;

	if (!now)
		w->now = now = bpf_ktime_get_ns();
	return now;
}

static __always_inline void ray_http_set_both(struct ray_node_conn *conn, __u8 state)
{
	conn->in.state = conn->out.state = state;
}

/* By arithmetic: with two ways to get there, the verifier follows the whole parser twice. */
static __always_inline struct ray_node_stream *ray_http_stream(struct ray_node_conn *conn, __u64 is_out)
{
	__u64 offset = (is_out & 1) * sizeof(struct ray_node_stream);

	RAY_OPAQUE(offset);
	return (struct ray_node_stream *)((char *)&conn->in + offset);
}

/* ---- words of eight bytes ---- */

/* Marks the bytes of word that are like those of pattern; the lowest mark is right, those above it may not be. */
static __always_inline __u64 ray_word_marks(__u64 word, __u64 pattern)
{
	__u64 x = word ^ pattern;

	return (x - 0x0101010101010101ULL) & ~x & 0x8080808080808080ULL;
}

/* Number of the byte with the lowest mark. */
static __always_inline __u64 ray_word_place(__u64 marks)
{
	return (((marks & -marks) >> 7) * 0x0001020304050607ULL) >> 56;
}

#define RAY_EACH_BYTE(c) (0x0101010101010101ULL * (__u8)(c))
#define RAY_LOWER(word) ((word) | 0x2020202020202020ULL)
#define RAY_FIRST_BYTES(n) ((1ULL << (8 * (n))) - 1)

/* How many bytes of the window lie between `at` and the next one like pattern's; at most 64, and no more than there are. */
static __always_inline __u64 ray_http_find(const struct ray_node_window *w, __u64 at, __u64 pattern)
{
	__u64 rest = w->end - at, found = 64, marks;

	if (at >= RAY_NODE_WINDOW)
		return 0;
	for (int i = 0; i < 8; i++) {
		marks = ray_word_marks(ray_word_at(&w->bytes[at + 8 * i]), pattern);
		if (marks) {
			found = 8 * i + ray_word_place(marks);
			break;
		}
	}
	return found < rest ? found : rest;
}

/* ---- the bytes of a call ---- */

/* Bytes of the stream are taken: n of the window. */
static __always_inline void ray_http_take(struct ray_http_loop *c, struct ray_node_window *w, __u64 n)
{
	w->at += n;
	c->stream->bytes += n;
}

/* Bytes that are not looked at; at most n. How many. */
static __always_inline __u64 ray_http_skip(struct ray_node_stream *stream, __u64 n)
{
	__u64 left = stream->left, data = left;

	if (stream->state >= RAY_HTTP_UNTIL_CLOSE) {
		stream->bytes += n;
		stream->body += n;
		return n;
	}
	if (n > left)
		n = left;
	if (stream->state == RAY_HTTP_CHUNK_DATA)
		data = left > 2 ? left - 2 : 0;
	stream->bytes += n;
	stream->body += n < data ? n : data;
	stream->left = left - n;
	if (n != left)
		return n;
	stream->length = stream->word = 0;
	stream->state = stream->state == RAY_HTTP_CHUNK_DATA ? RAY_HTTP_CHUNK : RAY_HTTP_DONE;
	return n;
}

/* The process cannot be read: what follows is not known. */
static __always_inline long ray_http_unreadable(struct ray_http_loop *c)
{
	ray_node_dropped();
	c->stream->state = RAY_HTTP_UNKNOWN;
	c->s->cursor[RAY_AT_SIZE] = c->s->cursor[RAY_AT_REST] = 0;
	return 1;
}

/* Where a message may begin: each buffer that node writes begins with one, or with what belongs to the last. */
static __always_inline void ray_http_try(struct ray_node_stream *stream)
{
	if (stream->state == RAY_HTTP_UNKNOWN)
		stream->state = RAY_HTTP_START;
}

static __always_inline long ray_http_next_buffer(struct ray_http_loop *c)
{
	__u64 *cursor = c->s->cursor;
	__u64 vector[2] = { 0, 0 };

	if (!cursor[RAY_AT_REST] || !cursor[RAY_AT_VECTORS])
		return 1;
	if (bpf_probe_read_user(vector, sizeof(vector), (void *)cursor[RAY_AT_VECTOR]))
		return ray_http_unreadable(c);
	cursor[RAY_AT_VECTOR] += sizeof(vector);
	cursor[RAY_AT_VECTORS]--;
	if (vector[1] > cursor[RAY_AT_REST])
		vector[1] = cursor[RAY_AT_REST];
	cursor[RAY_AT_ADDRESS] = vector[0];
	cursor[RAY_AT_SIZE] = vector[1];
	cursor[RAY_AT_REST] -= vector[1];
	ray_http_try(c->stream);
	return 0;
}

/* The window holds n bytes from address on; not 0: they cannot be read. */
static __always_inline long ray_http_fill(struct ray_node_window *w, __u64 address, __u64 n)
{
	if (bpf_probe_read_user(w->bytes, n, (void *)address))
		return 1;
	/* What is compared by words does not see the bytes of before. */
	for (int i = 0; i < 4; i++)
		ray_word_put(&w->bytes[n + 8 * i], 0);
	return 0;
}

/* The window is used up: fill it, or step over what need not be in it. 1: no more bytes. */
static __always_inline long ray_http_refill(struct ray_http_loop *c)
{
	struct ray_node_window *w = ray_http_window(c->s);
	__u64 *cursor = c->s->cursor;
	__u64 n = cursor[RAY_AT_SIZE];

	if (!n)
		return ray_http_next_buffer(c);
	if (c->stream->state >= RAY_HTTP_BODY) {
		n = ray_http_skip(c->stream, n);
	} else {
		if (n > RAY_NODE_WINDOW)
			n = RAY_NODE_WINDOW;
		if (ray_http_fill(w, cursor[RAY_AT_ADDRESS], n))
			return ray_http_unreadable(c);
		w->at = 0;
		w->end = n;
	}
	cursor[RAY_AT_ADDRESS] += n;
	cursor[RAY_AT_SIZE] -= n;
	return 0;
}

/* ---- requests on their way ---- */

static __always_inline struct ray_node_pending *ray_pending_get(struct ray_node_conn *conn, __u64 number)
{
	__u64 key;

	if (!number)
		return 0;
	if (conn->own_number == number)
		return &conn->own;
	if (number < conn->first)
		return 0;
	key = RAY_NODE_REQUEST_KEY(conn->connection.id, number);
	return bpf_map_lookup_elem(RAY_MAP(NODE_REQUESTS), &key);
}

static __always_inline void ray_pending_free(struct ray_node_conn *conn, __u64 number)
{
	__u64 key = RAY_NODE_REQUEST_KEY(conn->connection.id, number);

	if (conn->own_number == number)
		conn->own_number = 0;
	else
		bpf_map_delete_elem(RAY_MAP(NODE_REQUESTS), &key);
}

static __always_inline void ray_pending_clear(struct ray_node_pending *pending)
{
	pending->body = 0;
	pending->forwarded = 0;
	pending->request.id = 0;
	pending->request.url_length = 0;
	if (RAY_IS_READ(HOST))
		pending->request.host[0] = 0;
	if (RAY_IS_READ(AGENT))
		pending->request.user_agent[0] = 0;
	if (RAY_IS_READ(FORWARDED))
		pending->request.forwarded_for[0] = 0;
}

/* NULL: no room; it is counted. */
static __always_inline struct ray_node_pending *ray_pending_new(struct ray_http_loop *c, __u64 number)
{
	struct ray_node_conn *conn = c->conn;
	struct ray_node_pending *pending;
	__u64 key;

	if (!conn->own_number) {
		conn->own_number = number;
		pending = &conn->own;
	} else {
		key = RAY_NODE_REQUEST_KEY(conn->connection.id, number);
		/* With what happens to be there; see below. */
		bpf_map_update_elem(RAY_MAP(NODE_REQUESTS), &key, ray_node_area(c->s), BPF_ANY);
		pending = bpf_map_lookup_elem(RAY_MAP(NODE_REQUESTS), &key);
		if (!pending) {
			ray_node_dropped();
			return 0;
		}
	}
	ray_pending_clear(pending);
	return pending;
}

#endif
