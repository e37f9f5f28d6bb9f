/* json.h - jansson with the few conveniences every verb needs.
 * SPDX-License-Identifier: MIT
 *
 * Addresses are hex strings ("0x7f..."): JSON numbers lose bits past 2^53. Text from a target goes
 * through ray_json_text(), which mends broken UTF-8 (jansson refuses it). */
#ifndef RAY_BASE_JSON_H
#define RAY_BASE_JSON_H

#include <jansson.h>
#include <stdint.h>

json_t *ray_json_text(const char *text); /* NULL text becomes null */
json_t *ray_json_hex(uint64_t value);
/* One compact object and a newline to stdout, without control characters; releases value. */
void ray_json_print(json_t *value);

#endif
