/* Which socket an SSL * speaks through, and what ends with it: the handlers in the kernel, called as node would. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/socket.h>
#include <sys/syscall.h>

#include "kern_run.h"

enum handler { SOCKET, SOCKET_MORE, READ, READ_RETURN, WRITE, WRITE_RETURN, READ_EX, FREE };
enum { PAIRS = 3, FIRST_SSL = 0x1000 };

static const char *const handlers[] = { "ray_on_socket",	  "ray_on_socket_more", "ray_on_ssl_read",
					"ray_on_ssl_read_return", "ray_on_ssl_write",	"ray_on_ssl_write_return",
					"ray_on_ssl_read_ex",	  "ray_on_ssl_free" };
static const char hello[] = "\x16\x03\x01\x00\x05hello", secret[] = "\x17\x03\x03\x00\x05 noise";
static const char request[] = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n", response[] = "HTTP/1.1 204 No Content\r\n\r\n";

static struct kern_run run;
static int pairs[PAIRS][2];
static uint64_t next_ssl = FIRST_SSL;

/* The arguments of the last event. */
static uint64_t said[RAY_ARGS];

/* All events of one hit, zero-ended. */
static const int64_t *call(enum handler handler, uint64_t a, uint64_t b, uint64_t c, uint64_t d, int64_t result)
{
	struct ray_slot *slot = kern_slot(&run);
	static int64_t told[16];

	slot->timestamp = 0;
	slot->hook_args[0] = a;
	slot->hook_args[1] = b;
	slot->hook_args[2] = c;
	slot->hook_args[3] = d;
	slot->hook_args[RAY_HOOK_RESULT] = (uint64_t)result;
	for (size_t i = 0; i < RAY_COUNT(told) - 1; i++) {
		slot->spills[6] = handler == SOCKET && i ? SOCKET_MORE : handler;
		told[i] = kern_call(&run, i, 0, 0, 0);
		if (!told[i])
			break;
		memcpy(said, slot->args, sizeof(said));
	}
	return told;
}

static const int64_t *system_call(uint64_t number, int fd, const char *bytes, int64_t size)
{
	kern_slot(&run)->hook_args[RAY_HOOK_NUMBER] = number;
	return call(SOCKET, (uint64_t)fd, (uintptr_t)bytes, (uint64_t)size, 0, size);
}

static void socket_reads(int fd, const char *bytes)
{
	assert_int_equal(system_call(SYS_read, fd, bytes, (int64_t)strlen(bytes))[0], 0);
}

static const int64_t *ssl_read(uint64_t ssl, const char *bytes, int64_t result)
{
	call(READ, ssl, (uintptr_t)bytes, 100, 0, 0);
	return call(READ_RETURN, 0, 0, 0, 0, result);
}

static const int64_t *ssl_write(uint64_t ssl, const char *bytes, int64_t result)
{
	call(WRITE, ssl, (uintptr_t)bytes, strlen(bytes), 0, 0);
	return call(WRITE_RETURN, 0, 0, 0, 0, result);
}

static void is_asked(const int64_t *told, int fd)
{
	assert_int_equal(told[0], RAY_EVENT_HTTP_CLIENT_REQUEST);
	assert_int_equal(told[1], 0);
	assert_int_equal((int)said[6], fd);
}

static void is_answered(const int64_t *told, int fd)
{
	assert_int_equal(told[0], RAY_EVENT_HTTP_CLIENT_RESPONSE_START);
	assert_int_equal(told[1], RAY_EVENT_HTTP_CLIENT_RESPONSE);
	assert_int_equal(told[2], 0);
	assert_int_equal((int)said[3], fd);
	assert_int_equal(said[4], 204);
}

static const int64_t *ends(int fd)
{
	return system_call(SYS_close, fd, NULL, 0);
}

static int setup(void **state)
{
	(void)state;
	kern_init(&run);
	run.plan.event_at = run.plan.slot_size;
	run.plan.event_size = sizeof(struct ray_node_area);
	run.plan.slot_size += run.plan.event_size;
	run.trace.watched = (1ULL << RAY_EVENT_HTTP2_STREAM_OPEN) - 2;
	for (int i = 0; i < PAIRS; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]))
			return -1;
	kern_load_all(&run, handlers, RAY_COUNT(handlers));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (int i = 0; i < PAIRS; i++) {
		close(pairs[i][0]);
		close(pairs[i][1]);
	}
	kern_deinit(&run);
	return 0;
}

static void need(void)
{
	if (run.slots)
		return;
	if (strstr(run.skip, "not permitted"))
		skip();
	fail_msg("%s", run.skip);
}

/* Hands are shaken in SSL_read(), and the first request comes when another socket has been read. */
static void what_was_read_while_hands_were_shaken_counts(void **state)
{
	uint64_t a = next_ssl++, b = next_ssl++;

	(void)state;
	need();
	socket_reads(pairs[0][0], hello);
	assert_int_equal(ssl_read(a, NULL, -1)[0], 0);
	socket_reads(pairs[1][0], hello);
	assert_int_equal(ssl_read(b, NULL, -1)[0], 0);
	is_asked(ssl_write(a, request, sizeof(request) - 1), pairs[0][0]);
	is_asked(ssl_write(b, request, sizeof(request) - 1), pairs[1][0]);
	socket_reads(pairs[0][0], secret);
	is_answered(ssl_read(a, response, sizeof(response) - 1), pairs[0][0]);
	/* One has its answer, the other never gets it. */
	assert_int_equal(ends(pairs[0][0])[0], 0);
	assert_int_equal(ends(pairs[1][0])[0], RAY_EVENT_HTTP_CLIENT_ABORT);
	assert_int_equal((int)said[3], pairs[1][0]);
}

/* A client's write is refused while another socket is read, and succeeds when its own has been. */
static void a_write_that_is_repeated_was_for_what_came(void **state)
{
	uint64_t a = next_ssl++;

	(void)state;
	need();
	socket_reads(pairs[1][0], hello);
	assert_int_equal(ssl_read(a, NULL, -1)[0], 0);
	assert_int_equal(ssl_write(a, request, -1)[0], 0);
	assert_int_equal(ssl_write(a, request, -1)[0], 0);
	socket_reads(pairs[2][0], hello);
	is_asked(ssl_write(a, request, sizeof(request) - 1), pairs[2][0]);
	/* The SSL * goes first. */
	assert_int_equal(call(FREE, a, 0, 0, 0, 0)[0], RAY_EVENT_HTTP_CLIENT_ABORT);
	assert_int_equal(ends(pairs[2][0])[0], 0);
	assert_int_equal(ends(pairs[1][0])[0], 0);
}

/* JavaScript that hears of the handshake writes before SSL_read() returns. */
static void a_write_within_a_read_is_for_what_came(void **state)
{
	uint64_t a = next_ssl++;

	(void)state;
	need();
	socket_reads(pairs[0][0], hello);
	call(READ, a, 0, 100, 0, 0);
	is_asked(ssl_write(a, request, sizeof(request) - 1), pairs[0][0]);
	assert_int_equal(call(READ_RETURN, 0, 0, 0, 0, -1)[0], 0);
	assert_int_equal(ends(pairs[0][0])[0], RAY_EVENT_HTTP_CLIENT_ABORT);
}

/* Somebody who came late sees a request before he has seen anything read. */
static void a_socket_that_is_not_known_is_not_guessed(void **state)
{
	uint64_t a = next_ssl++, b = next_ssl++;

	(void)state;
	need();
	socket_reads(pairs[1][0], secret);
	is_asked(ssl_write(a, request, sizeof(request) - 1), -1);
	/* It belongs to another. */
	assert_int_equal(ssl_read(b, "noise", 5)[0], 0);
	socket_reads(pairs[0][0], secret);
	is_answered(ssl_read(a, response, sizeof(response) - 1), pairs[0][0]);
	is_asked(ssl_write(a, request, sizeof(request) - 1), pairs[0][0]);
	/* Bytes of the socket itself are never taken for HTTP. */
	socket_reads(pairs[0][0], request);
	assert_int_equal(ends(pairs[0][0])[0], RAY_EVENT_HTTP_CLIENT_ABORT);
	assert_int_equal(ends(pairs[1][0])[0], 0);
}

/* The other way of calling: whether, and how many at an address. */
static void the_ex_forms_tell_how_many_elsewhere(void **state)
{
	uint64_t a = next_ssl++;
	size_t count = sizeof(request) - 1;

	(void)state;
	need();
	socket_reads(pairs[0][0], hello);
	call(READ_EX, a, (uintptr_t)request, 100, (uintptr_t)&count, 0);
	assert_int_equal(call(READ_RETURN, 0, 0, 0, 0, 0)[0], 0);
	call(READ_EX, a, (uintptr_t)request, 100, (uintptr_t)&count, 0);
	assert_int_equal(call(READ_RETURN, 0, 0, 0, 0, 1)[0], RAY_EVENT_HTTP_SERVER_REQUEST);
	assert_int_equal((int)said[6], pairs[0][0]);
	assert_int_equal(ends(pairs[0][0])[0], RAY_EVENT_HTTP_SERVER_ABORT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_read_while_hands_were_shaken_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(a_write_that_is_repeated_was_for_what_came, setup, teardown),
		cmocka_unit_test_setup_teardown(a_write_within_a_read_is_for_what_came, setup, teardown),
		cmocka_unit_test_setup_teardown(a_socket_that_is_not_known_is_not_guessed, setup, teardown),
		cmocka_unit_test_setup_teardown(the_ex_forms_tell_how_many_elsewhere, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
