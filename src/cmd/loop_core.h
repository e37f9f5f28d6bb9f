/* loop_core.h - `noderay loop --core`: a core of the first callback that blocks too long, while it does.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_CMD_LOOP_CORE_H
#define RAY_CMD_LOOP_CORE_H

#include "cmd/cmd.h"
#include "view/block.h"

struct ray_loop_core {
	const char *pattern; /* --core-file; NULL: core.PID */
	bool is_json, is_wanted;
	/* Of the core that was taken, if it was: */
	bool is_taken;
	struct ray_block_open block;
	uint64_t start_ns, pause_ns; /* since the epoch; how long the process stood still */
	char *path;
	struct ray_error *err; /* why there is none: the caller's */
};

/* Looks whether something blocks, and takes a core of it. To be called after each fact, which the view knows already. True: all is done. */
bool ray_loop_core_look(struct ray_loop_core *c, const struct ray_block_view *view, const struct ray_fact *fact);
void ray_loop_core_deinit(struct ray_loop_core *c);

#endif
