/* value.h - any JavaScript value in a few words. SPDX-License-Identifier: MIT */
#ifndef RAY_V8_VALUE_H
#define RAY_V8_VALUE_H

#include "base/text.h"
#include "v8/v8.h"

/* 42, "text...", undefined, Array(3), function handle, #<Server>: safe to print, at most about 60 columns. */
void ray_v8_value_brief(struct ray_v8 *v8, uint64_t value, struct ray_text *out);
/* undefined or null; functions called without a receiver have one of them. */
bool ray_v8_is_nullish(struct ray_v8 *v8, uint64_t value);

#endif
