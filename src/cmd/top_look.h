/* top_look.h - what /proc and the memory of processes say at a moment, for `noderay top`. SPDX-License-Identifier: MIT
 *
 * Whoever takes the stacks knows what threads are for; one of which that is not known is the main thread or none, by its number. Stops nothing. */
#ifndef RAY_CMD_TOP_LOOK_H
#define RAY_CMD_TOP_LOOK_H

#include "view/top.h"

struct ray_top_look;

/* What a thread is for, valid until the next call; NULL: that cannot be told now. */
typedef const struct ray_role_info *ray_top_role_fn(void *arg, uint32_t pid, uint32_t tid);

struct ray_top_look *ray_top_look_create(ray_top_role_fn *role_of, void *arg); /* NULL without memory */
void ray_top_look_free(struct ray_top_look *l);
RAY_DEFINE_AUTO(ray_top_look, ray_top_look_free)
/* A process to look at from now on; one that is known already stays. */
void ray_top_look_add(struct ray_top_look *l, uint32_t pid);
/* Valid until the next call. Processes that have ended are not in it. */
struct ray_top_moment ray_top_look_now(struct ray_top_look *l);

#endif
