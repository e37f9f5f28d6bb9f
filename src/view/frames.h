/* frames.h - a stack that the engine has named, as lines: how verbs show it. SPDX-License-Identifier: MIT */
#ifndef RAY_VIEW_FRAMES_H
#define RAY_VIEW_FRAMES_H

#include <stddef.h>

#include "base/json.h"
#include "base/text.h"

/* An array of strings, the innermost frame first. */
json_t *ray_frames_json(const char *stack);
/* A line for each frame, cut to width (0: not at all). */
void ray_frames_print(const char *stack, size_t indent, size_t width, struct ray_text *out);

#endif
