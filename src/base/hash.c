/* hash.c - see hash.h. SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include <sys/auxv.h>
#include <sys/random.h>

struct ray_hash_secret ray_hash_secret;

/* Maps any byte to one with four bits set. */
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
	/* A sparse or a dense factor would map many words to the same hash, so each byte has four bits set. */
	for (int i = 8; i < 16; i++)
		s.multiply = s.multiply << 8 | balance(random[i]);
	s.multiply |= 1;
	ray_hash_secret = s;
}

/* AT_RANDOM is the fallback early in the boot, when getrandom() would block. */
__attribute__((constructor)) static void choose(void)
{
	const void *given = (const void *)getauxval(AT_RANDOM);
	uint8_t random[16] = { 0 };

	if (getrandom(random, sizeof(random), GRND_NONBLOCK) != sizeof(random) && given)
		memcpy(random, given, sizeof(random));
	ray_hash_choose(random);
}
