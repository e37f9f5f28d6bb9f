/* node_socket.bpf.h - the sockets of a node process, from its system calls: connections, what is read and written, their end.
 * SPDX-License-Identifier: MIT
 *
 * Called when a system call returns: after a read its buffers hold what came, and after a write it is known how much of them was taken. What is read and
 * written goes to node_http.bpf.h. Knows nothing of datagrams. */
#ifndef RAY_KERN_NODE_SOCKET_BPF_H
#define RAY_KERN_NODE_SOCKET_BPF_H

#include "kern/node_conn.bpf.h"
#include "kern/node_http2.bpf.h"

enum {
	RAY_EINTR = 4,
	RAY_EAGAIN = 11,
	RAY_EINPROGRESS = 115,
	RAY_MSG_PEEK = 2,
	RAY_MSG_IOV = 16, /* in struct msghdr; the number of them is next */
	RAY_SOL_SOCKET = 1,
	RAY_SO_ERROR = 4,
	RAY_SHUT_RD = 0,
};

_Static_assert(RAY_SYS_READ == 0 && RAY_SYS_WRITE == 1, "the number says which way bytes go");

/* slot->cursor[RAY_AT_PHASE] */
enum { RAY_SOCKET_NONE, RAY_SOCKET_BYTES, RAY_SOCKET_END_TLS, RAY_SOCKET_END_H2, RAY_SOCKET_END };

/* ---- what is told of a connection ---- */

static __always_inline __u64 ray_thread_request(void)
{
	struct ray_node_thread *thread = ray_node_thread_known();

	return thread ? thread->request : 0;
}

static __noinline __u64 ray_socket_tell(struct ray_slot *s, struct ray_node_conn *conn, __u64 event)
{
	struct ray_node_area *area = ray_node_area(s);
	__u64 *args = s->args;

	if (!conn || !(RAY_CONST(WATCHED) >> (event & 63) & 1))
		return 0;
	bpf_probe_read_kernel(&area->connection, sizeof(area->connection), &conn->connection);
	args[0] = RAY_AREA_ADDRESS(connection);
	args[1] = RAY_AREA_ADDRESS(connection.remote_address);
	args[2] = conn->connection.remote_port;
	args[3] = (__s64)conn->connection.fd;
	args[4] = ray_thread_request();
	return event;
}

/* read and write have the number of bytes before the address. */
static __always_inline __u64 ray_socket_tell_bytes(struct ray_slot *s, struct ray_node_conn *conn, __u64 event,
						   __s64 bytes)
{
	__u64 *args = s->args;

	if (!RAY_WATCHED(RAY_EVENT_BIT(NET_SOCKET_READ) | RAY_EVENT_BIT(NET_SOCKET_WRITE)) ||
	    !ray_socket_tell(s, conn, event))
		return 0;
	args[5] = args[4];
	args[4] = args[3];
	args[3] = args[2];
	args[2] = args[1];
	args[1] = bytes < 0 ? 0 : bytes;
	args[6] = bytes < 0 ? bytes : 0;
	return event;
}

static __always_inline __u64 ray_socket_tell_connect(struct ray_slot *s, struct ray_node_conn *conn, __s64 result)
{
	__u64 *args = s->args;

	if (!ray_socket_tell(s, conn, RAY_EVENT_NET_CLIENT_CONNECT))
		return 0;
	args[6] = args[4];
	args[4] = result;
	args[5] = conn->connect_start ? ray_node_now(s) - conn->connect_start : 0;
	return RAY_EVENT_NET_CLIENT_CONNECT;
}

/* ---- bytes ---- */

/* What this thread does from now on, it does because of this socket; for which request is not known yet. What HTTP/1 does not need is left out: whoever asks
 * for the socket of bytes that are not HTTP/1, and for the request of other events. */
static __always_inline void ray_socket_set_current(struct ray_slot *s, struct ray_node_conn *conn)
{
	struct ray_node_thread *thread;

	if (!RAY_WATCHED(RAY_BITS_CARRY) && conn->in.state < RAY_HTTP_UNKNOWN &&
	    (conn->flags & (RAY_CONN_IS_SERVER | RAY_CONN_IS_CLIENT)))
		return;
	thread = ray_node_thread(s);
	if (!thread)
		return;
	thread->io_fd = conn->connection.fd;
	thread->io_requests = 0;
	thread->request = 0;
}

/* Buffers of the call: an address and a number of vectors, 0 if it is that of the bytes themselves. */
static __always_inline __u64 ray_socket_buffers(const struct ray_slot *s, __u64 *address)
{
	__u64 number = s->hook_args[RAY_HOOK_NUMBER], vectors[2] = { 0, 0 };

	*address = s->hook_args[1];
	if (number == RAY_SYS_READV || number == RAY_SYS_WRITEV)
		return s->hook_args[2];
	if (number != RAY_SYS_SENDMSG && number != RAY_SYS_RECVMSG)
		return 0;
	bpf_probe_read_user(vectors, sizeof(vectors), (void *)(s->hook_args[1] + RAY_MSG_IOV));
	*address = vectors[0];
	return vectors[1] ? vectors[1] : 1;
}

/* Nothing more will come, or go out (RAY_AT_OUT). What is spoken over TLS ends as well: then that may have something to tell of it. */
static __always_inline void ray_socket_stop(struct ray_slot *s, struct ray_node_conn *conn, __u64 fd, __u64 flags)
{
	struct ray_node_conn *tls = conn->ssl ? ray_conn_find(s, conn->ssl, 1) : (void *)0;

	if (tls) {
		fd = conn->ssl;
		conn = tls;
		flags |= RAY_AT_TLS;
	}
	ray_http_begin(s, conn, flags, fd, 0, 0, 0);
	ray_http_eof(flags & RAY_AT_OUT ? &conn->out : &conn->in);
}

/* One that a program is told of; to try again later is none. */
static __always_inline int ray_socket_is_error(__s64 result)
{
	return result < 0 && result != -RAY_EAGAIN && result != -RAY_EINTR;
}

/* size bytes went in or out: what is told of that itself. ray_http_go() is next. */
static __always_inline __u64 ray_socket_passed(struct ray_slot *s, struct ray_node_conn *conn, __u64 is_out, __s64 size)
{
	__u64 address, vectors = ray_socket_buffers(s, &address);

	s->cursor[RAY_AT_PHASE] = RAY_SOCKET_BYTES;
	ray_http_begin(s, conn, is_out ? RAY_AT_OUT : 0, (__u32)s->hook_args[0], address, size, vectors);
	return ray_socket_tell_bytes(s, conn, is_out ? RAY_EVENT_NET_SOCKET_WRITE : RAY_EVENT_NET_SOCKET_READ, size);
}

/* A read or write of whatever connection, with whatever result. Its bytes, if any, are what is left. */
static __noinline __u64 ray_socket_any(struct ray_slot *s, __u64 is_out)
{
	__s64 size = s->hook_args[RAY_HOOK_RESULT];
	__u64 fd = (__u32)s->hook_args[0], event;
	struct ray_node_conn *conn = ray_conn_get(s, fd);

	if (!conn)
		return 0;
	if (!is_out)
		ray_socket_set_current(s, conn);
	if (size < 0) {
		s->cursor[RAY_AT_PHASE] = RAY_SOCKET_NONE;
		event = is_out ? RAY_EVENT_NET_SOCKET_WRITE : RAY_EVENT_NET_SOCKET_READ;
		return ray_socket_is_error(size) ? ray_socket_tell_bytes(s, conn, event, size) : 0;
	}
	if (!size && !is_out) {
		s->cursor[RAY_AT_PHASE] = RAY_SOCKET_BYTES;
		event = ray_socket_tell(s, conn, RAY_EVENT_NET_STREAM_END);
		ray_socket_stop(s, conn, fd, 0);
	} else {
		event = ray_socket_passed(s, conn, is_out, size);
	}
	return event;
}

/* Whether there is something to see in a read. */
static __always_inline int ray_socket_read(const struct ray_slot *s, __u64 number)
{
	__s64 size = s->hook_args[RAY_HOOK_RESULT];

	if ((number == RAY_SYS_RECVFROM && s->hook_args[3] & RAY_MSG_PEEK) ||
	    (number == RAY_SYS_RECVMSG && s->hook_args[2] & RAY_MSG_PEEK))
		return 0;
	/* Nothing there: what was read before has been dealt with. */
	return size >= 0 || RAY_WATCHED(RAY_BITS_CARRY) ||
	       (RAY_WATCHED(RAY_EVENT_BIT(NET_SOCKET_READ)) && ray_socket_is_error(size));
}

static __always_inline int ray_socket_write(const struct ray_slot *s)
{
	__s64 size = s->hook_args[RAY_HOOK_RESULT];

	return size > 0 || (RAY_WATCHED(RAY_EVENT_BIT(NET_SOCKET_WRITE)) && ray_socket_is_error(size));
}

/* ---- beginnings and ends ---- */

static __always_inline __u64 ray_socket_accept(struct ray_slot *s)
{
	__s64 fd = s->hook_args[RAY_HOOK_RESULT];
	struct ray_node_conn *conn;

	if (fd < 0)
		return 0;
	conn = ray_conn_find(s, fd, 0);
	if (conn)
		ray_conn_forget(s, conn, fd);
	conn = ray_conn_new(s, fd, RAY_CONN_IS_FRESH);
	return conn ? ray_socket_tell(s, conn, RAY_EVENT_NET_SERVER_CONNECTION) : 0;
}

static __always_inline __u64 ray_socket_connect(struct ray_slot *s)
{
	__s64 result = s->hook_args[RAY_HOOK_RESULT];
	__u64 fd = (__u32)s->hook_args[0];
	struct ray_node_conn *conn = ray_conn_find(s, fd, 0);

	if (conn)
		ray_conn_forget(s, conn, fd);
	conn = ray_conn_new(s, fd, RAY_CONN_IS_FRESH);
	if (!conn)
		return 0;
	if (result == -RAY_EINPROGRESS) {
		conn->connect_start = ray_node_now(s);
		return 0;
	}
	return ray_socket_tell_connect(s, conn, result);
}

/* getsockopt(SO_ERROR): how a connect() that took its time ended. */
static __always_inline __u64 ray_socket_connected(struct ray_slot *s)
{
	struct ray_node_conn *conn;
	__s32 error = 0;
	__u64 event;

	if ((__s64)s->hook_args[RAY_HOOK_RESULT] < 0 || s->hook_args[1] != RAY_SOL_SOCKET ||
	    s->hook_args[2] != RAY_SO_ERROR)
		return 0;
	conn = ray_conn_find(s, (__u32)s->hook_args[0], 0);
	if (!conn || !conn->connect_start || bpf_probe_read_user(&error, sizeof(error), (void *)s->hook_args[3]))
		return 0;
	if (error == RAY_EINPROGRESS)
		return 0;
	ray_socket_set_current(s, conn);
	event = ray_socket_tell_connect(s, conn, -error);
	conn->connect_start = 0;
	return event;
}

static __always_inline __u64 ray_socket_shutdown(struct ray_slot *s)
{
	__u64 fd = (__u32)s->hook_args[0], event;
	struct ray_node_conn *conn;

	if (s->hook_args[RAY_HOOK_RESULT] || s->hook_args[1] == RAY_SHUT_RD)
		return 0;
	conn = ray_conn_get(s, fd);
	if (!conn)
		return 0;
	event = ray_socket_tell(s, conn, RAY_EVENT_NET_STREAM_END);
	ray_socket_stop(s, conn, fd, RAY_AT_OUT);
	s->cursor[RAY_AT_PHASE] = RAY_SOCKET_BYTES;
	return event;
}

/* One end after the other: of what is spoken over TLS, of streams of HTTP/2, of requests, of the connection. */
static __noinline __u64 ray_socket_end(struct ray_slot *s)
{
	__u64 fd = s->cursor[RAY_AT_KEY], event = 0;
	struct ray_node_conn *conn = ray_conn_find(s, fd, 0), *tls;

	if (!conn)
		return 0;
	if (s->cursor[RAY_AT_PHASE] == RAY_SOCKET_END_TLS) {
		tls = conn->ssl ? ray_conn_find(s, conn->ssl, 1) : (void *)0;
		event = tls ? ray_http_end(s->index, tls) : 0;
		if (event)
			return event;
		if (tls)
			ray_conn_delete(s, conn->ssl, 1);
		s->cursor[RAY_AT_PHASE] = RAY_SOCKET_END_H2;
		ray_h2_begin(s);
	}
	if (s->cursor[RAY_AT_PHASE] == RAY_SOCKET_END_H2) {
		event = conn->h2_session ? ray_h2_lost(s->index, conn->h2_session) : 0;
		if (event)
			return event;
		s->cursor[RAY_AT_PHASE] = RAY_SOCKET_END;
	}
	if (s->cursor[RAY_AT_PHASE] == RAY_SOCKET_END) {
		event = ray_http_end(s->index, conn);
		if (event)
			return event;
		s->cursor[RAY_AT_PHASE] = RAY_SOCKET_NONE;
		event = ray_socket_tell(s, conn, RAY_EVENT_NET_STREAM_CLOSE);
	}
	ray_conn_delete(s, fd, 0);
	return event;
}

static __always_inline __u64 ray_socket_close(struct ray_slot *s)
{
	__u64 fd = (__u32)s->hook_args[0];

	if (!ray_conn_find(s, fd, 0))
		return 0;
	s->cursor[RAY_AT_KEY] = fd;
	s->cursor[RAY_AT_FLAGS] = 0;
	s->cursor[RAY_AT_PHASE] = RAY_SOCKET_END_TLS;
	return ray_socket_end(s);
}

/* Calls that move no bytes. */
static __noinline __u64 ray_socket_other(struct ray_slot *s)
{
	__u64 number = s->hook_args[RAY_HOOK_NUMBER];

	if (number == RAY_SYS_ACCEPT4 || number == RAY_SYS_ACCEPT)
		return ray_socket_accept(s);
	if (number == RAY_SYS_CLOSE)
		return ray_socket_close(s);
	if (number == RAY_SYS_CONNECT)
		return ray_socket_connect(s);
	if (number == RAY_SYS_GETSOCKOPT)
		return ray_socket_connected(s);
	if (number == RAY_SYS_SHUTDOWN)
		return ray_socket_shutdown(s);
	ray_conn_doubt();
	return 0;
}

static __always_inline __u64 ray_socket_first(struct ray_slot *s)
{
	__u64 number = s->hook_args[RAY_HOOK_NUMBER];

	if (number == RAY_SYS_READ || number == RAY_SYS_READV || number == RAY_SYS_RECVFROM ||
	    number == RAY_SYS_RECVMSG)
		return ray_socket_read(s, number) ? ray_socket_any(s, 0) : 0;
	if (number == RAY_SYS_WRITE || number == RAY_SYS_WRITEV || number == RAY_SYS_SENDTO ||
	    number == RAY_SYS_SENDMSG)
		return ray_socket_write(s) ? ray_socket_any(s, 1) : 0;
	return ray_socket_other(s);
}

/* What is left of the bytes, or of the end, of a call. */
static __always_inline __u64 ray_socket_rest(struct ray_slot *s)
{
	struct ray_node_conn *conn;

	if (s->cursor[RAY_AT_PHASE] != RAY_SOCKET_BYTES)
		return 0;
	conn = ray_conn_find(s, s->cursor[RAY_AT_KEY], s->cursor[RAY_AT_FLAGS] & RAY_AT_TLS);
	return conn ? ray_http_go(s->index, conn) : 0;
}

/* Nearly all that a server reads and writes; see node_http_direct.bpf.h. */
static __always_inline __u64 ray_socket_direct(struct ray_slot *s)
{
	__u64 number = s->hook_args[RAY_HOOK_NUMBER], size = s->hook_args[RAY_HOOK_RESULT];
	struct ray_node_conn *conn;

	if (RAY_WATCHED(RAY_BITS_CARRY | RAY_EVENT_BIT(HTTP_SERVER_RESPONSE_START)) || !RAY_WATCHED(RAY_BITS_SERVER) ||
	    (number != RAY_SYS_READ && number != RAY_SYS_WRITE))
		return RAY_DIRECT_NOT;
	conn = ray_conn_near(s, (__u32)s->hook_args[0]);
	if (!conn)
		return RAY_DIRECT_NOT;
	s->cursor[RAY_AT_FLAGS] = 0;
	s->cursor[RAY_AT_KEY] = (__u32)s->hook_args[0];
	return ray_http_direct(s, conn, number, s->hook_args[1], size);
}

/* A system call of those above has returned. */
RAY_RUNTIME __u64 ray_on_socket(__u64 slot)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_window *w;
	__u64 event;
	__u32 filled;

	if (!s)
		return 0;
	w = ray_http_window(s);
	s->cursor[RAY_AT_PHASE] = RAY_SOCKET_NONE;
	w->now = w->filled = 0;
	event = ray_socket_direct(s);
	if (event != RAY_DIRECT_NOT)
		return event;
	filled = w->filled;
	event = ray_socket_first(s);
	w->filled = filled;
	return event ? event : ray_socket_rest(s);
}

/* What else there is to tell of it. A function of its own: the kernel allows for little more stack than one of both takes. */
RAY_RUNTIME __u64 ray_on_socket_more(__u64 slot)
{
	struct ray_slot *s = ray_slot_get(slot);

	if (!s || s->cursor[RAY_AT_PHASE] == RAY_SOCKET_NONE)
		return 0;
	return s->cursor[RAY_AT_PHASE] == RAY_SOCKET_BYTES ? ray_socket_rest(s) : ray_socket_end(s);
}

#endif
