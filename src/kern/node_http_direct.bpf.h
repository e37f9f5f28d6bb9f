/* node_http_direct.bpf.h - a request or a response of a server that one call takes in, or gives out, whole. SPDX-License-Identifier: MIT
 *
 * Nearly all are such: a head that is plain and a body, if any, right behind it, and one request on its way at a time. What then follows from the head
 * is known at once, and of the connection little more than one line of the cache is touched. Whatever is not so has not been changed, and goes through
 * node_http.bpf.h, which does all of it; both leave the connection alike. */
#ifndef RAY_KERN_NODE_HTTP_DIRECT_BPF_H
#define RAY_KERN_NODE_HTTP_DIRECT_BPF_H

#include "kern/node_http_quick.bpf.h"

enum { RAY_DIRECT_NOT = 1 << 16 /* no event: it takes a closer look */ };

/* Whether a message that begins and ends here can follow now. */
static __always_inline int ray_direct_can(const struct ray_node_conn *conn, __u64 is_out)
{
	__u64 role = conn->flags & (RAY_CONN_IS_SERVER | RAY_CONN_IS_CLIENT);

	if (role != RAY_CONN_IS_SERVER || conn->in.state != RAY_HTTP_START || conn->in.carried)
		return 0;
	if (!is_out)
		return conn->first == conn->next && !conn->own_number;
	return conn->out.state == RAY_HTTP_START && !conn->out.carried && conn->first + 1 == conn->next &&
	       conn->own_number == conn->first;
}

static __always_inline __u64 ray_direct_request(struct ray_http_loop *c, struct ray_node_window *w)
{
	struct ray_node_conn *conn = c->conn;
	struct ray_node_head *h = &w->head;
	struct ray_node_pending *own = &conn->own;

	if (h->length || h->at != w->end)
		return RAY_DIRECT_NOT;
	conn->own_number = conn->next;
	conn->next++;
	ray_pending_clear(own);
	ray_quick_texts(w, h, own);
	own->request.id = ray_node_id();
	own->request.start = ray_node_now(c->s);
	own->request.version = h->version;
	if (!RAY_WATCHED(RAY_EVENT_BIT(HTTP_SERVER_REQUEST)))
		return 0;
	ray_http_tell_request(c, own);
	return RAY_EVENT_HTTP_SERVER_REQUEST;
}

static __always_inline __u64 ray_direct_response(struct ray_http_loop *c, struct ray_node_window *w)
{
	struct ray_node_conn *conn = c->conn;
	struct ray_node_head *h = &w->head;
	__u64 method = ray_word_at(conn->own.request.method), status = h->status;
	struct ray_http_answer answer = { .status = status, .bytes = w->end, .body = h->length };

	if (!(h->flags & RAY_HTTP_HAS_LENGTH) || h->at + h->length != w->end || status < 200 || status == 204 ||
	    status == 304 || (method & RAY_FIRST_BYTES(5)) == RAY_WORD('H', 'E', 'A', 'D', 0, 0, 0, 0) ||
	    method == RAY_WORD('C', 'O', 'N', 'N', 'E', 'C', 'T', 0))
		return RAY_DIRECT_NOT;
	if (RAY_WATCHED(RAY_EVENT_BIT(HTTP_SERVER_RESPONSE))) {
		answer.request_body = conn->own.body;
		answer.start = ray_node_now(c->s);
		ray_http_tell_answer(c, &conn->own, &answer);
	}
	conn->first = conn->next;
	conn->own_number = 0;
	return RAY_WATCHED(RAY_EVENT_BIT(HTTP_SERVER_RESPONSE)) ? RAY_EVENT_HTTP_SERVER_RESPONSE : 0;
}

/* size bytes at address were read, or written: the event, or none, or RAY_DIRECT_NOT. Then, if w->filled is not 0, as many of them are in the window. */
static __always_inline __u64 ray_http_direct(struct ray_slot *s, struct ray_node_conn *conn, __u64 is_out,
					     __u64 address, __u64 size)
{
	struct ray_http_loop c = { .s = s, .conn = conn, .is_out = is_out };
	struct ray_node_window *w = ray_http_window(s);
	__u64 is_response, event;

	if (size - 1 >= RAY_NODE_WINDOW - 1 || !ray_direct_can(conn, is_out))
		return RAY_DIRECT_NOT;
	/* The verifier of 6.1 does not know of a register what it knows of its copy. */
	asm volatile("%0 &= %1" : "+r"(size) : "i"(RAY_NODE_WINDOW - 1));
	if (ray_http_fill(w, address, size))
		return RAY_DIRECT_NOT;
	w->at = 0;
	w->end = w->filled = size;
	w->is_plain = ray_quick_parse(w);
	is_response = w->head.flags & RAY_HTTP_IS_RESPONSE;
	if (!w->is_plain || is_response != is_out)
		return RAY_DIRECT_NOT;
	event = is_out ? ray_direct_response(&c, w) : ray_direct_request(&c, w);
	if (event != RAY_DIRECT_NOT)
		s->is_last = 1;
	return event;
}

#endif
