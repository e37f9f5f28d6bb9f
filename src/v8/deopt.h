/* deopt.h - where optimized code is, by what it keeps to go back to the interpreter.
 * SPDX-License-Identifier: MIT
 *
 * Up to V8 13 Maglev writes no source positions, and later ones that name the loop instead of the call in it. But
 * every call in optimized code, and every check, can be left for the interpreter, and for that V8 notes which functions
 * are active there and at which bytecodes. V8's own stack traces are made from the same notes. */
#ifndef RAY_V8_DEOPT_H
#define RAY_V8_DEOPT_H

#include "v8/code.h"
#include "v8/position.h"

/* The functions that are active at pc, innermost first, shared the outer one; like ray_v8_optimized_places(), but 0
 * when it cannot be told. Exact at a call (pc is inside it). Elsewhere: at the last call or check before pc. */
size_t ray_v8_deopt_places(struct ray_v8 *v8, const struct ray_v8_code *code, uint64_t pc, uint64_t shared,
			   struct ray_v8_place places[RAY_V8_MAX_INLINED]);

/* Where code is left for the interpreter: behind it, one exit for each place. A frame whose code was given up while it waits for a call returns
 * to the exit of that call. */
struct ray_v8_exit {
	int64_t number;
	uint64_t call; /* inside the call that it is the exit of; 0 when not known */
};

/* The exit that pc is the start of and a call may return to; or, with is_end, the one that ends there. False if there is none. */
bool ray_v8_exit_find(struct ray_v8 *v8, const struct ray_v8_code *code, uint64_t pc, bool is_end,
		      struct ray_v8_exit *ret);
/* The functions that are active where the code is left, like ray_v8_deopt_places(). */
size_t ray_v8_exit_places(struct ray_v8 *v8, const struct ray_v8_code *code, const struct ray_v8_exit *exit,
			  uint64_t shared, struct ray_v8_place places[RAY_V8_MAX_INLINED]);

/* A frame of a translation: a function, by its index in the literals, and the bytecode it is at. */
struct ray_v8_translated {
	int32_t bytecode_offset, literal;
};

/* Decodes the translation in bytes [index, end): its interpreted frames, outermost first. operands says how many each
 * of count opcodes has. Returns how many frames; 0 when the bytes do not hold together. Exposed for tests. */
size_t ray_v8_translation_frames(const uint8_t *bytes, size_t index, size_t end, const int32_t *operands, size_t count,
				 struct ray_v8_translated *ret, size_t max);

#endif
