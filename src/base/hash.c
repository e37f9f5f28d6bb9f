/* hash.c - see hash.h. SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include <sys/auxv.h>
#include <sys/random.h>

struct ray_hash_secret ray_hash_secret;

/* Where the kernel has no random numbers yet, those do that it gave to this process when it started. */
__attribute__((constructor)) static void choose_secret(void)
{
	const void *given = (const void *)getauxval(AT_RANDOM);

	if (getrandom(&ray_hash_secret, sizeof(ray_hash_secret), GRND_NONBLOCK) != sizeof(ray_hash_secret) && given)
		memcpy(&ray_hash_secret, given, sizeof(ray_hash_secret));
	/* An even or a small factor would lose what words differ in. */
	ray_hash_secret.multiply |= 1ULL << 63 | 1;
}
