/* top_look.h - what /proc and the memory of processes say at a moment, for `noderay top`. SPDX-License-Identifier: MIT
 *
 * Threads are asked what they are for when they are first seen, and not more often than that costs little. Where memory may not be read, they go by their numbers.
 * Stops nothing. */
#ifndef RAY_CMD_TOP_LOOK_H
#define RAY_CMD_TOP_LOOK_H

#include "view/top.h"

struct ray_top_look;

struct ray_top_look *ray_top_look_create(void); /* NULL without memory */
void ray_top_look_free(struct ray_top_look *l);
RAY_DEFINE_AUTO(ray_top_look, ray_top_look_free)
/* A process to look at from now on; one that is known already stays. */
void ray_top_look_add(struct ray_top_look *l, uint32_t pid);
/* Valid until the next call. Processes that have ended are not in it. */
struct ray_top_moment ray_top_look_now(struct ray_top_look *l);

#endif
