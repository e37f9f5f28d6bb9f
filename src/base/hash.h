/* hash.h - one number for some words, bytes or a text.
 * SPDX-License-Identifier: MIT
 *
 *   uint64_t hash = ray_hash_word(ray_hash_text(0, name), line);
 *
 * The number depends on a secret that is new in each run: whoever writes the names and keys that noderay reads cannot choose which of them collide.
 * So it says nothing outside of this run: it is not printed, and not written to files. */
#ifndef RAY_BASE_HASH_H
#define RAY_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ray_hash_secret {
	uint64_t add, multiply;
};

extern struct ray_hash_secret ray_hash_secret;	/* set before main() */
void ray_hash_choose(const uint8_t random[16]); /* another one: for tests, and only while there is no map */

/* Both halves of a product. What it makes of a bit depends on the secret: with some, few low bits. */
static inline uint64_t ray_hash_fold_(uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(word ^ ray_hash_secret.add) * ray_hash_secret.multiply;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Every bit reaches the low ones, whatever the secret is: places in maps are chosen by those. */
static inline uint64_t ray_hash_spread_(uint64_t hash)
{
	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93ULL;
	return hash ^ hash >> 32;
}

/* Takes one more word into a hash. The first one is 0, or whatever tells one kind of key from another. */
static inline uint64_t ray_hash_word(uint64_t hash, uint64_t word)
{
	return ray_hash_spread_(ray_hash_fold_(hash ^ word));
}

static inline uint64_t ray_hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
	const unsigned char *b = bytes;
	uint64_t word;

	hash = ray_hash_word(hash, size);
	for (; size >= sizeof(word); size -= sizeof(word), b += sizeof(word)) {
		memcpy(&word, b, sizeof(word));
		hash = ray_hash_fold_(hash ^ word);
	}
	word = 0;
	if (size)
		memcpy(&word, b, size);
	return ray_hash_word(hash, word);
}

static inline uint64_t ray_hash_text(uint64_t hash, const char *text)
{
	return ray_hash_bytes(hash, text, strlen(text));
}

/* Of a pointer to something that is kept once. */
static inline uint64_t ray_hash_pointer(uint64_t hash, const void *pointer)
{
	return ray_hash_word(hash, (uintptr_t)pointer);
}

#endif
