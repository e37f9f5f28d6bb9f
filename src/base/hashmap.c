/* hashmap.c - see hashmap.h. SPDX-License-Identifier: MIT */
#include "base/hashmap.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 16, MOST_ROOM = 1 << 30 /* a stored hash has 31 bits */ };

static char *slot_at(const struct ray_hashmap *m, size_t at, size_t size)
{
	return (char *)m->slots + (at & (m->room - 1)) * size;
}

static uint32_t hash_at(const struct ray_hashmap *m, size_t at, size_t size)
{
	uint32_t hash;

	memcpy(&hash, slot_at(m, at, size), sizeof(hash));
	return hash;
}

/* The first free slot for that hash. The load limit guarantees that one exists. */
static char *free_slot(const struct ray_hashmap *m, uint32_t hash, size_t size)
{
	size_t at = hash;

	while (hash_at(m, at, size))
		at++;
	return slot_at(m, at, size);
}

static void *slots_new(const struct ray_hashmap *m, size_t room, size_t size)
{
	if (room > SIZE_MAX / size)
		return NULL;
	return m->arena ? ray_arena_alloc(m->arena, room * size) : calloc(room, size);
}

static bool grow(struct ray_hashmap *m, size_t room, size_t size)
{
	struct ray_hashmap old = *m;
	void *slots = slots_new(m, room, size);

	if (!slots)
		return false;
	m->slots = slots;
	m->room = room;
	for (size_t i = 0; i < old.room; i++) {
		uint32_t hash = hash_at(&old, i, size);

		if (hash)
			memcpy(free_slot(m, hash, size), slot_at(&old, i, size), size);
	}
	/* An arena frees nothing. Sizes double, so the abandoned arrays together are as large as the current one. */
	if (!m->arena)
		free(old.slots);
	return true;
}

bool ray_hashmap_reserve_(struct ray_hashmap *m, size_t count, size_t size)
{
	size_t room = m->room ? m->room : FIRST_ROOM;

	while (room / 4 * 3 < count && room < MOST_ROOM)
		room *= 2;
	if (room / 4 * 3 < count)
		return false;
	return room == m->room || grow(m, room, size);
}

void *ray_hashmap_add_(struct ray_hashmap *m, uint64_t hash, size_t size)
{
	uint32_t kept = ray_hashmap_hash_(hash);
	char *slot;

	if (!ray_hashmap_reserve_(m, m->n + 1, size))
		return NULL;
	slot = free_slot(m, kept, size);
	memcpy(slot, &kept, sizeof(kept));
	m->n++;
	return slot;
}

void ray_hashmap_remove_(struct ray_hashmap *m, void *slot, size_t size)
{
	size_t gap = (size_t)((char *)slot - (char *)m->slots) / size, mask = m->room - 1;
	uint32_t hash;

	/* Shift back each value that was displaced past the gap; its slot becomes the new gap. */
	for (size_t at = (gap + 1) & mask; (hash = hash_at(m, at, size)); at = (at + 1) & mask) {
		if (((at - hash) & mask) < ((at - gap) & mask))
			continue;
		memcpy(slot_at(m, gap, size), slot_at(m, at, size), size);
		gap = at;
	}
	memset(slot_at(m, gap, size), 0, size);
	m->n--;
}

void *ray_hashmap_next_(const struct ray_hashmap *m, const void *value, size_t size, size_t value_at)
{
	size_t at = value ? (size_t)((const char *)value - (const char *)m->slots) / size + 1 : 0;

	while (at < m->room && !hash_at(m, at, size))
		at++;
	return at < m->room ? slot_at(m, at, size) + value_at : NULL;
}

void *ray_hashmap_next_of_(const struct ray_hashmap *m, uint64_t hash, const void *value, size_t size, size_t value_at)
{
	uint32_t wanted = ray_hashmap_hash_(hash), found;
	size_t at = value ? (size_t)((const char *)value - (const char *)m->slots) / size + 1 : wanted;

	if (!m->room)
		return NULL;
	for (; (found = hash_at(m, at, size)); at++)
		if (found == wanted)
			return slot_at(m, at, size) + value_at;
	return NULL;
}

void ray_hashmap_clear_(struct ray_hashmap *m, size_t size)
{
	if (m->n)
		memset(m->slots, 0, m->room * size);
	m->n = 0;
}

void ray_hashmap_free_(struct ray_hashmap *m)
{
	if (!m->arena)
		free(m->slots);
	m->slots = NULL;
	m->room = m->n = 0;
}
