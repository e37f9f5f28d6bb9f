/* block.h - callbacks that blocked an event loop, each with the stacks that ran meanwhile.
 * SPDX-License-Identifier: MIT
 *
 * Takes the facts of scripts/loop_block.d. A sample stands for the time up to the next one. Knows which callbacks go on for too long at
 * the moment, for those who want to look at one while it blocks. Pure, but that it writes to the stream it was given (JSON: to stdout). */
#ifndef RAY_VIEW_BLOCK_H
#define RAY_VIEW_BLOCK_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "view/fact.h"

struct ray_block_options {
	bool is_json;
	uint64_t limit_ns; /* callbacks as long as that are told */
	size_t width;	   /* of lines; 0: no limit */
	/* Whether a thread is still there: one that is gone blocks nothing. */
	bool (*is_there)(uint32_t pid, uint32_t tid);
};

/* A callback that goes on. */
struct ray_block_open {
	uint32_t pid, tid;
	uint64_t since_ns; /* since the epoch */
};

struct ray_block_view;

struct ray_block_view *ray_block_view_create(const struct ray_block_options *options, FILE *out); /* NULL: no memory */
void ray_block_view_free(struct ray_block_view *v);
RAY_DEFINE_AUTO(ray_block_view, ray_block_view_free)
void ray_block_view_take(struct ray_block_view *v, const struct ray_fact *fact);
/* One that was seen to run and has not ended after limit_ns. */
bool ray_block_view_overdue(const struct ray_block_view *v, uint64_t epoch_ns, struct ray_block_open *ret);
/* The end of a run that took so long: what still blocks now, and what there was. */
void ray_block_view_finish(struct ray_block_view *v, uint64_t epoch_ns, uint64_t duration_ns);

#endif
