/* watch.h - events of a node that no single place tells: the hooks that watch for them.
 * SPDX-License-Identifier: MIT
 *
 * One table (node_hooks.c) says which handler of the kernel side (kern/node.h) hangs where, and which events need it. A process that
 * has probes of the node provider has one struct ray_watch: where in it the rows of the table are. The engine attaches the rows that wanted events
 * need, and runs the clauses of whatever event a handler tells. */
#ifndef RAY_PROBE_WATCH_H
#define RAY_PROBE_WATCH_H

#include "probe/catalogue.h"

enum { RAY_HOOK_NAMES = 8 };

/* A row. The same function or system call stands in one row of its kind only. */
struct ray_hook {
	const char *handler;	 /* function of the runtime: "ray_on_socket" */
	const char *more;	 /* what tells further events of the same hit; NULL: the handler itself */
	enum ray_site_kind kind; /* SYSCALL_ENTER, SYSCALL_EXIT, UPROBE, URETPROBE, RAW_TRACEPOINT */
	/* RAY_EVENT_BIT()s: events that cannot be told without it, and those that it only makes better. It hangs for both. */
	uint64_t needed_by, helps;
	const char
		*loss; /* what events that it helps lack without it: "how long it waited". NULL: nothing to speak of */
	uint32_t number; /* of the system call */
	/* Functions of the C library (glibc's) tell the same as some system calls do, and cost nothing at all the others: they stand in for those
	 * rows in programs that need no other call. */
	bool is_stand_in, has_stand_in;
	bool is_after_call; /* it hangs behind the system calls of the function. On its return it would hide from others whom it returns to */
	const char *tracepoint;
	/* Functions it hangs on, the preferred name first: see ray_node_find_all(). */
	const char *names[RAY_HOOK_NAMES];
	/* Second best: not used in a process that has one of these functions. */
	const char *unless[RAY_HOOK_NAMES];
	uint32_t
		absent; /* enum ray_watched_flag: what the kernel side is told of a process that has none of these functions */
	/* Major versions of node that it is for; 0: no limit. */
	uint16_t from, to;
};

extern const struct ray_hook ray_hooks[];
extern const size_t ray_hook_count;

/* A place in one process that a row hangs at. */
struct ray_watch_site {
	size_t row;
	struct ray_site site;
	bool is_hung; /* the engine's */
};

struct ray_watch {
	pid_t pid;
	const char *module;	      /* name of the file that holds V8 */
	uint64_t inode;		      /* of the file that holds V8: another one is another program */
	size_t module_count;	      /* when it was looked at */
	uint64_t events;	      /* that this process can tell */
	struct ray_watched node;      /* what the kernel side is told; points and wanted are the engine's to fill */
	struct ray_watch_site *sites; /* functions only: system calls are the same everywhere */
	size_t site_count;
	bool *lacks;	  /* by row: it would help, and the process has no such function */
	bool needs_calls; /* it has no C library that stands in for system calls, and will not get one */
	/* The engine's (engine/kin.h): when the kernel began to watch it, ns, 0 if we did; events that others of its program are offered. */
	uint64_t born, offered;
};

/* Events that a description can match in any process, also one that does not run yet: 0 if it is not about the node provider. */
uint64_t ray_watch_events(const struct ray_probe_spec *spec);

/* The probe of an event in a process of the same program that does not run yet (ray_catalogue_reserve()). */
RAY_MUST_USE struct ray_error *ray_watch_reserve(struct ray_catalogue *c, const struct ray_watch *like, uint32_t event,
						 struct ray_probe **ret);
/* Such a process runs: it is watched like the other one until it is looked at. */
RAY_MUST_USE struct ray_error *ray_watch_adopt(struct ray_catalogue *c, const struct ray_watch *like, pid_t pid,
					       struct ray_watch **ret);

static inline uint64_t ray_hook_events(const struct ray_hook *hook)
{
	return hook->needed_by | hook->helps;
}

#endif
