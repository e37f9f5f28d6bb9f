/* heap.c - finding V8's pages. See heap.h for what and why. SPDX-License-Identifier: MIT */
#include "v8/heap.h"

#include <stdio.h>

#include "base/search.h"
#include "v8/heap_internal.h"

static const char *const space_names[RAY_V8_SPACE_COUNT] = {
	[RAY_V8_SPACE_UNKNOWN] = "unknown",
	[RAY_V8_SPACE_READ_ONLY] = "read_only",
	[RAY_V8_SPACE_NEW] = "new",
	[RAY_V8_SPACE_OLD] = "old",
	[RAY_V8_SPACE_CODE] = "code",
	[RAY_V8_SPACE_MAP] = "map",
	[RAY_V8_SPACE_SHARED] = "shared",
	[RAY_V8_SPACE_TRUSTED] = "trusted",
	[RAY_V8_SPACE_SHARED_TRUSTED] = "shared_trusted",
	[RAY_V8_SPACE_NEW_LARGE] = "new_large_object",
	[RAY_V8_SPACE_LARGE] = "large_object",
	[RAY_V8_SPACE_CODE_LARGE] = "code_large_object",
	[RAY_V8_SPACE_SHARED_LARGE] = "shared_large_object",
	[RAY_V8_SPACE_SHARED_TRUSTED_LARGE] = "shared_trusted_large_object",
	[RAY_V8_SPACE_TRUSTED_LARGE] = "trusted_large_object",
	[RAY_V8_SPACE_UNUSED] = "unused",
};

const char *ray_v8_space_name(enum ray_v8_space space)
{
	return (unsigned int)space < RAY_V8_SPACE_COUNT ? space_names[space] : space_names[0];
}

bool ray_v8_space_is_large(enum ray_v8_space space)
{
	return space >= RAY_V8_SPACE_NEW_LARGE && space <= RAY_V8_SPACE_TRUSTED_LARGE;
}

bool ray_v8_space_is_code(enum ray_v8_space space)
{
	return space == RAY_V8_SPACE_CODE || space == RAY_V8_SPACE_CODE_LARGE;
}

/* ---- all pages ---- */

static uint64_t align_up(uint64_t value)
{
	return (value + RAY_V8_PAGE_ALIGN - 1) & ~(uint64_t)(RAY_V8_PAGE_ALIGN - 1);
}

/* Calls find at every address where a page could begin and that no known page covers. */
static void scan_all(struct ray_v8_scan *s, ray_v8_find_page_fn *find)
{
	struct ray_v8_heap *h = s->heap;
	size_t known = h->pages.n, k = 0; /* pages of an earlier pass are sorted and come first */
	uint64_t next = 0;

	for (size_t i = 0; i < s->input->scan_count && !s->out_of_memory; i++) {
		const struct ray_v8_span *span = &s->input->scan[i];
		uint64_t at = align_up(span->start > next ? span->start : next);

		while (at < span->end && at >= span->start && !s->out_of_memory) {
			struct ray_v8_page page;

			while (k < known && h->pages.at[k].address + h->pages.at[k].size <= at)
				k++;
			if (k < known && h->pages.at[k].address <= at) {
				at = align_up(h->pages.at[k].address + h->pages.at[k].size);
			} else if (find(s, at, &page)) {
				/* A damaged size must not reach into a page that is whole. */
				if (k < known && page.size > h->pages.at[k].address - at)
					page.size = h->pages.at[k].address - at;
				if (!ray_vec_push(&h->pages, page))
					s->out_of_memory = true;
				at = align_up(at + page.size);
			} else {
				at += RAY_V8_PAGE_ALIGN;
			}
			next = at;
		}
	}
}

static int by_address(const void *a, const void *b)
{
	const struct ray_v8_page *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int by_heap(const void *a, const void *b)
{
	const struct ray_v8_isolate *x = a, *y = b;

	return x->heap < y->heap ? -1 : x->heap > y->heap;
}

static struct ray_v8_isolate *isolate_of(struct ray_v8_scan *s, uint64_t heap)
{
	struct ray_v8_heap *h = s->heap;

	for (size_t i = 0; i < h->isolates.n; i++)
		if (h->isolates.at[i].heap == heap)
			return &h->isolates.at[i];
	if (h->isolates.n >= RAY_V8_MAX_ISOLATES)
		return NULL;
	if (!ray_vec_push(&h->isolates, (struct ray_v8_isolate){ .heap = heap })) {
		s->out_of_memory = true;
		return NULL;
	}
	return &h->isolates.at[h->isolates.n - 1];
}

static void sum_up(struct ray_v8_scan *s)
{
	struct ray_v8_heap *h = s->heap;

	h->isolates.n = 0;
	h->damaged = 0;
	for (size_t i = 0; i < h->pages.n; i++) {
		const struct ray_v8_page *p = &h->pages.at[i];
		struct ray_v8_isolate *isolate = isolate_of(s, p->heap);

		h->damaged += p->damaged;
		if (!isolate)
			continue;
		isolate->spaces[p->space].pages++;
		isolate->spaces[p->space].bytes += p->size;
		isolate->spaces[p->space].allocated += p->allocated;
	}
	for (size_t i = 0; i < h->owners.n; i++) {
		struct ray_v8_isolate *isolate = isolate_of(s, h->owners.at[i].heap);

		if (!isolate)
			continue;
		isolate->spaces[h->owners.at[i].space].claimed += h->owners.at[i].committed;
		isolate->spaces[h->owners.at[i].space].has_claim = true;
	}
	if (h->isolates.n)
		qsort(h->isolates.at, h->isolates.n, sizeof(*h->isolates.at), by_heap);
}

/* ---- choosing the row ---- */

static const struct ray_v8_heap_layout *row_for(uint32_t version)
{
	for (size_t i = 0; version && i < ray_v8_heap_layout_count; i++)
		if (version >= ray_v8_heap_layouts[i].since)
			return &ray_v8_heap_layouts[i];
	return NULL;
}

/* Reads the whole heap by one row; returns how well it fits, 0 if not at all. */
static size_t try_row(struct ray_v8_scan *s, const struct ray_v8_heap_layout *row)
{
	s->layout = row;
	s->owned = s->disagree = 0;
	s->heap->pages.n = s->heap->owners.n = 0;
	scan_all(s, ray_v8_page_prove);
	/* Flags change while a collection runs, and damage changes more; spaces with other numbers
	 * would disagree nearly everywhere. */
	if (!s->owned || s->disagree * 2 > s->owned)
		return 0;
	return s->heap->pages.n - s->disagree;
}

/* The row of the version, if everything agrees with it; else the one that fits best. */
static const struct ray_v8_heap_layout *best_row(struct ray_v8_scan *s, const struct ray_v8_heap_layout *expected)
{
	const struct ray_v8_heap_layout *best = expected;
	size_t best_fit = expected ? try_row(s, expected) : 0;

	if (best_fit && !s->disagree)
		return expected;
	for (size_t i = 0; i < ray_v8_heap_layout_count && !s->out_of_memory; i++) {
		const struct ray_v8_heap_layout *row = &ray_v8_heap_layouts[i];
		size_t fit = row == expected ? 0 : try_row(s, row);

		if (fit > best_fit) {
			best = row;
			best_fit = fit;
		}
	}
	if (best_fit)
		try_row(s, best);
	return best_fit ? best : NULL;
}

static void choose_row(struct ray_v8_scan *s)
{
	const struct ray_v8_heap_layout *expected = row_for(s->input->version);
	uint32_t v = s->input->version;
	struct ray_v8_heap *h = s->heap;

	h->layout = best_row(s, expected);
	if (!h->layout) {
		h->pages.n = h->owners.n = 0;
		snprintf(h->note, sizeof(h->note),
			 "no V8 heap pages were recognised (V8 %u.%u): none of the known layouts holds", v >> 24,
			 v >> 16 & 0xff);
	} else if (expected && h->layout != expected) {
		snprintf(h->note, sizeof(h->note), "the V8 heap reads like that of V8 %s, not like %u.%u",
			 h->layout->name, v >> 24, v >> 16 & 0xff);
	}
}

struct ray_error *ray_v8_heap_scan(const struct ray_v8_heap_input *input, struct ray_v8_heap **ret)
{
	ray_auto(ray_v8_heap, h) = calloc(1, sizeof(*h));
	struct ray_v8_scan s = { .input = input, .heap = h };

	if (!h)
		return &ray_enomem;
	choose_row(&s);
	if (h->layout) {
		s.layout = h->layout;
		sum_up(&s);
		scan_all(&s, ray_v8_page_rescue);
		if (h->pages.n)
			qsort(h->pages.at, h->pages.n, sizeof(*h->pages.at), by_address);
		sum_up(&s);
	}
	if (s.out_of_memory)
		return &ray_enomem;
	*ret = ray_take(h);
	return NULL;
}

void ray_v8_heap_free(struct ray_v8_heap *h)
{
	if (!h)
		return;
	ray_vec_free(&h->pages);
	ray_vec_free(&h->owners);
	ray_vec_free(&h->isolates);
	free(h);
}

const struct ray_v8_page *ray_v8_heap_pages(const struct ray_v8_heap *h, size_t *count_ret)
{
	*count_ret = h->pages.n;
	return h->pages.at;
}

const struct ray_v8_page *ray_v8_heap_page_at(const struct ray_v8_heap *h, uint64_t address)
{
	size_t i = ray_search(h->pages.at, h->pages.n, one,
			      address >= one->address && address - one->address >= one->size);

	return i < h->pages.n && address >= h->pages.at[i].address ? &h->pages.at[i] : NULL;
}

const struct ray_v8_isolate *ray_v8_heap_isolates(const struct ray_v8_heap *h, size_t *count_ret)
{
	*count_ret = h->isolates.n;
	return h->isolates.at;
}

size_t ray_v8_heap_damaged(const struct ray_v8_heap *h)
{
	return h->damaged;
}

const char *ray_v8_heap_layout_name(const struct ray_v8_heap *h)
{
	return h->layout ? h->layout->name : NULL;
}

const char *ray_v8_heap_note(const struct ray_v8_heap *h)
{
	return h->note[0] ? h->note : NULL;
}
