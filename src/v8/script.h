/* script.h - a script: its name, and positions as lines and columns.
 * SPDX-License-Identifier: MIT
 *
 * V8 computes a script's line table only when it needs one itself, so lines are counted here from the
 * source, once per script. */
#ifndef RAY_V8_SCRIPT_H
#define RAY_V8_SCRIPT_H

#include "base/text.h"
#include "v8/v8.h"

/* The script's name: a path, a file: or node: URL, a //# sourceURL; for eval "eval at f (file:1:2)".
 * "" when it has none; NULL when it cannot be read. */
const char *ray_v8_script_name(struct ray_v8 *v8, uint64_t script);
/* Did eval() make it? */
bool ray_v8_script_is_eval(struct ray_v8 *v8, uint64_t script);
/* What its //# sourceMappingURL= says, which may be the whole map; nothing is added if it has none. False: that cannot be told. */
bool ray_v8_script_map_url(struct ray_v8 *v8, uint64_t script, struct ray_text *out);
/* Line and column, both from 1, of a position in the source. */
bool ray_v8_script_place(struct ray_v8 *v8, uint64_t script, int32_t position, int *line_ret, int *column_ret);
/* A line of the source, as counted by ray_v8_script_place(), cut after limit units; NULL past the end. */
const char *ray_v8_script_line(struct ray_v8 *v8, uint64_t script, int line, uint32_t limit);

void ray_v8_scripts_free(struct ray_v8 *v8);
/* The heap is not as it was: what is known of scripts is checked before it is used again. */
void ray_v8_scripts_doubt(struct ray_v8 *v8);

#endif
