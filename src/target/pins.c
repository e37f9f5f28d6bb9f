/* pins.c - see pins.h. SPDX-License-Identifier: MIT */
#include "target/pins.h"

#include <string.h>

#include "base/hashmap.h"
#include "base/vec.h"

struct range {
	uint64_t start;
	size_t size;
	unsigned char *bytes;
};

struct block {
	uint64_t address;
	bool dropped;
	unsigned char *bytes;
};

struct ray_pins {
	RAY_VEC(struct range) ranges;
	RAY_VEC(struct block) blocks;
	RAY_HASHMAP(uint32_t) by_address; /* numbers of blocks */
};

struct ray_pins *ray_pins_create(void)
{
	return calloc(1, sizeof(struct ray_pins));
}

void ray_pins_free(struct ray_pins *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->ranges.n; i++)
		free(p->ranges.at[i].bytes);
	for (size_t i = 0; i < p->blocks.n; i++)
		free(p->blocks.at[i].bytes);
	ray_vec_free(&p->ranges);
	ray_vec_free(&p->blocks);
	ray_hashmap_free(&p->by_address);
	free(p);
}

bool ray_pins_add_range(struct ray_pins *p, uint64_t start, unsigned char *bytes, size_t size)
{
	if (!ray_vec_push(&p->ranges, (struct range){ start, size, bytes })) {
		free(bytes);
		return false;
	}
	return true;
}

static struct block *find_block(const struct ray_pins *p, uint64_t address)
{
	uint32_t *found =
		ray_hashmap_find(&p->by_address, ray_hash_word(0, address), one, p->blocks.at[*one].address == address);

	return found ? &p->blocks.at[*found] : NULL;
}

unsigned char *ray_pins_new_block(struct ray_pins *p, uint64_t address)
{
	unsigned char *bytes;

	if (find_block(p, address))
		return NULL;
	bytes = malloc(RAY_PIN_BLOCK);
	if (bytes && ray_vec_push(&p->blocks, (struct block){ address, false, bytes })) {
		if (ray_hashmap_add(&p->by_address, ray_hash_word(0, address), (uint32_t)p->blocks.n - 1))
			return bytes;
		p->blocks.n--;
	}
	free(bytes);
	return NULL;
}

void ray_pins_drop_block(struct ray_pins *p, uint64_t address)
{
	struct block *b = find_block(p, address);

	if (b)
		b->dropped = true;
}

static size_t from_ranges(const struct ray_pins *p, uint64_t address, void *buffer, size_t size, size_t *gap)
{
	/* The newest copy counts: an older one may have been torn. */
	for (size_t i = p->ranges.n; i-- > 0;) {
		const struct range *r = &p->ranges.at[i];

		if (address >= r->start && address - r->start < r->size) {
			size_t left = r->size - (size_t)(address - r->start);

			if (size > left)
				size = left;
			memcpy(buffer, r->bytes + (address - r->start), size);
			return size;
		}
		if (address < r->start && r->start - address < *gap)
			*gap = (size_t)(r->start - address);
	}
	return 0;
}

static const struct block *live_block(const struct ray_pins *p, uint64_t address)
{
	const struct block *b = find_block(p, address);

	return b && !b->dropped ? b : NULL;
}

size_t ray_pins_read(const struct ray_pins *p, uint64_t address, void *buffer, size_t size, size_t *gap_ret)
{
	size_t gap = size, done, in_block = (size_t)(address % RAY_PIN_BLOCK), free_run;
	const struct block *b;

	done = from_ranges(p, address, buffer, size, &gap);
	if (done)
		return done;
	b = live_block(p, address - in_block);
	if (b) {
		if (gap > RAY_PIN_BLOCK - in_block)
			gap = RAY_PIN_BLOCK - in_block;
		memcpy(buffer, b->bytes + in_block, gap);
		return gap;
	}
	/* As far as no block is pinned, one read will do. */
	free_run = RAY_PIN_BLOCK - in_block;
	while (free_run < gap && !live_block(p, address + free_run))
		free_run += RAY_PIN_BLOCK;
	*gap_ret = free_run < gap ? free_run : gap;
	return 0;
}
