/* uv_pool.h - how many threads the pools of libuv have, of live processes. SPDX-License-Identifier: MIT */
#ifndef RAY_TARGET_UV_POOL_H
#define RAY_TARGET_UV_POOL_H

#include "base/auto.h"

struct ray_uv_pools;

struct ray_uv_pools *ray_uv_pools_create(void); /* NULL: no memory */
void ray_uv_pools_free(struct ray_uv_pools *p);
RAY_DEFINE_AUTO(ray_uv_pools, ray_uv_pools_free)

/* libuv's own variable, where the binary has its symbol; else what the process's environment asked for when it started, or libuv's four. 0: it
 * has not started any, or the process has ended. */
unsigned int ray_uv_pools_threads(struct ray_uv_pools *p, int pid);

#endif
