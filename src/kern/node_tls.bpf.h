/* node_tls.bpf.h - what passes through TLS, in clear: the results of SSL_read() and SSL_write().
 * SPDX-License-Identifier: MIT
 *
 * Only what they returned counts: while a connection is being made node calls them again and again, with the same bytes. node gives OpenSSL no socket but
 * buffers in memory, so which socket an SSL * speaks through is learnt: the call that brings the first bytes in clear, or that ends the shaking of hands, is made
 * for what this thread has just read. Other calls may be made at any time: when a client begins, or has something to say.
 *
 * What is in clear goes to node_http.bpf.h. The connection ends with its socket (node_socket.bpf.h), or when the SSL * is freed. */
#ifndef RAY_KERN_NODE_TLS_BPF_H
#define RAY_KERN_NODE_TLS_BPF_H

#include "kern/node_socket.bpf.h"

/* ---- which connection ---- */

/* Remembers what this thread has read last, if that can be it. A call that brought nothing (is_sure: 0) may have been made for no bytes at all. */
static __always_inline void ray_tls_guess(struct ray_slot *s, struct ray_node_conn *tls, __u64 ssl, int is_sure)
{
	struct ray_node_thread *thread = ray_node_thread_known();
	struct ray_node_conn *socket = thread && thread->io_fd >= 0 ? ray_conn_find(s, thread->io_fd, 0) : (void *)0;

	if (!socket || (socket->ssl && socket->ssl != ssl))
		return;
	if (is_sure || socket->connection.is_tls || socket->in.state >= RAY_HTTP_UNKNOWN)
		tls->connection.fd = socket->connection.fd;
}

/* The socket is the one behind the descriptor that was remembered. */
static __always_inline void ray_tls_settle(struct ray_slot *s, struct ray_node_conn *tls, __u64 ssl)
{
	struct ray_node_conn *socket = tls->connection.fd < 0 ? (void *)0 : ray_conn_find(s, tls->connection.fd, 0);
	__u64 id = tls->connection.id;

	tls->connection.fd = -1;
	if (!socket)
		return;
	socket->ssl = ssl;
	socket->connection.is_tls = 1;
	ray_http_set_both(socket, RAY_HTTP_OPAQUE);
	bpf_probe_read_kernel(&tls->connection, sizeof(tls->connection), &socket->connection);
	tls->flags |= RAY_CONN_IS_SURE;
	if (tls->flags & RAY_CONN_HAS_SPOKEN) {
		tls->connection.id = id; /* requests are known by it */
	} else if (socket->flags & RAY_CONN_IS_FRESH) {
		tls->flags |= RAY_CONN_IS_FRESH;
		tls->in.state = tls->out.state = RAY_HTTP_START;
	}
}

/* What a call that has returned says of the socket, as long as that is not sure. A write that did not succeed is made again when hands are shaken, for the
 * bytes that brought that about; another may be made by JavaScript that is told of it while SSL_read() still runs. All others come later. */
static __always_inline void ray_tls_learn(struct ray_slot *s, struct ray_node_conn *tls, __u64 ssl, int is_out,
					  int has_bytes)
{
	struct ray_node_thread *thread = ray_node_thread_known();

	if (is_out && !has_bytes)
		tls->flags |= RAY_CONN_IS_WAITING;
	else if (!is_out || tls->flags & RAY_CONN_IS_WAITING || (thread && thread->read_ssl == ssl))
		ray_tls_guess(s, tls, ssl, has_bytes);
	if (!has_bytes)
		return;
	ray_tls_settle(s, tls, ssl);
	tls->flags |= RAY_CONN_HAS_SPOKEN;
}

/* is_out: written, else read; has_bytes: with success. NULL: no room. */
static __noinline struct ray_node_conn *ray_tls_conn(struct ray_slot *s, __u64 ssl, int is_out, int has_bytes)
{
	struct ray_node_conn *fresh = (void *)ray_node_area(s), *tls = ray_conn_find(s, ssl, 1);

	if (!tls) {
		ray_clear((char *)fresh, sizeof(*fresh));
		fresh->connection.fd = -1;
		fresh->connection.is_tls = 1;
		tls = ray_conn_add(s, fresh, ssl, 1);
	}
	if (tls && !(tls->flags & RAY_CONN_IS_SURE))
		ray_tls_learn(s, tls, ssl, is_out, has_bytes);
	return tls;
}

/* ---- SSL_read and SSL_write ---- */

/* Bytes that a call has passed on; less than 1: none. out is where the _ex forms say how many: they return whether. */
static __always_inline __s64 ray_tls_count(const struct ray_slot *s, __u64 out)
{
	__s64 result = (__s32)s->hook_args[RAY_HOOK_RESULT];
	__u64 count = 0;

	if (!out)
		return result;
	if (result != 1 || bpf_probe_read_user(&count, sizeof(count), (void *)out))
		return -1;
	return count;
}

static __always_inline __u64 ray_tls_tell(struct ray_slot *s, struct ray_node_conn *tls, __u64 event)
{
	struct ray_node_area *area = ray_node_area(s);

	if (!(RAY_CONST(WATCHED) >> (event & 63) & 1))
		return 0;
	bpf_probe_read_kernel(&area->connection, sizeof(area->connection), &tls->connection);
	s->args[0] = RAY_AREA_ADDRESS(connection);
	s->args[1] = s->cursor[RAY_AT_ADDRESS];
	s->args[2] = s->cursor[RAY_AT_SIZE];
	return event;
}

static __noinline __u64 ray_tls_bytes(struct ray_slot *s, __u64 ssl, __u64 buffer, __s64 size, int is_out)
{
	struct ray_node_conn *tls;
	__u64 event;

	tls = ray_tls_conn(s, ssl, is_out, size > 0);
	if (!tls || size < is_out) /* 0 from a read: the other side has said that nothing more will come */
		return 0;
	ray_http_begin(s, tls, is_out ? RAY_AT_TLS | RAY_AT_OUT : RAY_AT_TLS, ssl, buffer, size, 0);
	s->cursor[RAY_AT_PHASE] = RAY_SOCKET_BYTES;
	if (!size) {
		ray_http_eof(&tls->in);
		return ray_http_go(s->index, tls);
	}
	event = ray_tls_tell(s, tls, is_out ? RAY_EVENT_TLS_WRITE : RAY_EVENT_TLS_READ);
	return event ? event : ray_http_go(s->index, tls);
}

static __always_inline __u64 ray_tls_next(struct ray_slot *s)
{
	struct ray_node_conn *tls;

	if (s->cursor[RAY_AT_PHASE] != RAY_SOCKET_BYTES)
		return 0;
	tls = ray_conn_find(s, s->cursor[RAY_AT_KEY], 1);
	return tls ? ray_http_go(s->index, tls) : 0;
}

/* SSL_read(ssl, buffer, size) and SSL_read_ex(ssl, buffer, size, out) are entered. */
static __always_inline __u64 ray_tls_enter(__u64 slot, __u64 step, int is_out, int is_ex)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *thread;

	if (!s || step)
		return 0;
	thread = ray_node_thread(s);
	if (!thread)
		return 0;
	if (is_out) {
		thread->write_ssl = s->hook_args[0];
		thread->write_buffer = s->hook_args[1];
		thread->write_out = is_ex ? s->hook_args[3] : 0;
	} else {
		thread->read_ssl = s->hook_args[0];
		thread->read_buffer = s->hook_args[1];
		thread->read_out = is_ex ? s->hook_args[3] : 0;
	}
	return 0;
}

RAY_RUNTIME __u64 ray_on_ssl_read(__u64 slot, __u64 step)
{
	return ray_tls_enter(slot, step, 0, 0);
}

RAY_RUNTIME __u64 ray_on_ssl_read_ex(__u64 slot, __u64 step)
{
	return ray_tls_enter(slot, step, 0, 1);
}

RAY_RUNTIME __u64 ray_on_ssl_write(__u64 slot, __u64 step)
{
	return ray_tls_enter(slot, step, 1, 0);
}

RAY_RUNTIME __u64 ray_on_ssl_write_ex(__u64 slot, __u64 step)
{
	return ray_tls_enter(slot, step, 1, 1);
}

RAY_RUNTIME __u64 ray_on_ssl_read_return(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *thread;
	__u64 ssl;

	if (!s)
		return 0;
	if (step)
		return ray_tls_next(s);
	s->cursor[RAY_AT_PHASE] = RAY_SOCKET_NONE;
	thread = ray_node_thread_known();
	ssl = thread ? thread->read_ssl : 0;
	if (!thread || !ssl)
		return 0;
	thread->read_ssl = 0;
	return ray_tls_bytes(s, ssl, thread->read_buffer, ray_tls_count(s, thread->read_out), 0);
}

RAY_RUNTIME __u64 ray_on_ssl_write_return(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *thread;
	__u64 ssl;

	if (!s)
		return 0;
	if (step)
		return ray_tls_next(s);
	s->cursor[RAY_AT_PHASE] = RAY_SOCKET_NONE;
	thread = ray_node_thread_known();
	ssl = thread ? thread->write_ssl : 0;
	if (!thread || !ssl)
		return 0;
	thread->write_ssl = 0;
	return ray_tls_bytes(s, ssl, thread->write_buffer, ray_tls_count(s, thread->write_out), 1);
}

/* SSL_free(ssl): whatever has no answer by now gets none. */
RAY_RUNTIME __u64 ray_on_ssl_free(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_conn *tls, *socket;
	__u64 event;

	(void)step;
	tls = s ? ray_conn_find(s, s->hook_args[0], 1) : (void *)0;
	if (!tls)
		return 0;
	event = ray_http_end(slot, tls);
	if (event)
		return event;
	socket = tls->connection.fd < 0 ? (void *)0 : ray_conn_find(s, tls->connection.fd, 0);
	if (socket && socket->ssl == s->hook_args[0])
		socket->ssl = 0;
	ray_conn_delete(s, s->hook_args[0], 1);
	return 0;
}

#endif
