/* sockets_internal.h - what the two sources of socket facts share; for sockets*.c only.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_TARGET_SOCKETS_INTERNAL_H
#define RAY_TARGET_SOCKETS_INTERNAL_H

#include "base/auto.h"
#include "target/sockets.h"

/* One table of the kernel's. */
struct ray_socket_table {
	const char *name; /* in /proc/PID/net */
	int family;
	int type;
	int protocol;
	bool has_diag; /* sock_diag may know it */
	/* Without an arena no texts are made. */
	bool (*parse)(const struct ray_socket_table *table, const char *line, struct ray_socket *ret,
		      struct ray_arena *arena);
};

struct ray_sockets_search {
	int pid;
	struct ray_socket *at; /* sorted by inode */
	size_t count;
	size_t found;
	struct ray_arena *arena;
};

/* The socket with this inode if it is wanted and was not found yet, else NULL. */
struct ray_socket *ray_sockets_want(struct ray_sockets_search *search, uint64_t inode);

struct ray_inet_ends {
	unsigned char local[16], remote[16]; /* network order; IPv4 in the first four */
	unsigned int local_port, remote_port;
	unsigned int state; /* TCP_* */
};
/* Sets addresses and state; family and type are set. */
void ray_socket_set_inet(struct ray_socket *s, const struct ray_inet_ends *e, struct ray_arena *arena);
const char *ray_socket_unix_state(int type, bool listens, bool is_connected);

/* A sock_diag socket in the network namespace of pid; -1 when that cannot be had. */
int ray_sockets_diag_open(int pid);
/* Asks for one table. False when the kernel does not answer for it: nothing was filled in then, or
 * only in part, and what is missing can still be read elsewhere. */
bool ray_sockets_diag(int diag, const struct ray_socket_table *table, struct ray_sockets_search *search);

#endif
