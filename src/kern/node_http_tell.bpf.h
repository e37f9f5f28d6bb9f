/* node_http_tell.bpf.h - what is told of a request and of its response: arguments, times, sizes. SPDX-License-Identifier: MIT */
#ifndef RAY_KERN_NODE_HTTP_TELL_BPF_H
#define RAY_KERN_NODE_HTTP_TELL_BPF_H

#include "kern/node_http_base.bpf.h"

/* The event of a message, of the server's side or the client's; 0 when nobody wants it. */
static __always_inline __u64 ray_http_event(const struct ray_node_conn *conn, __u64 server_event)
{
	__u64 event = server_event;

	if (!(conn->flags & RAY_CONN_IS_SERVER))
		event += RAY_EVENT_HTTP_CLIENT_REQUEST - RAY_EVENT_HTTP_SERVER_REQUEST;
	return RAY_CONST(WATCHED) >> (event & 63) & 1 ? event : 0;
}

/* Arguments lead to the connection itself. */
static __always_inline void ray_http_lend(struct ray_slot *s, const struct ray_node_conn *conn)
{
	struct ray_node_conn_key key;

	ray_conn_key(s, &key, s->cursor[RAY_AT_KEY], s->cursor[RAY_AT_FLAGS] & RAY_AT_TLS);
	s->lent = (__u64)conn;
	s->lent_at = ray_near_index(&key);
}

/* ray_str_key() of what a connection that was lent holds: through a pointer that the verifier knows it costs a third. */
RAY_RUNTIME __u64 ray_lent_key(__u64 slot, __u64 dst, __u64 address, __u64 size)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_near *near;
	__u64 offset, word, ends;
	__u32 index;
	char *at;

	if (!s)
		return 0;
	index = s->lent_at;
	near = bpf_map_lookup_elem(RAY_MAP(NODE_NEAR), &index);
	offset = address - s->lent;
	RAY_OPAQUE(offset);
	if (!near || (__u64)&near->conn != s->lent || offset > sizeof(near->conn) - RAY_SHORT_KEY)
		return ray_str_key(slot, dst, address, size);
	at = ray_at(s, dst);
	for (int i = 0; i < RAY_SHORT_KEY / 8; i++)
		ray_word_put(at + 8 * i, 0);
	for (int i = 0; i < RAY_SHORT_KEY / 8; i++) {
		word = ray_word_at((char *)&near->conn + offset + 8 * i);
		ends = ray_word_marks(word, 0);
		if (ends && i + 1 == RAY_SHORT_KEY / 8 && ray_word_place(ends) == 7)
			break;
		if (ends) {
			ray_word_put(at + 8 * i, word & (((ends & -ends) >> 7) - 1));
			return 1;
		}
		ray_word_put(at + 8 * i, word);
	}
	return ray_str_key(slot, dst, address, size);
}

/* The arguments of a request. They lead to the connection itself, which outlives the event; so does a request that is kept there. */
static __always_inline void ray_http_tell_request(struct ray_http_loop *c, struct ray_node_pending *pending)
{
	struct ray_node_connection *connection = &c->conn->connection;
	__u64 request = (__u64)&pending->request, size;
	__u64 *args = c->s->args;

	if (pending != &c->conn->own) {
		size = pending->request.url_length;
		if (size > RAY_NODE_URL - 1)
			size = RAY_NODE_URL - 1;
		RAY_OPAQUE(size);
		size += __builtin_offsetof(struct ray_node_request, url) + 1;
		bpf_probe_read_kernel(&ray_node_area(c->s)->request, size, &pending->request);
		request = RAY_AREA_ADDRESS(request);
	}
	ray_http_lend(c->s, c->conn);
	args[0] = request;
	args[1] = (__u64)connection;
	args[2] = (__u64)connection->remote_address;
	args[3] = connection->remote_port;
	args[4] = request + __builtin_offsetof(struct ray_node_request, method);
	args[5] = request + __builtin_offsetof(struct ray_node_request, url);
	args[6] = (__s64)connection->fd;
	args[7] = pending->request.id;
}

/* Sixteen letters as two numbers, with zeros behind the last: what counts by method needs no string. */
static __always_inline void ray_http_tell_method(struct ray_node_response *r, const struct ray_node_request *request)
{
	__u64 start = ray_word_at(&request->method[0]), rest = ray_word_at(&request->method[8]);
	__u64 ends = ray_word_marks(start, 0), ends_rest = ray_word_marks(rest, 0);

	/* The lowest mark is the 0x80 of the NUL: below it are the bytes before. */
	r->method[0] = ends ? start & (((ends & -ends) >> 7) - 1) : start;
	r->method[1] = ends ? 0 : ends_rest ? rest & (((ends_rest & -ends_rest) >> 7) - 1) : rest;
}

/* What there is of an answer so far. */
struct ray_http_answer {
	__u64 status, bytes, body, request_body;
	__u64 start; /* when its first byte went; 0: there is none yet */
};

/* The arguments of a response. */
static __always_inline void ray_http_tell_answer(struct ray_http_loop *c, struct ray_node_pending *pending,
						 const struct ray_http_answer *answer)
{
	struct ray_node_response *r = &ray_node_area(c->s)->response;
	__u64 *args = c->s->args;

	ray_http_tell_request(c, pending);
	r->status = answer->status;
	r->aborted = 0;
	r->id = pending->request.id;
	r->bytes = answer->bytes;
	r->body_bytes = answer->body;
	r->request_body_bytes = answer->request_body;
	r->ttfb = answer->start ? answer->start - pending->request.start : 0;
	r->latency = ray_node_now(c->s) - pending->request.start;
	r->stream = 0;
	ray_http_tell_method(r, &pending->request);
	args[6] = args[0];
	args[0] = args[1];
	args[1] = args[2];
	args[2] = args[3];
	args[3] = (__s64)c->conn->connection.fd;
	args[4] = r->status;
	args[5] = r->id;
	args[7] = RAY_AREA_ADDRESS(response);
}

/* stream is the one of responses; is it in the answer to this request? Else there is none yet. */
static __always_inline void ray_http_tell_response(struct ray_http_loop *c, struct ray_node_pending *pending,
						   __u64 number)
{
	struct ray_node_conn *conn = c->conn;
	int is_server = !!(conn->flags & RAY_CONN_IS_SERVER);
	struct ray_node_stream *answers = is_server ? &conn->out : &conn->in;
	struct ray_node_stream *requests = is_server ? &conn->in : &conn->out;
	struct ray_http_answer answer = { 0 };

	if (answers->number == number && (answers->flags & RAY_HTTP_IS_RESPONSE) &&
	    (answers->status >= 200 || answers->status == 101)) {
		answer.status = answers->status;
		answer.bytes = answers->bytes;
		answer.body = answers->body;
		answer.start = answers->start;
	}
	answer.request_body = requests->number == number ? requests->body : pending->body;
	ray_http_tell_answer(c, pending, &answer);
}

/* What runs on this thread from now on runs for this request; for none if the same bytes hold another. */
static __always_inline void ray_http_set_current(struct ray_http_loop *c, __u64 id)
{
	struct ray_node_thread *thread;

	if (!RAY_WATCHED(RAY_BITS_CARRY) || c->is_out)
		return;
	thread = ray_node_thread(c->s);
	if (!thread)
		return;
	thread->request = thread->io_requests ? 0 : id;
	thread->io_requests++;
}

#endif
