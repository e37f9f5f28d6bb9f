/* Random conversations through the parser of HTTP/1 in the kernel, cut at random places. SPDX-License-Identifier: MIT
 *
 * Whoever makes a conversation knows what is in it: each event has a place in one of the two streams, and must come with the call that brings that byte, in
 * order, with all that it tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/socket.h>
#include <sys/uio.h>

#include "kern_calls.h"

enum { STREAM_MAX = 1 << 20, MARKS_MAX = 512, REQUESTS_MAX = 64, ROUNDS = 2000 };

static uint64_t seed = 0x9e3779b97f4a7c15;
static int sockets[2];

static uint32_t below(uint32_t limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 33) % limit;
}

/* ---- conversations ---- */

struct request {
	char method[RAY_NODE_METHOD];
	char url[4096];
	char host[512], agent[512], forwarded[64];
	uint32_t version;
	size_t head_end;   /* in the stream of requests */
	size_t end;	   /* there, with its body */
	size_t body_bytes; /* of all of it */
	uint64_t id;	   /* as it was told */
	/* of the response */
	uint32_t status;
	size_t from, begin; /* in the stream of responses, with those before it that are not final, and without */
	size_t answer_end;
};

/* Something that has to be told when the byte before `at` has passed. */
struct mark {
	size_t at;
	enum ray_node_event event; /* as the server tells it */
	int request;
	size_t bytes, body;
};

struct stream {
	char *bytes;
	size_t size, fed;
	struct mark marks[MARKS_MAX];
	int mark_count, next_mark;
	/* where bytes of bodies are: [start, end) */
	struct {
		size_t start, end;
		int request;
	} bodies[MARKS_MAX];
	int body_count;
};

static struct stream requests, responses;
static struct request list[REQUESTS_MAX];
static int count;
static bool is_until_close;
static bool is_tidy;	 /* as most programs send messages: written alike, one call for each */
static uint64_t watched; /* events that anybody wants */
static int whole_count;	 /* of messages that were dealt with at once */

static void put(struct stream *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct stream *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	s->size += (size_t)vsnprintf(s->bytes + s->size, STREAM_MAX - s->size, format, args);
	va_end(args);
}

static void mark(struct stream *s, enum ray_node_event event, int request)
{
	s->marks[s->mark_count++] = (struct mark){ .at = s->size, .event = event, .request = request };
}

static void random_word(char *out, size_t length)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?#[]@!$&'()*+,;=%";

	for (size_t i = 0; i < length; i++)
		out[i] = letters[below(sizeof(letters) - 1)];
	out[length] = '\0';
}

static size_t some_length(void)
{
	static const uint32_t limits[] = { 2, 8, 20, 40, 70, 200 };

	return 1 + below(limits[below(RAY_COUNT(limits))]);
}

static const char *line_end(void)
{
	return is_tidy || below(30) ? "\r\n" : "\n";
}

/* A header, its name in any case, blanks around its value. */
static void put_header(struct stream *s, const char *name, const char *value)
{
	static const char *const blanks[] = { " ", "", "  ", " \t" };
	char cased[64];
	size_t i;

	for (i = 0; name[i]; i++)
		cased[i] = below(3) ? name[i] : (char)(name[i] >= 'a' && name[i] <= 'z' ? name[i] - 32 : name[i]);
	cased[i] = '\0';
	put(s, "%s:%s%s%s%s", cased, blanks[is_tidy ? 0 : below(4)], value, is_tidy || below(10) ? "" : " ",
	    line_end());
}

/* Names that are nearly those that count. */
static void put_junk(struct stream *s)
{
	static const char *const names[] = { "content-lengthy",
					     "x-content-length",
					     "content-type",
					     "hosts",
					     "ost",
					     "transfer-encodings",
					     "te",
					     "c",
					     "user-agents",
					     "x-forwarded-forward",
					     "connections",
					     "date",
					     "a-name-that-is-longer-than-what-is-carried-over",
					     "content-length-",
					     "keep-alive",
					     "x",
					     "transfer",
					     "content-",
					     "user-age",
					     "etag" };
	char value[256];

	for (uint32_t n = below(4); n; n--) {
		random_word(value, below(4) ? some_length() : 0);
		put_header(s, names[below(RAY_COUNT(names))], value);
	}
}

static void put_body(struct stream *s, int request, size_t length)
{
	static const char *const tempting[] = {
		"HTTP/1.1 200 OK\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "0\r\n\r\n", "\r\n\r\n", "\x16\x03\x01", ""
	};
	const char *text = tempting[below(RAY_COUNT(tempting))];

	s->bodies[s->body_count].start = s->size;
	s->bodies[s->body_count].request = request;
	for (size_t i = 0; i < length; i++)
		s->bytes[s->size++] = *text ? text[i % strlen(text)] : (char)below(256);
	s->bodies[s->body_count++].end = s->size;
}

static void put_chunks(struct stream *s, int request, size_t *total)
{
	*total = 0;
	for (uint32_t n = below(5); n; n--) {
		size_t length = 1 + below(below(8) ? 40 : 3000);

		put(s, below(2) ? "%zx" : "%zX", length);
		if (!below(6))
			put(s, ";name=abc\"0f\"");
		put(s, "\r\n");
		put_body(s, request, length);
		put(s, "\r\n");
		*total += length;
	}
	put(s, below(8) ? "0\r\n" : "000;last\r\n");
	if (!below(5))
		put(s, "x-trailer: content-length: 5\r\ncontent-length: 7\r\n");
	put(s, "\r\n");
}

/* Framing of a body that is sent; then the end of the head, then the body. */
static void put_framed(struct stream *s, size_t *total)
{
	char number[32];

	put_junk(s);
	if (below(3)) {
		size_t length = below(3) ? below(200) : below(5000);

		snprintf(number, sizeof(number), "%zu", length);
		put_header(s, "content-length", number);
		put_junk(s);
		*total = length;
		return;
	}
	if (!below(5))
		put_header(s, "content-length", "3");
	put_header(s, "transfer-encoding", below(4) ? "chunked" : "gzip, Chunked");
	put_junk(s);
	*total = SIZE_MAX;
}

static void finish_body(struct stream *s, int request, size_t *total)
{
	if (*total == SIZE_MAX)
		put_chunks(s, request, total);
	else
		put_body(s, request, *total);
}

static void make_request(int i)
{
	static const char *const methods[] = { "GET",	  "GET",   "POST",	"PUT",	    "HEAD",	  "DELETE",
					       "OPTIONS", "PATCH", "PROPPATCH", "M-SEARCH", "UNSUBSCRIBE" };
	struct request *r = &list[i];
	bool has_body = !below(3);
	size_t total = 0;

	memset(r, 0, sizeof(*r));
	snprintf(r->method, sizeof(r->method), "%s", methods[below(RAY_COUNT(methods))]);
	random_word(r->url, below(20) ? some_length() : 900 + below(400));
	r->version = below(10) ? 11 : 10;
	if (!is_tidy && !below(10))
		put(&requests, "\r\n");
	put(&requests, "%s %s HTTP/1.%u%s", r->method, r->url, r->version - 10, line_end());
	put_junk(&requests);
	if (below(8)) {
		random_word(r->host, below(30) ? some_length() : 120 + below(20));
		put_header(&requests, "host", r->host);
	}
	if (below(2)) {
		random_word(r->agent, below(30) ? some_length() : 150 + below(20));
		put_header(&requests, "user-agent", r->agent);
	}
	if (!below(4))
		put_header(&requests, "connection", below(2) ? "keep-alive" : "close, te");
	if (!below(4)) {
		random_word(r->forwarded, 1 + below(20));
		put_header(&requests, "x-forwarded-for", r->forwarded);
		if (!below(3)) {
			put_header(&requests, "x-forwarded-for", "10.1.2.3");
			strcat(r->forwarded, ", 10.1.2.3");
		}
		if (!below(3) && *r->host)
			put_header(&requests, "host", "another.example");
	}
	if (has_body)
		put_framed(&requests, &total);
	else
		put_junk(&requests);
	put(&requests, "%s", line_end());
	mark(&requests, RAY_EVENT_HTTP_SERVER_REQUEST, i);
	r->head_end = requests.size;
	if (has_body)
		finish_body(&requests, i, &total);
	r->end = requests.size;
	r->body_bytes = total;
}

static void make_response(int i)
{
	static const uint32_t statuses[] = { 200, 200, 200, 201, 204, 304, 404, 500, 599 };
	static const char *const reasons[] = { " OK", "", " ", " Content-Length: 9" };
	struct request *r = &list[i];
	bool is_bare, is_last = i == count - 1;
	size_t total = 0, start;

	r->from = responses.size;
	for (uint32_t n = below(8) ? 0 : below(3); n; n--) {
		static const uint32_t interim[] = { 100, 102, 103 };

		put(&responses, "HTTP/1.1 %u Go on\r\n", interim[below(3)]);
		put_junk(&responses);
		put(&responses, "\r\n");
	}
	r->status = statuses[below(RAY_COUNT(statuses))];
	r->begin = start = responses.size;
	is_bare = !strcmp(r->method, "HEAD") || r->status == 204 || r->status == 304;
	put(&responses, "HTTP/1.%u %u%s%s", below(10) ? 1 : 0, r->status, reasons[below(4)], line_end());
	is_until_close = is_last && !is_bare && !below(2);
	if (!is_until_close && (!is_bare || below(2)))
		put_framed(&responses, &total);
	else
		put_junk(&responses);
	put(&responses, "%s", line_end());
	mark(&responses, RAY_EVENT_HTTP_SERVER_RESPONSE_START, i);
	responses.marks[responses.mark_count - 1].bytes = responses.size - start;
	if (is_bare) {
		total = 0;
	} else if (is_until_close) {
		total = below(500);
		put_body(&responses, i, total);
		return;
	} else {
		finish_body(&responses, i, &total);
	}
	mark(&responses, RAY_EVENT_HTTP_SERVER_RESPONSE, i);
	responses.marks[responses.mark_count - 1].bytes = responses.size - start;
	responses.marks[responses.mark_count - 1].body = total;
}

static void make_conversation(void)
{
	char *a = requests.bytes, *b = responses.bytes;

	memset(&requests, 0, sizeof(requests));
	memset(&responses, 0, sizeof(responses));
	requests.bytes = a;
	responses.bytes = b;
	is_until_close = false;
	count = (int)(1 + below(below(4) ? 6 : 30));
	for (int i = 0; i < count; i++)
		make_request(i);
	for (int i = 0; i < count; i++) {
		make_response(i);
		list[i].answer_end = responses.size;
	}
}

/* ---- what is told ---- */

static void no_event(void)
{
	int64_t event = next_event(0);

	if (event)
		fail_msg("event %lld that nobody expects", (long long)event);
}

/* Bytes of a request's body that have passed. */
static size_t body_so_far(const struct stream *s, int request)
{
	size_t sum = 0;

	for (int i = 0; i < s->body_count; i++) {
		if (s->bodies[i].request != request || s->bodies[i].start >= s->fed)
			continue;
		sum += (s->bodies[i].end < s->fed ? s->bodies[i].end : s->fed) - s->bodies[i].start;
	}
	return sum;
}

static void check_text(const char *what, const char *got, const char *expected, size_t room)
{
	char cut[4096];

	snprintf(cut, room < sizeof(cut) ? room : sizeof(cut), "%s", expected);
	if (strcmp(got, cut) != 0)
		fail_msg("%s is \"%s\", expected \"%s\"", what, got, cut);
}

static void check_request(struct request *r, int argument)
{
	const __u64 *args = kern_slot(&run)->args;
	const struct ray_node_request *got = request_told(sockets[0], args[argument]);

	check_text("method", got->method, r->method, RAY_NODE_METHOD);
	check_text("url", got->url, r->url, RAY_NODE_URL);
	check_text("host", got->host, r->host, RAY_NODE_HOST);
	check_text("user agent", got->user_agent, r->agent, RAY_NODE_AGENT);
	check_text("forwarded for", got->forwarded_for, r->forwarded, RAY_NODE_FORWARDED);
	assert_int_equal(got->url_length, strlen(r->url));
	assert_int_equal(got->version, r->version);
	assert_int_equal(connection_of(sockets[0])->connection.fd, sockets[0]);
	assert_true((int64_t)args[argument ? 0 : 1] < 0);
	assert_int_not_equal(got->id, 0);
	if (r->id)
		assert_int_equal(got->id, r->id);
	r->id = got->id;
}

static void check_event(const struct mark *m)
{
	struct request *r = &list[m->request];
	const struct ray_node_response *got = &area()->response;
	const __u64 *args = kern_slot(&run)->args;

	check_request(r, m->event == RAY_EVENT_HTTP_SERVER_REQUEST ? 0 : 6);
	if (m->event == RAY_EVENT_HTTP_SERVER_REQUEST) {
		assert_int_equal(args[4] - args[0], offsetof(struct ray_node_request, method));
		assert_int_equal(args[5] - args[0], offsetof(struct ray_node_request, url));
		assert_int_equal(args[2] - args[1], offsetof(struct ray_node_connection, remote_address));
		assert_int_equal(args[6], sockets[0]);
		assert_int_equal(args[7], r->id);
		return;
	}
	assert_int_equal(got->id, r->id);
	assert_int_equal(got->status,
			 m->event == RAY_EVENT_HTTP_SERVER_ABORT && responses.fed < r->begin + 12 ? 0 : r->status);
	assert_int_equal(got->aborted, m->event == RAY_EVENT_HTTP_SERVER_ABORT);
	assert_int_equal(got->request_body_bytes, body_so_far(&requests, m->request));
	if (m->event != RAY_EVENT_HTTP_SERVER_ABORT) {
		assert_int_equal(got->bytes, m->bytes);
		assert_int_equal(got->body_bytes, m->body);
	}
	assert_int_equal(args[4], got->status);
	assert_int_equal(args[5], r->id);
}

/* ---- calls ---- */

static void expect(const struct mark *m, int step, bool is_server)
{
	uint64_t shift = is_server ? 0 : RAY_EVENT_HTTP_CLIENT_REQUEST - RAY_EVENT_HTTP_SERVER_REQUEST;
	int64_t event = next_event(step);

	if (event != (int64_t)(m->event + shift))
		fail_msg("event %lld, expected %d of request %d at %zu", (long long)event, m->event, m->request, m->at);
	check_event(m);
}

/* The next n bytes of a stream, in one buffer or several; exact copies, so that reading too far is noticed. */
static void feed(struct stream *s, bool is_out, size_t n, bool is_server)
{
	bool is_vector = is_tidy ? !below(8) : below(2);
	struct iovec vector[8];
	char *copies[8];
	int used = 0, step = 0;
	size_t at = 0;

	while (at < n) {
		size_t part = is_vector && used < 7 ? 1 + below((uint32_t)(n - at)) : n - at;

		if (is_vector && used < 7 && !below(8))
			part = 0;
		copies[used] = malloc(part + 1);
		memcpy(copies[used], s->bytes + s->fed + at, part);
		vector[used] = (struct iovec){ copies[used], part };
		/* More room than was used is common when reading. */
		if (at + part == n && below(2))
			vector[used].iov_len += 1000;
		used++;
		at += part;
	}
	if (is_vector)
		set_call(is_out ? SYS_writev : SYS_readv, (uint64_t)sockets[0], (uint64_t)vector, (uint64_t)used,
			 (int64_t)n);
	else
		set_call(is_out ? SYS_write : SYS_read, (uint64_t)sockets[0], (uint64_t)copies[0], n, (int64_t)n);
	s->fed += n;
	area()->window.filled = 0;
	for (; s->next_mark < s->mark_count && s->marks[s->next_mark].at <= s->fed; s->next_mark++)
		if (watched >> s->marks[s->next_mark].event & 1)
			expect(&s->marks[s->next_mark], step++, is_server);
	/* It leaves the bytes there; whatever else looks at them takes them out. */
	whole_count += step && area()->window.filled;
	if (next_event(step))
		fail_msg("more events than there are, after %zu bytes", s->fed);
	for (int i = 0; i < used; i++)
		free(copies[i]);
}

static size_t some_size(const struct stream *s, size_t limit)
{
	static const uint32_t sizes[] = { 1, 2, 10, 50, 200, 1000, 5000, 100000 };
	size_t n = 1 + below(sizes[below(RAY_COUNT(sizes))]);

	for (int i = 0; is_tidy && below(20) && i < count; i++) {
		size_t end = s == &requests ? list[i].end : list[i].answer_end;

		if (end > s->fed) {
			n = end - s->fed;
			break;
		}
	}
	return n < limit ? n : limit;
}

/* Responses may go as far as requests have come. */
static size_t answerable(void)
{
	for (int i = 0; i < count; i++)
		if (list[i].head_end > requests.fed)
			return list[i].from;
	return responses.size;
}

static void open_connection(bool is_server)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	if (is_server)
		set_call(SYS_accept4, 3, 0, 0, sockets[0]);
	else
		set_call(SYS_connect, (uint64_t)sockets[0], 0, 0, 0);
	no_event();
}

static void close_connection(bool is_server)
{
	struct mark m = { .event = RAY_EVENT_HTTP_SERVER_ABORT };
	int step = 0;

	close(sockets[0]);
	close(sockets[1]);
	set_call(SYS_close, (uint64_t)sockets[0], 0, 0, 0);
	for (int i = 0; i < count; i++) {
		bool is_answered = false;

		for (int j = 0; j < responses.next_mark; j++)
			is_answered |= responses.marks[j].request == i &&
				       responses.marks[j].event == RAY_EVENT_HTTP_SERVER_RESPONSE;
		if (is_answered || list[i].head_end > requests.fed)
			continue;
		m.request = i;
		expect(&m, step++, is_server);
	}
	if (next_event(step))
		fail_msg("more events than there are, at the end");
}

/* The stream of responses ends, and with it the one that had no other end. */
static void end_responses(bool is_server)
{
	struct mark m = { .event = RAY_EVENT_HTTP_SERVER_RESPONSE, .request = count - 1 };

	if (is_server)
		set_call(SYS_shutdown, (uint64_t)sockets[0], SHUT_WR, 0, 0);
	else
		set_call(SYS_read, (uint64_t)sockets[0], 0, 0, 0);
	if (!is_until_close) {
		no_event();
		return;
	}
	m.bytes = responses.size - list[count - 1].begin;
	m.body = body_so_far(&responses, count - 1);
	m.at = responses.size;
	expect(&m, 0, is_server);
	responses.marks[responses.mark_count++] = m;
	responses.next_mark++;
	assert_int_equal(next_event(1), 0);
}

static void converse(bool is_server)
{
	size_t stop = below(3) ? SIZE_MAX : below((uint32_t)(requests.size + responses.size));

	open_connection(is_server);
	while (requests.fed + responses.fed < stop) {
		size_t limit = answerable();
		bool is_response = responses.fed < limit && (requests.fed == requests.size || below(is_tidy ? 8 : 2));

		if (is_response)
			feed(&responses, is_server, some_size(&responses, limit - responses.fed), is_server);
		else if (requests.fed < requests.size)
			feed(&requests, !is_server, some_size(&requests, requests.size - requests.fed), is_server);
		else
			break;
	}
	if (responses.fed == responses.size && below(4))
		end_responses(is_server);
	close_connection(is_server);
}

static void converse_often(uint64_t events, int rounds, bool is_mostly_tidy)
{
	watched = events;
	need_calls(watched);
	for (int i = 0; i < rounds; i++) {
		is_tidy = is_mostly_tidy && below(8);
		make_conversation();
		converse(is_mostly_tidy ? below(4) : below(2));
	}
	assert_int_equal(run.trace.state->node_drops, 0);
	assert_int_equal(count_connections(), 0);
	assert_int_equal(count_elements(run.trace.maps[RAY_LINK_NODE_REQUESTS], 8), 0);
}

static void conversations(void **state)
{
	(void)state;
	converse_often((1ULL << RAY_EVENT_HTTP2_STREAM_OPEN) - 2, ROUNDS, false);
}

/* What begins and ends with a call is dealt with elsewhere, where nobody asks for more than requests and their answers. */
static void whole_messages(void **state)
{
	uint64_t ends = 1ULL << RAY_EVENT_HTTP_SERVER_RESPONSE | 1ULL << RAY_EVENT_HTTP_SERVER_ABORT |
			1ULL << RAY_EVENT_HTTP_CLIENT_RESPONSE | 1ULL << RAY_EVENT_HTTP_CLIENT_ABORT;
	uint64_t begins = 1ULL << RAY_EVENT_HTTP_SERVER_REQUEST | 1ULL << RAY_EVENT_HTTP_CLIENT_REQUEST;

	(void)state;
	whole_count = 0;
	converse_often(begins | ends, ROUNDS, true);
	assert_true(whole_count > ROUNDS / 4);
	converse_often(ends, ROUNDS / 4, true);
}

/* What the verifier goes through is the time that verbs take to start: some 190000 instructions, and twice as many when ways that meet no longer look alike to it. */
static void verified_in_time(void **state)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	(void)state;
	need_calls((1ULL << RAY_EVENT_HTTP2_STREAM_OPEN) - 2);
	assert_int_equal(bpf_obj_get_info_by_fd(run.entry.fd, &info, &size), 0);
	if (info.verified_insns > 210000)
		fail_msg("the verifier looked at %u instructions", info.verified_insns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conversations),
		cmocka_unit_test(whole_messages),
		cmocka_unit_test(verified_in_time),
	};
	int ret;

	requests.bytes = malloc(STREAM_MAX);
	responses.bytes = malloc(STREAM_MAX);
	kern_init(&run);
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	kern_deinit(&run);
	free(requests.bytes);
	free(responses.bytes);
	return ret;
}
