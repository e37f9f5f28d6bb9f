/* watch.h - events of a node that no single place tells: the hooks that watch for them.
 * SPDX-License-Identifier: MIT
 *
 * One table (node_hooks.c) says which handler of the kernel side (kern/node.h) hangs where, and which events need it. A process that
 * has probes of the node provider has one struct ray_watch: where in it each row of the table is. The engine attaches the rows that wanted events
 * need, and runs the clauses of whatever event a handler tells. */
#ifndef RAY_PROBE_WATCH_H
#define RAY_PROBE_WATCH_H

#include "probe/catalogue.h"

/* A row. The same function or system call stands in one row of its kind only. */
struct ray_hook {
	const char *handler;	 /* function of the runtime: "ray_on_socket" */
	enum ray_site_kind kind; /* SYSCALL_ENTER, SYSCALL_EXIT, UPROBE, URETPROBE, RAW_TRACEPOINT */
	uint64_t events;	 /* RAY_EVENT_BIT()s of those that need it */
	uint32_t number;	 /* of the system call */
	const char *tracepoint;
	/* Where it hangs, the best first: see ray_node_find(). NULL-ended. */
	const char *const *symbols;
	/* Not used in a process that has one of these: it is the second best. NULL: none. */
	const char *const *unless;
	/* Major versions of node that it is for; 0: no limit. */
	uint16_t from, to;
};

extern const struct ray_hook ray_hooks[];
extern const size_t ray_hook_count;

struct ray_watch {
	pid_t pid;
	struct ray_watched node; /* what the kernel side is told; points and wanted are the engine's to fill */
	struct ray_site *sites;	 /* by row of ray_hooks; kind RAY_SITE_KINDS where the process has no such place */
	uint64_t attached;	 /* the engine's: events whose hooks hang already */
};

/* Events that a description can match in any process, also one that does not run yet: 0 if it is not about the node provider. */
uint64_t ray_watch_events(const struct ray_probe_spec *spec);

#endif
