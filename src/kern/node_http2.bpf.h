/* node_http2.bpf.h - HTTP/2: what nghttp2 tells node's sessions, and what they tell it.
 * SPDX-License-Identifier: MIT
 *
 * Heads are compressed against all that went before on the connection, so the bytes say nothing to one who comes later: the hooks are the callbacks
 * that node gives to nghttp2 (a header, a frame that came, one that went, a stream that closed) and the functions by which it answers and asks. Their
 * arguments are nghttp2's public structures, the same in all its versions. In clear or under TLS makes no difference here.
 *
 * A stream is one request. The events of HTTP/1 are told for it, and those of its own. Its socket is the one that was being read when the session got
 * its first frame. When a connection is lost nghttp2 says nothing of the streams: the socket's close ends them, see ray_h2_lost(). */
#ifndef RAY_KERN_NODE_HTTP2_BPF_H
#define RAY_KERN_NODE_HTTP2_BPF_H

#include "kern/node_http2_state.bpf.h"

/* Words of the cursor: events to be told, a byte each, and how many bits of them. Those that say
 * where bytes are: the handler of sockets that asks ray_h2_lost() has none then. */
enum { RAY_H2_QUEUE = RAY_AT_VECTOR, RAY_H2_QUEUED = RAY_AT_VECTORS };

/* ---- events: all that one hit tells is found out at its first step, and told at this and the next ones ---- */

static __always_inline void ray_h2_tell(struct ray_slot *s, __u64 event)
{
	s->cursor[RAY_H2_QUEUE] |= event << (s->cursor[RAY_H2_QUEUED] & 63);
	s->cursor[RAY_H2_QUEUED] += 8;
}

static __always_inline __u64 ray_h2_told(struct ray_slot *s)
{
	__u64 event = s->cursor[RAY_H2_QUEUE] & 0xff;

	s->cursor[RAY_H2_QUEUE] >>= 8;
	if (event)
		ray_h2_args(s, event);
	return event;
}

static __always_inline void ray_h2_begin(struct ray_slot *s)
{
	s->cursor[RAY_H2_QUEUE] = s->cursor[RAY_H2_QUEUED] = 0;
}

/* By which side the event is told. */
static __always_inline __u64 ray_h2_side(const struct ray_h2_state *stream, __u64 of_server, __u64 of_client)
{
	return stream->flags & RAY_H2_SERVER ? of_server : of_client;
}

static __always_inline void ray_h2_start(struct ray_slot *s, struct ray_h2_state *stream)
{
	if (stream->flags & RAY_H2_STARTED)
		return;
	stream->flags |= RAY_H2_STARTED;
	stream->response.ttfb = bpf_ktime_get_ns() - stream->request.start;
	ray_h2_tell(s, ray_h2_side(stream, RAY_EVENT_HTTP_SERVER_RESPONSE_START, RAY_EVENT_HTTP_CLIENT_RESPONSE_START));
}

static __always_inline void ray_h2_finish(struct ray_slot *s, struct ray_h2_state *stream)
{
	if (!(stream->flags & RAY_H2_STARTED) || stream->flags & RAY_H2_DONE)
		return;
	stream->flags |= RAY_H2_DONE;
	stream->response.latency = bpf_ktime_get_ns() - stream->request.start;
	ray_h2_tell(s, ray_h2_side(stream, RAY_EVENT_HTTP_SERVER_RESPONSE, RAY_EVENT_HTTP_CLIENT_RESPONSE));
}

/* A frame of the response, whichever way it goes. */
static __always_inline void ray_h2_answer(struct ray_slot *s, const struct ray_h2_frame *f, struct ray_h2_state *stream)
{
	stream->response.bytes += RAY_H2_HEAD + f->length;
	if (f->type == RAY_H2_DATA)
		stream->response.body_bytes += ray_h2_body(f);
	if (f->flags & RAY_H2_END_STREAM)
		ray_h2_finish(s, stream);
}

/* ---- requests that come in, and answers to ours ---- */

static __always_inline struct ray_h2_state *ray_h2_accept(struct ray_slot *s, const struct ray_h2_key *key)
{
	struct ray_h2_state *stream = ray_h2_make(s, key, RAY_H2_SERVER);

	if (stream && ray_h2_link(s, key, stream))
		return stream;
	bpf_map_delete_elem(RAY_MAP(NODE_H2), key);
	return (void *)0;
}

/* Http2Session::OnHeaderCallback(session, frame, name, value, flags, user data) */
RAY_RUNTIME __u64 ray_on_h2_header(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_h2_text name = {}, value = {};
	struct ray_h2_state *stream;
	struct ray_h2_frame f;
	struct ray_h2_key key;
	__u32 field;

	if (!s || step || bpf_probe_read_user(&name, sizeof(name), (void *)(s->hook_args[2] + RAY_H2_RCBUF_AT)))
		return 0;
	field = ray_h2_field(name.at, name.length);
	if (!field || ray_h2_frame_read(&f, s->hook_args[1]) || f.type != RAY_H2_HEADERS ||
	    bpf_probe_read_user(&value, sizeof(value), (void *)(s->hook_args[3] + RAY_H2_RCBUF_AT)))
		return 0;
	ray_h2_key_make(&key, s->hook_args[0], f.stream);
	stream = ray_h2_find(&key);
	if (!stream && ray_h2_is_request(s->hook_args[1]))
		stream = ray_h2_accept(s, &key);
	/* Trailers change nothing; of an answer only its status counts. */
	if (!stream || (stream->flags & RAY_H2_OPENED) != (field == RAY_H2_STATUS ? RAY_H2_OPENED : 0))
		return 0;
	ray_h2_field_set(stream, field, value.at, value.length);
	return 0;
}

/* What runs on this thread from now on runs for this request. */
static __always_inline void ray_h2_set_current(__u64 request)
{
	struct ray_node_thread *thread = RAY_WATCHED(RAY_BITS_CARRY) ? ray_node_thread_known() : (void *)0;

	if (thread)
		thread->request = request;
}

static __always_inline void ray_h2_received(struct ray_slot *s, const struct ray_h2_frame *f,
					    struct ray_h2_state *stream)
{
	if (!(stream->flags & RAY_H2_SERVER)) {
		/* Those below 200 announce another. */
		if (f->type == RAY_H2_HEADERS && stream->response.status >= 200)
			ray_h2_start(s, stream);
		ray_h2_answer(s, f, stream);
		return;
	}
	if (f->type == RAY_H2_DATA) {
		stream->response.request_body_bytes += ray_h2_body(f);
	} else if (!(stream->flags & RAY_H2_OPENED)) {
		stream->flags |= RAY_H2_OPENED;
		stream->request.start = bpf_ktime_get_ns();
		ray_h2_set_current(stream->request.id);
		ray_h2_tell(s, RAY_EVENT_HTTP2_STREAM_OPEN);
		ray_h2_tell(s, RAY_EVENT_HTTP_SERVER_REQUEST);
	}
}

/* Http2Session::OnFrameReceive(session, frame, user data): of HEADERS when the last header of it has been told. */
RAY_RUNTIME __u64 ray_on_h2_receive(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_h2_state *stream;
	struct ray_h2_frame f;
	struct ray_h2_key key;

	if (!s)
		return 0;
	if (step)
		return ray_h2_told(s);
	ray_h2_begin(s);
	if (ray_h2_frame_read(&f, s->hook_args[1]))
		return 0;
	ray_h2_key_make(&key, s->hook_args[0], f.stream);
	ray_h2_session(s, &key, 1);
	stream = f.type <= RAY_H2_HEADERS ? ray_h2_find(&key) : (void *)0;
	if (!stream)
		return 0;
	ray_h2_received(s, &f, stream);
	if (s->cursor[RAY_H2_QUEUE])
		ray_h2_fill(s, &key, stream);
	return ray_h2_told(s);
}

/* Http2Session::OnDataChunkReceived(session, flags, stream, data, size, user data) */
RAY_RUNTIME __u64 ray_on_h2_data(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_h2_state *stream;
	struct ray_h2_key key;

	if (!s || step)
		return 0;
	ray_h2_key_make(&key, s->hook_args[0], s->hook_args[2]);
	stream = ray_h2_find(&key);
	if (stream && stream->flags & RAY_H2_SERVER)
		ray_h2_set_current(stream->request.id);
	return 0;
}

/* What was called for a frame, or for a part of one, has returned: what comes next may be another's. */
RAY_RUNTIME __u64 ray_on_h2_dealt(__u64 slot, __u64 step)
{
	(void)slot;
	if (!step)
		ray_h2_set_current(0);
	return 0;
}

/* ---- what goes out ---- */

/* Http2Session::OnFrameSent(session, frame, user data) */
RAY_RUNTIME __u64 ray_on_h2_sent(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_h2_state *stream;
	struct ray_h2_frame f;
	struct ray_h2_key key;

	if (!s)
		return 0;
	if (step)
		return ray_h2_told(s);
	ray_h2_begin(s);
	if (ray_h2_frame_read(&f, s->hook_args[1]) || f.type > RAY_H2_HEADERS)
		return 0;
	ray_h2_key_make(&key, s->hook_args[0], f.stream);
	stream = ray_h2_find(&key);
	if (!stream)
		return 0;
	if (stream->flags & RAY_H2_SERVER)
		ray_h2_answer(s, &f, stream);
	else if (f.type == RAY_H2_DATA)
		stream->response.request_body_bytes += ray_h2_body(&f);
	if (s->cursor[RAY_H2_QUEUE])
		ray_h2_fill(s, &key, stream);
	return ray_h2_told(s);
}

/* nghttp2_submit_response(session, stream, pairs, count, data): called by the JavaScript that answers. Answers below 200 go another way. */
RAY_RUNTIME __u64 ray_on_h2_respond(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_h2_state *stream;
	struct ray_h2_key key;

	if (!s)
		return 0;
	if (step)
		return ray_h2_told(s);
	ray_h2_begin(s);
	ray_h2_key_make(&key, s->hook_args[0], s->hook_args[1]);
	stream = ray_h2_find(&key);
	if (!stream || !(stream->flags & RAY_H2_OPENED))
		return 0;
	ray_h2_pairs_read(stream, s->hook_args[2], s->hook_args[3], 1);
	ray_h2_start(s, stream);
	ray_h2_fill(s, &key, stream);
	return ray_h2_told(s);
}

/* nghttp2_submit_request(session, priority, pairs, count, data, user data): what is asked is known here, and the stream when it returns. */
RAY_RUNTIME __u64 ray_on_h2_request(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *thread;
	struct ray_h2_state *stream;
	struct ray_h2_key key;

	if (!s || step)
		return 0;
	thread = ray_node_thread(s);
	if (!thread)
		return 0;
	thread->h2_session = s->hook_args[0];
	ray_h2_key_make(&key, s->hook_args[0], RAY_H2_NEW);
	stream = ray_h2_make(s, &key, RAY_H2_OPENED);
	if (stream)
		ray_h2_pairs_read(stream, s->hook_args[2], s->hook_args[3], 0);
	return 0;
}

/* The stream gets the number that the function returned. */
static __always_inline struct ray_h2_state *ray_h2_submitted(struct ray_slot *s, struct ray_h2_key *key, __s32 number)
{
	struct ray_h2_key fresh = *key;
	struct ray_h2_state *stream;

	fresh.stream = RAY_H2_NEW;
	stream = ray_h2_find(&fresh);
	if (!stream)
		return stream;
	if (number <= 0 || bpf_map_update_elem(RAY_MAP(NODE_H2), key, stream, BPF_ANY)) {
		bpf_map_delete_elem(RAY_MAP(NODE_H2), &fresh);
		return (void *)0;
	}
	bpf_map_delete_elem(RAY_MAP(NODE_H2), &fresh);
	stream = ray_h2_find(key);
	return stream && ray_h2_link(s, key, stream) ? stream : (void *)0;
}

RAY_RUNTIME __u64 ray_on_h2_request_return(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *thread;
	struct ray_h2_state *stream;
	struct ray_h2_key key;

	if (!s)
		return 0;
	if (step)
		return ray_h2_told(s);
	ray_h2_begin(s);
	thread = ray_node_thread_known();
	if (!thread || !thread->h2_session)
		return 0;
	ray_h2_key_make(&key, thread->h2_session, s->hook_args[RAY_HOOK_RESULT]);
	thread->h2_session = 0;
	stream = ray_h2_submitted(s, &key, s->hook_args[RAY_HOOK_RESULT]);
	if (!stream)
		return 0;
	ray_h2_tell(s, RAY_EVENT_HTTP2_STREAM_OPEN);
	ray_h2_tell(s, RAY_EVENT_HTTP_CLIENT_REQUEST);
	ray_h2_fill(s, &key, stream);
	return ray_h2_told(s);
}

/* ---- ends ---- */

/* Tells what the end of a stream means, and forgets it. */
static __attribute__((noinline)) int ray_h2_end(struct ray_slot *s, const struct ray_h2_key *key, __u32 code)
{
	struct ray_h2_state *stream = ray_h2_find(key);

	if (!stream)
		return 0;
	if (stream->flags & RAY_H2_OPENED) {
		if (!(stream->flags & RAY_H2_DONE)) {
			stream->response.aborted = 1;
			stream->response.latency = bpf_ktime_get_ns() - stream->request.start;
			ray_h2_tell(s, ray_h2_side(stream, RAY_EVENT_HTTP_SERVER_ABORT, RAY_EVENT_HTTP_CLIENT_ABORT));
		}
		ray_h2_tell(s, RAY_EVENT_HTTP2_STREAM_CLOSE);
		ray_h2_fill(s, key, stream);
		ray_node_area(s)->http2.code = code;
	}
	ray_h2_forget(key, stream);
	return 0;
}

/* Http2Session::OnStreamClose(session, stream, code, user data) */
RAY_RUNTIME __u64 ray_on_h2_close(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_h2_key key;

	if (!s)
		return 0;
	if (!step) {
		ray_h2_begin(s);
		ray_h2_key_make(&key, s->hook_args[0], s->hook_args[1]);
		ray_h2_end(s, &key, s->hook_args[2]);
	}
	return ray_h2_told(s);
}

struct ray_h2_lost_loop {
	struct ray_slot *s;
	__u64 session;
};

/* One stream less, until one has something to tell. */
static long ray_h2_lost_step(__u64 i, struct ray_h2_lost_loop *c)
{
	struct ray_h2_state *found;
	struct ray_h2_key key;

	(void)i;
	ray_h2_key_make(&key, c->session, 0);
	found = ray_h2_find(&key);
	if (!found)
		return 1;
	key.stream = found->older;
	if (!key.stream) {
		bpf_map_delete_elem(RAY_MAP(NODE_H2), &key);
		return 1;
	}
	found->older = 0; /* should the stream be gone, so is the rest of the list */
	ray_h2_end(c->s, &key, RAY_H2_CANCEL);
	return c->s->cursor[RAY_H2_QUEUE] != 0;
}

/* The session's connection is gone: streams end one by one, the newest first. Called until it returns 0, after ray_h2_begin(). */
RAY_RUNTIME __u64 ray_h2_lost(__u64 slot, __u64 session)
{
	struct ray_h2_lost_loop c = { .s = ray_slot_get(slot), .session = session };

	if (!c.s)
		return 0;
	if (!c.s->cursor[RAY_H2_QUEUE]) {
		ray_h2_begin(c.s);
		bpf_loop(1 << 20, ray_h2_lost_step, &c, 0);
	}
	return ray_h2_told(c.s);
}

/* nghttp2_session_del(session): long after its socket, as a rule. Its address may be another's from now on. */
RAY_RUNTIME __u64 ray_on_h2_delete(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);

	if (!s)
		return 0;
	if (!step)
		ray_h2_begin(s);
	return ray_h2_lost(slot, s->hook_args[0]);
}

#endif
