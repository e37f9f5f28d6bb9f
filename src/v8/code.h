/* code.h - the compiled code that a program counter lies in.
 * SPDX-License-Identifier: MIT
 *
 * A JSFunction's code slot is stale after on-stack replacement and gone since V8 13, so the code is
 * found from the pc itself: backwards through memory to the header of the object it lies in. */
#ifndef RAY_V8_CODE_H
#define RAY_V8_CODE_H

#include "v8/v8.h"

enum ray_v8_tier {
	RAY_TIER_NONE,
	RAY_TIER_INTERPRETED,
	RAY_TIER_BASELINE,
	RAY_TIER_MAGLEV,
	RAY_TIER_TURBOFAN,
	RAY_TIER_BUILTIN,
};

const char *ray_v8_tier_name(enum ray_v8_tier tier); /* "" for none */

struct ray_v8_code {
	uint64_t object; /* the Code */
	uint64_t start, size;
	enum ray_v8_tier tier;
};

/* The Code that holds pc. */
bool ray_v8_code_find(struct ray_v8 *v8, uint64_t pc, struct ray_v8_code *ret);
/* The SharedFunctionInfo of the function this code was compiled from; for baseline code the BytecodeArray
 * is all it knows: then false. */
bool ray_v8_code_shared(struct ray_v8 *v8, const struct ray_v8_code *code, uint64_t *ret);
/* The BytecodeArray that baseline code was compiled from; false when the code does not say (V8 up to 9.4). */
bool ray_v8_code_bytecode(struct ray_v8 *v8, const struct ray_v8_code *code, uint64_t *ret);
/* Was this code compiled from that function? */
bool ray_v8_code_is_of(struct ray_v8 *v8, const struct ray_v8_code *code, uint64_t shared);

#endif
