/* test_target_sockets.c - the kernel's socket tables. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/auto.h"
#include "target/sockets.h"

static struct ray_arena *arena;

static struct ray_socket parsed(const char *table, const char *line)
{
	struct ray_socket s;

	assert_true(ray_sockets_parse_line(table, line, &s, arena));
	return s;
}

static void a_row_of_tcp(void **state)
{
	struct ray_socket s = parsed("tcp",
				     "   1: 0100007F:1F90 0200007F:C001 01 0000000A:00000014 01:00000018 00000003  1000"
				     "        0 35288 2 ffff9c0d 20 4 30 10 -1\n");
	(void)state;

	assert_int_equal(s.inode, 35288);
	assert_int_equal(s.family, AF_INET);
	assert_string_equal(s.local, "127.0.0.1:8080");
	assert_string_equal(s.remote, "127.0.0.2:49153");
	assert_string_equal(s.state, "ESTABLISHED");
	assert_int_equal(s.send_queue, 10);
	assert_int_equal(s.recv_queue, 20);
	assert_int_equal(s.retransmits, 3);
}

static void a_listening_row_has_no_remote(void **state)
{
	struct ray_socket s = parsed("tcp",
				     "   0: 00000000:07E8 00000000:0000 0A 00000000:00000002 00:00000000 00000000     0"
				     "        0 521 1 00000000ef130d0a 100 0 0 10 0\n");
	(void)state;

	assert_string_equal(s.state, "LISTEN");
	assert_string_equal(s.remote, "");
	assert_int_equal(s.recv_queue, 2);
	assert_false(s.has_backlog);
}

static void a_row_of_tcp6(void **state)
{
	struct ray_socket s =
		parsed("tcp6", "   0: 00000000000000000000000001000000:0050 B80D0120000000000000000001000000:FFFF 01 "
			       "00000000:00000000 00:00000000 00000000     0        0 9 1 0 20 0 0 10 -1\n");
	(void)state;

	assert_string_equal(s.local, "[::1]:80");
	assert_string_equal(s.remote, "[2001:db8::1]:65535");
}

static void ipv4_inside_ipv6_is_unfolded(void **state)
{
	struct ray_socket s =
		parsed("tcp6", "   0: 0000000000000000FFFF00000100007F:0050 0000000000000000FFFF00000200000A:0051 08 "
			       "00000000:00000000 00:00000000 00000000     0        0 9 1 0 20 0 0 10 -1\n");
	(void)state;

	assert_string_equal(s.local, "127.0.0.1:80");
	assert_string_equal(s.remote, "10.0.0.2:81");
	assert_string_equal(s.state, "CLOSE_WAIT");
	assert_int_equal(s.family, AF_INET6);
}

static void an_unconnected_udp_socket_has_no_state(void **state)
{
	struct ray_socket s = parsed("udp",
				     "  12: 0100007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000   101"
				     "        0 77 2 0 0\n");
	(void)state;

	assert_string_equal(s.state, "");
	assert_int_equal(s.type, SOCK_DGRAM);
	assert_string_equal(s.local, "127.0.0.1:53");
}

static void rows_of_unix(void **state)
{
	struct ray_socket s;
	(void)state;

	s = parsed("unix", "00000000aa: 00000002 00000000 00010000 0001 01 17290 /run/a b.sock\n");
	assert_string_equal(s.local, "/run/a b.sock");
	assert_string_equal(s.state, "LISTEN");
	assert_int_equal(s.type, SOCK_STREAM);
	s = parsed("unix", "00000000aa: 00000003 00000000 00000000 0001 03 17291\n");
	assert_string_equal(s.local, "");
	assert_string_equal(s.state, "ESTABLISHED");
	s = parsed("unix", "00000000aa: 00000003 00000000 00000000 0005 03 17292 @abstract\n");
	assert_string_equal(s.local, "@abstract");
	assert_int_equal(s.type, SOCK_SEQPACKET);
}

static void rows_of_netlink_and_packet(void **state)
{
	struct ray_socket s;
	(void)state;

	s = parsed("netlink",
		   "000000008a59ef7a 15  4711       00000001 12       0        0        2        0        473     \n");
	assert_string_equal(s.local, "uevent port 4711");
	assert_int_equal(s.inode, 473);
	assert_int_equal(s.recv_queue, 12);
	s = parsed("packet", "00000000b2 3      3    0003   2     1 0      0      1234\n");
	assert_string_equal(s.local, "interface 2 protocol 0x0003");
	assert_int_equal(s.inode, 1234);
}

static void headings_and_nonsense_are_no_rows(void **state)
{
	static const char *const lines[] = {
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n",
		"",
		"\n",
		"   1: 0100007F:1F90",
		"   1: 0100007F0100007F:1F90 0200007F:C001 01 0:0 01:0 0 0 0 1\n",
		"   1: zz00007F:1F90 0200007F:C001 01 0:0 01:0 0 0 0 1\n",
	};
	struct ray_socket s;
	size_t i;
	(void)state;

	for (i = 0; i < RAY_COUNT(lines); i++)
		assert_false(ray_sockets_parse_line("tcp", lines[i], &s, arena));
	assert_false(
		ray_sockets_parse_line("unix", "Num       RefCount Protocol Flags    Type St Inode Path\n", &s, arena));
	assert_false(ray_sockets_parse_line("netlink", "sk Eth Pid Groups Rmem Wmem\n", &s, arena));
	assert_false(ray_sockets_parse_line("nosuch", "1: 2", &s, arena));
}

static void states_out_of_range_have_no_name(void **state)
{
	(void)state;
	assert_string_equal(ray_socket_tcp_state(1), "ESTABLISHED");
	assert_string_equal(ray_socket_tcp_state(0), "");
	assert_string_equal(ray_socket_tcp_state(4000), "");
}

static uint64_t inode_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_ino;
}

static int listener(uint16_t *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 17), 0);
	getsockname(fd, (struct sockaddr *)&a, &size);
	*port = ntohs(a.sin_port);
	return fd;
}

/* Both sources must say the same of real sockets, but for what only sock_diag knows. */
static void both_sources_agree(void **state)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX, .sun_path = "\0noderay-test-XXXXXX" };
	struct ray_socket from[2][2];
	char expected[64];
	uint16_t port;
	int tcp, local, k;
	(void)state;

	tcp = listener(&port);
	local = socket(AF_UNIX, SOCK_DGRAM, 0);
	snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "noderay-test-%d", getpid());
	assert_int_equal(bind(local, (struct sockaddr *)&name, sizeof(name)), 0);
	for (k = 0; k < 2; k++) {
		ray_socket_init(&from[k][0], inode_of(tcp));
		ray_socket_init(&from[k][1], inode_of(local));
		assert_int_equal(ray_sockets_read(k ? RAY_SOCKETS_PROC : RAY_SOCKETS_BEST, getpid(), from[k], 2, arena),
				 2);
		snprintf(expected, sizeof(expected), "127.0.0.1:%u", port);
		assert_string_equal(from[k][0].local, expected);
		assert_string_equal(from[k][0].state, "LISTEN");
		assert_int_equal(from[k][1].type, SOCK_DGRAM);
		assert_int_equal(strncmp(from[k][1].local, "@noderay-test-", 14), 0);
	}
	if (from[0][0].has_backlog)
		assert_int_equal(from[0][0].send_queue, 17);
	close(tcp);
	close(local);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_of_tcp),
		cmocka_unit_test(a_listening_row_has_no_remote),
		cmocka_unit_test(a_row_of_tcp6),
		cmocka_unit_test(ipv4_inside_ipv6_is_unfolded),
		cmocka_unit_test(an_unconnected_udp_socket_has_no_state),
		cmocka_unit_test(rows_of_unix),
		cmocka_unit_test(rows_of_netlink_and_packet),
		cmocka_unit_test(headings_and_nonsense_are_no_rows),
		cmocka_unit_test(states_out_of_range_have_no_name),
		cmocka_unit_test(both_sources_agree),
	};
	int failed;

	arena = ray_arena_create();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	ray_arena_free(arena);
	return failed;
}
