/* json.h - jansson with the few conveniences every verb needs.
 * SPDX-License-Identifier: MIT
 *
 * Addresses are hex strings ("0x7f..."): JSON numbers lose bits past 2^53. Text from a target goes
 * through ray_json_text(), which mends broken UTF-8 (jansson refuses it). */
#ifndef RAY_BASE_JSON_H
#define RAY_BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

json_t *ray_json_text(const char *text); /* NULL text becomes null */
json_t *ray_json_hex(uint64_t value);
/* ---- objects by the hundred thousand: written at once, in the order they are added, without a tree ----
 *
 * A text begins empty, gets members, and is printed by ray_json_line_end(). Keys are our own words. What is written is what ray_json_print() would. */

void ray_json_line_text(struct ray_text *line, const char *key, const char *text); /* NULL: null */
void ray_json_line_bytes(struct ray_text *line, const char *key, const char *text, size_t length);
void ray_json_line_integer(struct ray_text *line, const char *key, int64_t value);
void ray_json_line_boolean(struct ray_text *line, const char *key, bool value);
void ray_json_line_null(struct ray_text *line, const char *key);
void ray_json_line_seconds(struct ray_text *line, const char *key, uint64_t ns); /* of the epoch: to the microsecond */
void ray_json_line_ms(struct ray_text *line, const char *key, uint64_t ns);
void ray_json_line_value(struct ray_text *line, const char *key, json_t *value); /* releases it */
/* To stdout, with a newline; the text is empty again. */
void ray_json_line_end(struct ray_text *line);

/* One compact object and a newline to stdout, without control characters; releases value. */
void ray_json_print(json_t *value);

#endif
