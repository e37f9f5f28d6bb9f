/* diff.h - two profiles as one, to be shown side by side. SPDX-License-Identifier: MIT
 *
 * The result is a profile like any other: its threads are those of `before`, then those of `after`, and before_threads says where the second
 * begins, so that a sample's side is known by its thread. Threads are never merged, even if pid and tid are the same. Functions are matched by what they are
 * (kind, name, file), wherever in the file they begin: lines move when a program is edited; where a function of that name is there more than
 * once, they are matched in the order of their lines. Losses are added; title, event and the rest are those of `after`. Pure. */
#ifndef RAY_PROFILE_DIFF_H
#define RAY_PROFILE_DIFF_H

#include "profile/profile.h"

/* RAY_USAGE if they cannot be compared: their units differ. */
RAY_MUST_USE struct ray_error *ray_profile_diff(const struct ray_profile *before, const struct ray_profile *after,
						struct ray_profile **ret);

#endif
