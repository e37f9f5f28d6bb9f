/* socket.c - see socket.h. SPDX-License-Identifier: MIT */
#include "view/socket.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "kern/wire.h"

static bool is_mapped(const __u8 address[16])
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)address);
}

static void print_end(const struct ray_socket_name *n, const __u8 address[16], unsigned int port, struct ray_text *out)
{
	char text[INET6_ADDRSTRLEN] = "";

	if (n->family == AF_INET)
		inet_ntop(AF_INET, address, text, sizeof(text));
	else if (is_mapped(address))
		inet_ntop(AF_INET, address + 12, text, sizeof(text));
	else
		inet_ntop(AF_INET6, address, text, sizeof(text));
	ray_text_printf(out, strchr(text, ':') ? "[%s]:%u" : "%s:%u", text, port);
}

static void print_inet(const struct ray_socket_name *n, struct ray_text *out)
{
	ray_text_add(out, n->type == SOCK_STREAM ? "TCP:[" : n->type == SOCK_DGRAM ? "UDP:[" : "IP:[");
	print_end(n, n->local, n->local_port, out);
	if (n->remote_port) {
		ray_text_add(out, "->");
		print_end(n, n->remote, n->remote_port, out);
	}
	ray_text_add(out, "]");
}

/* An abstract name begins with a NUL. */
static void print_unix(const struct ray_socket_name *n, struct ray_text *out)
{
	size_t size = n->path_size < sizeof(n->path) ? n->path_size : sizeof(n->path);

	ray_text_add(out, n->is_peer_path ? "UNIX:[->\"" : "UNIX:[\"");
	if (n->path[0]) {
		ray_text_add_safe(out, n->path, strnlen(n->path, size));
	} else {
		ray_text_add(out, "@");
		ray_text_add_safe(out, n->path + 1, size - 1);
	}
	ray_text_add(out, "\"]");
}

void ray_socket_print(const void *bytes, size_t size, struct ray_text *out)
{
	struct ray_socket_name n = { 0 };

	/* As much of the path as there is. */
	if (!bytes || size < offsetof(struct ray_socket_name, path))
		return;
	memcpy(&n, bytes, size < sizeof(n) ? size : sizeof(n));
	if ((n.family == AF_INET || n.family == AF_INET6) && (n.local_port || n.remote_port))
		print_inet(&n, out);
	else if (n.family == AF_UNIX && n.path_size)
		print_unix(&n, out);
}
