/* string.h - V8's strings as UTF-8. SPDX-License-Identifier: MIT */
#ifndef RAY_V8_STRING_H
#define RAY_V8_STRING_H

#include "base/text.h"
#include "v8/v8.h"

/* Its length in UTF-16 units; -1 when it is no string. */
int64_t ray_v8_string_length(struct ray_v8 *v8, uint64_t string);
/* Copies units [from, from + count) of any kind of string; false when a part cannot be read. */
bool ray_v8_string_units(struct ray_v8 *v8, uint64_t string, uint32_t from, uint32_t count, uint16_t *out);
/* As UTF-8 in the arena, cut after limit units with "..." appended. NULL when it is no string or cannot be read. */
const char *ray_v8_string_text(struct ray_v8 *v8, uint64_t string, uint32_t limit);
/* UTF-16 as UTF-8; lone surrogates become U+FFFD, NUL becomes \x00. */
void ray_v8_add_utf16(struct ray_text *t, const uint16_t *units, uint32_t count);

#endif
