/* loops.h - event loops named by the threads that run them.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_STACK_LOOPS_H
#define RAY_STACK_LOOPS_H

#include "target/node.h"
#include "target/uv.h"

/* Gives a worker's loop its threadId ("worker 2") and names the others' by what their thread is for. What
 * cannot be told keeps the role it has. */
RAY_MUST_USE struct ray_error *ray_loops_name(struct ray_target *t, const struct ray_node *node, struct ray_uv *uv);

#endif
