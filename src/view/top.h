/* top.h - what a live screen knows: the last seconds of a node's samples, threads, loops and collections.
 * SPDX-License-Identifier: MIT
 *
 * Time comes in slices. Whoever drives it gives each slice its samples (as a profile) and what /proc says at its end; facts of scripts/top.d come in between.
 * Slices that are older than any window are forgotten; what they held goes into one profile since the start, from which stacks that are rare are dropped (and counted)
 * when it grows: memory stays bounded however long it runs. Knows no terminal, no keys (view/top_screen.h) and no process. Pure. */
#ifndef RAY_VIEW_TOP_H
#define RAY_VIEW_TOP_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"
#include "stack/role.h"
#include "view/fact.h"

/* A thread at a moment. */
struct ray_top_thread {
	uint32_t pid, tid;
	enum ray_role role;
	int worker;	  /* threadId as JavaScript has it; -1: none */
	const char *name; /* a worker's, or what the kernel calls it; "" */
	uint64_t cpu_ns;  /* so far */
};

/* A process at a moment; what is not known is 0 or "". */
struct ray_top_process {
	uint32_t pid;
	const char *title;   /* "node server.js" */
	const char *version; /* of node */
	uint64_t uptime_s, rss;
	uint64_t heap_limit; /* of one isolate, if it was set */
	uint64_t cpu_ns;     /* so far */
};

struct ray_top_moment {
	uint64_t time_ns;  /* monotonic */
	uint64_t epoch_ns; /* the same on the clock of facts */
	const struct ray_top_process *processes;
	size_t process_count;
	const struct ray_top_thread *threads;
	size_t thread_count;
};

struct ray_top;

struct ray_top *ray_top_create(void); /* NULL without memory */
void ray_top_free(struct ray_top *t);
RAY_DEFINE_AUTO(ray_top, ray_top_free)

/* The first moment, when samples begin to be taken; the end of a slice, with its samples, which are the model's from now on. */
void ray_top_begin(struct ray_top *t, const struct ray_top_moment *m);
void ray_top_cut(struct ray_top *t, struct ray_profile *samples, const struct ray_top_moment *m);
void ray_top_take(struct ray_top *t, const struct ray_fact *fact);
void ray_top_reset(struct ray_top *t); /* forgets all samples, and what was counted */
bool ray_top_failed(const struct ray_top *t);
/* Which events this node can tell, and the script does: the others are not known, rather than 0. */
void ray_top_has(struct ray_top *t, bool gc, bool requests);

/* ---- what is to be shown ---- */

enum { RAY_TOP_LABEL = 96, RAY_TOP_TITLE = 256 };

struct ray_top_loop {
	bool is_known;
	double utilization; /* 0 to 1 */
	uint64_t iterations;
	uint64_t p50, p99, max; /* ns; the percentiles only if there were iterations */
};

/* The main thread of a process, a worker, its pool, V8's threads, others. */
struct ray_top_group {
	uint64_t id;	   /* the same from one time to the next; never 0 */
	uint32_t pid, tid; /* tid: of the only thread; else 0 */
	enum ray_role role;
	int worker;
	char label[RAY_TOP_LABEL]; /* "main", "worker 2 (parser)", "pool (4)" */
	size_t threads;
	double cpu;	/* 1: one processor all the time */
	int64_t weight; /* of its samples, idle ones apart */
	struct ray_top_loop loop;
};

struct ray_top_figures {
	uint64_t window_ns;		/* that they are of: less than was asked for in the beginning */
	double cpu;			/* of all processes */
	struct ray_top_process process; /* the first one; without its texts, which follow */
	char title[RAY_TOP_TITLE], version[32];
	size_t processes, threads;
	uint64_t rss;		  /* of all processes */
	uint64_t heap;		  /* of all their isolates, as far as they have collected garbage: in use after that */
	struct ray_top_loop loop; /* of the loop with the most work */
	uint64_t loop_id;	  /* its group */
	bool has_gc;
	double gc_share; /* of the window, of all isolates */
	uint64_t gc_count, gc_longest;
	bool has_requests;
	double requests;	      /* per second */
	struct ray_top_group *groups; /* busiest processes' first, main threads first */
	size_t group_count;
};

struct ray_top_query {
	uint64_t window_ns;
	bool is_cumulative; /* functions since the start; figures are of the window all the same */
	uint32_t hidden;    /* bits of kinds: see ray_profile_pick */
	uint64_t group;	    /* only this group's samples; 0: all */
};

/* An answer; deinit before the next. */
struct ray_top_answer {
	struct ray_top_figures figures;
	struct ray_profile *profile;  /* what was picked; never NULL after success */
	int64_t *self, *total;	      /* by node */
	struct ray_profile_row *rows; /* by self */
	size_t row_count;
	int64_t weight; /* of all samples in profile, those without a frame that is not hidden too */
	int64_t kinds
		[RAY_KIND_COUNT]; /* their weight, hidden or not: GC and compiling count as such whatever they call */
	uint64_t lost_samples;
	int64_t dropped;    /* of the cumulative profile: weight of stacks too rare to be kept */
	uint64_t length_ns; /* that the samples are of */
};

RAY_MUST_USE struct ray_error *ray_top_ask(struct ray_top *t, const struct ray_top_query *query,
					   struct ray_top_answer *ret);
void ray_top_answer_deinit(struct ray_top_answer *a);
/* While it is held, answers are of the moment when that began, whatever comes in. */
void ray_top_hold(struct ray_top *t, bool is_held);
bool ray_top_is_held(const struct ray_top *t);

extern const uint64_t ray_top_windows[]; /* in ns, rising; 0 ends them */

#endif
