/* pins.h - bytes that were copied while the target was stopped.
 * SPDX-License-Identifier: MIT
 *
 * Two shapes, because two things are copied: whole stacks (few, large) and the surroundings of
 * heap objects (many, small; kept in blocks of RAY_PIN_BLOCK bytes found by hash). Pure memory;
 * knows no target. */
#ifndef RAY_TARGET_PINS_H
#define RAY_TARGET_PINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/auto.h"

enum { RAY_PIN_BLOCK = 256 };

struct ray_pins;

struct ray_pins *ray_pins_create(void); /* NULL without memory */
void ray_pins_free(struct ray_pins *p);
RAY_DEFINE_AUTO(ray_pins, ray_pins_free)

/* Takes bytes (malloc'ed) over, also on failure. */
bool ray_pins_add_range(struct ray_pins *p, uint64_t start, unsigned char *bytes, size_t size);
/* Room for the block that starts at address (a multiple of RAY_PIN_BLOCK), to be filled by the caller;
 * NULL when it is there already or there is no memory. */
unsigned char *ray_pins_new_block(struct ray_pins *p, uint64_t address);
/* Forgets a block that could not be filled. Only the newest can be dropped in any order. */
void ray_pins_drop_block(struct ray_pins *p, uint64_t address);
/* How many bytes from address on are pinned, at most size; copies them. When none are, *gap_ret says
 * how many bytes from address on are certainly not pinned (at least 1). */
size_t ray_pins_read(const struct ray_pins *p, uint64_t address, void *buffer, size_t size, size_t *gap_ret);

#endif
