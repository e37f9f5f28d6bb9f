/* files_type.c - the names of descriptor types and of open flags. Tables; see files.h.
 * SPDX-License-Identifier: MIT */
#include "target/files.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

static const char *const type_names[] = {
#define X(id, name) name,
	RAY_FILE_TYPES(X)
#undef X
};

const char *ray_file_type_name(enum ray_file_type type)
{
	return (size_t)type < RAY_COUNT(type_names) ? type_names[type] : "unknown";
}

bool ray_file_type_from_name(const char *name, enum ray_file_type *ret)
{
	size_t i;

	for (i = 0; i < RAY_COUNT(type_names); i++) {
		if (!strcmp(type_names[i], name)) {
			*ret = (enum ray_file_type)i;
			return true;
		}
	}
	return false;
}

bool ray_file_is_socket(enum ray_file_type type)
{
	return type >= RAY_FILE_TCP && type <= RAY_FILE_SOCKET;
}

/* How the kernel names what has no path. Prefixes, the first that fits; the brackets vary by subsystem
 * and, for pidfd, by kernel (pidfs came with 6.9). */
static const struct {
	const char *prefix;
	enum ray_file_type type;
	bool has_inode; /* "[NUMBER]" follows */
} link_types[] = {
	{ "socket:", RAY_FILE_SOCKET, true },
	{ "pipe:", RAY_FILE_PIPE, true },
	{ "anon_inode:[eventpoll]", RAY_FILE_EVENTPOLL, false },
	{ "anon_inode:[eventfd]", RAY_FILE_EVENTFD, false },
	{ "anon_inode:[timerfd]", RAY_FILE_TIMERFD, false },
	{ "anon_inode:[signalfd]", RAY_FILE_SIGNALFD, false },
	{ "anon_inode:inotify", RAY_FILE_INOTIFY, false },
	{ "anon_inode:[fanotify]", RAY_FILE_FANOTIFY, false },
	{ "anon_inode:[io_uring]", RAY_FILE_IO_URING, false },
	{ "anon_inode:[pidfd]", RAY_FILE_PIDFD, false },
	{ "pidfd:", RAY_FILE_PIDFD, true },
	{ "anon_inode:bpf-map", RAY_FILE_BPF_MAP, false },
	{ "anon_inode:bpf-prog", RAY_FILE_BPF_PROG, false },
	{ "anon_inode:bpf_link", RAY_FILE_BPF_LINK, false },
	{ "anon_inode:bpf-link", RAY_FILE_BPF_LINK, false },
	{ "anon_inode:btf", RAY_FILE_BTF, false },
	{ "anon_inode:[perf_event]", RAY_FILE_PERF_EVENT, false },
	{ "anon_inode:[userfaultfd]", RAY_FILE_USERFAULTFD, false },
	{ "anon_inode:", RAY_FILE_ANON, false },
	{ "net:[", RAY_FILE_NAMESPACE, false },
	{ "mnt:[", RAY_FILE_NAMESPACE, false },
	{ "pid:[", RAY_FILE_NAMESPACE, false },
	{ "user:[", RAY_FILE_NAMESPACE, false },
	{ "uts:[", RAY_FILE_NAMESPACE, false },
	{ "ipc:[", RAY_FILE_NAMESPACE, false },
	{ "cgroup:[", RAY_FILE_NAMESPACE, false },
	{ "time:[", RAY_FILE_NAMESPACE, false },
	{ "/memfd:", RAY_FILE_MEMFD, false },
};

enum ray_file_type ray_file_type_from_link(const char *link, uint64_t *inode_ret)
{
	unsigned long long inode;
	size_t i, length;

	for (i = 0; i < RAY_COUNT(link_types); i++) {
		length = strlen(link_types[i].prefix);
		if (strncmp(link, link_types[i].prefix, length))
			continue;
		if (link_types[i].has_inode && sscanf(link + length, "[%llu]", &inode) == 1)
			*inode_ret = inode;
		return link_types[i].type;
	}
	return RAY_FILE_UNKNOWN;
}

enum ray_file_type ray_file_type_from_mode(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return RAY_FILE_REG;
	case S_IFDIR:
		return RAY_FILE_DIR;
	case S_IFCHR:
		return RAY_FILE_CHR;
	case S_IFBLK:
		return RAY_FILE_BLK;
	case S_IFIFO:
		return RAY_FILE_FIFO;
	case S_IFSOCK:
		return RAY_FILE_SOCKET;
	case S_IFLNK:
		return RAY_FILE_LINK;
	default:
		return RAY_FILE_UNKNOWN;
	}
}

/* By what the kernel calls the protocol, for sockets that are in no table. */
static const struct {
	const char *name;
	enum ray_file_type type;
} protocol_types[] = {
	{ "TCP", RAY_FILE_TCP },	  { "TCPv6", RAY_FILE_TCP6 },	 { "UDP", RAY_FILE_UDP },
	{ "UDPv6", RAY_FILE_UDP6 },	  { "RAW", RAY_FILE_RAW },	 { "RAWv6", RAY_FILE_RAW6 },
	{ "NETLINK", RAY_FILE_NETLINK },  { "PACKET", RAY_FILE_PACKET }, { "UNIX-STREAM", RAY_FILE_UNIX_STREAM },
	{ "UNIX", RAY_FILE_UNIX_STREAM },
};

static enum ray_file_type from_family(const struct ray_socket *s, bool v6)
{
	switch (s->type) {
	case SOCK_STREAM:
		return s->protocol && s->protocol != IPPROTO_TCP ? RAY_FILE_SOCKET : v6 ? RAY_FILE_TCP6 : RAY_FILE_TCP;
	case SOCK_DGRAM:
		return v6 ? RAY_FILE_UDP6 : RAY_FILE_UDP;
	case SOCK_RAW:
		return v6 ? RAY_FILE_RAW6 : RAY_FILE_RAW;
	default:
		return RAY_FILE_SOCKET;
	}
}

enum ray_file_type ray_file_type_from_socket(const struct ray_socket *s)
{
	size_t i;

	switch (s->family) {
	case AF_INET:
	case AF_INET6:
		return from_family(s, s->family == AF_INET6);
	case AF_UNIX:
		return s->type == SOCK_DGRAM	 ? RAY_FILE_UNIX_DGRAM :
		       s->type == SOCK_SEQPACKET ? RAY_FILE_UNIX_SEQPACKET :
						   RAY_FILE_UNIX_STREAM;
	case AF_NETLINK:
		return RAY_FILE_NETLINK;
	case AF_PACKET:
		return RAY_FILE_PACKET;
	default:
		break;
	}
	for (i = 0; i < RAY_COUNT(protocol_types); i++)
		if (!strcmp(s->proto_name, protocol_types[i].name))
			return protocol_types[i].type;
	return RAY_FILE_SOCKET;
}

/* The order is the order of display. O_SYNC and O_TMPFILE hold the bits of the one after them. */
static const struct {
	uint32_t bits;
	const char *name;
} flag_names[] = {
	{ O_PATH, "O_PATH" },		{ O_APPEND, "O_APPEND" },     { O_CREAT, "O_CREAT" },
	{ O_EXCL, "O_EXCL" },		{ O_TRUNC, "O_TRUNC" },	      { O_NOCTTY, "O_NOCTTY" },
	{ O_NONBLOCK, "O_NONBLOCK" },	{ O_SYNC, "O_SYNC" },	      { O_DSYNC, "O_DSYNC" },
	{ O_ASYNC, "O_ASYNC" },		{ O_DIRECT, "O_DIRECT" },     { O_TMPFILE, "O_TMPFILE" },
	{ O_DIRECTORY, "O_DIRECTORY" }, { O_NOFOLLOW, "O_NOFOLLOW" }, { O_NOATIME, "O_NOATIME" },
	{ O_CLOEXEC, "O_CLOEXEC" },
};

/* Set by every 64-bit kernel on every open: says nothing. glibc's O_LARGEFILE is 0 there. */
enum { KERNEL_LARGEFILE = 0100000 };

void ray_file_flags_text(uint32_t flags, char *out, size_t size)
{
	static const char *const access[] = { "O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE" };
	uint32_t rest = flags & ~(uint32_t)(O_ACCMODE | KERNEL_LARGEFILE);
	size_t used, i;

	used = (size_t)snprintf(out, size, "%s", access[flags & O_ACCMODE]);
	for (i = 0; i < RAY_COUNT(flag_names) && used < size; i++) {
		if ((rest & flag_names[i].bits) != flag_names[i].bits)
			continue;
		rest &= ~flag_names[i].bits;
		used += (size_t)snprintf(out + used, size - used, "|%s", flag_names[i].name);
	}
	if (rest && used < size)
		snprintf(out + used, size - used, "|0%o", rest);
}
