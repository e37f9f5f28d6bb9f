/* frame.h - one frame of a user stack as DTrace prints it: module`function+0x12; JavaScript: name (file:line:column).
 * SPDX-License-Identifier: MIT
 *
 * Says nothing that differs between stacks that mean the same: no tier, no address of a named frame. */
#ifndef RAY_VIEW_FRAME_H
#define RAY_VIEW_FRAME_H

#include "base/text.h"
#include "stack/stack.h"

/* V8's own: what jstack() leaves out. A frame without a name is not: nothing is lost silently. */
bool ray_frame_is_plumbing(const struct ray_frame *f);
/* Without indent and newline. */
void ray_frame_line(const struct ray_frame *f, struct ray_text *out);
/* The last part of a path. */
const char *ray_frame_module(const char *path);

#endif
