/* base64.h - bytes as text that is safe in any document. SPDX-License-Identifier: MIT
 *
 * The alphabet of RFC 4648, section 4. */
#ifndef RAY_BASE_BASE64_H
#define RAY_BASE_BASE64_H

#include <stdbool.h>

#include "base/text.h"

/* In lines of 160, each with its newline. */
void ray_base64_add(struct ray_text *t, const void *bytes, size_t length);
/* Appends the bytes; white space is skipped. False: something else is in it, or its end is missing. */
bool ray_base64_decode(struct ray_text *t, const char *text, size_t length);

#endif
