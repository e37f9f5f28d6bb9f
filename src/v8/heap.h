/* heap.h - V8's heap as pages: which memory belongs to which space of which isolate.
 * SPDX-License-Identifier: MIT
 *
 * V8 takes memory in chunks that begin at a multiple of 256 KiB: pages, or larger for one large
 * object. Each describes itself: its size, its isolate's heap and the space that owns it. This
 * module looks at every address where one could begin and keeps those that prove themselves: the
 * area lies inside the chunk, the owner points back to the same heap and has a known number.
 *
 * Pure: reads through a reader, is told which memory to look at, knows no process and no file.
 * Nothing is trusted: loops are bounded by the input, and a version that is not in the table is
 * tried with every row until one holds. Where none does, there are no pages and note says so. */
#ifndef RAY_V8_HEAP_H
#define RAY_V8_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/reader.h"

#define RAY_V8_PAGE_ALIGN (256u << 10)

enum ray_v8_space {
	RAY_V8_SPACE_UNKNOWN, /* a page whose description is damaged */
	RAY_V8_SPACE_READ_ONLY,
	RAY_V8_SPACE_NEW,
	RAY_V8_SPACE_OLD,
	RAY_V8_SPACE_CODE,
	RAY_V8_SPACE_MAP,
	RAY_V8_SPACE_SHARED,
	RAY_V8_SPACE_TRUSTED,
	RAY_V8_SPACE_SHARED_TRUSTED,
	RAY_V8_SPACE_NEW_LARGE,
	RAY_V8_SPACE_LARGE,
	RAY_V8_SPACE_CODE_LARGE,
	RAY_V8_SPACE_SHARED_LARGE,
	RAY_V8_SPACE_SHARED_TRUSTED_LARGE,
	RAY_V8_SPACE_TRUSTED_LARGE,
	RAY_V8_SPACE_UNUSED, /* pages that no space has, kept for reuse */
	RAY_V8_SPACE_COUNT,
};

/* As v8.getHeapSpaceStatistics() calls it, without "_space": "old", "new_large_object". */
const char *ray_v8_space_name(enum ray_v8_space space);
bool ray_v8_space_is_large(enum ray_v8_space space);
bool ray_v8_space_is_code(enum ray_v8_space space);

/* Which half of the new space. */
enum ray_v8_half { RAY_V8_HALF_NONE, RAY_V8_HALF_FROM, RAY_V8_HALF_TO };

struct ray_v8_page {
	uint64_t address;
	uint64_t size;		       /* of the whole chunk, guards included */
	uint64_t area_start, area_end; /* where objects lie */
	uint64_t allocated;	       /* bytes handed out in the area, as V8 counts them */
	uint64_t heap;		       /* the isolate's heap; 0: shared by all (read-only) */
	uint64_t owner;		       /* the space object; 0 if none */
	uint64_t flags;
	uint64_t more_flags; /* 0 where V8 has no second word of them */
	enum ray_v8_space space;
	enum ray_v8_half half;
	bool damaged; /* recognised by its owner or heap alone; size is a guess */
};

struct ray_v8_space_sum {
	uint64_t pages, bytes, allocated;
	uint64_t claimed; /* what V8's own counter says the space has; equal to bytes when all is well */
	bool has_claim;
};

struct ray_v8_isolate {
	uint64_t heap; /* 0: what all isolates share */
	struct ray_v8_space_sum spaces[RAY_V8_SPACE_COUNT];
};

struct ray_v8_span {
	uint64_t start, end;
};

struct ray_v8_heap_input {
	const struct ray_reader *reader;
	uint32_t version; /* RAY_V8(); 0 when not known */
	/* Where pages may begin. Sorted, not overlapping. */
	const struct ray_v8_span *scan;
	size_t scan_count;
	/* Everything that is mapped, readable or not: no page reaches beyond it. Sorted; neighbours
	 * may touch. */
	const struct ray_v8_span *mapped;
	size_t mapped_count;
};

struct ray_v8_heap;

/* Fails only for want of memory. */
RAY_MUST_USE struct ray_error *ray_v8_heap_scan(const struct ray_v8_heap_input *input, struct ray_v8_heap **ret);
void ray_v8_heap_free(struct ray_v8_heap *h);
RAY_DEFINE_AUTO(ray_v8_heap, ray_v8_heap_free)

const struct ray_v8_page *ray_v8_heap_pages(const struct ray_v8_heap *h, size_t *count_ret);  /* by address */
const struct ray_v8_page *ray_v8_heap_page_at(const struct ray_v8_heap *h, uint64_t address); /* NULL if none */
/* By heap address, the shared one (if any) first. */
const struct ray_v8_isolate *ray_v8_heap_isolates(const struct ray_v8_heap *h, size_t *count_ret);
size_t ray_v8_heap_damaged(const struct ray_v8_heap *h);
/* The V8 whose layout held ("13.0"); NULL if none did. */
const char *ray_v8_heap_layout_name(const struct ray_v8_heap *h);
/* What the user should know: an unknown layout, a row for another version. NULL if nothing. */
const char *ray_v8_heap_note(const struct ray_v8_heap *h);

#endif
