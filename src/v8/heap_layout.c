/* heap_layout.c - the table of page layouts: one row per change in V8, newest first.
 * SPDX-License-Identifier: MIT */
#include "v8/heap_layout.h"

#include "base/auto.h"
#include "target/node.h"

#define S(name) RAY_V8_SPACE_##name

/* 12.9 added the shared trusted spaces; nothing has moved since. */
static const uint8_t spaces_12_9[] = { S(READ_ONLY),	  S(NEW),	   S(OLD),
				       S(CODE),		  S(SHARED),	   S(TRUSTED),
				       S(SHARED_TRUSTED), S(NEW_LARGE),	   S(LARGE),
				       S(CODE_LARGE),	  S(SHARED_LARGE), S(SHARED_TRUSTED_LARGE),
				       S(TRUSTED_LARGE) };
/* 12.x brought the trusted space, where bytecode and code objects live. */
static const uint8_t spaces_12_0[] = { S(READ_ONLY),  S(NEW),	       S(OLD),		S(CODE),
				       S(SHARED),     S(TRUSTED),      S(NEW_LARGE),	S(LARGE),
				       S(CODE_LARGE), S(SHARED_LARGE), S(TRUSTED_LARGE) };
/* 11.x dropped the map space and moved the new space to the front. */
static const uint8_t spaces_11_0[] = { S(READ_ONLY), S(NEW),   S(OLD),	      S(CODE),	      S(SHARED),
				       S(NEW_LARGE), S(LARGE), S(CODE_LARGE), S(SHARED_LARGE) };
/* 10.8 brought the shared spaces. */
static const uint8_t spaces_10_8[] = { S(READ_ONLY), S(OLD),   S(CODE),	      S(MAP),	    S(SHARED),
				       S(NEW),	     S(LARGE), S(CODE_LARGE), S(NEW_LARGE), S(SHARED_LARGE) };
/* 10.3 to 10.7 (node 19.0 has the latter): the large spaces last. */
static const uint8_t spaces_10_3[] = { S(READ_ONLY), S(OLD),   S(CODE),	      S(MAP),
				       S(NEW),	     S(LARGE), S(CODE_LARGE), S(NEW_LARGE) };
static const uint8_t spaces_9_0[] = { S(READ_ONLY), S(OLD),	   S(CODE),	 S(MAP),
				      S(LARGE),	    S(CODE_LARGE), S(NEW_LARGE), S(NEW) };

#define SPACES(list) .spaces = (list), .space_count = RAY_COUNT(list)

/* size, flags, heap, area start and end, allocated, wasted, high water mark, owner. */
#define PLAIN                                                                                            \
	.style = RAY_V8_PAGE_PLAIN, .size = 0, .flags = 8, .heap = 16, .area_start = 24, .area_end = 32, \
	.allocated = 40, .owner = 64, .description = 72
/* flags, pointer to itself, then as before. */
#define SELF                                                                                             \
	.style = RAY_V8_PAGE_SELF, .flags = 0, .size = 16, .heap = 24, .area_start = 32, .area_end = 40, \
	.allocated = 48, .owner = 72, .description = 80
/* The page has but flags and a pointer; the block begins with the reservation (three words). */
#define DETACHED                                                                                            \
	.style = RAY_V8_PAGE_DETACHED, .flags = 0, .allocated = 24, .size = 48, .area_end = 56, .heap = 64, \
	.area_start = 72, .owner = 80, .description = 96

/* 14.x moved most flags out of the page. */
#define DETACHED_FLAGS DETACHED, .more_flags = 88, .freed_bit = 2

const struct ray_v8_heap_layout ray_v8_heap_layouts[] = {
	{ RAY_V8(14, 6, 0), "14.6", DETACHED_FLAGS, .read_only_bit = 10, .large_bit = 7, SPACES(spaces_12_9) },
	{ RAY_V8(14, 0, 0), "14.0", DETACHED_FLAGS, .read_only_bit = 6, .large_bit = 8, SPACES(spaces_12_9) },
	{ RAY_V8(13, 0, 0), "13.0", DETACHED, .read_only_bit = 6, .large_bit = 10, .freed_bit = 16,
	  SPACES(spaces_12_9) },
	{ RAY_V8(12, 5, 0), "12.5", DETACHED, .read_only_bit = 6, .large_bit = 9, .freed_bit = 15,
	  SPACES(spaces_12_9) },
	{ RAY_V8(12, 0, 0), "12.0", SELF, .read_only_bit = 6, .large_bit = 7, .freed_bit = 13, SPACES(spaces_12_0) },
	/* The bit moved somewhere between 11.3 and 11.8; nothing else did. */
	{ RAY_V8(11, 4, 0), "11.4", PLAIN, .read_only_bit = 6, .large_bit = 7, .freed_bit = 13, SPACES(spaces_11_0) },
	{ RAY_V8(11, 0, 0), "11.0", PLAIN, .read_only_bit = 6, .large_bit = 7, .freed_bit = 14, SPACES(spaces_11_0) },
	{ RAY_V8(10, 8, 0), "10.8", PLAIN, .read_only_bit = 6, .large_bit = 7, .freed_bit = 14, SPACES(spaces_10_8) },
	{ RAY_V8(10, 3, 0), "10.3", PLAIN, .read_only_bit = 6, .large_bit = 7, .freed_bit = 14, SPACES(spaces_10_3) },
	{ RAY_V8(10, 0, 0), "10.0", PLAIN, .read_only_bit = 20, .large_bit = 5, .freed_bit = 13, SPACES(spaces_9_0) },
	{ RAY_V8(9, 0, 0), "9.0", PLAIN, .read_only_bit = 21, .large_bit = 5, .freed_bit = 13, SPACES(spaces_9_0) },
};
const size_t ray_v8_heap_layout_count = RAY_COUNT(ray_v8_heap_layouts);
