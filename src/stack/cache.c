/* cache.c - see cache.h. SPDX-License-Identifier: MIT */
#include "stack/cache.h"

#include <stdlib.h>
#include <string.h>

enum {
	LINE = 1024,  /* to read that much takes as long as to read eight bytes */
	PINNED = 256, /* what is pinned is kept in such pieces */
	LINES = 2048,
	SMALL = 64, /* longer reads are texts and tables, which are read once */
};

struct line {
	uint64_t address;
	uint32_t picture;    /* which one it belongs to; 0: empty */
	uint32_t start, end; /* what of it is there */
	unsigned char bytes[LINE];
};

struct ray_cache {
	struct ray_target *target;
	bool started;
	uint32_t picture;
	struct line lines[LINES];
};

struct ray_cache *ray_cache_create(struct ray_target *t)
{
	struct ray_cache *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->target = t;
	c->picture = 1;
	return c;
}

void ray_cache_free(struct ray_cache *c)
{
	free(c);
}

void ray_cache_start(struct ray_cache *c)
{
	c->started = true;
}

void ray_cache_forget(struct ray_cache *c)
{
	if (!++c->picture) {
		memset(c->lines, 0, sizeof(c->lines));
		c->picture = 1;
	}
}

/* The line at address, with size bytes from in_line on; NULL when they cannot be read, or not together with what lies around. */
static const struct line *find_line(struct ray_cache *c, uint64_t address, uint32_t in_line, uint32_t size)
{
	struct line *l = &c->lines[address / LINE % LINES];
	uint32_t first = in_line / PINNED * PINNED;

	if (l->picture == c->picture && l->address == address && in_line >= l->start && in_line + size <= l->end)
		return l;
	l->picture = 0;
	l->start = 0;
	l->end = LINE;
	if (ray_target_read(c->target, address, l->bytes, LINE) != LINE) {
		if (in_line + size > first + PINNED ||
		    ray_target_read(c->target, address + first, l->bytes + first, PINNED) != PINNED)
			return NULL;
		l->start = first;
		l->end = first + PINNED;
	}
	l->address = address;
	l->picture = c->picture;
	return l;
}

static size_t read_cached(void *arg, uint64_t address, void *buffer, size_t size)
{
	struct ray_cache *c = arg;
	size_t in_line = (size_t)(address % LINE);
	const struct line *l = NULL;

	if (c->started && size <= SMALL && size <= LINE - in_line)
		l = find_line(c, address - in_line, (uint32_t)in_line, (uint32_t)size);
	if (!l)
		return ray_target_read(c->target, address, buffer, size);
	memcpy(buffer, l->bytes + in_line, size);
	return size;
}

struct ray_reader ray_cache_reader(struct ray_cache *c)
{
	return (struct ray_reader){ read_cached, c };
}
