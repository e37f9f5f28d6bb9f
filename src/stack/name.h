/* name.h - gives names to the frames of one walk. SPDX-License-Identifier: MIT */
#ifndef RAY_STACK_NAME_H
#define RAY_STACK_NAME_H

#include "stack/stack.h"

/* Fills stack->frames (in the arena) from the walk; inlined functions become frames of their own. */
RAY_MUST_USE struct ray_error *ray_name_frames(struct ray_js *js, const struct ray_walk *walk, struct ray_arena *arena,
					       struct ray_stack *stack);

/* Is it V8's frame for "new"? */
bool ray_frame_is_construct_stub(const struct ray_frame *f);

#endif
