/* recorded.h - a stack that the walker in the kernel recorded, made ready for naming.
 * SPDX-License-Identifier: MIT
 *
 * The kernel's walker follows rows and frame pointers and knows nothing of V8's code. What it leaves open is added here, from the words that
 * it recorded: callers of code that has no frame. The target runs on meanwhile; what was recorded is laid over its memory. */
#ifndef RAY_STACK_RECORDED_H
#define RAY_STACK_RECORDED_H

#include "kern/wire.h"
#include "stack/walk.h"

/* The frames of a record, innermost first. */
struct ray_recorded_frames {
	const struct ray_record_stack *record;
	const struct ray_walk_frame *f; /* the one at hand; beyond its size there is another one, or nothing */
	uint32_t index;
};

/* Can it be believed? size bytes of it are there. */
bool ray_recorded_is_sound(const struct ray_record_stack *record, size_t size);
/* The next frame of a sound record, from the first on; false: that was the last. Begins as { .record = record }. */
bool ray_recorded_next(struct ray_recorded_frames *at);

struct ray_recorded {
	struct ray_js *js;
	RAY_VEC(struct ray_overlay_piece) pieces;
	struct ray_walk walk;
	uint32_t number; /* of the recorded frame that is being added */
};

/* What is known of a recorded frame already. */
enum ray_recorded_known {
	RAY_RECORDED_NEW,
	RAY_RECORDED_NAMED,
	RAY_RECORDED_CONSTRUCT, /* it was named, as V8's frame for "new" */
};

/* record is sound, and stays until deinit. Until then js's target shows its words.
 * known: of each frame, one of enum ray_recorded_known; frames that were named before only hold their place in the walk. */
RAY_MUST_USE struct ray_error *ray_recorded_init(struct ray_recorded *r, struct ray_js *js,
						 const struct ray_record_stack *record, const uint8_t *known);
void ray_recorded_deinit(struct ray_recorded *r);

#endif
