/* site.h - a place where a program is hung in, and how its arguments are found there.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_PROBE_SITE_H
#define RAY_PROBE_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kern/wire.h"

enum ray_site_kind {
	RAY_SITE_BEGIN, /* run once by the engine, in its own process */
	RAY_SITE_END,
	RAY_SITE_ERROR,		/* called by whatever faults */
	RAY_SITE_PROFILE,	/* period_ns, on every CPU. arg0 kernel pc or 0, arg1 user pc or 0 */
	RAY_SITE_TICK,		/* period_ns, on one CPU */
	RAY_SITE_SYSCALL_ENTER, /* number; all share one raw_syscalls:sys_enter */
	RAY_SITE_SYSCALL_EXIT,
	RAY_SITE_UPROBE,
	RAY_SITE_URETPROBE,
	RAY_SITE_TRACEPOINT,	 /* tracepoint group:name; its record is the context */
	RAY_SITE_RAW_TRACEPOINT, /* its arguments are arg0.. */
	RAY_SITE_WATCH,		 /* an event that the handlers of hooks tell (probe/watch.h) */
	RAY_SITE_KINDS
};

struct ray_site {
	enum ray_site_kind kind;
	/* Which argN the site can give, and how: fetch[i] for argument i. Kinds with the plain calling convention
	 * (UPROBE without fetch, SYSCALL, RAW_TRACEPOINT) leave count 0. */
	const struct ray_fetch *fetch;
	size_t fetch_count;
	/* It fires only if all of these hold. Sites that share a program have the same ones. */
	const struct ray_condition *conditions;
	size_t condition_count;
	/* It is about another thread than the one that runs: pid and tid are those of the task in arg0. */
	bool is_about_task;
	union {
		uint64_t period_ns;
		uint32_t number; /* system call */
		struct {
			const char *file;   /* can be opened by us: /proc/PID/root/..., or the path */
			uint64_t offset;    /* in the file */
			uint64_t semaphore; /* offset in the file of the USDT semaphore; 0 if none */
			pid_t pid;	    /* only this process; 0: any */
		} uprobe;
		struct {
			const char *group, *name;
			uint32_t id; /* tracefs' */
		} tracepoint;
		struct {
			uint32_t event; /* enum ray_node_event */
			struct ray_watch *watch;
		} watch;
	};
};

/* A place may stand for several probes (signal_generate: signal-send, signal-discard): this one fires if argument `arg`
 * compares so with a number, or with another argument. The arguments are fetched by the site's own rules first. */
enum ray_compare {
	RAY_COMPARE_EQ,
	RAY_COMPARE_NE,
	RAY_COMPARE_LT,
	RAY_COMPARE_GE,
	RAY_COMPARE_MASK,
	RAY_COMPARE_EQ_ARG
};

struct ray_condition {
	uint8_t arg;
	uint8_t op;    /* enum ray_compare */
	int32_t value; /* RAY_COMPARE_EQ_ARG: number of the other argument */
};

#endif
