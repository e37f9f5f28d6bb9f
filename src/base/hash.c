/* hash.c - see hash.h. SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include <sys/auxv.h>
#include <sys/random.h>

struct ray_hash_secret ray_hash_secret;

/* A byte with four bits set, made from any byte. */
static uint64_t balance(uint8_t byte)
{
	while (__builtin_popcount(byte) > 4)
		byte &= (uint8_t)(byte - 1);
	for (uint8_t bit = 128; __builtin_popcount(byte) < 4; bit >>= 1)
		byte |= bit;
	return byte;
}

void ray_hash_choose(const uint8_t random[16])
{
	struct ray_hash_secret s;

	memcpy(&s, random, sizeof(s.add));
	s.multiply = 0;
	/* A factor of few bits, or of nearly all, would lose what words differ in: each byte has its share of both. */
	for (int i = 8; i < 16; i++)
		s.multiply = s.multiply << 8 | balance(random[i]);
	s.multiply |= 1;
	ray_hash_secret = s;
}

/* Where the kernel has no random numbers yet, those do that it gave to this process when it started. */
__attribute__((constructor)) static void choose(void)
{
	const void *given = (const void *)getauxval(AT_RANDOM);
	uint8_t random[16] = { 0 };

	if (getrandom(random, sizeof(random), GRND_NONBLOCK) != sizeof(random) && given)
		memcpy(random, given, sizeof(random));
	ray_hash_choose(random);
}
