/* Sockets and special turns of HTTP/1, by the handler in the kernel. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "kern_calls.h"

enum { HTTP = (1 << RAY_EVENT_HTTP2_STREAM_OPEN) - 2 };

static const uint64_t net = RAY_EVENT_BIT(NET_SERVER_CONNECTION) | RAY_EVENT_BIT(NET_CLIENT_CONNECT) |
			    RAY_EVENT_BIT(NET_SOCKET_READ) | RAY_EVENT_BIT(NET_SOCKET_WRITE) |
			    RAY_EVENT_BIT(NET_STREAM_END) | RAY_EVENT_BIT(NET_STREAM_CLOSE);

static char told[8192];
static int pair[2];

static void add_event(int fd, int64_t event)
{
	const __u64 *args = kern_slot(&run)->args;
	size_t at = strlen(told);

#define NAME_CASE(name, text)                                                                    \
	case RAY_EVENT_##name:                                                                   \
		at += (size_t)snprintf(told + at, sizeof(told) - at, "%s" text, at ? ", " : ""); \
		break;
	switch (event) {
		RAY_NODE_EVENTS(NAME_CASE)
	default:
		fail_msg("event %lld", (long long)event);
	}
#undef NAME_CASE
	if (event == RAY_EVENT_HTTP_SERVER_REQUEST || event == RAY_EVENT_HTTP_CLIENT_REQUEST) {
		const struct ray_node_request *r = request_told(fd, args[0]);

		snprintf(told + at, sizeof(told) - at, " %s %s", r->method, r->url);
	} else if (event < RAY_EVENT_HTTP2_STREAM_OPEN) {
		snprintf(told + at, sizeof(told) - at, " %s %u %llu", request_told(fd, args[6])->url,
			 area()->response.status, area()->response.body_bytes);
	} else if (event == RAY_EVENT_NET_SOCKET_READ || event == RAY_EVENT_NET_SOCKET_WRITE) {
		snprintf(told + at, sizeof(told) - at, " %llu", args[1]);
	}
}

/* All events of the call that was set, as text. */
static const char *events(int fd)
{
	int64_t event;

	told[0] = '\0';
	for (int step = 0; (event = next_event(step)); step++)
		add_event(fd, event);
	return told;
}

static const char *in(const char *text)
{
	set_call(SYS_read, (uint64_t)pair[0], (uint64_t)text, 65536, (int64_t)strlen(text));
	return events(pair[0]);
}

static const char *out(const char *text)
{
	set_call(SYS_write, (uint64_t)pair[0], (uint64_t)text, strlen(text), (int64_t)strlen(text));
	return events(pair[0]);
}

/* A pair of sockets; nobody has seen where they come from. */
static void begin_unseen(void)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
}

static void begin(void)
{
	begin_unseen();
	set_call(SYS_accept4, 3, 0, 0, pair[0]);
	assert_string_equal(events(pair[0]), "");
}

static const char *end(void)
{
	close(pair[0]);
	close(pair[1]);
	set_call(SYS_close, (uint64_t)pair[0], 0, 0, 0);
	return events(pair[0]);
}

/* ---- other protocols ---- */

static void upgrades(void **state)
{
	(void)state;
	need_calls(HTTP);
	begin();
	assert_string_equal(in("GET /chat HTTP/1.1\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n"),
			    "http-server-request GET /chat");
	assert_string_equal(
		out("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"),
		"http-server-response-start /chat 101 0, http-server-response /chat 101 0");
	assert_string_equal(in("GET /frame HTTP/1.1\r\n\r\n"), "");
	assert_string_equal(end(), "");
	/* Refused: what comes after it is HTTP again. */
	begin();
	in("GET /refused HTTP/1.1\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n\r\n");
	assert_string_equal(out("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
			    "http-server-response-start /refused 200 0, http-server-response /refused 200 2");
	assert_string_equal(in("GET /next HTTP/1.1\r\n\r\n"), "http-server-request GET /next");
	assert_string_equal(end(), "http-server-abort /next 0 0");
	/* The header alone asks for nothing. */
	begin();
	assert_string_equal(in("GET /a HTTP/1.1\r\nUpgrade: x\r\n\r\nGET /b HTTP/1.1\r\n\r\n"),
			    "http-server-request GET /a, http-server-request GET /b");
	assert_string_equal(end(), "http-server-abort /a 0 0, http-server-abort /b 0 0");
}

static void tunnels(void **state)
{
	(void)state;
	need_calls(HTTP);
	begin();
	assert_string_equal(in("CONNECT example.com:443 HTTP/1.1\r\n\r\nGET /early HTTP/1.1\r\n\r\n"),
			    "http-server-request CONNECT example.com:443");
	assert_string_equal(
		out("HTTP/1.1 200 Connection Established\r\nContent-Length: 5\r\n\r\n"),
		"http-server-response-start example.com:443 200 0, http-server-response example.com:443 200 0");
	assert_string_equal(in("GET / HTTP/1.1\r\n\r\n"), "");
	assert_string_equal(end(), "");
	begin();
	in("CONNECT example.com:443 HTTP/1.1\r\n\r\n");
	out("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n");
	assert_string_equal(in("CONNECT example.com:443 HTTP/1.1\r\n\r\n"),
			    "http-server-request CONNECT example.com:443");
	assert_string_equal(end(), "http-server-abort example.com:443 0 0");
}

static void not_http(void **state)
{
	static const char *const texts[] = { "\x16\x03\x01\x02zzzz",	   "HELLO WORLD\r\n\r\n",
					     "SSH-2.0-OpenSSH_9.2\r\n",	   "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
					     "GETX / HTTP/1.1\r\n\r\n",	   "*1\r\n$4\r\nPING\r\n",
					     "OPTIONS * RTSP/1.0\r\n\r\n", "GET / HTTP/1.1 x\r\n\r\n" };

	(void)state;
	need_calls(HTTP);
	for (size_t i = 0; i < RAY_COUNT(texts); i++) {
		begin();
		assert_string_equal(in(texts[i]), "");
		/* What does not begin as HTTP is none later on. */
		assert_string_equal(in("GET / HTTP/1.1\r\n\r\n"), "");
		assert_string_equal(end(), "");
	}
	assert_int_equal(run.trace.state->node_drops, 0);
}

/* ---- connections that were there before ---- */

static void in_the_middle(void **state)
{
	(void)state;
	need_calls(HTTP);
	begin_unseen();
	assert_string_equal(in("the rest of a body, GET / HTTP/1.1\r\n\r\n"), "");
	assert_string_equal(out("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlost"), "");
	assert_string_equal(in("GET /a HTTP/1.1\r\n"), "");
	assert_string_equal(in("\r\n"), "http-server-request GET /a");
	assert_string_equal(out("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfo"),
			    "http-server-response-start /a 200 0");
	assert_string_equal(out("und"), "http-server-response /a 200 4");
	assert_string_equal(end(), "");
	/* A response with chunks that cannot be: its request is given up, the next one is seen. */
	begin();
	in("GET /a HTTP/1.1\r\n\r\n");
	assert_string_equal(out("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n"),
			    "http-server-response-start /a 200 0");
	assert_int_equal(run.trace.state->node_drops, 1);
	in("GET /b HTTP/1.1\r\n\r\n");
	assert_string_equal(out("HTTP/1.1 204 No\r\n\r\n"),
			    "http-server-response-start /b 204 0, http-server-response /b 204 0");
	assert_string_equal(end(), "");
}

/* Another file behind the descriptor, without a close(). */
static void another_file(void **state)
{
	int other[2];

	(void)state;
	need_calls(HTTP);
	begin();
	in("GET /a HTTP/1.1\r\nHost: a");
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, other), 0);
	assert_int_equal(dup2(other[0], pair[0]), pair[0]);
	set_call(SYS_dup2, (uint64_t)other[0], (uint64_t)pair[0], 0, pair[0]);
	assert_int_equal(next_event(0), 0);
	assert_string_equal(in("GET /b HTTP/1.1\r\n\r\n"), "http-server-request GET /b");
	close(other[0]);
	close(other[1]);
	assert_string_equal(end(), "http-server-abort /b 0 0");
	assert_int_equal(count_connections(), 0);
}

/* ---- bytes ---- */

/* Where nothing may be read: bodies are not. */
static void bodies_are_not_read(void **state)
{
	const size_t size = 8 << 20;
	char *nowhere = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char head[128];
	struct iovec vector[3] = { { head, 0 }, { nowhere, size }, { NULL, 0 } };

	(void)state;
	need_calls(HTTP);
	begin();
	in("GET /big HTTP/1.1\r\n\r\nGET /next HTTP/1.1\r\n\r\n");
	vector[0].iov_len =
		(size_t)snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", size);
	vector[2] = (struct iovec){ "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", 38 };
	set_call(SYS_writev, (uint64_t)pair[0], (uint64_t)vector, 3,
		 (int64_t)(vector[0].iov_len + size + vector[2].iov_len));
	assert_string_equal(events(pair[0]),
			    "http-server-response-start /big 200 0, http-server-response /big 200 8388608, "
			    "http-server-response-start /next 404 0, http-server-response /next 404 0");
	assert_int_equal(run.trace.state->node_drops, 0);
	/* A head that cannot be read is counted, and what begins like one is looked for. */
	set_call(SYS_read, (uint64_t)pair[0], (uint64_t)nowhere, 65536, 100);
	assert_string_equal(events(pair[0]), "");
	assert_int_equal(run.trace.state->node_drops, 1);
	assert_string_equal(in("GET /after HTTP/1.1\r\n\r\n"), "http-server-request GET /after");
	end();
	munmap(nowhere, size);
}

/* Only what was taken counts; what was only looked at, not at all. */
static void parts_of_calls(void **state)
{
	static const char text[] = "GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n";
	struct iovec vector = { (char *)text, 65536 };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };

	(void)state;
	need_calls(HTTP);
	begin();
	set_call(SYS_recvfrom, (uint64_t)pair[0], (uint64_t)text, sizeof(text), 38);
	kern_slot(&run)->hook_args[3] = MSG_PEEK;
	assert_string_equal(events(pair[0]), "");
	set_call(SYS_recvmsg, (uint64_t)pair[0], (uint64_t)&message, MSG_PEEK, 38);
	assert_string_equal(events(pair[0]), "");
	set_call(SYS_recvmsg, (uint64_t)pair[0], (uint64_t)&message, 0, 20);
	assert_string_equal(events(pair[0]), "http-server-request GET /a");
	set_call(SYS_read, (uint64_t)pair[0], (uint64_t)text + 20, 65536, -EAGAIN);
	assert_string_equal(events(pair[0]), "");
	set_call(SYS_recvfrom, (uint64_t)pair[0], (uint64_t)text + 20, sizeof(text), 18);
	assert_string_equal(events(pair[0]), "http-server-request GET /b");
	end();
}

static void many_in_one_read(void **state)
{
	enum { COUNT = 1600 };
	static char text[COUNT * 40 + 1];
	int step;

	(void)state;
	need_calls(HTTP);
	begin();
	for (int i = 0; i < COUNT; i++)
		sprintf(text + i * 40, "GET /%04d HTTP/1.1\r\nHost: local:8080\r\n\r\n", i);
	set_call(SYS_read, (uint64_t)pair[0], (uint64_t)text, 65536, COUNT * 40);
	for (step = 0; next_event(step); step++)
		assert_int_equal(atoi(request_told(pair[0], kern_slot(&run)->args[0])->url + 1), step);
	assert_int_equal(step, COUNT);
	assert_int_equal(count_elements(run.trace.maps[RAY_LINK_NODE_REQUESTS], 8), COUNT - 1);
	close(pair[0]);
	close(pair[1]);
	set_call(SYS_close, (uint64_t)pair[0], 0, 0, 0);
	for (step = 0; next_event(step); step++)
		assert_int_equal(area()->response.aborted, 1);
	assert_int_equal(step, COUNT);
	assert_int_equal(count_elements(run.trace.maps[RAY_LINK_NODE_REQUESTS], 8), 0);
	assert_int_equal(run.trace.state->node_drops, 0);
}

/* ---- connections ---- */

static void stages(void **state)
{
	(void)state;
	need_calls(net);
	begin_unseen();
	set_call(SYS_accept4, 3, 0, 0, pair[0]);
	assert_string_equal(events(pair[0]), "net-server-connection");
	assert_string_equal(in("hello"), "net-socket-read 5");
	assert_string_equal(out("hello!"), "net-socket-write 6");
	set_call(SYS_read, (uint64_t)pair[0], 0, 65536, 0);
	assert_string_equal(events(pair[0]), "net-stream-end");
	set_call(SYS_shutdown, (uint64_t)pair[0], SHUT_WR, 0, 0);
	assert_string_equal(events(pair[0]), "net-stream-end");
	assert_string_equal(end(), "net-stream-close");
	assert_string_equal(end(), "");
}

/* Files, pipes and datagrams pass here as well. */
static void other_files(void **state)
{
	int datagram = socket(AF_INET, SOCK_DGRAM, 0), pipes[2];

	(void)state;
	need_calls(net | HTTP);
	assert_int_equal(pipe(pipes), 0);
	for (int i = 0; i < 3; i++) {
		int fd = i == 0 ? datagram : i == 1 ? pipes[0] : 9999;

		set_call(SYS_read, (uint64_t)fd, (uint64_t) "GET / HTTP/1.1\r\n\r\n", 65536, 18);
		assert_string_equal(events(fd), "");
		set_call(SYS_close, (uint64_t)fd, 0, 0, 0);
		assert_string_equal(events(fd), "");
		assert_null(connection_of(fd));
	}
	close(datagram);
	close(pipes[0]);
	close(pipes[1]);
}

static void connecting(void **state)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(4711),
				  .sin_addr.s_addr = htonl(0x7f000203) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), error = ECONNREFUSED;
	const __u64 *args;

	(void)state;
	need_calls(net);
	set_call(SYS_connect, (uint64_t)fd, (uint64_t)&to, sizeof(to), -EINPROGRESS);
	assert_string_equal(events(fd), "");
	set_call(SYS_getsockopt, (uint64_t)fd, SOL_SOCKET, SO_ERROR, 0);
	kern_slot(&run)->hook_args[3] = (uint64_t)&error;
	assert_int_equal(next_event(0), RAY_EVENT_NET_CLIENT_CONNECT);
	args = kern_slot(&run)->args;
	assert_string_equal(kern_memory(&run, args[1]), "127.0.2.3");
	assert_int_equal(args[2], 4711);
	assert_int_equal(args[3], fd);
	assert_int_equal((int64_t)args[4], -ECONNREFUSED);
	assert_true(args[5] > 0);
	assert_int_equal(next_event(1), 0);
	assert_string_equal(events(fd), ""); /* it has been told */
	close(fd);
	set_call(SYS_close, (uint64_t)fd, 0, 0, 0);
	assert_string_equal(events(fd), "net-stream-close");
}

/* A connection of these addresses; [0] is the accepted side. */
static bool connect_pair(int family, const char *text, int ends[2])
{
	struct sockaddr_storage storage = { .ss_family = (sa_family_t)family };
	struct sockaddr *address = (struct sockaddr *)&storage;
	int listener = socket(family, SOCK_STREAM, 0);
	socklen_t size = sizeof(storage);

	if (family == AF_INET) {
		inet_pton(AF_INET, text, &((struct sockaddr_in *)address)->sin_addr);
		size = sizeof(struct sockaddr_in);
	} else if (family == AF_INET6) {
		inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)address)->sin6_addr);
		size = sizeof(struct sockaddr_in6);
	} else {
		struct sockaddr_un *un = (struct sockaddr_un *)address;

		size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(text) + (*text != '@'));
		strcpy(un->sun_path, text);
		if (*text == '@')
			un->sun_path[0] = '\0';
		else
			unlink(text);
	}
	if (listener < 0 || bind(listener, address, size) || listen(listener, 1))
		return false;
	if (family != AF_UNIX)
		assert_int_equal(getsockname(listener, address, &size), 0);
	ends[1] = socket(family, SOCK_STREAM, 0);
	assert_int_equal(connect(ends[1], address, size), 0);
	ends[0] = accept(listener, NULL, NULL);
	assert_true(ends[0] >= 0);
	close(listener);
	return true;
}

static void addresses(void **state)
{
	static const struct {
		int family;
		const char *bound;
		int shown_family;
		const char *local, *remote; /* of the accepted side */
	} rows[] = {
		{ AF_INET, "127.0.0.1", AF_INET, "127.0.0.1", "127.0.0.1" },
		{ AF_INET6, "::1", AF_INET6, "::1", "::1" },
		{ AF_INET6, "::ffff:127.0.0.1", AF_INET, "127.0.0.1", "127.0.0.1" },
		{ AF_UNIX, "/tmp/noderay-test-socket", AF_UNIX, "/tmp/noderay-test-socket", "" },
		{ AF_UNIX, "@noderay-test-socket", AF_UNIX, "@noderay-test-socket", "" },
	};
	struct sockaddr_in6 peer;
	socklen_t size;

	(void)state;
	need_calls(net);
	for (size_t i = 0; i < RAY_COUNT(rows); i++) {
		const struct ray_node_connection *c = &area()->connection;
		int ends[2];

		if (!connect_pair(rows[i].family, rows[i].bound, ends))
			continue; /* no IPv6 here */
		set_call(SYS_accept4, 3, 0, 0, ends[0]);
		assert_int_equal(next_event(0), RAY_EVENT_NET_SERVER_CONNECTION);
		assert_string_equal(c->local_address, rows[i].local);
		assert_string_equal(c->remote_address, rows[i].remote);
		assert_int_equal(c->family, rows[i].shown_family);
		assert_int_equal(c->is_server, 1);
		size = sizeof(peer);
		assert_int_equal(getpeername(ends[0], (struct sockaddr *)&peer, &size), 0);
		if (rows[i].family != AF_UNIX)
			assert_int_equal(c->remote_port, ntohs(peer.sin6_port));
		/* The other end sees it the other way round, also when it comes upon it by a read. */
		set_call(SYS_read, (uint64_t)ends[1], (uint64_t) "x", 1, 1);
		assert_int_equal(next_event(0), RAY_EVENT_NET_SOCKET_READ);
		assert_string_equal(c->remote_address, rows[i].local);
		assert_string_equal(c->local_address, rows[i].remote);
		for (int j = 0; j < 2; j++) {
			close(ends[j]);
			set_call(SYS_close, (uint64_t)ends[j], 0, 0, 0);
			assert_string_equal(events(ends[j]), "net-stream-close");
		}
	}
	unlink("/tmp/noderay-test-socket");
}

/* ---- anything ---- */

/* Messages with bytes changed, cut and doubled: whatever comes of it, it ends, and nothing is left. */
static void damaged(void **state)
{
	static const char whole[] =
		"POST /a?b=c HTTP/1.1\r\nHost: example\r\nTransfer-Encoding: chunked\r\nContent-Length: 12\r\n\r\n"
		"5\r\nhello\r\n0\r\n\r\nGET / HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 100 Continue\r\n\r\n";
	unsigned random = 1;
	char text[512];

	(void)state;
	need_calls(HTTP);
	for (int round = 0; round < 1000; round++) {
		if (round % 20 == 0)
			begin();
		memcpy(text, whole, sizeof(whole));
		for (int i = 0; i < 4; i++) {
			random = random * 1103515245 + 12345;
			text[(random >> 8) % (sizeof(whole) - 1)] = (char)(random >> 20);
		}
		random = random * 1103515245 + 12345;
		set_call(random & 256 ? SYS_write : SYS_read, (uint64_t)pair[0], (uint64_t)text + (random >> 16) % 100,
			 65536, (int64_t)((random >> 9) % (sizeof(whole) - 100)));
		for (int step = 0; next_event(step); step++)
			assert_true(step < 100);
		if (round % 20 == 19) {
			close(pair[0]);
			close(pair[1]);
			set_call(SYS_close, (uint64_t)pair[0], 0, 0, 0);
			for (int step = 0; next_event(step); step++)
				assert_true(step < 1000);
		}
	}
	assert_int_equal(count_connections(), 0);
	assert_int_equal(count_elements(run.trace.maps[RAY_LINK_NODE_REQUESTS], 8), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(upgrades),	  cmocka_unit_test(tunnels),	  cmocka_unit_test(not_http),
		cmocka_unit_test(in_the_middle),  cmocka_unit_test(another_file), cmocka_unit_test(bodies_are_not_read),
		cmocka_unit_test(parts_of_calls), cmocka_unit_test(stages),	  cmocka_unit_test(many_in_one_read),
		cmocka_unit_test(other_files),	  cmocka_unit_test(connecting),	  cmocka_unit_test(addresses),
		cmocka_unit_test(damaged),
	};
	int ret;

	kern_init(&run);
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	kern_deinit(&run);
	return ret;
}
