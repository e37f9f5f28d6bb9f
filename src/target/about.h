/* about.h - what /proc says of a running process.
 * SPDX-License-Identifier: MIT
 *
 * Facts for listings: none of them needs the process's memory, most need no rights. What could not be
 * read is empty, 0 or -1, as said beside each. Knows nothing of node. */
#ifndef RAY_TARGET_ABOUT_H
#define RAY_TARGET_ABOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"
#include "target/container.h"

struct ray_about {
	int pid;
	int ppid;
	int inner_pid;	     /* as its own pid namespace counts */
	bool same_namespace; /* it sees the pids that we see; true when that cannot be told */
	uid_t uid;
	const char *user; /* name, or the number when it has none */
	char state;
	uint64_t uptime; /* seconds */
	double cpu;	 /* seconds, user and system */
	uint64_t rss;	 /* bytes */
	long threads;
	long files;	       /* open descriptors; -1 when not allowed */
	const char *exe, *cwd; /* "" when not allowed */
	const char *cgroup;    /* the (longest) path of its control groups, "" if none */
	struct ray_container container;
	bool in_container;
	bool terminal;	  /* its standard input is one */
	const char *args; /* NUL-separated; "" when there are none */
	size_t args_size;
};

/* RAY_FAILED when there is no such process (any more). Text lives in arena. */
RAY_MUST_USE struct ray_error *ray_about_read(int pid, struct ray_arena *arena, struct ray_about *ret);

#endif
