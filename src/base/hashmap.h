/* hashmap.h - a typed hash map with open addressing.
 * SPDX-License-Identifier: MIT
 *
 *   RAY_HASHMAP(struct file *) files = { 0 };
 *   uint64_t hash = ray_hash_text(0, path);
 *   struct file **found = ray_hashmap_find(&files, hash, one, !strcmp((*one)->path, path));
 *   if (!found) found = ray_hashmap_add(&files, hash, file_new(path));
 *   if (!found) return &ray_enomem;
 *   ray_hashmap_remove(&files, found);
 *   ray_hashmap_free(&files);
 *
 * The key is part of the value, or of the object that the value refers to (a pointer, an index into a vector).
 * The caller passes the hash of the key, and a condition that compares keys, as in ray_search(). Adding does not
 * check for duplicates: search first.
 *
 * Pointers to values are valid until the next add or remove. The iteration order differs in each run (hash.h);
 * results must not depend on it.
 *
 * The array has a power of two slots, at most three quarters of them used. A value lies in the slot that its hash
 * selects or in the next free one, so every search ends at a free slot. Removal shifts later values back; there
 * are no tombstones. */
#ifndef RAY_BASE_HASHMAP_H
#define RAY_BASE_HASHMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hash.h"

struct ray_hashmap {
	void *slots; /* each starts with the hash of its value; 0: free */
	size_t room, n;
	struct ray_arena *arena; /* allocates from this arena; NULL: from the heap */
};

#define RAY_HASHMAP(type)                                                  \
	struct {                                                           \
		struct ray_hashmap map;                                    \
		struct {                                                   \
			uint32_t hash;                                     \
			type value;                                        \
		} * slot_[0]; /* declares the slot type; has no storage */ \
	}

/* For the macros below: size is that of a slot, value_at the offset of the value in it. */
bool ray_hashmap_reserve_(struct ray_hashmap *m, size_t count, size_t size);
void *ray_hashmap_add_(struct ray_hashmap *m, uint64_t hash, size_t size);
void ray_hashmap_remove_(struct ray_hashmap *m, void *slot, size_t size);
void *ray_hashmap_next_(const struct ray_hashmap *m, const void *value, size_t size, size_t value_at);
void *ray_hashmap_next_of_(const struct ray_hashmap *m, uint64_t hash, const void *value, size_t size, size_t value_at);
void ray_hashmap_clear_(struct ray_hashmap *m, size_t size);
void ray_hashmap_free_(struct ray_hashmap *m);

/* The stored hash, never 0. */
static inline uint32_t ray_hashmap_hash_(uint64_t hash)
{
	return (uint32_t)hash | 1u << 31;
}

#define RAY_HASHMAP_SIZE_(m) sizeof(*(m)->slot_[0])
#define RAY_HASHMAP_AT_(m) __builtin_offsetof(__typeof__(*(m)->slot_[0]), value)

#define ray_hashmap_count(m) ((m)->map.n)

/* Pointer to the value with that hash for which the condition is true, or NULL. `one` points to the value in the condition. */
#define ray_hashmap_find(m, hash_, one, ...)                                                            \
	({                                                                                              \
		const struct ray_hashmap *ray_map_ = &(m)->map;                                         \
		__typeof__((m)->slot_[0]) ray_slots_ = ray_map_->slots;                                 \
		__typeof__(&(m)->slot_[0]->value) ray_found_ = NULL;                                    \
		uint32_t ray_hash_ = ray_hashmap_hash_(hash_);                                          \
                                                                                                        \
		for (size_t ray_at_ = ray_hash_; ray_map_->room; ray_at_++) {                           \
			__typeof__(ray_slots_) ray_slot_ = &ray_slots_[ray_at_ & (ray_map_->room - 1)]; \
			__typeof__(ray_found_) one = &ray_slot_->value;                                 \
                                                                                                        \
			if (!ray_slot_->hash)                                                           \
				break;                                                                  \
			if (ray_slot_->hash == ray_hash_ && (__VA_ARGS__)) {                            \
				ray_found_ = one;                                                       \
				break;                                                                  \
			}                                                                               \
		}                                                                                       \
		ray_found_;                                                                             \
	})

/* Pointer to the added value. NULL: out of memory; the map is unchanged. */
#define ray_hashmap_add(m, hash_, ...)                                                                          \
	({                                                                                                      \
		__typeof__((m)->slot_[0]->value) ray_value_ = (__VA_ARGS__);                                    \
		__typeof__((m)->slot_[0]) ray_slot_ = ray_hashmap_add_(&(m)->map, hash_, RAY_HASHMAP_SIZE_(m)); \
                                                                                                                \
		if (ray_slot_)                                                                                  \
			ray_slot_->value = ray_value_;                                                          \
		ray_slot_ ? &ray_slot_->value : NULL;                                                           \
	})

/* value: a pointer returned by find or add. */
#define ray_hashmap_remove(m, value) \
	ray_hashmap_remove_(&(m)->map, (char *)(value)-RAY_HASHMAP_AT_(m), RAY_HASHMAP_SIZE_(m))

/* Adding cannot fail until the map holds count values. False: out of memory. */
#define ray_hashmap_reserve(m, count) ray_hashmap_reserve_(&(m)->map, count, RAY_HASHMAP_SIZE_(m))

/* Iterates over all values: ray_hashmap_each(&files, one) use(*one). Do not add or remove inside the loop. */
#define ray_hashmap_each(m, one)                           \
	for (__typeof__(&(m)->slot_[0]->value) one = NULL; \
	     (one = ray_hashmap_next_(&(m)->map, one, RAY_HASHMAP_SIZE_(m), RAY_HASHMAP_AT_(m)));)

/* Iterates over the values with one hash. */
#define ray_hashmap_each_of(m, hash_, one)                 \
	for (__typeof__(&(m)->slot_[0]->value) one = NULL; \
	     (one = ray_hashmap_next_of_(&(m)->map, hash_, one, RAY_HASHMAP_SIZE_(m), RAY_HASHMAP_AT_(m)));)

#define ray_hashmap_clear(m) ray_hashmap_clear_(&(m)->map, RAY_HASHMAP_SIZE_(m)) /* does not free the slots */
#define ray_hashmap_free(m) ray_hashmap_free_(&(m)->map)

#endif
