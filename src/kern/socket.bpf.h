/* socket.bpf.h - the two ends of a socket, as the kernel has them. SPDX-License-Identifier: MIT */
#ifndef RAY_KERN_SOCKET_BPF_H
#define RAY_KERN_SOCKET_BPF_H

#include "kern/file.bpf.h"
#include "kern/node_address.bpf.h"
#include "kern/record.bpf.h"

enum { RAY_MODE_TYPE = 0170000, RAY_MODE_SOCKET = 0140000 };

/* struct socket of a descriptor of the current process; 0: it is none. */
static __always_inline __u64 ray_fd_socket(__u64 fd)
{
	__u64 file = ray_fd_file(fd);
	__u64 inode = file ? ray_kernel_pointer(file + RAY_CONST(FILE_INODE)) : 0;

	if (!inode || (ray_kernel_half(inode + RAY_CONST(INODE_MODE)) & RAY_MODE_TYPE) != RAY_MODE_SOCKET)
		return 0;
	return ray_kernel_pointer(file + RAY_CONST(FILE_PRIVATE));
}

static __always_inline void ray_socket_path(struct ray_socket_name *n, __u64 sk)
{
	__u64 address = sk && RAY_CONST(UNIX_ADDR) ? ray_kernel_pointer(sk + RAY_CONST(UNIX_ADDR)) : 0;
	__u64 size;

	if (!address)
		return;
	size = ray_kernel_word(address + RAY_CONST(UNIX_ADDRESS_LEN));
	if (size <= RAY_UNIX_PATH || size > RAY_UNIX_PATH + RAY_SOCKET_PATH)
		return;
	n->path_size = size - RAY_UNIX_PATH;
	bpf_probe_read_kernel(n->path, sizeof(n->path),
			      (void *)(address + RAY_CONST(UNIX_ADDRESS_NAME) + RAY_UNIX_PATH));
}

static __always_inline void ray_socket_ends(struct ray_socket_name *n, __u64 sk)
{
	if (n->family == RAY_AF_UNIX) {
		ray_socket_path(n, sk);
		n->is_peer_path = !n->path_size;
		if (!n->path_size && RAY_CONST(UNIX_PEER))
			ray_socket_path(n, ray_kernel_pointer(sk + RAY_CONST(UNIX_PEER)));
		return;
	}
	n->local_port = ray_kernel_half(sk + RAY_CONST(SOCK_NUM));
	n->remote_port = __builtin_bswap16(ray_kernel_half(sk + RAY_CONST(SOCK_DPORT)));
	if (n->family == RAY_AF_INET) {
		bpf_probe_read_kernel(n->local, 4, (void *)(sk + RAY_CONST(SOCK_RCV_SADDR)));
		bpf_probe_read_kernel(n->remote, 4, (void *)(sk + RAY_CONST(SOCK_DADDR)));
	} else if (n->family == RAY_AF_INET6 && RAY_CONST(SOCK_V6_DADDR)) {
		bpf_probe_read_kernel(n->local, 16, (void *)(sk + RAY_CONST(SOCK_V6_RCV_SADDR)));
		bpf_probe_read_kernel(n->remote, 16, (void *)(sk + RAY_CONST(SOCK_V6_DADDR)));
	}
}

/* At dst: the size of a struct ray_socket_name, with as much of its path as there is; -1: the descriptor is no socket. Behind it the place of a packed
 * value. */
RAY_RUNTIME __u64 ray_trace_socket(__u64 slot, __u64 dst, __u64 fd)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_socket_name *n;
	__u64 socket, sk, size;

	if (!s)
		return 0;
	n = (struct ray_socket_name *)ray_pack_place(s);
	*(__s64 *)ray_at(s, dst) = -1;
	socket = ray_fd_socket(fd);
	sk = socket ? ray_kernel_pointer(socket + RAY_CONST(SOCKET_SK)) : 0;
	if (!sk) {
		ray_pack_keep(s, dst + 8, 0);
		return 0;
	}
	ray_clear((char *)n, sizeof(*n));
	n->family = ray_kernel_half(sk + RAY_CONST(SOCK_FAMILY));
	n->type = ray_kernel_half(socket + RAY_CONST(SOCKET_TYPE));
	ray_socket_ends(n, sk);
	size = __builtin_offsetof(struct ray_socket_name, path) +
	       (n->path_size < RAY_SOCKET_PATH ? n->path_size : RAY_SOCKET_PATH);
	*(__s64 *)ray_at(s, dst) = size;
	ray_pack_keep(s, dst + 8, size);
	return 0;
}

#endif
