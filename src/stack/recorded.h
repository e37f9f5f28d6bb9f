/* recorded.h - a stack that the walker in the kernel recorded, made ready for naming.
 * SPDX-License-Identifier: MIT
 *
 * The kernel's walker follows rows and frame pointers and knows nothing of V8's code. What it leaves open is added here, from the words that
 * it recorded: callers of code that has no frame. The target runs on meanwhile; what was recorded is laid over its memory. */
#ifndef RAY_STACK_RECORDED_H
#define RAY_STACK_RECORDED_H

#include "kern/wire.h"
#include "stack/walk.h"

struct ray_recorded {
	struct ray_js *js;
	RAY_VEC(struct ray_overlay_piece) pieces;
	struct ray_walk walk;
};

/* record must stay until deinit, and its size be checked: count frames follow it. Until then js's target shows its words. */
RAY_MUST_USE struct ray_error *ray_recorded_init(struct ray_recorded *r, struct ray_js *js,
						 const struct ray_record_stack *record);
void ray_recorded_deinit(struct ray_recorded *r);

#endif
