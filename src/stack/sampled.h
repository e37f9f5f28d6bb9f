/* sampled.h - one look at a running thread (target/tick.h), from registers and bytes of its stack to frames that can be named.
 * SPDX-License-Identifier: MIT
 *
 * The thread runs on, and the collector moves what frames point to. So objects are copied at once, and later each function is believed only
 * if the code or bytecode that runs on its frame is its own. Where it is not, the frame may still stand and point to where the function is now;
 * optimized code knows its function itself; and bytecode is known from earlier looks. What is left has no name, and is counted. */
#ifndef RAY_STACK_SAMPLED_H
#define RAY_STACK_SAMPLED_H

#include "stack/walk.h"
#include "target/tick.h"

enum { RAY_SAMPLED_KNOWN = 4096 };

/* What was seen of one process: which function a BytecodeArray, or baseline code, belongs to. */
struct ray_sampled_known {
	struct {
		uint64_t object, shared;
	} at[RAY_SAMPLED_KNOWN];
};

struct ray_sampled {
	struct ray_walk walk;
	uint64_t id;	/* the same stack has the same, as far as can be told without names */
	size_t unnamed; /* functions that are not known any more */
};

/* Forgets what was read for earlier looks. */
RAY_MUST_USE struct ray_error *ray_sampled_begin(struct ray_js *js);
/* Copies what the stack points to: as soon as possible, or while the thread is stopped. */
void ray_sampled_pin(struct ray_js *js, const struct ray_tick *tick, bool is_stopped);
/* After the pin. */
RAY_MUST_USE struct ray_error *ray_sampled_walk(struct ray_js *js, const struct ray_tick *tick,
						struct ray_sampled_known *known, struct ray_sampled *ret);
/* Before it is named, if the thread was not stopped: the class of a receiver is told only where the frame still stands and holds the same one. Without
 * it a name is shorter, but the same function's. */
void ray_sampled_check_receivers(struct ray_js *js, const struct ray_tick *tick, struct ray_sampled *s);
void ray_sampled_deinit(struct ray_sampled *s);

#endif
