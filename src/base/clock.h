/* clock.h - how long things take. SPDX-License-Identifier: MIT */
#ifndef RAY_BASE_CLOCK_H
#define RAY_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds that only ever grow; their start means nothing. */
static inline uint64_t ray_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

#endif
