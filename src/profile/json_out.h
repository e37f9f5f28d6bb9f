/* json_out.h - JSON written straight into a file, without a tree. SPDX-License-Identifier: MIT */
#ifndef RAY_PROFILE_JSON_OUT_H
#define RAY_PROFILE_JSON_OUT_H

#include <stdint.h>
#include <stdio.h>

struct ray_text;

/* With its quotes; control characters are escaped and UTF-8 is mended. */
void ray_json_out_text(FILE *out, const char *text);
void ray_json_add_text(struct ray_text *out, const char *text); /* the same, into a text */
/* "key":"text", with a comma before it; nothing if text is "". */
void ray_json_out_member(FILE *out, const char *key, const char *text);
void ray_json_out_integer(FILE *out, int64_t value);
/* Nanoseconds as microseconds, with a fraction only if there is one. */
void ray_json_out_us(FILE *out, uint64_t ns);

#endif
