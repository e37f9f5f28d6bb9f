/* loop.h - event loops, interval by interval: iterations, utilisation, lag.
 * SPDX-License-Identifier: MIT
 *
 * Takes the facts of scripts/loop.d, which go on from the start: what happened in an interval is the difference to the one before. A loop that works
 * when an interval ends counts as busy up to then, and what it has worked so far is a lag, although its iteration has not ended.
 * Pure, but that it writes to the stream it was given (JSON: to stdout). */
#ifndef RAY_VIEW_LOOP_H
#define RAY_VIEW_LOOP_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"
#include "view/fact.h"

struct ray_loop_options {
	bool is_json;
	bool phases;	      /* a line for each phase */
	const char *columns;  /* -o; NULL: the usual ones */
	uint64_t interval_ns; /* between two reports */
	size_t width;	      /* of lines; 0: no limit */
};

struct ray_loop_view;

/* Refuses columns that there are none of: RAY_USAGE. */
RAY_MUST_USE struct ray_error *ray_loop_view_create(const struct ray_loop_options *options, FILE *out,
						    struct ray_loop_view **ret);
void ray_loop_view_free(struct ray_loop_view *v);
RAY_DEFINE_AUTO(ray_loop_view, ray_loop_view_free)
/* Probes are on. The loops of these processes' first threads are reported from now on, even if nothing is heard of them. */
void ray_loop_view_start(struct ray_loop_view *v, const pid_t *pids, size_t count, uint64_t epoch_ns);
void ray_loop_view_take(struct ray_loop_view *v, const struct ray_fact *fact);

#endif
