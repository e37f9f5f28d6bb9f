/* unpack.h - zstd, lz4, gzip and xz files as a stream of bytes.
 * SPDX-License-Identifier: MIT
 *
 * Told by their first bytes, never by name. Foreign bytes: a stream that is cut or damaged gives what
 * came before the damage, and says so. Knows nothing of cores. */
#ifndef RAY_TARGET_UNPACK_H
#define RAY_TARGET_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum ray_packing {
	RAY_PACKED_NOT,
	RAY_PACKED_ZSTD,
	RAY_PACKED_LZ4,
	RAY_PACKED_GZIP,
	RAY_PACKED_XZ,
	/* Recognised, so that the message can name the tool; not read. */
	RAY_PACKED_BZIP2,
	RAY_PACKED_LZ4_LEGACY,
};

enum { RAY_PACKING_MAGIC = 6 }; /* bytes needed to tell */

enum ray_packing ray_packing_of(const unsigned char *bytes, size_t size);
const char *ray_packing_name(enum ray_packing packing); /* "zstd" */

struct ray_unpacker;

/* Reads fd from its start; does not own it. */
RAY_MUST_USE struct ray_error *ray_unpacker_create(int fd, enum ray_packing packing, struct ray_unpacker **ret);
void ray_unpacker_free(struct ray_unpacker *u);
RAY_DEFINE_AUTO(ray_unpacker, ray_unpacker_free)

/* Fills buffer as far as the stream goes; less than size is the end. */
size_t ray_unpacker_read(struct ray_unpacker *u, void *buffer, size_t size);
/* After the end: what was wrong with the stream ("ends early"), or NULL. */
const char *ray_unpacker_trouble(const struct ray_unpacker *u);
uint64_t ray_unpacker_consumed(const struct ray_unpacker *u); /* packed bytes */

#endif
