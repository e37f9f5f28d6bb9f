/* names.h - a set of names with something behind each, in an arena.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_LANG_NAMES_H
#define RAY_LANG_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hashmap.h"

struct ray_name {
	const char *name;
	void *value;
};

struct ray_names {
	RAY_HASHMAP(struct ray_name) map; /* in the arena that ray_names_in() names */
};

#define ray_names_in(arena_) ((struct ray_names){ .map.map.arena = (arena_) })

/* What was put under that name; NULL if nothing. */
void *ray_names_find(const struct ray_names *names, const char *name);
/* Replaces what was there; value is not NULL. False when there is no memory. name must live as long as the arena. */
bool ray_names_put(struct ray_names *names, const char *name, void *value);

#endif
