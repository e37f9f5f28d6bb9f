/* head.h - what a profile says about itself, as an object that formats in JSON carry along. SPDX-License-Identifier: MIT
 *
 * Others ignore it; our own readers find in it what the format has no place for: the unit, the time between two samples, what was lost. */
#ifndef RAY_PROFILE_HEAD_H
#define RAY_PROFILE_HEAD_H

#include "profile/profile.h"
#include "profile/pull.h"

#define RAY_PROFILE_HEAD_KEY "noderay"

void ray_profile_head_write(const struct ray_profile *p, FILE *out); /* the object, without its key */
void ray_profile_head_read(struct ray_pull *j, struct ray_profile *p);

#endif
