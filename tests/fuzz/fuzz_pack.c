/* fuzz_pack.c - any bytes as the columns of a packed profile. SPDX-License-Identifier: MIT
 *
 * The input is packed as it is behind the line that says what it is, so that the fuzzer reaches the columns and not only zlib. What can be read is sound,
 * and is the same when it was written and read once more. Its first byte says whether it is given as an HTML file instead. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/base64.h"
#include "profile/formats.h"
#include "profile/pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct ray_profile *p)
{
	ray_auto(ray_profile, again) = NULL;
	ray_auto_text once = { 0 }, twice = { 0 };

	if (ray_profile_check(p) || ray_profile_pack(p, &once) || ray_profile_unpack(once.bytes, once.length, &again) ||
	    ray_profile_pack(again, &twice))
		abort();
	if (p->samples.n != again->samples.n || p->nodes.n != again->nodes.n || once.length != twice.length)
		abort();
}

static struct ray_error *unpack(const uint8_t *data, size_t size, struct ray_profile **ret)
{
	ray_auto_text plain = { 0 }, packed = { 0 };
	ray_auto_memory uint8_t *bytes = NULL;
	uLongf length;

	ray_text_add(&plain, RAY_PACK_MAGIC);
	ray_text_add_bytes(&plain, data, size);
	length = compressBound(plain.length);
	bytes = malloc(length);
	if (!bytes || compress2(bytes, &length, (const uint8_t *)plain.bytes, plain.length, 1) != Z_OK)
		abort();
	ray_base64_add(&packed, bytes, length);
	return ray_profile_unpack(ray_text_get(&packed), packed.length, ret);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ray_auto(ray_profile, p) = NULL;
	struct ray_error *err;

	if (!size)
		return 0;
	err = data[0] & 1 ? unpack(data + 1, size - 1, &p) : ray_read_html((const char *)data + 1, size - 1, &p);
	if (err && !*ray_error_text(err))
		abort();
	ray_error_free(err);
	if (p)
		check(p);
	return 0;
}
