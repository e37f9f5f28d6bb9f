/* role.h - what a thread of a node is for.
 * SPDX-License-Identifier: MIT
 *
 * Told by the function that the thread was started with, which the C library keeps in the thread's descriptor;
 * where that has no symbol (stripped builds), by the names of the frames on its stack, by the object that it was
 * started with, and by other threads that were started alike. The thread's own name comes last: programs
 * rename their threads. A worker's number is read from its node::worker::Worker and only told when that object
 * proves to be this thread's. */
#ifndef RAY_STACK_ROLE_H
#define RAY_STACK_ROLE_H

#include "target/node.h"

enum ray_role {
	RAY_ROLE_OTHER,
	RAY_ROLE_MAIN,
	RAY_ROLE_WORKER,    /* worker_threads */
	RAY_ROLE_PLATFORM,  /* V8's background work: GC, compilation */
	RAY_ROLE_DELAYED,   /* the platform's timer thread */
	RAY_ROLE_POOL,	    /* libuv's: fs, dns, crypto, zlib */
	RAY_ROLE_INSPECTOR, /* serves the debugging protocol */
	RAY_ROLE_SIGNAL,    /* waits for SIGUSR1, to start the inspector */
};

struct ray_role_info {
	enum ray_role role;
	int worker_id;	  /* threadId as JavaScript sees it; -1 when not a worker or not known */
	int index;	  /* which of its kind, from 1; 0 for OTHER */
	uint64_t isolate; /* 0 when it runs none, or not known */
	char name[48];	  /* the worker's name option; "" if none or not known */
	char text[96];	  /* "worker_threads worker 2 (name)", "libuv pool worker 1"; safe for a terminal */
};

/* The names of a thread's native frames, mangled, innermost first; NULL for a frame without one. */
struct ray_role_frames {
	const char *const *symbols;
	size_t count;
};

/* Fills one info for each of ray_target_threads(), in that order. frames has as many entries, or is NULL. */
RAY_MUST_USE struct ray_error *ray_role_find(struct ray_target *t, const struct ray_node *node,
					     const struct ray_role_frames *frames, struct ray_role_info *ret);
/* When the node cannot be read at all: the main thread is known by its id, of the others nothing is. */
void ray_role_unknown(struct ray_target *t, const struct ray_thread *thread, struct ray_role_info *ret);
/* One word for JSON and for --thread: "main", "worker", "platform", "delayed", "pool", "inspector", "signal", "other". */
const char *ray_role_word(enum ray_role role);

#endif
