/* name_internal.h - what the files that name frames share; for name*.c. SPDX-License-Identifier: MIT
 *
 *   name.c     all frames of a walk; native ones
 *   name_v8.c  frames of V8's code, by what they are
 *   name_js.c  functions of JavaScript, with what was inlined into them */
#ifndef RAY_STACK_NAME_INTERNAL_H
#define RAY_STACK_NAME_INTERNAL_H

#include "stack/stack.h"
#include "v8/frame.h"

struct ray_namer_native {
	const struct ray_raw_frame *raw;
	size_t at; /* in frames */
};

struct ray_namer {
	struct ray_js *js;
	struct ray_arena *arena;
	RAY_VEC(struct ray_frame) frames;
	RAY_VEC(struct ray_namer_native) natives;
	size_t unnamed, no_symbol;
	/* The last answers of held_name() and receiver_class(): the frames of a recursion ask the same. */
	uint64_t held_in, held_function, class_of;
	const char *held, *class;
};

/* ---- name.c ---- */

bool ray_namer_push(struct ray_namer *n, struct ray_frame f);
struct ray_frame ray_namer_frame(const struct ray_raw_frame *raw, enum ray_frame_kind kind);
/* Names from a target may hold anything; they are made safe for a terminal once, here. NULL stays NULL. */
const char *ray_namer_safe(struct ray_namer *n, const char *text);

/* ---- name_v8.c ---- */

/* caller: NULL if it is the outermost. */
bool ray_namer_v8(struct ray_namer *n, const struct ray_raw_frame *raw, const struct ray_module *m, uint64_t vaddr,
		  const struct ray_raw_frame *caller);

/* ---- name_js.c ---- */

/* The function whose frame v is. builtin: the one that runs on it; NULL for none. */
bool ray_namer_function(struct ray_namer *n, const struct ray_raw_frame *raw, const struct ray_v8_frame *v,
			const char *builtin);

#endif
