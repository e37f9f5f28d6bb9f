/* Random sessions of HTTP/2 through the handlers in the kernel, as nghttp2 would tell of them. SPDX-License-Identifier: MIT
 *
 * Streams of several sessions, of servers and clients, take their turns at random; each knows which events its next step must bring. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kern_run.h"

enum { SESSIONS = 4, STREAMS = 40, ROUNDS = 300 };
enum handler { HEADER, RECEIVE, SENT, RESPOND, REQUEST, REQUEST_RETURN, CLOSE, DELETE };
enum {
	DATA,
	HEADERS,
	RST = 3,
	SETTINGS,
	END_STREAM = 1,
	RCBUF_PAD = 16,
	CATEGORY_REQUEST = 0,
	CATEGORY_RESPONSE,
	CATEGORY_HEADERS = 3
};

static const char *const handlers[] = { "ray_on_h2_header",  "ray_on_h2_receive", "ray_on_h2_sent",
					"ray_on_h2_respond", "ray_on_h2_request", "ray_on_h2_request_return",
					"ray_on_h2_close",   "ray_on_h2_delete" };

/* nghttp2's structures, as its header has them. */
struct frame {
	size_t length;
	int32_t stream;
	uint8_t type, flags, reserved;
	size_t padding;
	int32_t priority[3];
	void *pairs;
	size_t pair_count;
	int category;
};

struct rcbuf {
	void *memory[2];
	const char *base;
	size_t length;
	int32_t references;
};

struct pair {
	const char *name, *value;
	size_t name_length, value_length;
	uint8_t flags;
};

struct stream {
	int number; /* 0: none yet */
	bool is_open, has_status, is_done, is_gone;
	char url[32];
	size_t body, request_body, bytes;
	int status;
};

struct session {
	uint64_t address;
	bool is_server;
	int last;
	struct stream streams[STREAMS];
	int count;
};

static struct kern_run run;
static struct session sessions[SESSIONS];
static uint64_t seed = 0x2545f4914f6cdd1d;

static uint32_t below(uint32_t limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 33) % limit;
}

/* ---- calls, and what they must tell ---- */

static const struct ray_node_area *area(void)
{
	return (const void *)(run.slots + run.plan.event_at);
}

static int64_t step(enum handler handler, uint64_t number)
{
	kern_slot(&run)->spills[6] = handler;
	return kern_call(&run, number, 0, 0, 0);
}

static void check_area(const struct session *s, const struct stream *t)
{
	assert_int_equal(area()->response.stream, t->number);
	assert_int_equal(area()->request.version, 20);
	assert_string_equal(area()->request.url, t->url);
	assert_string_equal(area()->request.method, "GET");
	assert_string_equal(area()->request.host, "a.host");
	assert_int_equal(area()->response.body_bytes, t->body);
	assert_int_equal(area()->response.request_body_bytes, t->request_body);
	assert_int_equal(area()->response.bytes, t->bytes);
	assert_int_equal(area()->http2.is_server, s->is_server);
	assert_int_equal(area()->connection.fd, -1);
}

/* The events are zero-ended, as the server tells them. */
static void expect(enum handler handler, const struct session *s, const struct stream *t, const int *events)
{
	uint64_t number = 0;

	for (; *events; events++, number++) {
		int wanted = *events;

		if (!s->is_server && wanted < RAY_EVENT_HTTP2_STREAM_OPEN)
			wanted += RAY_EVENT_HTTP_CLIENT_REQUEST - RAY_EVENT_HTTP_SERVER_REQUEST;
		assert_int_equal(step(handler, number), wanted);
		check_area(s, t);
	}
	assert_int_equal(step(handler, number), 0);
}

#define EXPECT(handler, s, t, ...) expect(handler, s, t, (const int[]){ __VA_ARGS__ __VA_OPT__(, ) 0 })

static void call_with(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	struct ray_slot *slot = kern_slot(&run);

	slot->timestamp = 0;
	slot->hook_args[0] = a;
	slot->hook_args[1] = b;
	slot->hook_args[2] = c;
	slot->hook_args[3] = d;
}

static void header(const struct session *s, struct frame *f, const char *name, const char *value)
{
	struct rcbuf names = { .base = name, .length = strlen(name) },
		     values = { .base = value, .length = strlen(value) };

	call_with(s->address, (uintptr_t)f, (uintptr_t)&names, (uintptr_t)&values);
	EXPECT(HEADER, s, NULL);
}

static void junk(const struct session *s, struct frame *f)
{
	static const char *const names[] = { "accept",	   "date", "x-forwarded-fox", "cookie",
					     "user-agenx", "hosx", ":scheme",	      ":methox" };

	for (uint32_t n = below(3); n; n--)
		header(s, f, names[below(RAY_COUNT(names))], "a value");
}

/* ---- what a stream can do next ---- */

static void open_server(struct session *s, struct stream *t)
{
	struct frame f = { .length = 1 + below(100),
			   .type = HEADERS,
			   .flags = (uint8_t)(4 | below(2)),
			   .category = CATEGORY_REQUEST };

	t->number = f.stream = s->last += 2;
	header(s, &f, ":method", "GET");
	junk(s, &f);
	header(s, &f, ":path", t->url);
	if (below(2))
		header(s, &f, ":authority", "a.host");
	else
		header(s, &f, "host", "a.host");
	junk(s, &f);
	call_with(s->address, (uintptr_t)&f, 0, 0);
	EXPECT(RECEIVE, s, t, RAY_EVENT_HTTP2_STREAM_OPEN, RAY_EVENT_HTTP_SERVER_REQUEST);
	t->is_open = true;
}

#define PAIR(name, value)                                       \
	{                                                       \
		name, value, sizeof(name) - 1, strlen(value), 0 \
	}

static void open_client(struct session *s, struct stream *t)
{
	struct pair pairs[] = { PAIR("x-first", "1"), PAIR(":path", t->url), PAIR(":method", "GET"),
				PAIR(":authority", "a.host"), PAIR("host", "another.host") };

	call_with(s->address, 0, (uintptr_t)pairs, RAY_COUNT(pairs));
	EXPECT(REQUEST, s, t);
	if (!below(8)) { /* it is refused */
		kern_slot(&run)->hook_args[RAY_HOOK_RESULT] = (uint64_t)(int64_t)-509;
		EXPECT(REQUEST_RETURN, s, t);
		return;
	}
	t->number = s->last += 2;
	kern_slot(&run)->hook_args[RAY_HOOK_RESULT] = (uint64_t)t->number;
	EXPECT(REQUEST_RETURN, s, t, RAY_EVENT_HTTP2_STREAM_OPEN, RAY_EVENT_HTTP_SERVER_REQUEST);
	t->is_open = true;
}

static void data(struct session *s, struct stream *t, bool is_answer)
{
	struct frame f = { .length = below(20000), .stream = t->number, .type = DATA };
	bool is_end = is_answer && t->has_status && !below(4);
	size_t *body = is_answer ? &t->body : &t->request_body;

	f.padding = below(3) ? 0 : below((uint32_t)f.length + 1);
	f.flags = is_end ? END_STREAM : 0;
	*body += f.length - f.padding;
	t->bytes += is_answer ? 9 + f.length : 0;
	call_with(s->address, (uintptr_t)&f, 0, 0);
	if (!is_end) {
		EXPECT(is_answer == s->is_server ? SENT : RECEIVE, s, t);
		return;
	}
	t->is_done = true;
	EXPECT(s->is_server ? SENT : RECEIVE, s, t, RAY_EVENT_HTTP_SERVER_RESPONSE);
}

static void answer_server(struct session *s, struct stream *t)
{
	struct pair pairs[] = { PAIR(":status", "404"), PAIR("content-type", "text/plain") };
	struct frame f = { .length = 30,
			   .stream = t->number,
			   .type = HEADERS,
			   .flags = below(2) ? END_STREAM | 4 : 4,
			   .category = CATEGORY_RESPONSE };

	call_with(s->address, (uint64_t)t->number, (uintptr_t)pairs, RAY_COUNT(pairs));
	EXPECT(RESPOND, s, t, RAY_EVENT_HTTP_SERVER_RESPONSE_START);
	assert_int_equal(area()->response.status, 404);
	t->has_status = true;
	t->bytes += 9 + f.length;
	call_with(s->address, (uintptr_t)&f, 0, 0);
	if (!(f.flags & END_STREAM)) {
		EXPECT(SENT, s, t);
		return;
	}
	t->is_done = true;
	EXPECT(SENT, s, t, RAY_EVENT_HTTP_SERVER_RESPONSE);
}

static void answer_client(struct session *s, struct stream *t)
{
	bool is_early = !below(3), is_end = !is_early && !below(3);
	struct frame f = { .length = 20,
			   .stream = t->number,
			   .type = HEADERS,
			   .flags = is_end ? END_STREAM | 4 : 4,
			   .category = CATEGORY_RESPONSE };

	header(s, &f, ":status", is_early ? "103" : "200");
	junk(s, &f);
	call_with(s->address, (uintptr_t)&f, 0, 0);
	t->bytes += 9 + f.length;
	if (is_early) {
		EXPECT(RECEIVE, s, t);
		return;
	}
	t->has_status = true;
	t->is_done = is_end;
	if (is_end)
		EXPECT(RECEIVE, s, t, RAY_EVENT_HTTP_SERVER_RESPONSE_START, RAY_EVENT_HTTP_SERVER_RESPONSE);
	else
		EXPECT(RECEIVE, s, t, RAY_EVENT_HTTP_SERVER_RESPONSE_START);
	assert_int_equal(area()->response.status, 200);
}

/* Headers behind the body say nothing but that it is the end. */
static void trailers(struct session *s, struct stream *t)
{
	struct frame f = { .length = 10,
			   .stream = t->number,
			   .type = HEADERS,
			   .flags = END_STREAM | 4,
			   .category = CATEGORY_HEADERS };

	if (!s->is_server)
		header(s, &f, "user-agent", "of no interest");
	t->bytes += 9 + f.length;
	t->is_done = true;
	call_with(s->address, (uintptr_t)&f, 0, 0);
	EXPECT(s->is_server ? SENT : RECEIVE, s, t, RAY_EVENT_HTTP_SERVER_RESPONSE);
}

static void end(struct session *s, struct stream *t)
{
	uint32_t code = t->is_done ? 0 : 1 + below(12);

	call_with(s->address, (uint64_t)t->number, code, 0);
	if (t->is_done)
		EXPECT(CLOSE, s, t, RAY_EVENT_HTTP2_STREAM_CLOSE);
	else
		EXPECT(CLOSE, s, t, RAY_EVENT_HTTP_SERVER_ABORT, RAY_EVENT_HTTP2_STREAM_CLOSE);
	assert_int_equal(area()->http2.code, code);
	assert_int_equal(area()->response.aborted, !t->is_done);
	t->is_gone = true;
}

static void turn(struct session *s, struct stream *t)
{
	uint32_t what = below(6);

	if (t->is_gone)
		return;
	if (!t->is_open) {
		if (s->is_server)
			open_server(s, t);
		else
			open_client(s, t);
	} else if (t->is_done || what == 0) {
		end(s, t);
	} else if (what == 1) {
		data(s, t, false);
	} else if (!t->has_status) {
		if (s->is_server)
			answer_server(s, t);
		else
			answer_client(s, t);
	} else if (what == 2) {
		trailers(s, t);
	} else {
		data(s, t, true);
	}
}

/* The session is gone: all that is open ends, the newest first. */
static void delete_session(struct session *s)
{
	uint64_t number = 0;

	call_with(s->address, 0, 0, 0);
	for (int i = s->count - 1; i >= 0; i--) {
		struct stream *newest = NULL;

		for (int k = 0; k < s->count; k++) {
			struct stream *t = &s->streams[k];

			if (t->is_open && !t->is_gone && (!newest || t->number > newest->number))
				newest = t;
		}
		if (!newest)
			break;
		if (!newest->is_done)
			assert_int_equal(step(DELETE, number++),
					 s->is_server ? RAY_EVENT_HTTP_SERVER_ABORT : RAY_EVENT_HTTP_CLIENT_ABORT);
		assert_int_equal(step(DELETE, number++), RAY_EVENT_HTTP2_STREAM_CLOSE);
		check_area(s, newest);
		newest->is_gone = true;
	}
	assert_int_equal(step(DELETE, number), 0);
}

static int count_elements(int fd, size_t key_size)
{
	char key[64], next[64];
	int n = 0;

	for (bool is_first = true; !bpf_map_get_next_key(fd, is_first ? NULL : key, next); is_first = false, n++)
		memcpy(key, next, key_size);
	return n;
}

static void need(void)
{
	run.plan.event_at = run.plan.slot_size;
	run.plan.event_size = sizeof(struct ray_node_area);
	run.plan.slot_size += run.plan.event_size;
	run.trace.watched = (1ULL << RAY_EVENT_NET_SERVER_CONNECTION) - 2;
	if (kern_load_all(&run, handlers, RAY_COUNT(handlers)))
		return;
	if (strstr(run.skip, "not permitted"))
		skip();
	fail_msg("%s", run.skip);
}

/* What nobody saw open is of no interest; nor is what cannot be read. */
static void strangers(const struct session *s)
{
	struct frame f = {
		.length = 5, .stream = 999, .type = HEADERS, .flags = END_STREAM, .category = CATEGORY_HEADERS
	};

	header(s, &f, ":path", "/");
	for (int type = DATA; type <= SETTINGS; type++) {
		f.type = (uint8_t)type;
		call_with(s->address, (uintptr_t)&f, 0, 0);
		EXPECT(RECEIVE, s, NULL);
		EXPECT(SENT, s, NULL);
	}
	call_with(s->address, 999, 7, 0);
	EXPECT(CLOSE, s, NULL);
	EXPECT(RESPOND, s, NULL);
	call_with(s->address, 8, 8, 8);
	EXPECT(HEADER, s, NULL);
	EXPECT(RECEIVE, s, NULL);
	EXPECT(SENT, s, NULL);
}

static void random_sessions(void **state)
{
	(void)state;
	need();
	for (int round = 0; round < ROUNDS; round++) {
		memset(sessions, 0, sizeof(sessions));
		for (int i = 0; i < SESSIONS; i++) {
			struct session *s = &sessions[i];

			s->address = 0x1000 + (uint64_t)i * 0x100;
			s->is_server = below(2);
			s->last = -1;
			s->count = 1 + (int)below(STREAMS);
			for (int k = 0; k < s->count; k++)
				snprintf(s->streams[k].url, sizeof(s->streams[k].url), "/%d/%d", i, k);
		}
		for (int i = 0; i < 200; i++) {
			struct session *s = &sessions[below(SESSIONS)];

			turn(s, &s->streams[below((uint32_t)s->count)]);
			if (!below(50))
				strangers(s);
		}
		for (int i = 0; i < SESSIONS; i++)
			delete_session(&sessions[i]);
		assert_int_equal(count_elements(run.trace.maps[RAY_LINK_NODE_H2], sizeof(struct ray_h2_key)), 0);
	}
	assert_int_equal(run.trace.state->node_drops, 0);
	assert_int_equal(run.trace.state->node_cut, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_sessions),
	};
	int ret;

	kern_init(&run);
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	kern_deinit(&run);
	return ret;
}
