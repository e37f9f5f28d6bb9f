/* markup.h - text inside HTML, SVG and XML, and the profile that such a file carries. SPDX-License-Identifier: MIT */
#ifndef RAY_PROFILE_MARKUP_H
#define RAY_PROFILE_MARKUP_H

#include <stdbool.h>

#include "base/text.h"
#include "profile/profile.h"

/* Text as content or in an attribute: no markup in it, and nothing that XML forbids. */
void ray_markup_add(struct ray_text *t, const char *text);

/* Is there an element that carries a profile, and is the file's beginning one of these? */
bool ray_markup_has_profile(const char *bytes, size_t size);
RAY_MUST_USE struct ray_error *ray_markup_read(const char *bytes, size_t size, struct ray_profile **ret);

#endif
