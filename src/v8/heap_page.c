/* heap_page.c - one page of V8's heap: reading its description and proving it.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/search.h"
#include "v8/heap_internal.h"

enum {
	SYSTEM_PAGE = 4096,
	MAX_DESCRIPTION = 96,
};
static const uint64_t max_size = 1ull << 40;

static bool is_young(enum ray_v8_space space)
{
	return space == RAY_V8_SPACE_NEW || space == RAY_V8_SPACE_NEW_LARGE;
}

/* How many bytes are mapped from address on, up to size. */
static uint64_t mapped_from(const struct ray_v8_heap_input *in, uint64_t address, uint64_t size)
{
	size_t i = ray_search(in->mapped, in->mapped_count, one, one->end <= address);
	uint64_t reach = address;

	for (; i < in->mapped_count && in->mapped[i].start <= reach && reach - address < size; i++)
		reach = in->mapped[i].end;
	return reach - address < size ? reach - address : size;
}

/* ---- space objects ---- */

static size_t owner_slot(const struct ray_v8_heap *h, uint64_t address)
{
	return ray_search(h->owners.at, h->owners.n, one, one->address < address);
}

static const struct ray_v8_owner *known_owner(const struct ray_v8_heap *h, uint64_t address)
{
	size_t i = owner_slot(h, address);

	return i < h->owners.n && h->owners.at[i].address == address ? &h->owners.at[i] : NULL;
}

/* The owner of a page, read and proved when it is seen first. NULL if it is not a space of heap. */
static const struct ray_v8_owner *find_owner(struct ray_v8_scan *s, uint64_t address, uint64_t heap)
{
	struct ray_v8_heap *h = s->heap;
	uint64_t words[4];
	struct ray_v8_owner found;
	size_t i = owner_slot(h, address);
	uint32_t id;

	if (i < h->owners.n && h->owners.at[i].address == address)
		return h->owners.at[i].heap == heap ? &h->owners.at[i] : NULL;
	if (!heap || address % 8 || h->owners.n >= RAY_V8_MAX_OWNERS ||
	    !ray_read(s->input->reader, address, words, sizeof(words)))
		return NULL;
	id = (uint32_t)words[RAY_V8_SPACE_ID / 8];
	if (!words[0] || words[RAY_V8_SPACE_HEAP / 8] != heap || id >= s->layout->space_count)
		return NULL;
	found = (struct ray_v8_owner){ address, heap, words[RAY_V8_SPACE_COMMITTED / 8], s->layout->spaces[id] };
	if (!ray_vec_push(&h->owners, found)) {
		s->out_of_memory = true;
		return NULL;
	}
	memmove(&h->owners.at[i + 1], &h->owners.at[i], (h->owners.n - 1 - i) * sizeof(found));
	h->owners.at[i] = found;
	return &h->owners.at[i];
}

/* ---- one page ---- */

static uint64_t word(const unsigned char *bytes, size_t offset)
{
	uint64_t value;

	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

/* Reads what should be the description of a page at address. False if there is none to read. */
static bool read_page(const struct ray_v8_scan *s, uint64_t address, struct ray_v8_page *ret)
{
	const struct ray_v8_heap_layout *l = s->layout;
	const struct ray_reader *r = s->input->reader;
	unsigned char head[MAX_DESCRIPTION], *bytes = head, detached[MAX_DESCRIPTION];
	size_t head_size = l->style == RAY_V8_PAGE_DETACHED ? 16 : l->description;

	if (!ray_read(r, address, head, head_size))
		return false;
	if (l->style == RAY_V8_PAGE_SELF && word(head, 8) != address)
		return false;
	if (l->style == RAY_V8_PAGE_DETACHED) {
		uint64_t block = word(head, 8);

		if (!block || block % 8 || !ray_read(r, block, detached, l->description))
			return false;
		bytes = detached;
	}
	*ret = (struct ray_v8_page){
		.address = address,
		.flags = word(head, l->flags),
		.size = word(bytes, l->size),
		.heap = word(bytes, l->heap),
		.area_start = word(bytes, l->area_start),
		.area_end = word(bytes, l->area_end),
		.allocated = word(bytes, l->allocated),
		.owner = word(bytes, l->owner),
		.more_flags = l->more_flags ? word(bytes, l->more_flags) : 0,
	};
	return true;
}

static bool is_sane(const struct ray_v8_scan *s, const struct ray_v8_page *p)
{
	const uint64_t young = RAY_V8_FLAG_FROM | RAY_V8_FLAG_TO;

	return p->size >= SYSTEM_PAGE && p->size % SYSTEM_PAGE == 0 && p->size <= max_size &&
	       p->area_start > p->address && p->area_start < p->address + RAY_V8_PAGE_ALIGN &&
	       p->area_end >= p->area_start && p->area_end <= p->address + p->size && p->flags >> 32 == 0 &&
	       (p->flags & young) != young && mapped_from(s->input, p->address, p->size) == p->size;
}

static bool flag(const struct ray_v8_page *p, unsigned int bit)
{
	return p->flags >> bit & 1;
}

static bool is_freed(const struct ray_v8_heap_layout *l, const struct ray_v8_page *p)
{
	return (l->more_flags ? p->more_flags : p->flags) >> l->freed_bit & 1;
}

static void set_half(struct ray_v8_page *p)
{
	p->half = RAY_V8_HALF_NONE;
	if (is_young(p->space))
		p->half = p->flags & RAY_V8_FLAG_FROM ? RAY_V8_HALF_FROM :
			  p->flags & RAY_V8_FLAG_TO   ? RAY_V8_HALF_TO :
							RAY_V8_HALF_NONE;
}

/* Do the flags say the same as the number of the space? Both come from the table: this is what
 * tells rows apart that differ in nothing else. */
static bool flags_agree(const struct ray_v8_heap_layout *l, const struct ray_v8_page *p)
{
	return flag(p, l->large_bit) == ray_v8_space_is_large(p->space) &&
	       flag(p, l->read_only_bit) == (p->space == RAY_V8_SPACE_READ_ONLY) &&
	       ((p->flags & (RAY_V8_FLAG_FROM | RAY_V8_FLAG_TO)) != 0) == is_young(p->space);
}

bool ray_v8_page_prove(struct ray_v8_scan *s, uint64_t address, struct ray_v8_page *ret)
{
	const struct ray_v8_owner *owner;

	if (!read_page(s, address, ret) || !is_sane(s, ret))
		return false;
	if (!ret->owner) {
		/* Sealed read-only pages belong to every isolate, hence to none. */
		if (ret->heap || !flag(ret, s->layout->read_only_bit))
			return false;
		ret->space = RAY_V8_SPACE_READ_ONLY;
		return true;
	}
	owner = find_owner(s, ret->owner, ret->heap);
	if (!owner)
		return false;
	ret->space = owner->space;
	s->owned++;
	s->disagree += !flags_agree(s->layout, ret);
	if (is_freed(s->layout, ret))
		ret->space = RAY_V8_SPACE_UNUSED;
	set_half(ret);
	return true;
}

bool ray_v8_page_rescue(struct ray_v8_scan *s, uint64_t address, struct ray_v8_page *ret)
{
	const struct ray_v8_owner *owner;
	bool is_known = false, sane;

	/* A process that runs may just have been making it. */
	if (ray_v8_page_prove(s, address, ret))
		return true;
	if (!read_page(s, address, ret))
		return false;
	owner = known_owner(s->heap, ret->owner);
	for (size_t i = 0; i < s->heap->isolates.n && !is_known; i++)
		is_known = ret->heap && s->heap->isolates.at[i].heap == ret->heap;
	if (!owner && !is_known)
		return false;
	sane = is_sane(s, ret);
	if (owner) {
		ret->space = owner->space;
		ret->heap = owner->heap;
	} else {
		ret->space = sane && !ret->owner ? RAY_V8_SPACE_UNUSED : RAY_V8_SPACE_UNKNOWN;
	}
	ret->damaged = ret->space != RAY_V8_SPACE_UNUSED;
	if (!sane) {
		ret->size = mapped_from(s->input, address, RAY_V8_PAGE_ALIGN);
		ret->area_start = ret->area_end = address;
		ret->allocated = 0;
	}
	set_half(ret);
	return ret->size > 0;
}
