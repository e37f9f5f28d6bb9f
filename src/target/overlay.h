/* overlay.h - bytes that somebody saw at addresses of a target, laid over its memory. SPDX-License-Identifier: MIT
 *
 * For a picture that others took (the walker in the kernel): what they read is true for that moment, what the memory
 * holds now may not be. Pieces are small, may overlap and are not copied. */
#ifndef RAY_TARGET_OVERLAY_H
#define RAY_TARGET_OVERLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RAY_OVERLAY_PIECE = 256 }; /* the most bytes of a piece */

struct ray_overlay_piece {
	uint64_t start;
	size_t size;
	const void *bytes;
};

/* Sorts the pieces by address, as the other functions need them. */
void ray_overlay_sort(struct ray_overlay_piece *pieces, size_t count);
/* All of [address, address + size) from one piece; false when none has it all. */
bool ray_overlay_read(const struct ray_overlay_piece *pieces, size_t count, uint64_t address, void *buffer,
		      size_t size);
/* Writes over the bytes of buffer, which hold memory from address on, what the pieces know better. */
void ray_overlay_patch(const struct ray_overlay_piece *pieces, size_t count, uint64_t address, void *buffer,
		       size_t size);

#endif
