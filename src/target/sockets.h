/* sockets.h - addresses, states and queues of a process's sockets.
 * SPDX-License-Identifier: MIT
 *
 * Asks the kernel once for all sockets of the process's network namespace (sock_diag where that can
 * be had, else the tables in /proc/PID/net) and keeps those that were asked for, by inode. Knows
 * nothing of descriptors. */
#ifndef RAY_TARGET_SOCKETS_H
#define RAY_TARGET_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct ray_socket {
	uint64_t inode;
	int family;	     /* AF_*; -1 while nothing is known */
	int type;	     /* SOCK_*; 0 if not known */
	int protocol;	     /* IPPROTO_*, NETLINK_*, ETH_P_*; 0 if it has none */
	const char *state;   /* "LISTEN", "ESTABLISHED"...; "" if it has none */
	const char *local;   /* "127.0.0.1:80", "[::1]:80", a path, "@abstract"; "" if it has none */
	const char *remote;  /* likewise; for unix the name of the other end */
	uint64_t recv_queue; /* bytes; LISTEN: connections that wait to be accepted */
	uint64_t send_queue; /* bytes; LISTEN: the backlog, if has_backlog */
	bool has_queues;
	bool has_backlog;
	uint32_t retransmits;
	uint64_t peer;		/* unix: inode of the other end; 0 if there is none or it is not known */
	const char *proto_name; /* what the kernel calls the protocol, when nothing else is known; "" */
};

/* Sets everything to "not known yet". */
void ray_socket_init(struct ray_socket *s, uint64_t inode);

enum ray_sockets_source { RAY_SOCKETS_BEST, RAY_SOCKETS_PROC };

/* Fills in sockets[0..count), which the caller has sorted by inode, none twice. pid tells the network
 * namespace. Texts go to the arena. RAY_SOCKETS_PROC does without sock_diag, as is done by itself where
 * sock_diag cannot be had. Returns how many were found. */
size_t ray_sockets_read(enum ray_sockets_source source, int pid, struct ray_socket *sockets, size_t count,
			struct ray_arena *arena);

/* One row of a table in /proc/net, such as "tcp" or "unix"; false for the heading and for what cannot
 * be parsed. Only fills *ret: texts go to the arena. */
bool ray_sockets_parse_line(const char *table, const char *line, struct ray_socket *ret, struct ray_arena *arena);

/* "1.2.3.4:80", "[::1]:80"; IPv4 in IPv6 is unfolded to IPv4. address is 4 or 16 bytes, network order. */
const char *ray_socket_address(int family, const void *address, unsigned int port, char out[64]);
const char *ray_socket_tcp_state(unsigned int state); /* "" if there is no such */

#endif
