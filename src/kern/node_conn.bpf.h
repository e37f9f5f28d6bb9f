/* node_conn.bpf.h - the connections that are known: which descriptor is what. SPDX-License-Identifier: MIT
 *
 * A descriptor is known by the struct file behind it; one that is no stream socket costs a few reads of kernel memory and is left alone. */
#ifndef RAY_KERN_NODE_CONN_BPF_H
#define RAY_KERN_NODE_CONN_BPF_H

#include "kern/node_address.bpf.h"
#include "kern/node_http.bpf.h"

/* System calls on sockets. */
enum {
	RAY_SYS_READ = 0,
	RAY_SYS_WRITE = 1,
	RAY_SYS_CLOSE = 3,
	RAY_SYS_READV = 19,
	RAY_SYS_WRITEV = 20,
	RAY_SYS_DUP2 = 33,
	RAY_SYS_CONNECT = 42,
	RAY_SYS_ACCEPT = 43,
	RAY_SYS_SENDTO = 44,
	RAY_SYS_RECVFROM = 45,
	RAY_SYS_SENDMSG = 46,
	RAY_SYS_RECVMSG = 47,
	RAY_SYS_SHUTDOWN = 48,
	RAY_SYS_GETSOCKOPT = 55,
	RAY_SYS_ACCEPT4 = 288,
	RAY_SYS_DUP3 = 292,
	RAY_SYS_CLOSE_RANGE = 436,
};

enum { RAY_S_IFMT = 0170000, RAY_S_IFSOCK = 0140000, RAY_SOCK_STREAM = 1 };

/* What the event area holds, filled in so far, becomes a connection. NULL: no room; it is counted. */
static __always_inline struct ray_node_conn *ray_conn_add(struct ray_slot *s, struct ray_node_conn *fresh, __u64 id,
							  __u64 is_tls)
{
	struct ray_node_conn *conn;
	__u8 state = fresh->flags & RAY_CONN_IS_FRESH ? RAY_HTTP_START : RAY_HTTP_UNKNOWN;

	(void)s;
	fresh->in.state = fresh->out.state = state;
	fresh->first = fresh->next = 1;
	fresh->connection.id = ray_node_id();
	conn = ray_conn_put(s, fresh, id, is_tls);
	if (!conn)
		ray_node_dropped();
	return conn;
}

/* Another file is behind its descriptor: nobody will hear of its end. */
static __always_inline void ray_conn_forget(struct ray_slot *s, struct ray_node_conn *conn, __u64 fd)
{
	struct ray_node_conn *tls = conn->ssl ? ray_conn_find(s, conn->ssl, 1) : (void *)0;

	if (tls) {
		ray_http_forget(tls);
		ray_conn_delete(s, conn->ssl, 1);
	}
	ray_http_forget(conn);
	ray_conn_delete(s, fd, 0);
}

/* As ray_fd_file(), but by the pointers that the verifier knows: they cost a fifth, and this is asked for each read and write. */
static __always_inline __u64 ray_socket_file(__u64 fd)
{
	char *at = (void *)bpf_get_current_task_btf();
	__u64 files;

	at = *(char **)(at + RAY_CONST(TASK_FILES));
	if (!at)
		return 0;
	at = *(char **)(at + RAY_CONST(FILES_FDT));
	if (!at || fd >= *(__u32 *)(at + RAY_CONST(FDT_MAX)))
		return 0;
	files = *(__u64 *)(at + RAY_CONST(FDT_FD));
	return ray_kernel_pointer(files + fd * 8);
}

/* The struct sock of a stream socket; 0: it is something else. */
static __always_inline __u64 ray_file_sock(__u64 file)
{
	__u64 inode = ray_kernel_pointer(file + RAY_CONST(FILE_INODE)), socket;

	if ((ray_kernel_half(inode + RAY_CONST(INODE_MODE)) & RAY_S_IFMT) != RAY_S_IFSOCK)
		return 0;
	socket = ray_kernel_pointer(file + RAY_CONST(FILE_PRIVATE));
	if (ray_kernel_half(socket + RAY_CONST(SOCKET_TYPE)) != RAY_SOCK_STREAM)
		return 0;
	return ray_kernel_pointer(socket + RAY_CONST(SOCKET_SK));
}

/* A connection that was not known. flags: RAY_CONN_IS_FRESH if the system call has just made it. */
static __noinline struct ray_node_conn *ray_conn_new(struct ray_slot *s, __u64 fd, __u64 flags)
{
	struct ray_node_conn *fresh = (void *)ray_node_area(s);
	__u64 file = ray_socket_file(fd), sk = file ? ray_file_sock(file) : 0;

	if (!sk)
		return (void *)0;
	ray_clear((char *)fresh, sizeof(*fresh));
	fresh->file = file;
	fresh->flags = flags & 0xff;
	fresh->connection.fd = fd;
	fresh->connection.is_server = s->hook_args[RAY_HOOK_NUMBER] != RAY_SYS_CONNECT && flags;
	ray_address_of_sock(s, &fresh->connection, sk);
	if (s->hook_args[RAY_HOOK_NUMBER] == RAY_SYS_CONNECT)
		ray_address_of_connect(s, &fresh->connection, s->hook_args[1], s->hook_args[2]);
	return ray_conn_add(s, fresh, fd, 0);
}

static __noinline struct ray_node_conn *ray_conn_replace(struct ray_slot *s, struct ray_node_conn *conn, __u64 fd)
{
	if (conn)
		ray_conn_forget(s, conn, fd);
	return ray_conn_new(s, fd, 0);
}

/* Whether it is still the same file. A close() is seen; what else may put another file there raises doubts, of all connections. */
static __always_inline int ray_conn_is_sure(struct ray_node_conn *conn, __u64 fd)
{
	struct ray_state *state = ray_state_get();
	__u64 doubts = state ? state->doubts : 0;

	if (conn->sure == doubts)
		return 1;
	if (conn->file != ray_socket_file(fd))
		return 0;
	conn->sure = doubts;
	return 1;
}

/* The connection behind a descriptor, which may be new to us; NULL: it is no stream socket. */
static __always_inline struct ray_node_conn *ray_conn_get(struct ray_slot *s, __u64 fd)
{
	struct ray_node_conn *conn = ray_conn_find(s, fd, 0);

	if (conn && ray_conn_is_sure(conn, fd))
		return conn;
	return ray_conn_replace(s, conn, fd);
}

/* The same for those that are in the array; NULL: it may be elsewhere. */
static __always_inline struct ray_node_conn *ray_conn_near(struct ray_slot *s, __u64 fd)
{
	struct ray_node_conn_key key;
	struct ray_node_near *near;

	ray_conn_key(s, &key, fd, 0);
	near = ray_near_get(&key);
	return near && ray_near_is(near, &key) && ray_conn_is_sure(&near->conn, fd) ? &near->conn : (void *)0;
}

/* dup2() and its like: descriptors may lead elsewhere now. */
static __always_inline void ray_conn_doubt(void)
{
	struct ray_state *state = ray_state_get();

	if (state)
		__sync_fetch_and_add(&state->doubts, 1);
}

#endif
