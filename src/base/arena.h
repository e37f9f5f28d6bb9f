/* arena.h - memory that is freed all at once.
 * SPDX-License-Identifier: MIT
 *
 * For results that live and die together: the frames of one stack, the names in one report. */
#ifndef RAY_BASE_ARENA_H
#define RAY_BASE_ARENA_H

#include <stddef.h>

#include "base/auto.h"

struct ray_arena;

struct ray_arena *ray_arena_create(void); /* NULL when there is no memory */
void ray_arena_free(struct ray_arena *arena);
RAY_DEFINE_AUTO(ray_arena, ray_arena_free)

/* Zeroed, aligned to 16. NULL when there is no memory. */
void *ray_arena_alloc(struct ray_arena *arena, size_t size);
char *ray_arena_copy(struct ray_arena *arena, const char *text, size_t length); /* adds the NUL */
char *ray_arena_strdup(struct ray_arena *arena, const char *text);
char *ray_arena_printf(struct ray_arena *arena, const char *fmt, ...) RAY_PRINTF(2, 3);

#endif
