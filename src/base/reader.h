/* reader.h - somebody's memory, as a function.
 * SPDX-License-Identifier: MIT
 *
 * The one way in which layers above src/target read a target's memory without knowing what it is:
 * a process, a core, a snapshot, or an array in a unit test. */
#ifndef RAY_BASE_READER_H
#define RAY_BASE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ray_reader {
	/* Copies up to size bytes from address; returns how many could be read from its start. */
	size_t (*read)(void *arg, uint64_t address, void *buffer, size_t size);
	void *arg;
};

static inline bool ray_read(const struct ray_reader *r, uint64_t address, void *buffer, size_t size)
{
	return r->read(r->arg, address, buffer, size) == size;
}

static inline bool ray_read_u64(const struct ray_reader *r, uint64_t address, uint64_t *ret)
{
	return ray_read(r, address, ret, sizeof(*ret));
}

static inline bool ray_read_u32(const struct ray_reader *r, uint64_t address, uint32_t *ret)
{
	return ray_read(r, address, ret, sizeof(*ret));
}

static inline bool ray_read_u16(const struct ray_reader *r, uint64_t address, uint16_t *ret)
{
	return ray_read(r, address, ret, sizeof(*ret));
}

#endif
