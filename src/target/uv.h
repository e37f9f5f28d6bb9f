/* uv.h - libuv's event loops in a target's memory.
 * SPDX-License-Identifier: MIT
 *
 * Finds every uv_loop_t without a symbol: a loop holds two handles that point back at it, at known
 * distances, which nothing else in memory does. Works on stripped binaries, on a libuv.so of its own
 * and on cores. Everything is checked before it is believed: lists must lead back to where they began,
 * handles must name their loop. A loop that changes while it is read is read again; what still does
 * not fit is left out and the loop marked torn. */
#ifndef RAY_TARGET_UV_H
#define RAY_TARGET_UV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/reader.h"
#include "target/target.h"

/* As libuv numbers them (uv_handle_type): public ABI. */
enum ray_uv_type {
	RAY_UV_UNKNOWN,
	RAY_UV_ASYNC,
	RAY_UV_CHECK,
	RAY_UV_FS_EVENT,
	RAY_UV_FS_POLL,
	RAY_UV_HANDLE,
	RAY_UV_IDLE,
	RAY_UV_NAMED_PIPE,
	RAY_UV_POLL,
	RAY_UV_PREPARE,
	RAY_UV_PROCESS,
	RAY_UV_STREAM,
	RAY_UV_TCP,
	RAY_UV_TIMER,
	RAY_UV_TTY,
	RAY_UV_UDP,
	RAY_UV_SIGNAL,
	RAY_UV_FILE,
	RAY_UV_TYPE_COUNT
};

struct ray_uv_handle {
	uint64_t address;
	enum ray_uv_type type;
	uint32_t flags;
	bool closing;
	bool active;
	bool referenced;
	int fd;		      /* stream, udp, poll; -1 if none */
	int accepted_fd;      /* stream: taken from the backlog, not yet given to the program; -1 */
	bool listens;	      /* stream */
	bool connecting;      /* stream */
	bool reading;	      /* stream */
	bool ipc;	      /* pipe */
	uint64_t write_queue; /* stream: bytes that libuv holds back because the kernel takes no more */
	int pid;	      /* process */
	uint64_t callback;    /* async */
	const char *path;     /* fs_event; "" if it could not be read */
};

struct ray_uv_loop {
	uint64_t address;
	bool is_static;	  /* lies in a module's static memory, as uv_default_loop()'s does */
	bool torn;	  /* changed faster than it could be read: handles are missing */
	bool runs_js;	  /* has the handles that node gives an environment: main thread or worker */
	int tid;	  /* the thread that runs it; 0 when it cannot be told */
	const char *role; /* "main", "worker", "platform", "inspector"..., or "" */
	int backend_fd;
	int async_fd, async_write_fd; /* the latter -1 for an eventfd */
	int signal_fds[2];	      /* read end, write end; -1 when no signal was ever watched */
	int inotify_fd, emfile_fd;    /* -1 if none */
	int control_ring, file_ring;  /* io_uring; -1 if none */
	uint64_t time;		      /* ms: libuv's clock when it last looked */
	uint32_t active_handles;
	struct ray_uv_handle *handles;
	size_t handle_count;
};

struct ray_uv {
	struct ray_arena *arena;
	struct ray_uv_loop *loops; /* those in static memory first, then by epoll descriptor */
	size_t n;
	uint64_t searched; /* bytes */
	bool cut;	   /* the search ended at its budget: loops may be missing */
};

/* Never fails for want of loops: then n is 0. epolls are the open epoll descriptors, if they are known: then
 * only loops on these count, and the search ends once each has its loop. */
RAY_MUST_USE struct ray_error *ray_uv_find(struct ray_target *t, const int *epolls, size_t epoll_count,
					   struct ray_uv **ret);
void ray_uv_free(struct ray_uv *uv);
RAY_DEFINE_AUTO(ray_uv, ray_uv_free)

/* Reads and checks one loop; false when there is none at address. Handles go to the arena. */
bool ray_uv_read_loop(const struct ray_reader *r, uint64_t address, struct ray_arena *arena, struct ray_uv_loop *ret);
/* Candidates in a piece of memory that was read from address: every place where a loop may begin. */
size_t ray_uv_scan(const void *bytes, size_t size, uint64_t address, uint64_t *found, size_t room);

const char *ray_uv_type_name(enum ray_uv_type type);
/* The module whose static memory holds this loop: libuv's own, for the main loop. NULL if none. */
const struct ray_module *ray_uv_module(struct ray_target *t, const struct ray_uv_loop *loop,
				       const struct ray_map **data_ret);
/* Fills in tid and role of every loop. Called by ray_uv_find(). */
void ray_uv_name_loops(struct ray_target *t, struct ray_uv *uv);

#endif
