/* files.h - what a target has open: every descriptor, as the kernel tells it.
 * SPDX-License-Identifier: MIT
 *
 * From /proc for a process, from noderay's own note for a core. What libuv uses a descriptor for
 * is not known here: see uv_files.h, which fills in `use`. A process runs on while it is read, so
 * a descriptor may go away between two looks: those are left out and counted. */
#ifndef RAY_TARGET_FILES_H
#define RAY_TARGET_FILES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "target/sockets.h"
#include "target/target.h"

/* clang-format off */
/* X(enumerator, name as shown) */
#define RAY_FILE_TYPES(X)                                                                   \
	X(UNKNOWN, "unknown") X(REG, "reg") X(DIR, "dir") X(CHR, "chr") X(BLK, "blk")       \
	X(LINK, "link") X(FIFO, "fifo") X(PIPE, "pipe") X(MEMFD, "memfd")                   \
	X(TCP, "tcp") X(TCP6, "tcp6") X(UDP, "udp") X(UDP6, "udp6")                         \
	X(RAW, "raw") X(RAW6, "raw6") X(UNIX_STREAM, "unix") X(UNIX_DGRAM, "unix-dgram")    \
	X(UNIX_SEQPACKET, "unix-seqpacket") X(NETLINK, "netlink") X(PACKET, "packet")       \
	X(SOCKET, "socket") X(EVENTPOLL, "eventpoll") X(EVENTFD, "eventfd")                 \
	X(TIMERFD, "timerfd") X(SIGNALFD, "signalfd") X(INOTIFY, "inotify")                 \
	X(FANOTIFY, "fanotify") X(IO_URING, "io_uring") X(PIDFD, "pidfd")                   \
	X(BPF_MAP, "bpf-map") X(BPF_PROG, "bpf-prog") X(BPF_LINK, "bpf-link")               \
	X(BTF, "btf") X(PERF_EVENT, "perf_event") X(USERFAULTFD, "userfaultfd")             \
	X(NAMESPACE, "namespace") X(ANON, "anon")

enum ray_file_type {
#define X(id, name) RAY_FILE_##id,
	RAY_FILE_TYPES(X)
#undef X
	RAY_FILE_TYPE_COUNT
};
/* clang-format on */

/* Another place where the other end of a pipe or of a unix socket is held. */
struct ray_file_peer {
	int pid;
	int inner_pid; /* as its own pid namespace (container) knows it; the same as pid mostly */
	int fd;
	const char *comm;
};

/* What /proc/PID/fdinfo/FD says; absent numbers are as the flags below tell. */
struct ray_fdinfo {
	uint64_t pos;
	uint32_t flags; /* O_* */
	bool has_flags;
	bool has_count;	    /* eventfd */
	bool has_timer;	    /* timerfd */
	bool has_watched;   /* eventpoll, inotify, fanotify */
	uint64_t count;	    /* eventfd: its counter */
	uint64_t watched;   /* eventpoll: descriptors; inotify, fanotify: watches */
	uint64_t timer_ns;  /* timerfd: until it expires; 0 when it is disarmed */
	uint64_t period_ns; /* timerfd: interval; 0 when it fires once */
	int timer_clock;    /* timerfd: CLOCK_* */
	uint64_t sigmask;   /* signalfd */
	int pid;	    /* pidfd; 0 when there is none, -1 when it has ended */
};

struct ray_file {
	int fd;
	enum ray_file_type type;
	const char *path; /* as the kernel names it, without " (deleted)"; "" when it has no name */
	bool deleted;
	bool has_stat; /* dev, mode, size, rdev are known */
	uint64_t dev;
	uint64_t rdev;	/* chr, blk */
	uint64_t inode; /* 0 when not known */
	uint32_t mode;
	uint64_t size;
	struct ray_fdinfo info;
	const struct ray_socket *socket; /* NULL when it is none, or nothing is known of it */
	const struct ray_file_peer *peers;
	size_t peer_count;
	const char *use;       /* what libuv uses it for; "" when it cannot be told (see uv_files.h) */
	int loop;	       /* the epoll descriptor of the loop that `use` speaks of; -1 if none */
	const char *loop_role; /* "main", "worker 1"...; "" when it cannot be told */
	bool from_memory;      /* only the number is known: read out of libuv's memory, not from the kernel */
};

struct ray_files {
	struct ray_arena *arena; /* owns every text, peer and socket below */
	struct ray_file *at;	 /* by fd, ascending */
	size_t n;
	bool has_limits;
	uint64_t soft_limit, hard_limit; /* RLIMIT_NOFILE; UINT64_MAX is unlimited */
	bool listed;	   /* false: a core without a note that can be read, nothing but memory to go by */
	size_t vanished;   /* closed while being looked at */
	size_t unreadable; /* sockets of which the kernel tells nothing */
	const char *note;  /* one sentence on what could not be had; NULL if nothing */
};

/* RAY_DENIED when it is another user's process. For a core without the note, or with a damaged
 * one: an empty list, not listed. */
RAY_MUST_USE struct ray_error *ray_files_list(struct ray_target *t, struct ray_files **ret);
void ray_files_free(struct ray_files *files);
RAY_DEFINE_AUTO(ray_files, ray_files_free)

/* Finds by number; NULL if it is not open. */
struct ray_file *ray_files_find(const struct ray_files *files, int fd);
/* Adds one that was not listed, keeping the order; NULL when there is no memory. Moves the others. */
struct ray_file *ray_files_add(struct ray_files *files, int fd);
RAY_MUST_USE struct ray_files *ray_files_create(void); /* empty; NULL when there is no memory */

/* The note "files" of a core: NULL when there is no memory; the reader trusts nothing. */
json_t *ray_files_to_json(const struct ray_files *files);
RAY_MUST_USE struct ray_error *ray_files_from_json(const char *text, struct ray_files **ret);
/* One descriptor, as in --json and in the note. */
json_t *ray_file_to_json(const struct ray_file *f);
json_t *ray_files_limit_json(uint64_t limit); /* a number or "unlimited" */

const char *ray_file_type_name(enum ray_file_type type);
bool ray_file_type_from_name(const char *name, enum ray_file_type *ret);
bool ray_file_is_socket(enum ray_file_type type);
/* What a link in /proc/PID/fd says by itself; UNKNOWN for a path, which needs a stat. Sets the inode of a
 * socket or pipe. */
enum ray_file_type ray_file_type_from_link(const char *link, uint64_t *inode_ret);
enum ray_file_type ray_file_type_from_mode(uint32_t mode);
enum ray_file_type ray_file_type_from_socket(const struct ray_socket *s);
/* "O_RDWR|O_NONBLOCK|O_CLOEXEC"; out is always ended. Bits without a name come last, in octal. */
void ray_file_flags_text(uint32_t flags, char *out, size_t size);

/* Parses the text of a fdinfo file; what it does not know it skips. */
void ray_fdinfo_parse(const char *text, struct ray_fdinfo *ret);

#endif
