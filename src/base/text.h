/* text.h - building and shaping text for people.
 * SPDX-License-Identifier: MIT
 *
 * Everything that came from a target passes ray_text_add_safe() before it reaches a terminal or
 * JSON: control bytes are escaped and broken UTF-8 becomes U+FFFD. */
#ifndef RAY_BASE_TEXT_H
#define RAY_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/auto.h"

struct ray_text {
	char *bytes; /* always NUL-terminated once anything was added */
	size_t length;
	size_t cap;
	int failed; /* an allocation failed: the text is cut */
};

void ray_text_deinit(struct ray_text *t);
#define ray_auto_text __attribute__((cleanup(ray_text_deinit))) struct ray_text

void ray_text_clear(struct ray_text *t);
void ray_text_add(struct ray_text *t, const char *text);
void ray_text_add_bytes(struct ray_text *t, const void *bytes, size_t length);
void ray_text_printf(struct ray_text *t, const char *fmt, ...) RAY_PRINTF(2, 3);
void ray_text_pad(struct ray_text *t, size_t count); /* blanks */
/* Decimal, without printf's price: lines that come by the hundred thousand are made of these. digits: at least so many, with zeros in front. */
void ray_text_add_unsigned(struct ray_text *t, uint64_t n, size_t digits);
void ray_text_add_signed(struct ray_text *t, int64_t n);
void ray_text_add_codepoint(struct ray_text *t, uint32_t codepoint); /* as UTF-8 */
/* Untrusted bytes: escapes control characters (\n, \x1b) and mends UTF-8. */
void ray_text_add_safe(struct ray_text *t, const void *bytes, size_t length);
/* The same for a whole message: its own newlines and tabs stay. */
void ray_text_add_safe_lines(struct ray_text *t, const char *text);
const char *ray_text_get(const struct ray_text *t); /* "" when empty, never NULL */

/* How many terminal columns a UTF-8 text takes. */
size_t ray_text_width(const char *text);
/* Bytes as "1.5G", "812K", "96"; at most 5 characters. */
const char *ray_format_size(uint64_t bytes, char out[8]);
/* Seconds as "3d04h", "2h10m", "4m09s", "12s". */
const char *ray_format_age(uint64_t seconds, char out[16]);

#endif
