/* cache.h - a target's memory, small reads remembered.
 * SPDX-License-Identifier: MIT
 *
 * Naming a frame takes a hundred reads of eight bytes, and the next frame of a recursion takes the same again. Each
 * is a system call otherwise. Only for a picture that stands still: a core, a process once its stacks were taken, or
 * the moment in which one stack is named. */
#ifndef RAY_STACK_CACHE_H
#define RAY_STACK_CACHE_H

#include "target/target.h"

struct ray_cache;

struct ray_cache *ray_cache_create(struct ray_target *t); /* NULL without memory; t must outlive it */
void ray_cache_free(struct ray_cache *c);
/* Reads straight from the target until ray_cache_start(). */
struct ray_reader ray_cache_reader(struct ray_cache *c);
void ray_cache_start(struct ray_cache *c);
/* Forgets what it remembers: the picture is another one. */
void ray_cache_forget(struct ray_cache *c);

#endif
