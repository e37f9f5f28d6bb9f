/* maps.h - what the files that make maps share. SPDX-License-Identifier: MIT */
#ifndef RAY_ENGINE_MAPS_H
#define RAY_ENGINE_MAPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct ray_trace;

RAY_MUST_USE struct ray_error *ray_map_array_create(const char *name, uint32_t value_size, uint32_t entries, int *ret);
/* All of an array map, to be written; munmap() when done. */
RAY_MUST_USE struct ray_error *ray_map_array_open(int fd, size_t size, void **ret);
RAY_MUST_USE struct ray_error *ray_maps_create_names(struct ray_trace *t);

#endif
