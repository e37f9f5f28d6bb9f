/* fuzz_v8_heap.c - finding V8's pages in arbitrary memory. SPDX-License-Identifier: MIT
 *
 * The input is a version, then records that are laid over memory in which two heaps are whole: where (two
 * bytes that choose a page or a block and a word in it) and eight bytes to put there. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "v8/heap.h"
#include "v8/heap_layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PAGES = 16, BLOCK = 256, NATIVE = (PAGES + 8) * BLOCK, WORDS = BLOCK / 8 };
static const uint64_t pages_at = 0x100000000, native_at = 0x2000;
/* Only the first bytes of a page are ever read. */
static unsigned char heads[PAGES][BLOCK], native[NATIVE];

static size_t read_memory(void *arg, uint64_t address, void *buffer, size_t size)
{
	uint64_t page = (address - pages_at) / RAY_V8_PAGE_ALIGN, offset = (address - pages_at) % RAY_V8_PAGE_ALIGN;

	(void)arg;
	if (address >= pages_at && page < PAGES && offset < BLOCK && size <= BLOCK - offset) {
		memcpy(buffer, heads[page] + offset, size);
		return size;
	}
	if (address >= native_at && address - native_at < NATIVE && size <= NATIVE - (address - native_at)) {
		memcpy(buffer, native + (address - native_at), size);
		return size;
	}
	return 0;
}

static void put(unsigned char *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void fill(const struct ray_v8_heap_layout *l)
{
	memset(heads, 0, sizeof(heads));
	memset(native, 0, sizeof(native));
	for (uint64_t i = 0; i < 8; i++) {
		unsigned char *space = native + (PAGES + i) * BLOCK;

		put(space, 0x1000);
		put(space + RAY_V8_SPACE_HEAP, i < 4 ? 0xa000 : 0xb000);
		put(space + RAY_V8_SPACE_ID, i % l->space_count);
		put(space + RAY_V8_SPACE_COMMITTED, 2 * RAY_V8_PAGE_ALIGN);
	}
	for (uint64_t i = 0; i < PAGES; i++) {
		uint64_t at = pages_at + i * RAY_V8_PAGE_ALIGN;
		unsigned char *block = l->style == RAY_V8_PAGE_DETACHED ? native + i * BLOCK : heads[i];

		if (l->style != RAY_V8_PAGE_PLAIN)
			put(heads[i] + 8, l->style == RAY_V8_PAGE_SELF ? at : native_at + i * BLOCK);
		put(block + l->size, RAY_V8_PAGE_ALIGN);
		put(block + l->heap, i < PAGES / 2 ? 0xa000 : 0xb000);
		put(block + l->area_start, at + 0x20);
		put(block + l->area_end, at + RAY_V8_PAGE_ALIGN);
		put(block + l->owner, native_at + (PAGES + i / 2) * BLOCK);
	}
}

static void check(const struct ray_v8_heap *h)
{
	const struct ray_v8_page *pages;
	uint64_t reach = 0;
	size_t count;

	pages = ray_v8_heap_pages(h, &count);
	for (size_t i = 0; i < count; i++) {
		if (pages[i].address < reach || !pages[i].size || pages[i].space >= RAY_V8_SPACE_COUNT)
			abort();
		reach = pages[i].address + pages[i].size;
		if (reach > pages_at + (uint64_t)PAGES * RAY_V8_PAGE_ALIGN ||
		    ray_v8_heap_page_at(h, reach - 1) != &pages[i])
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ray_reader reader = { read_memory, NULL };
	struct ray_v8_span span = { pages_at, pages_at + (uint64_t)PAGES * RAY_V8_PAGE_ALIGN };
	struct ray_v8_heap_input input = { &reader, 0, &span, 1, &span, 1 };
	ray_auto(ray_v8_heap, h) = NULL;

	if (!size)
		return 0;
	fill(&ray_v8_heap_layouts[data[0] % ray_v8_heap_layout_count]);
	input.version = data[0] & 0x80 ? 0 : ray_v8_heap_layouts[data[0] % ray_v8_heap_layout_count].since;
	for (size_t i = 1; i + 10 <= size; i += 10) {
		unsigned char *at = data[i] & 1 ? heads[data[i] / 2 % PAGES] :
						  native + (data[i] / 2 % (PAGES + 8)) * BLOCK;

		memcpy(at + data[i + 1] % WORDS * 8, data + i + 2, 8);
	}
	ray_error_free(ray_v8_heap_scan(&input, &h));
	if (h)
		check(h);
	return 0;
}
