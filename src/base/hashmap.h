/* hashmap.h - values of any type, found by a hash of their keys.
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
 * The key is a part of the value, or of what the value stands for: a pointer, the number of an element of a vector. Whoever adds says which hash its key has,
 * whoever searches says by a condition which value is meant, as in ray_search(). Add only what was not found.
 *
 * Pointers to values are valid until the next value is added or removed. The order of the values is another one in each run (see hash.h): results must not depend on it.
 *
 * All values lie in one array, a power of two long and never more than three quarters full, each at the place that its hash says or, where that is taken, at the next free
 * one. So a search ends at a free place. Removal moves later values back to close the gap; nothing is left of what is removed. */
#ifndef RAY_BASE_HASHMAP_H
#define RAY_BASE_HASHMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hash.h"

struct ray_hashmap {
	void *slots; /* each begins with the hash of its value; 0: free */
	size_t room, n;
	struct ray_arena *arena; /* where it takes its memory from; NULL: from the heap, and it is to be freed */
};

#define RAY_HASHMAP(type)                                \
	struct {                                         \
		struct ray_hashmap map;                  \
		struct {                                 \
			uint32_t hash;                   \
			type value;                      \
		} * slot_[0]; /* only tells the types */ \
	}

/* Their arguments are sizes of slots, and where the value is inside of one. Only for the macros below. */
bool ray_hashmap_reserve_(struct ray_hashmap *m, size_t count, size_t size);
void *ray_hashmap_add_(struct ray_hashmap *m, uint64_t hash, size_t size);
void ray_hashmap_remove_(struct ray_hashmap *m, void *slot, size_t size);
void *ray_hashmap_next_(const struct ray_hashmap *m, const void *value, size_t size, size_t value_at);
void *ray_hashmap_next_of_(const struct ray_hashmap *m, uint64_t hash, const void *value, size_t size, size_t value_at);
void ray_hashmap_clear_(struct ray_hashmap *m, size_t size);
void ray_hashmap_free_(struct ray_hashmap *m);

/* As it is kept: never 0. */
static inline uint32_t ray_hashmap_hash_(uint64_t hash)
{
	return (uint32_t)hash | 1u << 31;
}

#define RAY_HASHMAP_SIZE_(m) sizeof(*(m)->slot_[0])
#define RAY_HASHMAP_AT_(m) __builtin_offsetof(__typeof__(*(m)->slot_[0]), value)

#define ray_hashmap_count(m) ((m)->map.n)

/* The value of that hash for which the condition holds: a pointer to it, by which name the condition knows it, or NULL. */
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

/* Where the value is now. NULL: no memory, and nothing has changed. */
#define ray_hashmap_add(m, hash_, ...)                                                                          \
	({                                                                                                      \
		__typeof__((m)->slot_[0]->value) ray_value_ = (__VA_ARGS__);                                    \
		__typeof__((m)->slot_[0]) ray_slot_ = ray_hashmap_add_(&(m)->map, hash_, RAY_HASHMAP_SIZE_(m)); \
                                                                                                                \
		if (ray_slot_)                                                                                  \
			ray_slot_->value = ray_value_;                                                          \
		ray_slot_ ? &ray_slot_->value : NULL;                                                           \
	})

/* Takes a pointer that find or add returned. */
#define ray_hashmap_remove(m, value) \
	ray_hashmap_remove_(&(m)->map, (char *)(value)-RAY_HASHMAP_AT_(m), RAY_HASHMAP_SIZE_(m))

/* Makes room for so many values at least: until there are that many, adding cannot fail. False: no memory. */
#define ray_hashmap_reserve(m, count) ray_hashmap_reserve_(&(m)->map, count, RAY_HASHMAP_SIZE_(m))

/* All values, in no order: for ray_hashmap_each(&files, one) use(*one); adding or removing ends that. */
#define ray_hashmap_each(m, one)                           \
	for (__typeof__(&(m)->slot_[0]->value) one = NULL; \
	     (one = ray_hashmap_next_(&(m)->map, one, RAY_HASHMAP_SIZE_(m), RAY_HASHMAP_AT_(m)));)

/* All values of one hash, likewise. */
#define ray_hashmap_each_of(m, hash_, one)                 \
	for (__typeof__(&(m)->slot_[0]->value) one = NULL; \
	     (one = ray_hashmap_next_of_(&(m)->map, hash_, one, RAY_HASHMAP_SIZE_(m), RAY_HASHMAP_AT_(m)));)

#define ray_hashmap_clear(m) ray_hashmap_clear_(&(m)->map, RAY_HASHMAP_SIZE_(m)) /* keeps the memory */
#define ray_hashmap_free(m) ray_hashmap_free_(&(m)->map)

#endif
