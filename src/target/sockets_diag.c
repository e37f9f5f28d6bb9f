/* sockets_diag.c - asks the kernel for sockets over netlink (sock_diag). See sockets_internal.h.
 * SPDX-License-Identifier: MIT
 *
 * Needs no rights in one's own network namespace. For another one (a container) the netlink socket has
 * to be made inside it, which takes CAP_SYS_ADMIN: the calling thread steps over for one socket(2). */
#include "target/sockets_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/vec.h"

/* What is at the other end of a unix socket is known by inode only: names are joined afterwards. */
struct unix_name {
	uint64_t inode;
	const char *name;
};

struct dump {
	const struct ray_socket_table *table;
	struct ray_sockets_search *search;
	RAY_VEC(struct unix_name) names;
	RAY_VEC(struct ray_socket *) unix_sockets;
};

static int diag_socket(void)
{
	struct timeval patience = { .tv_sec = 2 };
	int room = 1 << 20, fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

int ray_sockets_diag_open(int pid)
{
	ray_auto_fd int theirs = -1;
	ray_auto_fd int ours = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	struct stat a, b;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	theirs = open(path, O_RDONLY | O_CLOEXEC);
	if (ours < 0 || theirs < 0 || fstat(ours, &a) || fstat(theirs, &b))
		return -1;
	if (a.st_ino == b.st_ino && a.st_dev == b.st_dev)
		return diag_socket();
	if (setns(theirs, CLONE_NEWNET))
		return -1;
	fd = diag_socket();
	/* If the way back is barred we stay there, where nothing but this netlink socket is ever used. */
	(void)!setns(ours, CLONE_NEWNET);
	return fd;
}

static void take_inet(struct dump *d, const struct nlmsghdr *h)
{
	const struct inet_diag_msg *m = NLMSG_DATA(h);
	struct ray_inet_ends ends = { 0 };
	struct ray_socket *s;

	if (h->nlmsg_len < NLMSG_LENGTH(sizeof(*m)) || !m->idiag_inode)
		return;
	s = ray_sockets_want(d->search, m->idiag_inode);
	if (!s)
		return;
	s->family = m->idiag_family;
	s->type = d->table->type;
	s->protocol = d->table->protocol;
	s->recv_queue = m->idiag_rqueue;
	s->send_queue = m->idiag_wqueue;
	s->has_queues = true;
	s->has_backlog = m->idiag_state == TCP_LISTEN;
	s->retransmits = m->idiag_timer == 1 ? m->idiag_retrans : 0;
	memcpy(ends.local, m->id.idiag_src, sizeof(ends.local));
	memcpy(ends.remote, m->id.idiag_dst, sizeof(ends.remote));
	ends.local_port = ntohs(m->id.idiag_sport);
	ends.remote_port = ntohs(m->id.idiag_dport);
	ends.state = m->idiag_state;
	ray_socket_set_inet(s, &ends, d->search->arena);
	d->search->found++;
}

/* An abstract name begins with a NUL and may hold more of them; shown as @, as the kernel does. */
static const char *unix_name(struct dump *d, const char *bytes, size_t length)
{
	char name[128];
	size_t i;

	if (length > sizeof(name) - 1)
		length = sizeof(name) - 1;
	while (length && bytes[0] && !bytes[length - 1])
		length--;
	for (i = 0; i < length; i++)
		name[i] = bytes[i] ? bytes[i] : '@';
	return ray_arena_copy(d->search->arena, name, length);
}

struct unix_facts {
	const char *name;
	uint32_t peer;
	const struct unix_diag_rqlen *queues;
};

static void unix_attributes(struct dump *d, const struct nlmsghdr *h, struct unix_facts *ret)
{
	const struct unix_diag_msg *m = NLMSG_DATA(h);
	const struct rtattr *a = (const struct rtattr *)(m + 1);
	size_t left = h->nlmsg_len - NLMSG_LENGTH(sizeof(*m));

	while (left >= sizeof(*a) && a->rta_len >= sizeof(*a) && a->rta_len <= left) {
		size_t size = a->rta_len - RTA_LENGTH(0), step = RTA_ALIGN(a->rta_len);

		if (a->rta_type == UNIX_DIAG_NAME)
			ret->name = unix_name(d, RTA_DATA(a), size);
		else if (a->rta_type == UNIX_DIAG_PEER && size >= sizeof(ret->peer))
			memcpy(&ret->peer, RTA_DATA(a), sizeof(ret->peer));
		else if (a->rta_type == UNIX_DIAG_RQLEN && size >= sizeof(*ret->queues))
			ret->queues = RTA_DATA(a);
		if (step >= left)
			return;
		left -= step;
		a = (const struct rtattr *)((const char *)a + step);
	}
}

static void take_unix(struct dump *d, const struct nlmsghdr *h)
{
	const struct unix_diag_msg *m = NLMSG_DATA(h);
	struct unix_facts facts = { 0 };
	struct ray_socket *s;

	if (h->nlmsg_len < NLMSG_LENGTH(sizeof(*m)))
		return;
	unix_attributes(d, h, &facts);
	if (facts.name && *facts.name)
		(void)!ray_vec_push(&d->names, (struct unix_name){ m->udiag_ino, facts.name });
	s = ray_sockets_want(d->search, m->udiag_ino);
	if (!s)
		return;
	s->family = AF_UNIX;
	s->type = m->udiag_type;
	s->peer = facts.peer;
	s->local = facts.name ? facts.name : "";
	s->has_backlog = m->udiag_state == TCP_LISTEN;
	s->state = ray_socket_unix_state(s->type, s->has_backlog, m->udiag_state == TCP_ESTABLISHED);
	if (facts.queues) {
		s->recv_queue = facts.queues->udiag_rqueue;
		s->send_queue = facts.queues->udiag_wqueue;
		s->has_queues = true;
	}
	d->search->found++;
	(void)!ray_vec_push(&d->unix_sockets, s);
}

static int by_inode(const void *a, const void *b)
{
	const struct unix_name *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

static void join_unix_names(struct dump *d)
{
	struct unix_name key, *found;
	size_t i;

	if (!d->names.n)
		return;
	qsort(d->names.at, d->names.n, sizeof(key), by_inode);
	for (i = 0; i < d->unix_sockets.n; i++) {
		key.inode = d->unix_sockets.at[i]->peer;
		found = key.inode ? bsearch(&key, d->names.at, d->names.n, sizeof(key), by_inode) : NULL;
		if (found)
			d->unix_sockets.at[i]->remote = found->name;
	}
}

static bool ask(int diag, const struct ray_socket_table *table)
{
	struct {
		struct nlmsghdr header;
		union {
			struct inet_diag_req_v2 inet;
			struct unix_diag_req local;
		};
	} request = { .header = { .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP } };
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	size_t size;

	if (table->family == AF_UNIX) {
		size = NLMSG_LENGTH(sizeof(request.local));
		request.local.sdiag_family = AF_UNIX;
		request.local.udiag_states = UINT32_MAX;
		request.local.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER | UDIAG_SHOW_RQLEN;
	} else {
		size = NLMSG_LENGTH(sizeof(request.inet));
		request.inet.sdiag_family = (unsigned char)table->family;
		request.inet.sdiag_protocol = (unsigned char)table->protocol;
		/* Connections in these states belong to no descriptor, and there may be very many. */
		request.inet.idiag_states = ~(1u << TCP_TIME_WAIT | 1u << TCP_SYN_RECV);
	}
	request.header.nlmsg_len = (uint32_t)size;
	return sendto(diag, &request, size, 0, (struct sockaddr *)&kernel, sizeof(kernel)) == (ssize_t)size;
}

/* One datagram of the answer; true when more is to come. *ok_ret tells how it ended. */
static bool take_messages(struct dump *d, const char *buffer, size_t length, bool *ok_ret)
{
	const struct nlmsghdr *h = (const struct nlmsghdr *)buffer;

	for (; NLMSG_OK(h, length); h = NLMSG_NEXT(h, length)) {
		if (h->nlmsg_type == NLMSG_DONE) {
			*ok_ret = true;
			return false;
		}
		if (h->nlmsg_type == NLMSG_ERROR)
			return false;
		if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY)
			continue;
		if (d->table->family == AF_UNIX)
			take_unix(d, h);
		else
			take_inet(d, h);
	}
	return true;
}

bool ray_sockets_diag(int diag, const struct ray_socket_table *table, struct ray_sockets_search *search)
{
	struct dump d = { .table = table, .search = search };
	ray_auto_memory char *buffer = NULL;
	enum { ROOM = 1 << 16 };
	bool ok = false, more;
	ssize_t n;

	buffer = malloc(ROOM);
	if (!buffer || !ask(diag, table))
		return false;
	do {
		n = recv(diag, buffer, ROOM, 0);
		if (n < 0 && errno == EINTR) {
			more = true;
			continue;
		}
		more = n > 0 && take_messages(&d, buffer, (size_t)n, &ok);
	} while (more);
	join_unix_names(&d);
	ray_vec_free(&d.names);
	ray_vec_free(&d.unix_sockets);
	return ok;
}
