/* stack.h - how stacks look: text for people, JSON for programs.
 * SPDX-License-Identifier: MIT
 *
 * One line a frame: its number, what kind of code it is, its name and where it is. Reads the target only for
 * what was asked beyond names (arguments, source lines). */
#ifndef RAY_VIEW_STACK_H
#define RAY_VIEW_STACK_H

#include <stdio.h>

#include "stack/stack.h"

struct ray_stack_view {
	bool verbose; /* builtins, stubs, addresses */
	bool only_js;
	bool only_native;
	bool arguments;	   /* -a */
	int source;	   /* -s: lines before and after; 0 for none */
	size_t max_frames; /* per thread; 0: all */
	size_t width; /* longest line; 0: whatever it takes. Paths are cut at their start: lines and columns stay */
};

void ray_stack_print(const struct ray_stacks *s, const struct ray_stack *stack, const struct ray_stack_view *view,
		     FILE *out);
void ray_stack_print_json(const struct ray_stacks *s, const struct ray_stack *stack, const struct ray_stack_view *view);
/* False for a thread without JavaScript when only that is wanted. */
bool ray_stack_is_wanted(const struct ray_stack *stack, const struct ray_stack_view *view);
/* Is the frame shown at all under this view? */
bool ray_stack_shows(const struct ray_frame *f, const struct ray_stack_view *view);

#endif
