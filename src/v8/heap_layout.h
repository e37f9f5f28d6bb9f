/* heap_layout.h - how V8 describes a page of its heap, version by version.
 * SPDX-License-Identifier: MIT
 *
 * Data only. The facts are those of V8's heap sources at each release and were checked against
 * running nodes; heap.c proves a row on the memory at hand before it believes it. */
#ifndef RAY_V8_HEAP_LAYOUT_H
#define RAY_V8_HEAP_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "v8/heap.h"

/* Where the fields that describe a page are kept. */
enum ray_v8_page_style {
	RAY_V8_PAGE_PLAIN,    /* in the first bytes of the page */
	RAY_V8_PAGE_SELF,     /* there too, behind a pointer at +8 that points to the page itself */
	RAY_V8_PAGE_DETACHED, /* in a malloc'ed block that the word at +8 points to */
};

struct ray_v8_heap_layout {
	uint32_t since; /* the first V8 it is known to hold for; it holds until the row above */
	const char *name;
	enum ray_v8_page_style style;
	/* Offsets in the description; flags always lies in the page. */
	uint8_t flags, size, heap, area_start, area_end, allocated, owner;
	uint8_t description; /* bytes of the description that are read */
	/* Bits of flags. */
	uint8_t read_only_bit, large_bit;
	/* Bit that a page gets when its space gives it up. V8 keeps such pages for a while, owner and all. It
	 * is one of flags, or of a second word of flags at this offset in the description. */
	uint8_t freed_bit, more_flags;
	/* enum AllocationSpace: what each number means. */
	const uint8_t *spaces;
	uint8_t space_count;
};

enum {
	RAY_V8_FLAG_FROM = 1 << 3, /* the same in all versions */
	RAY_V8_FLAG_TO = 1 << 4,
	/* class Space: vtable, heap_, id_, committed_ (all versions). */
	RAY_V8_SPACE_HEAP = 8,
	RAY_V8_SPACE_ID = 16,
	RAY_V8_SPACE_COMMITTED = 24,
};

extern const struct ray_v8_heap_layout ray_v8_heap_layouts[]; /* newest first */
extern const size_t ray_v8_heap_layout_count;

#endif
