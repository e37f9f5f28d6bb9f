/* node_address.bpf.h - the two ends of a socket, as text. SPDX-License-Identifier: MIT
 *
 * Read from the kernel's structures, or from the sockaddr that a connect() was called with. */
#ifndef RAY_KERN_NODE_ADDRESS_BPF_H
#define RAY_KERN_NODE_ADDRESS_BPF_H

#include "kern/network.bpf.h"
#include "kern/node.bpf.h"

enum { RAY_AF_UNIX = 1, RAY_UNIX_PATH = 2 /* where it is in a sockaddr_un */, RAY_INET_TEXT = 48 };

/* Of the address in the work area, 16 bytes if it is IPv6. Its family: an address of IPv4 inside is IPv4. */
static __noinline __u32 ray_address_text(struct ray_slot *s, char *to, int is_v6)
{
	struct ray_net_text *t = ray_work(s);
	__u64 at;

	if (!to)
		return 0;
	t->length = 0;
	if (is_v6)
		ray_net_put_ipv6(s, 0);
	else
		ray_net_put_ipv4(s, 0);
	at = t->length;
	if (at < sizeof(t->text))
		t->text[at] = 0;
	bpf_probe_read_kernel(to, RAY_INET_TEXT, t->text);
	return is_v6 && !(!ray_word_at(t->address) && *(__u32 *)&t->address[8] == 0xffff0000) ? RAY_AF_INET6 :
												RAY_AF_INET;
}

/* A path, or @ and an abstract name, of a sockaddr_un of `size` bytes. */
static __always_inline void ray_address_unix(char *to, __u64 sockaddr, __u64 size, int is_user)
{
	__u64 path = sockaddr + RAY_UNIX_PATH;
	long got;

	if (size <= RAY_UNIX_PATH)
		return; /* it has no name */
	size -= RAY_UNIX_PATH;
	if (size > RAY_NODE_ADDRESS - 2)
		size = RAY_NODE_ADDRESS - 2;
	RAY_OPAQUE(size);
	if (size > RAY_NODE_ADDRESS - 2)
		return;
	got = is_user ? bpf_probe_read_user(to, size, (void *)path) : bpf_probe_read_kernel(to, size, (void *)path);
	to[size] = 0;
	if (!got && !to[0])
		to[0] = '@';
}

static __always_inline void ray_address_of_unix_sock(char *to, __u64 sk)
{
	__u64 address = sk && RAY_CONST(UNIX_ADDR) ? ray_kernel_pointer(sk + RAY_CONST(UNIX_ADDR)) : 0;

	if (address)
		ray_address_unix(to, address + RAY_CONST(UNIX_ADDRESS_NAME),
				 ray_kernel_word(address + RAY_CONST(UNIX_ADDRESS_LEN)), 0);
}

static __always_inline __u16 ray_kernel_half(__u64 at)
{
	__u16 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (void *)at);
	return value;
}

/* Both ends of a struct sock. connection is all zeros. */
static __always_inline void ray_address_of_sock(struct ray_slot *s, struct ray_node_connection *connection, __u64 sk)
{
	__u32 family = ray_kernel_half(sk + RAY_CONST(SOCK_FAMILY));
	struct ray_net_text *t = ray_work(s);

	if (!connection)
		return;
	connection->family = family;
	if (family == RAY_AF_UNIX) {
		ray_address_of_unix_sock(connection->local_address, sk);
		ray_address_of_unix_sock(connection->remote_address,
					 RAY_CONST(UNIX_PEER) ? ray_kernel_pointer(sk + RAY_CONST(UNIX_PEER)) : 0);
		return;
	}
	connection->local_port = ray_kernel_half(sk + RAY_CONST(SOCK_NUM));
	connection->remote_port = __builtin_bswap16(ray_kernel_half(sk + RAY_CONST(SOCK_DPORT)));
	if (family == RAY_AF_INET) {
		bpf_probe_read_kernel(t->address, 4, (void *)(sk + RAY_CONST(SOCK_RCV_SADDR)));
		ray_address_text(s, connection->local_address, 0);
		bpf_probe_read_kernel(t->address, 4, (void *)(sk + RAY_CONST(SOCK_DADDR)));
		ray_address_text(s, connection->remote_address, 0);
	} else if (family == RAY_AF_INET6 && RAY_CONST(SOCK_V6_DADDR)) {
		bpf_probe_read_kernel(t->address, 16, (void *)(sk + RAY_CONST(SOCK_V6_RCV_SADDR)));
		ray_address_text(s, connection->local_address, 1);
		bpf_probe_read_kernel(t->address, 16, (void *)(sk + RAY_CONST(SOCK_V6_DADDR)));
		connection->family = ray_address_text(s, connection->remote_address, 1);
	}
}

/* The far end, from the sockaddr of `size` bytes that connect() was called with: the kernel forgets where it could not get to. */
static __always_inline void ray_address_of_connect(struct ray_slot *s, struct ray_node_connection *connection,
						   __u64 sockaddr, __u64 size)
{
	struct ray_net_text *t = ray_work(s);
	__u16 head[2] = { 0, 0 };

	if (!connection || bpf_probe_read_user(head, sizeof(head), (void *)sockaddr))
		return;
	if (head[0] == RAY_AF_UNIX) {
		ray_address_unix(connection->remote_address, sockaddr, size, 1);
		return;
	}
	if (head[0] != RAY_AF_INET && head[0] != RAY_AF_INET6)
		return;
	connection->remote_port = __builtin_bswap16(head[1]);
	if (head[0] == RAY_AF_INET)
		bpf_probe_read_user(t->address, 4, (void *)(sockaddr + 4));
	else
		bpf_probe_read_user(t->address, 16, (void *)(sockaddr + 8));
	connection->family = ray_address_text(s, connection->remote_address, head[0] == RAY_AF_INET6);
}

#endif
