/* mapping.h - a file mapped for reading that survives the file being cut short.
 * SPDX-License-Identifier: MIT
 *
 * Touching a mapped page past the end of a file that somebody truncated (cp over a library does that)
 * raises SIGBUS. Here such pages read as zeros instead, which the readers of ELF tables take for a
 * damaged file. The handler is the process's own but passes every other SIGBUS on. */
#ifndef RAY_ELF_MAPPING_H
#define RAY_ELF_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ray_mapping {
	const uint8_t *bytes;
	size_t size;
	struct ray_mapping *next; /* all that are open, for the handler */
};

/* False with errno. The mapping stays where it is in memory until it is closed. */
bool ray_mapping_open(struct ray_mapping *m, int fd, size_t size);
void ray_mapping_close(struct ray_mapping *m); /* does nothing if it was not opened */

#endif
