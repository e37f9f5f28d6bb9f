/* write_html.h - the report that shows itself, and the profile in it. SPDX-License-Identifier: MIT */
#ifndef RAY_PROFILE_WRITE_HTML_H
#define RAY_PROFILE_WRITE_HTML_H

#include <stdio.h>

#include "profile/profile.h"

RAY_MUST_USE struct ray_error *ray_html_write(const struct ray_profile *p, FILE *out);
bool ray_html_looks_like(const char *bytes, size_t size);
RAY_MUST_USE struct ray_error *ray_html_read(const char *bytes, size_t size, struct ray_profile **ret);

#endif
