/* gcore.h - writes an ELF core of a running process.
 * SPDX-License-Identifier: MIT
 *
 * The process is stopped while its registers and pages are copied into memory, and runs on while they are
 * written. Where memory is scarce the copy goes through a smaller buffer and the pause lasts as long as
 * the writing. With fork the process runs one fork system call (and a few that prepare it), and runs on
 * while the frozen child is read. Needs no node: any 64-bit process will do. */
#ifndef RAY_TARGET_GCORE_H
#define RAY_TARGET_GCORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "target/target.h"

struct ray_gcore_options {
	const char *path; /* of the core; must not exist but for force */
	bool force;
	bool full; /* pages of files too */
	bool zstd;
	bool fork;
	uint64_t max_memory; /* for the copy; 0: half of what is available */
	unsigned timeout_ms; /* for stopping; 0: the default */
	bool progress;	     /* say how far it is on stderr, even when that is no terminal */
};

struct ray_gcore_report {
	uint64_t pause_ns;    /* how long the target stood still */
	uint64_t borrowed_ns; /* fork: how long one thread's registers were not its own */
	uint64_t total_ns;
	uint64_t length;     /* of the file */
	uint64_t disk;	     /* what it takes there */
	uint64_t copied;     /* bytes of memory in it */
	uint64_t left_out;   /* bytes of pages that files on disk have, or that are marked as not to be dumped */
	uint64_t unreadable; /* bytes that should be in it and could not be read: they are zeros */
	uint64_t unseen;     /* bytes of shared memory that this process never touched: they are zeros */
	size_t threads;	     /* with registers */
	size_t missed;	     /* without */
	bool slow;	     /* memory was scarce: the pause lasted as long as the writing */
	int zombie;	     /* fork: the child that could not be reaped; 0 if all went well */
};

/* RAY_USAGE when t is not a process. */
RAY_MUST_USE struct ray_error *ray_gcore(struct ray_target *t, const struct ray_gcore_options *options,
					 struct ray_gcore_report *ret);

#endif
