/* sockets.c - the tables of /proc/PID/net, and which source answers for which table. See sockets.h.
 * SPDX-License-Identifier: MIT
 *
 * sock_diag (sockets_diag.c) is asked first, table by table: it alone knows the backlog of a listening
 * socket and who is at the other end of a unix socket, and it takes a third of the time. The tables
 * in /proc answer for the rest: other namespaces without privilege, kernels without the module. */
#include "target/sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/search.h"
#include "target/sockets_internal.h"

void ray_socket_init(struct ray_socket *s, uint64_t inode)
{
	*s = (struct ray_socket){
		.inode = inode, .family = -1, .state = "", .local = "", .remote = "", .proto_name = ""
	};
}

const char *ray_socket_tcp_state(unsigned int state)
{
	static const char *const names[] = {
		[TCP_ESTABLISHED] = "ESTABLISHED",
		[TCP_SYN_SENT] = "SYN_SENT",
		[TCP_SYN_RECV] = "SYN_RECV",
		[TCP_FIN_WAIT1] = "FIN_WAIT1",
		[TCP_FIN_WAIT2] = "FIN_WAIT2",
		[TCP_TIME_WAIT] = "TIME_WAIT",
		[TCP_CLOSE] = "CLOSE",
		[TCP_CLOSE_WAIT] = "CLOSE_WAIT",
		[TCP_LAST_ACK] = "LAST_ACK",
		[TCP_LISTEN] = "LISTEN",
		[TCP_CLOSING] = "CLOSING",
	};

	return state < RAY_COUNT(names) && names[state] ? names[state] : "";
}

const char *ray_socket_address(int family, const void *address, unsigned int port, char out[64])
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	char text[INET6_ADDRSTRLEN];

	if (family == AF_INET6 && !memcmp(address, mapped, sizeof(mapped))) {
		family = AF_INET;
		address = (const unsigned char *)address + sizeof(mapped);
	}
	if (!inet_ntop(family, address, text, sizeof(text)))
		text[0] = '\0';
	snprintf(out, 64, family == AF_INET6 ? "[%s]:%u" : "%s:%u", text, port);
	return out;
}

void ray_socket_set_inet(struct ray_socket *s, const struct ray_inet_ends *e, struct ray_arena *arena)
{
	static const unsigned char nobody[16];
	size_t size = s->family == AF_INET6 ? 16 : 4;
	char text[64];

	s->local = ray_arena_strdup(arena, ray_socket_address(s->family, e->local, e->local_port, text));
	if (e->remote_port || memcmp(e->remote, nobody, size))
		s->remote = ray_arena_strdup(arena, ray_socket_address(s->family, e->remote, e->remote_port, text));
	if (!s->local)
		s->local = "";
	if (!s->remote)
		s->remote = "";
	if (s->type == SOCK_STREAM)
		s->state = ray_socket_tcp_state(e->state);
	else
		s->state = e->state == TCP_ESTABLISHED ? "ESTABLISHED" : "";
}

/* The kernel prints an address as 32-bit words of the machine's own order. */
static bool parse_address(const char *hex, size_t words, unsigned char *out)
{
	uint32_t word;
	size_t i;

	if (strlen(hex) != words * 8)
		return false;
	for (i = 0; i < words; i++) {
		if (sscanf(hex + i * 8, "%8" SCNx32, &word) != 1)
			return false;
		memcpy(out + i * 4, &word, 4);
	}
	return true;
}

static bool parse_inet(const struct ray_socket_table *table, const char *line, struct ray_socket *ret,
		       struct ray_arena *arena)
{
	size_t words = table->family == AF_INET6 ? 4 : 1;
	struct ray_inet_ends ends = { 0 };
	char local[33], remote[33];
	unsigned long long inode, send, receive;
	unsigned retransmits;

	if (sscanf(line, " %*u: %32[0-9A-Fa-f]:%x %32[0-9A-Fa-f]:%x %x %llx:%llx %*x:%*x %x %*u %*d %llu", local,
		   &ends.local_port, remote, &ends.remote_port, &ends.state, &send, &receive, &retransmits,
		   &inode) != 9)
		return false;
	if (!parse_address(local, words, ends.local) || !parse_address(remote, words, ends.remote))
		return false;
	ret->inode = inode;
	ret->family = table->family;
	ret->type = table->type;
	ret->protocol = table->protocol;
	ret->recv_queue = receive;
	ret->send_queue = send;
	ret->has_queues = true;
	ret->retransmits = retransmits;
	if (arena)
		ray_socket_set_inet(ret, &ends, arena);
	return true;
}

const char *ray_socket_unix_state(int type, bool listens, bool is_connected)
{
	if (listens)
		return "LISTEN";
	if (is_connected)
		return "ESTABLISHED";
	return type == SOCK_DGRAM ? "" : "CLOSE";
}

static bool parse_unix(const struct ray_socket_table *table, const char *line, struct ray_socket *ret,
		       struct ray_arena *arena)
{
	enum { ACCEPTS = 1 << 16, CONNECTED = 3 }; /* __SO_ACCEPTCON, SS_CONNECTED */
	unsigned flags, type, state;
	unsigned long long inode;
	int path_at = 0;

	if (sscanf(line, "%*[0-9a-fA-F]: %*x %*x %x %x %x %llu%n", &flags, &type, &state, &inode, &path_at) != 4)
		return false;
	ret->inode = inode;
	ret->family = table->family;
	ret->type = (int)type;
	ret->state = ray_socket_unix_state((int)type, flags & ACCEPTS, state == CONNECTED);
	if (arena && line[path_at] == ' ') {
		ret->local = ray_arena_copy(arena, line + path_at + 1, strcspn(line + path_at + 1, "\n"));
		if (!ret->local)
			ret->local = "";
	}
	return true;
}

static bool parse_netlink(const struct ray_socket_table *table, const char *line, struct ray_socket *ret,
			  struct ray_arena *arena)
{
	static const char *const names[] = {
		[0] = "route",	    [2] = "usersock", [4] = "sock_diag", [6] = "xfrm",	[9] = "audit",
		[12] = "netfilter", [15] = "uevent",  [16] = "generic",	 [20] = "rdma", [21] = "crypto"
	};
	unsigned long long receive, send, inode;
	unsigned protocol, port;

	if (sscanf(line, "%*x %u %u %*x %llu %llu %*u %*u %*u %llu", &protocol, &port, &receive, &send, &inode) != 5)
		return false;
	ret->inode = inode;
	ret->family = table->family;
	ret->type = table->type;
	ret->protocol = (int)protocol;
	ret->recv_queue = receive;
	ret->send_queue = send;
	ret->has_queues = true;
	if (arena && protocol < RAY_COUNT(names) && names[protocol])
		ret->local = ray_arena_printf(arena, "%s port %u", names[protocol], port);
	else if (arena)
		ret->local = ray_arena_printf(arena, "protocol %u port %u", protocol, port);
	if (!ret->local)
		ret->local = "";
	return true;
}

static bool parse_packet(const struct ray_socket_table *table, const char *line, struct ray_socket *ret,
			 struct ray_arena *arena)
{
	unsigned type, protocol, interface;
	unsigned long long receive, inode;

	if (sscanf(line, "%*x %*u %u %x %u %*u %llu %*u %llu", &type, &protocol, &interface, &receive, &inode) != 5)
		return false;
	ret->inode = inode;
	ret->family = table->family;
	ret->type = (int)type;
	ret->protocol = (int)protocol;
	ret->recv_queue = receive;
	ret->has_queues = true;
	if (arena)
		ret->local = ray_arena_printf(arena, "interface %u protocol 0x%04x", interface, protocol);
	if (!ret->local)
		ret->local = "";
	return true;
}

static const struct ray_socket_table tables[] = {
	{ "tcp", AF_INET, SOCK_STREAM, IPPROTO_TCP, true, parse_inet },
	{ "tcp6", AF_INET6, SOCK_STREAM, IPPROTO_TCP, true, parse_inet },
	{ "udp", AF_INET, SOCK_DGRAM, IPPROTO_UDP, true, parse_inet },
	{ "udp6", AF_INET6, SOCK_DGRAM, IPPROTO_UDP, true, parse_inet },
	{ "unix", AF_UNIX, 0, 0, true, parse_unix },
	{ "netlink", AF_NETLINK, SOCK_RAW, 0, false, parse_netlink },
	{ "packet", AF_PACKET, 0, 0, false, parse_packet },
	{ "raw", AF_INET, SOCK_RAW, 0, false, parse_inet },
	{ "raw6", AF_INET6, SOCK_RAW, 0, false, parse_inet },
	{ "icmp", AF_INET, SOCK_DGRAM, IPPROTO_ICMP, false, parse_inet },
	{ "icmp6", AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6, false, parse_inet },
	{ "udplite", AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE, false, parse_inet },
	{ "udplite6", AF_INET6, SOCK_DGRAM, IPPROTO_UDPLITE, false, parse_inet },
};

bool ray_sockets_parse_line(const char *table, const char *line, struct ray_socket *ret, struct ray_arena *arena)
{
	size_t i;

	for (i = 0; i < RAY_COUNT(tables); i++) {
		if (strcmp(tables[i].name, table))
			continue;
		ray_socket_init(ret, 0);
		return tables[i].parse(&tables[i], line, ret, arena);
	}
	return false;
}

struct ray_socket *ray_sockets_want(struct ray_sockets_search *search, uint64_t inode)
{
	size_t i = ray_search(search->at, search->count, one, one->inode < inode);
	struct ray_socket *s = &search->at[i];

	return i < search->count && s->inode == inode && s->family < 0 ? s : NULL;
}

static void read_table(struct ray_sockets_search *search, const struct ray_socket_table *table)
{
	ray_auto_memory char *line = NULL;
	ray_auto_file FILE *f = NULL;
	struct ray_socket s, *wanted;
	size_t room = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/net/%s", search->pid, table->name);
	f = fopen(path, "re");
	while (f && search->found < search->count && getline(&line, &room, f) > 0) {
		/* First without texts: most rows are somebody else's. */
		ray_socket_init(&s, 0);
		if (!table->parse(table, line, &s, NULL) || !s.inode)
			continue;
		wanted = ray_sockets_want(search, s.inode);
		if (!wanted)
			continue;
		ray_socket_init(wanted, s.inode);
		table->parse(table, line, wanted, search->arena);
		search->found++;
	}
}

size_t ray_sockets_read(enum ray_sockets_source source, int pid, struct ray_socket *sockets, size_t count,
			struct ray_arena *arena)
{
	struct ray_sockets_search search = { .pid = pid, .at = sockets, .count = count, .arena = arena };
	ray_auto_fd int diag = source == RAY_SOCKETS_BEST ? ray_sockets_diag_open(pid) : -1;
	size_t i;

	for (i = 0; i < RAY_COUNT(tables) && search.found < count; i++) {
		if (diag >= 0 && tables[i].has_diag && ray_sockets_diag(diag, &tables[i], &search))
			continue;
		read_table(&search, &tables[i]);
	}
	return search.found;
}
