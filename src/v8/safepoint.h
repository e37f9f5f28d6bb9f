/* safepoint.h - the calls in optimized code, by their return addresses. SPDX-License-Identifier: MIT */
#ifndef RAY_V8_SAFEPOINT_H
#define RAY_V8_SAFEPOINT_H

#include "v8/code.h"

/* Where each deoptimization of the code leaves it, as offsets from the start of the instructions. */
struct ray_v8_exits {
	const int32_t *at;
	size_t count;
};

struct ray_v8_safepoint {
	uint32_t offset; /* of the return address, from the start of the instructions */
	int64_t deopt;	 /* number of the deoptimization; -1 if it has none */
};

struct ray_v8_safepoints {
	const struct ray_v8_safepoint *at; /* ascending; in the arena */
	size_t count;
};

/* False when there is no table that can be believed. */
bool ray_v8_safepoints_read(struct ray_v8 *v8, const struct ray_v8_code *code, const struct ray_v8_exits *exits,
			    struct ray_v8_safepoints *ret);

#endif
