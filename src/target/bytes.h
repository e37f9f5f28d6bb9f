/* bytes.h - a file of any size, read in small pieces at random places.
 * SPDX-License-Identifier: MIT
 *
 * Keeps a few windows in memory, so that thousands of 8-byte reads cost few system calls. Never maps
 * the file: one that is truncated while it is read gives short reads, not SIGBUS. */
#ifndef RAY_TARGET_BYTES_H
#define RAY_TARGET_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "base/auto.h"

struct ray_bytes;

/* Takes the fd over, also on failure (NULL: no memory, or the file's size cannot be had). */
struct ray_bytes *ray_bytes_open(int fd);
void ray_bytes_close(struct ray_bytes *b);
RAY_DEFINE_AUTO(ray_bytes, ray_bytes_close)

uint64_t ray_bytes_size(const struct ray_bytes *b); /* when it was opened */
int ray_bytes_fd(const struct ray_bytes *b);
/* How many bytes could be had from offset on, at most size. */
size_t ray_bytes_read(struct ray_bytes *b, uint64_t offset, void *buffer, size_t size);

#endif
