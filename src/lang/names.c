/* names.c - see names.h. SPDX-License-Identifier: MIT */
#include "lang/names.h"

#include <string.h>

void *ray_names_find(const struct ray_names *names, const char *name)
{
	const struct ray_name *n = ray_hashmap_find(&names->map, ray_hash_text(0, name), one, !strcmp(one->name, name));

	return n ? n->value : NULL;
}

bool ray_names_put(struct ray_names *names, const char *name, void *value)
{
	uint64_t hash = ray_hash_text(0, name);
	struct ray_name *n = ray_hashmap_find(&names->map, hash, one, !strcmp(one->name, name));

	if (n)
		n->value = value;
	else
		n = ray_hashmap_add(&names->map, hash, (struct ray_name){ name, value });
	return n != NULL;
}
