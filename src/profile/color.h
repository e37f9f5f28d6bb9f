/* color.h - what colour a function has where colours are written: by kind, a package by its name, a difference by its change. SPDX-License-Identifier: MIT
 *
 * The report's own are in report/colors.js, which knows the dark too; the two agree. Pure. */
#ifndef RAY_PROFILE_COLOR_H
#define RAY_PROFILE_COLOR_H

#include "profile/profile.h"

/* "#ffcc66"; returns out. */
const char *ray_color_of(const struct ray_profile_function *f, char out[8]);
/* change: of a share, after less before; most: the change that gets the full colour. Grown is red, shrunk is blue. */
const char *ray_color_of_change(double change, double most, char out[8]);

#endif
