/* node_http2_state.bpf.h - HTTP/2: nghttp2's structures, and the sessions and streams that are known.
 * SPDX-License-Identifier: MIT
 *
 * What happens to them is in node_http2.bpf.h. A session belongs to one thread, so nothing here is changed by two at once. */
#ifndef RAY_KERN_NODE_HTTP2_STATE_BPF_H
#define RAY_KERN_NODE_HTTP2_STATE_BPF_H

#include "kern/node_http_tell.bpf.h"

enum {
	RAY_H2_DATA = 0,
	RAY_H2_HEADERS = 1,
	RAY_H2_END_STREAM = 1,	 /* flag of a frame */
	RAY_H2_HEAD = 9,	 /* bytes of a frame before its payload */
	RAY_H2_CATEGORY_AT = 56, /* in nghttp2_headers: 0 is a request, seen by a server */
	RAY_H2_RCBUF_AT = 16,	 /* in nghttp2_rcbuf: where its bytes are, and how many */
	RAY_H2_PAIR = 40,	 /* bytes of an nghttp2_nv */
	RAY_H2_PAIRS = 256,	 /* that are looked at */
	RAY_H2_NEW =
		0x7fffffff, /* passes for the number of a stream that has none yet; a session cannot have so many */
	RAY_H2_CANCEL = 8,  /* the code that node itself gives to streams whose connection is lost */
};

/* The beginning of an nghttp2_frame; in DATA and HEADERS the length of the padding is next. */
struct ray_h2_frame {
	__u64 length;
	__u32 stream;
	__u8 type, flags, reserved, pad;
	__u64 padding;
};

struct ray_h2_text {
	__u64 at, length;
};

/* The beginning of an nghttp2_nv. */
struct ray_h2_pair {
	__u64 name, value;
	__u64 name_length, value_length;
};

static __always_inline long ray_h2_frame_read(struct ray_h2_frame *f, __u64 at)
{
	return bpf_probe_read_user(f, sizeof(*f), (void *)at);
}

static __always_inline __u64 ray_h2_body(const struct ray_h2_frame *f)
{
	return f->padding <= f->length ? f->length - f->padding : 0;
}

/* Of a HEADERS frame that came: it opens a stream, and we are the server. */
static __always_inline int ray_h2_is_request(__u64 frame)
{
	__u32 category = 1;

	return !bpf_probe_read_user(&category, sizeof(category), (void *)(frame + RAY_H2_CATEGORY_AT)) && !category;
}

/* ---- names and values ---- */

enum ray_h2_field {
	RAY_H2_NONE,
	RAY_H2_METHOD,
	RAY_H2_PATH,
	RAY_H2_AUTHORITY,
	RAY_H2_HOST,
	RAY_H2_AGENT,
	RAY_H2_FORWARDED,
	RAY_H2_STATUS,
};

/* Names are in lower case: HTTP/2 has no others. Most are of no interest, and their length alone tells. */
static __always_inline __u32 ray_h2_field(__u64 name, __u64 length)
{
	__u64 text[2] = { 0, 0 };

	if (length != 4 && length != 5 && length != 7 && length != 10 && length != 15)
		return RAY_H2_NONE;
	if (bpf_probe_read_user(text, length & 15, (void *)name))
		return RAY_H2_NONE;
	if (text[0] == 0x646f6874656d3aULL) /* ":method" */
		return RAY_H2_METHOD;
	if (text[0] == 0x687461703aULL) /* ":path" */
		return RAY_H2_PATH;
	if (text[0] == 0x7375746174733aULL) /* ":status" */
		return RAY_H2_STATUS;
	if (text[0] == 0x74736f68ULL) /* "host" */
		return RAY_H2_HOST;
	if (text[0] == 0x69726f687475613aULL && text[1] == 0x7974ULL) /* ":authority" */
		return RAY_H2_AUTHORITY;
	if (text[0] == 0x6567612d72657375ULL && text[1] == 0x746eULL) /* "user-agent" */
		return RAY_H2_AGENT;
	if (text[0] == 0x726177726f662d78ULL && text[1] == 0x726f662d646564ULL) /* "x-forwarded-for" */
		return RAY_H2_FORWARDED;
	return RAY_H2_NONE;
}

/* A value to its place, which is all zeros. */
static __always_inline void ray_h2_copy(char *dst, __u64 room, __u64 from, __u64 length)
{
	if (length >= room) {
		ray_node_was_cut();
		length = room - 1;
	}
	RAY_OPAQUE(length);
	if (length < room)
		bpf_probe_read_user(dst, length, (void *)from);
}

static __always_inline __u32 ray_h2_status(__u64 from, __u64 length)
{
	__u8 digits[4] = { 0 };

	if (length != 3 || bpf_probe_read_user(digits, 3, (void *)from))
		return 0;
	return (digits[0] - '0') * 100 + (digits[1] - '0') * 10 + (digits[2] - '0');
}

/* Not inlined: the loop over pairs would be too much for the verifier otherwise. */
static __attribute__((noinline)) int ray_h2_field_set(struct ray_h2_state *p, __u32 field, __u64 from, __u64 length)
{
	if (field == RAY_H2_METHOD) {
		ray_h2_copy(p->request.method, RAY_NODE_METHOD, from, length);
	} else if (field == RAY_H2_PATH) {
		ray_h2_copy(p->request.url, RAY_NODE_URL, from, length);
		p->request.url_length = length;
	} else if (field == RAY_H2_AUTHORITY || (field == RAY_H2_HOST && !p->request.host[0])) {
		ray_h2_copy(p->request.host, RAY_NODE_HOST, from, length);
	} else if (field == RAY_H2_AGENT) {
		ray_h2_copy(p->request.user_agent, RAY_NODE_AGENT, from, length);
	} else if (field == RAY_H2_FORWARDED) {
		ray_h2_copy(p->request.forwarded_for, RAY_NODE_FORWARDED, from, length);
	} else if (field == RAY_H2_STATUS) {
		p->response.status = ray_h2_status(from, length);
	}
	return 0;
}

struct ray_h2_pairs_loop {
	struct ray_h2_state *p;
	__u64 at;
	__u64 is_answer; /* only its status counts */
};

static long ray_h2_pair_step(__u64 i, struct ray_h2_pairs_loop *c)
{
	struct ray_h2_pair pair;
	__u32 field;

	if (bpf_probe_read_user(&pair, sizeof(pair), (void *)(c->at + i * RAY_H2_PAIR)))
		return 1;
	field = ray_h2_field(pair.name, pair.name_length);
	if (field == RAY_H2_NONE || (field == RAY_H2_STATUS) != (c->is_answer != 0))
		return 0;
	ray_h2_field_set(c->p, field, pair.value, pair.value_length);
	return c->is_answer != 0;
}

static __always_inline void ray_h2_pairs_read(struct ray_h2_state *p, __u64 at, __u64 count, __u64 is_answer)
{
	struct ray_h2_pairs_loop c = { .p = p, .at = at, .is_answer = is_answer };

	bpf_loop(count < RAY_H2_PAIRS ? count : RAY_H2_PAIRS, ray_h2_pair_step, &c, 0);
}

/* ---- sessions ---- */

static __always_inline struct ray_h2_state *ray_h2_find(const struct ray_h2_key *key)
{
	return bpf_map_lookup_elem(RAY_MAP(NODE_H2), key);
}

static __always_inline void ray_h2_key_make(struct ray_h2_key *key, __u64 session, __u32 stream)
{
	key->tgid = bpf_get_current_pid_tgid() >> 32;
	key->stream = stream;
	key->session = session;
}

/* What its bytes look like is of no interest any more. */
static __always_inline void ray_h2_claim(struct ray_slot *s, struct ray_node_conn *conn, __u64 session)
{
	struct ray_node_conn *tls = conn->ssl ? ray_conn_find(s, conn->ssl, 1) : (void *)0;

	conn->h2_session = session;
	ray_http_set_both(conn, RAY_HTTP_OPAQUE);
	if (tls)
		ray_http_set_both(tls, RAY_HTTP_OPAQUE);
}

/* A client's connection of which nothing else is known. */
static __always_inline int ray_h2_may_speak(const struct ray_node_conn *conn)
{
	return !conn->connection.is_server && !conn->h2_session && conn->flags & RAY_CONN_IS_FRESH &&
	       !(conn->flags & (RAY_CONN_IS_SERVER | RAY_CONN_IS_CLIENT));
}

/* The session of a key, made when it is not there. When something has come for it (is_sure) its socket is the one that is being read. A client that
 * has heard nothing yet most likely runs in the callback of its connect; what comes for it settles the matter. */
static __attribute__((noinline)) struct ray_h2_state *ray_h2_session(struct ray_slot *s, const struct ray_h2_key *key,
								     int is_sure)
{
	struct ray_h2_key of_session = { .tgid = key->tgid, .session = key->session };
	struct ray_h2_state *session = ray_h2_find(&of_session);
	struct ray_h2_state *fresh = (void *)ray_node_area(s);
	struct ray_node_thread *thread;
	struct ray_node_conn *conn;

	if (session && (session->flags & RAY_H2_SURE || !is_sure))
		return session;
	if (!session) {
		ray_clear((char *)fresh, sizeof(*fresh));
		fresh->fd = -1;
		bpf_map_update_elem(RAY_MAP(NODE_H2), &of_session, fresh, BPF_NOEXIST);
		session = ray_h2_find(&of_session);
	}
	thread = ray_node_thread_known();
	conn = thread && thread->io_fd >= 0 ? ray_conn_find(s, thread->io_fd, 0) : (void *)0;
	if (!session) {
		ray_node_dropped();
	} else if (conn && (is_sure || ray_h2_may_speak(conn))) {
		session->fd = conn->connection.fd;
		session->connection = conn->connection.id;
		if (is_sure) {
			session->flags |= RAY_H2_SURE;
			ray_h2_claim(s, conn, key->session);
		}
	}
	return session;
}

/* ---- streams ---- */

/* A stream that begins now, and of which nothing else is known. */
static __always_inline struct ray_h2_state *ray_h2_make(struct ray_slot *s, const struct ray_h2_key *key, __u32 flags)
{
	struct ray_h2_state *fresh = (void *)ray_node_area(s);

	ray_clear((char *)fresh, sizeof(*fresh));
	fresh->flags = flags;
	fresh->request.id = fresh->response.id = ray_node_id();
	fresh->request.start = bpf_ktime_get_ns();
	fresh->request.version = 20;
	if (bpf_map_update_elem(RAY_MAP(NODE_H2), key, fresh, BPF_ANY)) {
		ray_node_dropped();
		return (void *)0;
	}
	return ray_h2_find(key);
}

/* It becomes the newest of its session; 0: it has none. */
static __always_inline int ray_h2_link(struct ray_slot *s, const struct ray_h2_key *key, struct ray_h2_state *stream)
{
	struct ray_h2_state *session = ray_h2_session(s, key, stream->flags & RAY_H2_SERVER), *found;
	struct ray_h2_key next = *key;

	if (!session)
		return 0;
	next.stream = session->older;
	stream->older = next.stream;
	session->older = key->stream;
	found = next.stream ? ray_h2_find(&next) : (void *)0;
	if (found)
		found->newer = key->stream;
	return 1;
}

static __always_inline void ray_h2_forget(const struct ray_h2_key *key, const struct ray_h2_state *stream)
{
	struct ray_h2_key next = *key;
	struct ray_h2_state *found;

	next.stream = stream->newer; /* 0: the session itself */
	found = ray_h2_find(&next);
	if (found)
		found->older = stream->older;
	next.stream = stream->older;
	found = next.stream ? ray_h2_find(&next) : (void *)0;
	if (found)
		found->newer = stream->newer;
	bpf_map_delete_elem(RAY_MAP(NODE_H2), key);
}

/* ---- the event area ---- */

static __attribute__((noinline)) int ray_h2_fill(struct ray_slot *s, const struct ray_h2_key *key,
						 const struct ray_h2_state *stream)
{
	struct ray_h2_key of_session = { .tgid = key->tgid, .session = key->session };
	struct ray_h2_state *session = ray_h2_find(&of_session);
	struct ray_node_conn *conn = session && session->fd >= 0 ? ray_conn_find(s, session->fd, 0) : (void *)0;
	struct ray_node_area *area = ray_node_area(s);

	if (conn && conn->connection.id != session->connection)
		conn = (void *)0; /* another one has the descriptor now */

	bpf_probe_read_kernel(&area->request, sizeof(area->request), &stream->request);
	bpf_probe_read_kernel(&area->response, sizeof(area->response), &stream->response);
	/* NULL clears it */
	bpf_probe_read_kernel(&area->connection, sizeof(area->connection), conn ? &conn->connection : (void *)0);
	if (!conn)
		area->connection.fd = -1;
	area->response.stream = key->stream;
	ray_http_tell_method(&area->response, &area->request);
	area->http2.session = key->session;
	area->http2.stream = key->stream;
	area->http2.is_server = (stream->flags & RAY_H2_SERVER) != 0;
	area->http2.status = stream->response.status;
	area->http2.code = 0;
	area->http2.duration = bpf_ktime_get_ns() - stream->request.start;
	return 0;
}

static __always_inline int ray_h2_is_asked(__u64 event)
{
	return event == RAY_EVENT_HTTP_SERVER_REQUEST || event == RAY_EVENT_HTTP_CLIENT_REQUEST;
}

static __always_inline void ray_h2_http_args(struct ray_slot *s, __u64 event)
{
	struct ray_node_area *area = ray_node_area(s);
	int first = ray_h2_is_asked(event) ? 2 : 1;

	s->args[0] = first == 2 ? RAY_AREA_ADDRESS(request) : RAY_AREA_ADDRESS(connection);
	s->args[1] = RAY_AREA_ADDRESS(connection);
	s->args[first] = RAY_AREA_ADDRESS(connection.remote_address);
	s->args[first + 1] = area->connection.remote_port;
	if (first == 2) {
		s->args[4] = RAY_AREA_ADDRESS(request.method);
		s->args[5] = RAY_AREA_ADDRESS(request.url);
		s->args[6] = area->connection.fd;
		s->args[7] = area->request.id;
		return;
	}
	s->args[3] = area->connection.fd;
	s->args[4] = area->response.status;
	s->args[5] = area->request.id;
	s->args[6] = RAY_AREA_ADDRESS(request);
	s->args[7] = RAY_AREA_ADDRESS(response);
}

static __always_inline void ray_h2_args(struct ray_slot *s, __u64 event)
{
	struct ray_node_area *area = ray_node_area(s);

	if (event == RAY_EVENT_HTTP2_STREAM_OPEN || event == RAY_EVENT_HTTP2_STREAM_CLOSE) {
		s->args[0] = RAY_AREA_ADDRESS(http2);
		s->args[1] = RAY_AREA_ADDRESS(connection);
		s->args[2] = RAY_AREA_ADDRESS(request);
		s->args[3] = area->http2.stream;
		s->args[4] = area->http2.code;
		return;
	}
	ray_h2_http_args(s, event);
}

#endif
