/* node_derive.h - functions of libuv and V8 that a stripped file does not name, found by following the code of those that it exports.
 * SPDX-License-Identifier: MIT
 *
 * Distributions strip libuv.so, and people strip node. What libuv does inside is then nameless, but its exported functions lead there:
 * uv_fs_open() and forty others hand the same two functions to the same third one. A function counts as found only when
 *  - the tables for unwinding say that a function begins at that very address,
 *  - every exported function that could tell says the same, and at least two can, or
 *  - its own code touches the fields of libuv's structures (public ABI) that it must, and no other candidate does.
 * Everything else is not found: no address is ever guessed. */
#ifndef RAY_PROBE_NODE_DERIVE_H
#define RAY_PROBE_NODE_DERIVE_H

#include "elf/elf.h"

enum ray_local_function {
	RAY_UV_FS_WORK,
	RAY_UV_FS_DONE,
	RAY_UV_WORK_SUBMIT,
	RAY_UV_GETADDRINFO_WORK,
	RAY_UV_GETADDRINFO_DONE,
	RAY_UV_GETNAMEINFO_WORK,
	RAY_UV_GETNAMEINFO_DONE,
	RAY_UV_RANDOM_WORK,
	RAY_UV_RANDOM_DONE,
	RAY_UV_QUEUE_WORK,
	RAY_UV_QUEUE_DONE,
	RAY_UV_WORK_DONE,
	RAY_UV_RUN_TIMERS,
	RAY_UV_RUN_IDLE,
	RAY_UV_RUN_PREPARE,
	RAY_UV_RUN_CHECK,
	RAY_UV_IO_POLL,
	RAY_UV_STREAM_IO,
	RAY_UV_SERVER_IO,
	RAY_UV_ASYNC_IO,
	RAY_UV_POLL_IO,
	RAY_UV_UDP_IO,
	RAY_UV_INOTIFY_READ,
	RAY_UV_SIGNAL_EVENT,
	RAY_V8_COLLECT_GARBAGE,
	RAY_V8_GC_PROLOGUE,
	RAY_V8_GC_EPILOGUE,
	RAY_V8_SIZE_OF_OBJECTS,
	RAY_V8_THROW,
	RAY_LOCAL_FUNCTIONS
};

struct ray_local_place {
	uint64_t vaddr, size; /* vaddr 0: not found */
};

/* Fills in what can be proven; a file that is no libuv gives nothing. Takes a millisecond. */
void ray_node_derive(struct ray_elf *e, struct ray_local_place ret[RAY_LOCAL_FUNCTIONS]);
/* Which of them has this name ("uv__fs_work", or a mangled one, perhaps up to a *); -1 if none. */
int ray_local_find(const char *name);
const char *ray_local_name(enum ray_local_function function);

#endif
