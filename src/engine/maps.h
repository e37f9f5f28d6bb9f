/* maps.h - what the files that make maps share. SPDX-License-Identifier: MIT */
#ifndef RAY_ENGINE_MAPS_H
#define RAY_ENGINE_MAPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct ray_trace;

/* Waits until every run of a BPF program that began before the call has ended. The kernel does that when user space replaces
 * a map inside another map, for programs that are not sleepable; none of ours is. Takes some 10 ms. */
struct ray_barrier {
	int outer, inner; /* -1: not created */
};

RAY_MUST_USE struct ray_error *ray_barrier_create(struct ray_barrier *ret);
RAY_MUST_USE struct ray_error *ray_barrier_wait(const struct ray_barrier *b);
void ray_barrier_close(struct ray_barrier *b);

RAY_MUST_USE struct ray_error *ray_map_array_create(const char *name, uint32_t value_size, uint32_t entries, int *ret);
/* All of an array map, to be written; munmap() when done. */
RAY_MUST_USE struct ray_error *ray_map_array_open(int fd, size_t size, void **ret);
/* How many elements fit; 0 if the kernel does not tell. */
uint32_t ray_map_capacity(int fd);
RAY_MUST_USE struct ray_error *ray_maps_create_names(struct ray_trace *t);

#endif
