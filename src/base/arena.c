/* arena.c - see arena.h. SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

enum { CHUNK = 16 * 1024, ALIGN = 16 };

struct chunk {
	struct chunk *next;
	size_t used, size;
	_Alignas(ALIGN) unsigned char bytes[];
};

struct ray_arena {
	struct chunk *chunks;
};

struct ray_arena *ray_arena_create(void)
{
	return calloc(1, sizeof(struct ray_arena));
}

void ray_arena_free(struct ray_arena *arena)
{
	struct chunk *c, *next;

	if (!arena)
		return;
	for (c = arena->chunks; c; c = next) {
		next = c->next;
		free(c);
	}
	free(arena);
}

void *ray_arena_alloc(struct ray_arena *arena, size_t size)
{
	struct chunk *c = arena->chunks;
	void *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (!c || c->size - c->used < size) {
		size_t want = size > CHUNK ? size : CHUNK;

		c = calloc(1, sizeof(*c) + want);
		if (!c)
			return NULL;
		c->size = want;
		c->next = arena->chunks;
		arena->chunks = c;
	}
	p = c->bytes + c->used;
	c->used += size;
	return p;
}

char *ray_arena_copy(struct ray_arena *arena, const char *text, size_t length)
{
	char *p = ray_arena_alloc(arena, length + 1);

	if (p)
		memcpy(p, text, length);
	return p;
}

char *ray_arena_strdup(struct ray_arena *arena, const char *text)
{
	return ray_arena_copy(arena, text, strlen(text));
}

char *ray_arena_printf(struct ray_arena *arena, const char *fmt, ...)
{
	ray_auto_memory char *text = NULL;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0) {
		text = NULL;
		return NULL;
	}
	return ray_arena_copy(arena, text, (size_t)n);
}
