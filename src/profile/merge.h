/* merge.h - a profile by functions alone: the lines that ran are left out. SPDX-License-Identifier: MIT
 *
 * What flame graphs, folded stacks and differences are made from. Pure. */
#ifndef RAY_PROFILE_MERGE_H
#define RAY_PROFILE_MERGE_H

#include "profile/profile.h"

/* The same stacks with one node for each path of functions, whether inlined or not, and one sample for each thread and stack, without times,
 * thread by thread. NULL without memory. */
struct ray_profile *ray_profile_merge(const struct ray_profile *p);

/* Adds the stacks, threads and samples of from to p, which must be of the same unit; titles and times stay those of p. */
void ray_profile_append(struct ray_profile *p, const struct ray_profile *from);

#endif
