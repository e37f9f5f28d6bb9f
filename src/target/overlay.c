/* overlay.c - see overlay.h. SPDX-License-Identifier: MIT */
#include "target/overlay.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

static int by_start(const void *a, const void *b)
{
	const struct ray_overlay_piece *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

void ray_overlay_sort(struct ray_overlay_piece *pieces, size_t count)
{
	if (count)
		qsort(pieces, count, sizeof(*pieces), by_start);
}

/* The first piece that may reach address: none before it does, since pieces are small. */
static size_t first_near(const struct ray_overlay_piece *pieces, size_t count, uint64_t address)
{
	uint64_t least = address > RAY_OVERLAY_PIECE ? address - RAY_OVERLAY_PIECE : 0;
	return ray_search(pieces, count, one, one->start < least);
}

bool ray_overlay_read(const struct ray_overlay_piece *pieces, size_t count, uint64_t address, void *buffer, size_t size)
{
	for (size_t i = first_near(pieces, count, address); i < count && pieces[i].start <= address; i++) {
		uint64_t in = address - pieces[i].start;

		if (in < pieces[i].size && size <= pieces[i].size - in) {
			memcpy(buffer, (const char *)pieces[i].bytes + in, size);
			return true;
		}
	}
	return false;
}

void ray_overlay_patch(const struct ray_overlay_piece *pieces, size_t count, uint64_t address, void *buffer,
		       size_t size)
{
	for (size_t i = first_near(pieces, count, address); i < count; i++) {
		const struct ray_overlay_piece *p = &pieces[i];
		uint64_t from = p->start > address ? p->start : address, to = p->start + p->size;

		if (p->start >= address && p->start - address >= size)
			return;
		if (to > address + size)
			to = address + size;
		if (from < to)
			memcpy((char *)buffer + (from - address), (const char *)p->bytes + (from - p->start),
			       (size_t)(to - from));
	}
}
