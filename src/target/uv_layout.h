/* uv_layout.h - where things are inside libuv's structures on 64-bit Linux.
 * SPDX-License-Identifier: MIT
 *
 * Read from the DWARF of node 16 to 26 (libuv 1.43 to 1.52): the same in all of them, since they are
 * libuv's public ABI, which version 1 does not change. What is not (the io_uring state behind
 * internal_fields) is recognised by its contents instead: see uv_loop.c. The first word of a watcher
 * is deliberately not used: a callback up to libuv 1.51, bits after. */
#ifndef RAY_TARGET_UV_LAYOUT_H
#define RAY_TARGET_UV_LAYOUT_H

enum {
	/* uv_loop_t */
	UV_LOOP_ACTIVE_HANDLES = 8, /* u32 */
	UV_LOOP_HANDLE_QUEUE = 16,
	UV_LOOP_INTERNAL_FIELDS = 40,
	UV_LOOP_BACKEND_FD = 64, /* i32: the epoll descriptor */
	UV_LOOP_PENDING_QUEUE = 72,
	UV_LOOP_WATCHER_QUEUE = 88,
	UV_LOOP_WATCHERS = 104,	 /* uv__io_t *[nwatchers], by descriptor */
	UV_LOOP_NWATCHERS = 112, /* u32 */
	UV_LOOP_NFDS = 116,	 /* u32 */
	UV_LOOP_WQ = 120,
	UV_LOOP_WQ_ASYNC = 176, /* uv_async_t */
	UV_LOOP_ASYNC_WATCHER = 456,
	UV_LOOP_ASYNC_WFD = 512,   /* i32: -1 when the watcher's descriptor is an eventfd */
	UV_LOOP_TIME = 544,	   /* u64, ms */
	UV_LOOP_SIGNAL_PIPE = 552, /* i32[2] */
	UV_LOOP_SIGNAL_WATCHER = 560,
	UV_LOOP_CHILD_WATCHER = 616, /* uv_signal_t */
	UV_LOOP_EMFILE_FD = 768,     /* i32 */
	UV_LOOP_INOTIFY_WATCHER = 776,
	UV_LOOP_INOTIFY_FD = 840, /* i32 */
	UV_LOOP_SIZE = 848,

	/* uv__io_t */
	UV_IO_FD = 48, /* i32 */

	/* uv_handle_t */
	UV_HANDLE_LOOP = 8,
	UV_HANDLE_TYPE = 16, /* u32: enum ray_uv_type */
	UV_HANDLE_QUEUE = 32,
	UV_HANDLE_FLAGS = 88, /* u32 */
	UV_HANDLE_SIZE = 96,

	/* uv_stream_t: tcp, pipe, tty */
	UV_STREAM_WRITE_QUEUE_SIZE = 96,
	UV_STREAM_CONNECT_REQ = 120,
	UV_STREAM_WATCHER = 136,
	UV_STREAM_CONNECTION_CB = 224, /* not NULL: it listens */
	UV_STREAM_ACCEPTED_FD = 236,   /* i32 */
	UV_PIPE_IPC = 248,	       /* i32 */
	UV_PIPE_SIZE = 264,

	UV_UDP_WATCHER = 128,
	UV_POLL_WATCHER = 104,
	UV_FS_EVENT_PATH = 96, /* char * */
	UV_PROCESS_PID = 104,  /* i32 */
	UV_ASYNC_CB = 96,
};

/* Bits of uv_handle_t.flags. */
enum {
	UV_FLAG_CLOSING = 0x1,
	UV_FLAG_CLOSED = 0x2,
	UV_FLAG_ACTIVE = 0x4,
	UV_FLAG_REF = 0x8,
	UV_FLAG_READING = 0x1000,
};

#endif
