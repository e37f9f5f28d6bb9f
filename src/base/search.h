/* search.h - where in a sorted array something is, by halving.
 * SPDX-License-Identifier: MIT
 *
 *   size_t i = ray_search(maps.at, maps.n, one, one->end <= address);
 *
 * How many elements, from the first on, meet a condition that none behind them meets: the index of the first that does not, and the count if all do.
 * The condition names a pointer to the element as it likes. It looks at as few as can be. */
#ifndef RAY_BASE_SEARCH_H
#define RAY_BASE_SEARCH_H

#include <stddef.h>

#define ray_search(array, count, one, ...)                                          \
	({                                                                          \
		size_t ray_low_ = 0, ray_high_ = (count);                           \
                                                                                    \
		while (ray_low_ < ray_high_) {                                      \
			size_t ray_middle_ = ray_low_ + (ray_high_ - ray_low_) / 2; \
			const __typeof__(*(array)) *one = &(array)[ray_middle_];    \
                                                                                    \
			if (__VA_ARGS__)                                            \
				ray_low_ = ray_middle_ + 1;                         \
			else                                                        \
				ray_high_ = ray_middle_;                            \
		}                                                                   \
		ray_low_;                                                           \
	})

#endif
