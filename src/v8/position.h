/* position.h - from a place in code to places in the source, inlined functions included.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_V8_POSITION_H
#define RAY_V8_POSITION_H

#include "v8/code.h"
#include "v8/v8.h"

enum { RAY_V8_MAX_INLINED = 64 };

struct ray_v8_place {
	uint64_t shared;  /* SharedFunctionInfo of the function */
	int32_t position; /* in its script; -1 when not known */
	bool inlined;	  /* into the next one */
};

/* The position of a bytecode; -1 when the table does not say. */
int32_t ray_v8_bytecode_position(struct ray_v8 *v8, uint64_t bytecode_array, int64_t offset, uint64_t shared);
/* The offset of the bytecode (of this array) that baseline code executes at pc; -1 when it cannot be told. */
int64_t ray_v8_baseline_offset(struct ray_v8 *v8, const struct ray_v8_code *code, uint64_t pc, uint64_t array);
/* Optimized code: the functions that are active at pc, innermost first; the last is the outer one.
 * shared is the outer function; places has room for RAY_V8_MAX_INLINED. Returns how many; at least 1. pc is inside the
 * call for a caller. */
size_t ray_v8_optimized_places(struct ray_v8 *v8, const struct ray_v8_code *code, uint64_t pc, uint64_t shared,
			       struct ray_v8_place *places);

/* The same for code that was left for the interpreter: pc is what it would return to. */
size_t ray_v8_left_places(struct ray_v8 *v8, const struct ray_v8_code *code, uint64_t pc, uint64_t shared,
			  struct ray_v8_place *places);

/* Decodes a source position table: calls each() for every entry; stops when it returns false. False
 * when the bytes are not a table. Exposed for tests. */
bool ray_v8_positions_each(const uint8_t *bytes, size_t size, bool new_code,
			   bool (*each)(int64_t code_offset, int64_t position, void *arg), void *arg);

#endif
