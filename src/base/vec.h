/* vec.h - a growing array of any type.
 * SPDX-License-Identifier: MIT
 *
 *   RAY_VEC(struct ray_map) maps = { 0 };
 *   if (!ray_vec_push(&maps, map)) return &ray_enomem;
 *   for (size_t i = 0; i < maps.n; i++) use(&maps.at[i]);
 *   ray_vec_free(&maps);
 *
 * Pointers into it are valid until the next push. */
#ifndef RAY_BASE_VEC_H
#define RAY_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define RAY_VEC(type)       \
	struct {            \
		type *at;   \
		size_t n;   \
		size_t cap; \
	}

/* Makes room for one more; false when there is no memory. */
static inline bool ray_vec_grow_(void **at, size_t *cap, size_t n, size_t size)
{
	size_t want = *cap ? *cap * 2 : 8;
	void *grown;

	if (n < *cap)
		return true;
	if (want < n + 1)
		want = n + 1;
	grown = reallocarray(*at, want, size);
	if (!grown)
		return false;
	*at = grown;
	*cap = want;
	return true;
}

#define ray_vec_push(v, ...)                                                     \
	(ray_vec_grow_((void **)&(v)->at, &(v)->cap, (v)->n, sizeof(*(v)->at)) ? \
		 ((v)->at[(v)->n++] = (__VA_ARGS__), true) :                     \
		 false)

#define ray_vec_free(v)                \
	do {                           \
		free((v)->at);         \
		(v)->at = NULL;        \
		(v)->n = (v)->cap = 0; \
	} while (0)

#endif
