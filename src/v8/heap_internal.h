/* heap_internal.h - what the finding and the proving of pages share; for src/v8/heap*.c only.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_V8_HEAP_INTERNAL_H
#define RAY_V8_HEAP_INTERNAL_H

#include "base/vec.h"
#include "v8/heap_layout.h"

enum {
	RAY_V8_MAX_ISOLATES = 4096, /* a bound, not an expectation: damaged memory must not make us grow */
	RAY_V8_MAX_OWNERS = RAY_V8_MAX_ISOLATES * RAY_V8_SPACE_COUNT,
};

/* A space object that pages named as their owner, and that proved itself. */
struct ray_v8_owner {
	uint64_t address, heap, committed;
	enum ray_v8_space space;
};

struct ray_v8_heap {
	const struct ray_v8_heap_layout *layout;
	RAY_VEC(struct ray_v8_page) pages;
	RAY_VEC(struct ray_v8_owner) owners; /* by address */
	RAY_VEC(struct ray_v8_isolate) isolates;
	size_t damaged;
	char note[160];
};

struct ray_v8_scan {
	const struct ray_v8_heap_input *input;
	const struct ray_v8_heap_layout *layout; /* the row in use */
	struct ray_v8_heap *heap;
	size_t owned;	 /* pages that an owner vouches for */
	size_t disagree; /* of those, pages whose flags say something else */
	bool out_of_memory;
};

typedef bool ray_v8_find_page_fn(struct ray_v8_scan *s, uint64_t address, struct ray_v8_page *ret);

/* Is there a page at address that proves itself? */
ray_v8_find_page_fn ray_v8_page_prove;
/* Is there one of a heap that is known by now, although its description does not hold? It was
 * damaged, or it lies unused until its space needs it again. */
ray_v8_find_page_fn ray_v8_page_rescue;

#endif
