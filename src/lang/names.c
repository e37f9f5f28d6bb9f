/* names.c - see names.h. SPDX-License-Identifier: MIT */
#include "lang/names.h"

#include <string.h>

struct ray_name {
	struct ray_name *next;
	uint32_t hash;
	const char *name;
	void *value;
};

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return hash;
}

static struct ray_name *find(const struct ray_names *names, const char *name, uint32_t hash)
{
	struct ray_name *n = names->bucket_count ? names->buckets[hash % names->bucket_count] : NULL;

	while (n && (n->hash != hash || strcmp(n->name, name)))
		n = n->next;
	return n;
}

void *ray_names_find(const struct ray_names *names, const char *name)
{
	struct ray_name *n = find(names, name, hash_of(name));

	return n ? n->value : NULL;
}

/* The old buckets stay in the arena: the sizes double, so all of them together are as big as the last. */
static bool grow(struct ray_names *names)
{
	size_t wanted = names->bucket_count ? names->bucket_count * 2 : 64;
	struct ray_name **buckets = ray_arena_alloc(names->arena, wanted * sizeof(struct ray_name *));

	if (!buckets)
		return false;
	for (size_t i = 0; i < names->bucket_count; i++) {
		struct ray_name *next;

		for (struct ray_name *n = names->buckets[i]; n; n = next) {
			next = n->next;
			n->next = buckets[n->hash % wanted];
			buckets[n->hash % wanted] = n;
		}
	}
	names->buckets = buckets;
	names->bucket_count = wanted;
	return true;
}

bool ray_names_put(struct ray_names *names, const char *name, void *value)
{
	uint32_t hash = hash_of(name);
	struct ray_name *n = find(names, name, hash);

	if (!n) {
		if (names->count >= names->bucket_count && !grow(names))
			return false;
		n = ray_arena_alloc(names->arena, sizeof(*n));
		if (!n)
			return false;
		n->hash = hash;
		n->name = name;
		n->next = names->buckets[hash % names->bucket_count];
		names->buckets[hash % names->bucket_count] = n;
		names->count++;
	}
	n->value = value;
	return true;
}
