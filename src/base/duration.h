/* duration.h - spans of time, as people write and read them. SPDX-License-Identifier: MIT */
#ifndef RAY_BASE_DURATION_H
#define RAY_BASE_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* "10", "2.5s", "500ms", "20us", "3m", "1h": a number with one of ns us ms s m h; without, it counts unit_ns. False: it is none, or
 * longer than 290 years. */
bool ray_duration_parse(const char *text, uint64_t unit_ns, uint64_t *ret);
/* Three digits and a unit: "814ns", "1.23us", "45.6ms", "12.3s", "205s"; never longer than 7 characters up to a day. */
const char *ray_duration_format(uint64_t ns, char out[24]);

#endif
