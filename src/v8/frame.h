/* frame.h - what V8 keeps in a stack frame.
 * SPDX-License-Identifier: MIT
 *
 * Given a frame pointer and the pc in it, tells which JavaScript function runs there, in which tier and
 * where in the source, with the functions that were inlined into it. */
#ifndef RAY_V8_FRAME_H
#define RAY_V8_FRAME_H

#include "v8/code.h"
#include "v8/position.h"
#include "v8/v8.h"

enum ray_v8_frame_kind {
	RAY_V8_FRAME_UNKNOWN,  /* nothing that V8 writes */
	RAY_V8_FRAME_FUNCTION, /* a JavaScript function, builtin ones too */
	RAY_V8_FRAME_TYPED,    /* an entry, exit, stub... frame: marked with a type instead of a context */
};

struct ray_v8_frame {
	enum ray_v8_frame_kind kind;
	int64_t type; /* TYPED: the number; ray_v8_frame_type() names it */
	uint64_t function, shared, receiver;
	uint64_t bytecode_array; /* 0 if there is none */
	int32_t bytecode_offset; /* as saved in the frame; -1 if there is none */
	int argc;		 /* arguments behind the receiver; -1 when not known */
	uint64_t args;		 /* address of the first */
};

/* Reads the slots of the frame at fp. */
void ray_v8_frame_read(struct ray_v8 *v8, uint64_t fp, struct ray_v8_frame *ret);

/* The same for an interpreted or compiled function whose JSFunction is not where it was: the function is known otherwise. No arguments are told. */
void ray_v8_frame_read_as(struct ray_v8 *v8, uint64_t fp, uint64_t shared, struct ray_v8_frame *ret);

struct ray_v8_frame_code {
	enum ray_v8_tier tier;
	size_t count; /* of places; at least 1 */
	struct ray_v8_place places[RAY_V8_MAX_INLINED];
};

/* Where a FUNCTION frame executes. in_jit: pc lies in code that V8 generated; otherwise in its builtins.
 * pc is the frame's own, already moved back into the call when it is a return address.
 * leaf_offset: the bytecode offset from a register when the frame is the innermost, else -1. */
void ray_v8_frame_places(struct ray_v8 *v8, const struct ray_v8_frame *f, uint64_t pc, bool in_jit, int32_t leaf_offset,
			 struct ray_v8_frame_code *ret);

#endif
