/* bits.h - sets of processes as both sides see them: a bit for each tgid, in a mapped element of a map.
 * SPDX-License-Identifier: MIT
 *
 * The kernel's side changes bits at the same time. */
#ifndef RAY_ENGINE_BITS_H
#define RAY_ENGINE_BITS_H

#include <stdbool.h>
#include <stdint.h>

#include "kern/wire.h"

static inline void ray_bits_add(uint64_t *words, uint32_t tgid)
{
	__atomic_fetch_or(&words[tgid / 64 % RAY_TARGET_WORDS], 1ULL << tgid % 64, __ATOMIC_SEQ_CST);
}

static inline void ray_bits_remove(uint64_t *words, uint32_t tgid)
{
	__atomic_fetch_and(&words[tgid / 64 % RAY_TARGET_WORDS], ~(1ULL << tgid % 64), __ATOMIC_SEQ_CST);
}

static inline bool ray_bits_have(const uint64_t *words, uint32_t tgid)
{
	return __atomic_load_n(&words[tgid / 64 % RAY_TARGET_WORDS], __ATOMIC_SEQ_CST) >> tgid % 64 & 1;
}

#endif
