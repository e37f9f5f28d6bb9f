/* source_maps.h - --source-maps: profiles told by the sources of their scripts. SPDX-License-Identifier: MIT */
#ifndef RAY_CMD_SOURCE_MAPS_H
#define RAY_CMD_SOURCE_MAPS_H

#include "profile/profile.h"

/* clang-format off */
#define RAY_OPTION_SOURCE_MAPS { 0, "source-maps", NULL, "tell bundled and compiled code by its sources" }
/* clang-format on */

struct ray_source_maps; /* those that were read */

/* is_live: profiles are made just now, and files are those that their processes see. NULL without memory. */
struct ray_source_maps *ray_source_maps_create(bool is_live);
void ray_source_maps_free(struct ray_source_maps *m);
RAY_DEFINE_AUTO(ray_source_maps, ray_source_maps_free)
/* Puts the same profile, told by sources, in its place. */
RAY_MUST_USE struct ray_error *ray_source_maps_tell(struct ray_source_maps *m, struct ray_profile **p);
/* On standard error: what no map told. */
void ray_source_maps_say(const struct ray_source_maps *m);

/* All of it for one profile. */
RAY_MUST_USE struct ray_error *ray_source_maps_apply(struct ray_profile **p, bool is_live);

#endif
