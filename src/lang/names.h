/* names.h - a set of names with something behind each, in an arena.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_LANG_NAMES_H
#define RAY_LANG_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct ray_name;

struct ray_names {
	struct ray_arena *arena;
	struct ray_name **buckets;
	size_t bucket_count, count;
};

/* What was put under that name; NULL if nothing. */
void *ray_names_find(const struct ray_names *names, const char *name);
/* Replaces what was there; value is not NULL. False when there is no memory. name must live as long as the arena. */
bool ray_names_put(struct ray_names *names, const char *name, void *value);

#endif
