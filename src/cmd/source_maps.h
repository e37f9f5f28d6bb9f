/* source_maps.h - --source-maps: profiles told by the sources of their scripts. SPDX-License-Identifier: MIT */
#ifndef RAY_CMD_SOURCE_MAPS_H
#define RAY_CMD_SOURCE_MAPS_H

#include "profile/profile.h"
#include "stack/script_maps.h"

/* clang-format off */
#define RAY_OPTION_SOURCE_MAPS { 0, "source-maps", NULL, "tell bundled and compiled code by its sources" }
/* clang-format on */

struct ray_source_maps; /* those that were read */

/* is_live: profiles are made just now, and files are those that their processes see. NULL without memory. */
struct ray_source_maps *ray_source_maps_create(bool is_live);
void ray_source_maps_free(struct ray_source_maps *m);
RAY_DEFINE_AUTO(ray_source_maps, ray_source_maps_free)
/* What is to be told of the scripts that run, for ray_script; valid as long as m is. */
const struct ray_script_maps *ray_source_maps_listener(const struct ray_source_maps *m);
/* Puts the same profile, told by sources, in its place. */
RAY_MUST_USE struct ray_error *ray_source_maps_tell(struct ray_source_maps *m, struct ray_profile **p);
/* On standard error: what no map told. */
void ray_source_maps_say(const struct ray_source_maps *m);

/* All of it for a profile that was made some time ago. */
RAY_MUST_USE struct ray_error *ray_source_maps_apply(struct ray_profile **p);

#endif
