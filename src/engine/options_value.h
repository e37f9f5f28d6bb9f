/* options_value.h - how the values of options are written: 4m, 10hz, yes.
 * SPDX-License-Identifier: MIT
 *
 * false: it is not written so, or does not fit; the result is then not to be used. */
#ifndef RAY_ENGINE_OPTIONS_VALUE_H
#define RAY_ENGINE_OPTIONS_VALUE_H

#include <stdbool.h>
#include <stdint.h>

bool ray_option_parse_size(const char *text, uint64_t *ret); /* bytes; k, m, g, t */
bool ray_option_parse_rate(const char *text, uint64_t *ret); /* nanoseconds; ns .. day, or hz */
/* Words or a number; text NULL is 1. *is_set is false for "no" and its like: the default again. */
bool ray_option_parse_number(const char *text, uint64_t *ret, bool *is_set);

#endif
