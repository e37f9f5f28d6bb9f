/* ps.h - how the list of nodes looks: a line each, all about each, or JSON.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_VIEW_PS_H
#define RAY_VIEW_PS_H

#include <stdio.h>

#include "stack/census.h"

/* width 0: no limit. False when there is no memory. */
bool ray_view_ps_table(const struct ray_census *census, size_t width, FILE *out);
bool ray_view_ps_details(const struct ray_census *census, size_t width, FILE *out);
/* One object a line, to stdout. */
void ray_view_ps_json(const struct ray_census *census);

#endif
