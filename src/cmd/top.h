/* top.h - what the parts of `noderay top` share. SPDX-License-Identifier: MIT
 *
 * Samples come from a source: a script in the kernel (top_run.c), or whoever else feeds the recorder. A source calls ray_top_started() once, adds to the recorder,
 * says ray_top_due() when an interval is over, and calls ray_top_round() often, until that says that nothing more is wanted. */
#ifndef RAY_CMD_TOP_H
#define RAY_CMD_TOP_H

#include "cmd/script.h"
#include "cmd/source_maps.h"
#include "cmd/top_look.h"
#include "view/recorder.h"
#include "view/top_batch.h"
#include "view/top_screen.h"

struct ray_top_run {
	struct ray_script script; /* its values are set */
	uint64_t interval_ns;
	bool is_batch, has_count;
	long count; /* batch: tables to print */
	struct ray_top_batch batch;
	struct ray_top_screen screen;
	bool has_maps; /* --source-maps */
	bool is_timed; /* -d: the end of the time is the end of it */
	/* Its own: */
	struct ray_top *model;
	struct ray_top_look *look;
	struct ray_recorder *recorder;
	struct ray_source_maps *maps; /* NULL: not asked for */
	struct ray_top_answer answer;
	struct ray_page page;
	char source[80];
	bool has_seen;		 /* a process */
	bool is_ending, is_over; /* nothing more is sampled; and the last slice is cut */
	bool is_due, is_stale, is_drawn, is_open;
	long printed;
	uint64_t next_ns; /* an answer that costs much is asked for less often */
	uint64_t lost;	  /* so far */
	struct ray_error *err;
};

RAY_MUST_USE struct ray_error *ray_top_run(struct ray_top_run *r);

void ray_top_started(struct ray_top_run *r, const pid_t *pids, size_t count);
void ray_top_due(struct ray_top_run *r);
bool ray_top_round(struct ray_top_run *r); /* false: enough */

#endif
