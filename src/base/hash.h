/* hash.h - hashes of words, bytes and strings.
 * SPDX-License-Identifier: MIT
 *
 *   uint64_t hash = ray_hash_word(ray_hash_text(0, name), line);
 *
 * The hash is keyed with a random secret per run, so that a traced program cannot choose names or keys that
 * collide. Do not print hashes or write them to files: they differ in each run. */
#ifndef RAY_BASE_HASH_H
#define RAY_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ray_hash_secret {
	uint64_t add, multiply;
};

extern struct ray_hash_secret ray_hash_secret;	/* set before main() */
void ray_hash_choose(const uint8_t random[16]); /* for tests; invalidates existing maps */

/* Both halves of the 128-bit product. Some secrets propagate a bit to few of the low bits: see ray_hash_spread_(). */
static inline uint64_t ray_hash_fold_(uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(word ^ ray_hash_secret.add) * ray_hash_secret.multiply;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Propagates every bit to the low bits, which select the slot in a map. */
static inline uint64_t ray_hash_spread_(uint64_t hash)
{
	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93ULL;
	return hash ^ hash >> 32;
}

/* Adds a word to a hash. Start with 0, or with a number that distinguishes kinds of keys. */
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

/* For interned strings and other objects that exist once. */
static inline uint64_t ray_hash_pointer(uint64_t hash, const void *pointer)
{
	return ray_hash_word(hash, (uintptr_t)pointer);
}

#endif
