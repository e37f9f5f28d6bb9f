/* cell.h - what tables of functions are made of: weights, names and places cut to a width. SPDX-License-Identifier: MIT */
#ifndef RAY_PROFILE_CELL_H
#define RAY_PROFILE_CELL_H

#include "base/text.h"
#include "profile/profile.h"

/* "512", "1.23ms", "812K": at most 7 characters. */
const char *ray_cell_value(enum ray_profile_unit unit, int64_t weight, char out[24]);
/* As much of text as fits; an ellipsis says that there is more. Returns the columns it took. */
size_t ray_cell_cut(struct ray_text *out, const char *text, size_t width);
/* Its name and where it begins, "handle  lib/router/index.js:46", in at most room columns; 40 are enough. */
void ray_cell_function(struct ray_text *out, const struct ray_profile_function *f, size_t room);

#endif
