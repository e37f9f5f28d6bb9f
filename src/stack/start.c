/* start.c - see start.h. SPDX-License-Identifier: MIT */
#include "stack/start.h"

#include <string.h>
#include <sys/mman.h>

/* struct pthread of glibc 2.17 to 2.40 on x86-64 has 0x310 bytes of header, then 32 values of 16 bytes each, then
 * what we look for (0x640 in 2.31, 0x638 in 2.36); the whole is 0x900 bytes. */
enum { FROM = 0x510, TO = 0x900, SLOTS = (TO - FROM) / 8 };

static bool is_code(struct ray_target *t, uint64_t address)
{
	const struct ray_map *map = address ? ray_target_find_map(t, address) : NULL;

	return map && map->prot & PROT_EXEC && map->path[0] == '/';
}

static bool read_slots(struct ray_target *t, uint64_t pointer, uint64_t slots[SLOTS])
{
	size_t n = pointer ? ray_target_read(t, pointer + FROM, slots, SLOTS * 8) : 0;

	/* The first thread of a small mapping may end before TO. */
	memset((char *)slots + n / 8 * 8, 0, SLOTS * 8 - n / 8 * 8);
	return n >= 16;
}

void ray_start_find(struct ray_target *t, const uint64_t *pointers, size_t count, struct ray_start *ret)
{
	uint64_t slots[SLOTS];
	size_t votes[SLOTS] = { 0 }, best = 0;

	memset(ret, 0, count * sizeof(*ret));
	for (size_t i = 0; i < count; i++) {
		if (!read_slots(t, pointers[i], slots))
			continue;
		for (size_t k = 0; k + 1 < SLOTS; k++)
			votes[k] += is_code(t, slots[k]);
	}
	for (size_t k = 1; k + 1 < SLOTS; k++)
		if (votes[k] > votes[best])
			best = k;
	if (!votes[best])
		return;
	for (size_t i = 0; i < count; i++) {
		if (!read_slots(t, pointers[i], slots) || !is_code(t, slots[best]))
			continue;
		ret[i].routine = slots[best];
		ret[i].argument = slots[best + 1];
	}
}
