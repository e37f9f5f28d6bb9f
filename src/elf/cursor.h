/* cursor.h - reads DWARF's little numbers from foreign bytes; for src/elf only.
 * SPDX-License-Identifier: MIT
 *
 * Past the end everything reads as 0 and `bad` is set, so that a reader checks once, at its end. */
#ifndef RAY_ELF_CURSOR_H
#define RAY_ELF_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ray_cursor {
	const uint8_t *at, *end;
	bool bad;
};

static inline size_t ray_cursor_left(const struct ray_cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline const uint8_t *ray_cursor_skip(struct ray_cursor *c, uint64_t size)
{
	const uint8_t *at = c->at;

	if (size > ray_cursor_left(c)) {
		c->bad = true;
		c->at = c->end;
		return NULL;
	}
	c->at += size;
	return at;
}

/* An unsigned little-endian number of 1 to 8 bytes. */
static inline uint64_t ray_cursor_fixed(struct ray_cursor *c, size_t size)
{
	const uint8_t *at = ray_cursor_skip(c, size);
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, size);
	return value;
}

static inline int64_t ray_cursor_fixed_signed(struct ray_cursor *c, size_t size)
{
	unsigned unused_bits = 64 - 8 * (unsigned)size;

	return (int64_t)(ray_cursor_fixed(c, size) << unused_bits) >> unused_bits;
}

static inline uint64_t ray_cursor_leb(struct ray_cursor *c, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		if (c->at == c->end) {
			c->bad = true;
			return 0;
		}
		byte = *c->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && byte & 0x40 && shift < 64)
		value |= ~(uint64_t)0 << shift;
	return value;
}

static inline uint64_t ray_cursor_uleb(struct ray_cursor *c)
{
	return ray_cursor_leb(c, false);
}

static inline int64_t ray_cursor_sleb(struct ray_cursor *c)
{
	return (int64_t)ray_cursor_leb(c, true);
}

#endif
