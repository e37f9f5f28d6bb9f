/* kind.h - what a function is, from its name and where it comes from. SPDX-License-Identifier: MIT
 *
 * Used where frames become part of a profile, live or read from a file that does not say. The rules are a table. Pure. */
#ifndef RAY_PROFILE_KIND_H
#define RAY_PROFILE_KIND_H

#include "profile/profile.h"

/* "node:internal/..." and its like, and paths with node_modules in them (the innermost counts: a package of a package; @scope/name is one name;
 * pnpm's and yarn's stores too). *package_ret: where the name starts in file, of *length_ret bytes; NULL if it is no package. */
enum ray_profile_kind ray_kind_of_script(const char *file, const char **package_ret, size_t *length_ret);

/* A native function of V8 by its name: RAY_KIND_GC, RAY_KIND_COMPILER, or RAY_KIND_NATIVE for whatever else. */
enum ray_profile_kind ray_kind_of_native(const char *function);

#endif
