/* image.h - what an ELF image says of itself: program headers and build-id.
 * SPDX-License-Identifier: MIT
 *
 * Reads the same things from a file and from the memory it was mapped to, so that the two can be
 * compared: is this file the one that the process ran? Foreign bytes, small and bounded. Knows no
 * symbols (src/elf does) and no core. */
#ifndef RAY_TARGET_IMAGE_H
#define RAY_TARGET_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reader.h"

enum { RAY_IMAGE_MAX_HEADERS = 64, RAY_BUILD_ID_MAX = 64 };

struct ray_image {
	Elf64_Ehdr header;
	Elf64_Phdr headers[RAY_IMAGE_MAX_HEADERS];
	size_t header_count; /* that could be read */
	uint8_t build_id[RAY_BUILD_ID_MAX];
	size_t build_id_size; /* 0 if there is none, or it is not there to be read */
};

/* How the reader's addresses relate to the image. */
enum ray_image_form {
	RAY_IMAGE_FILE,	  /* address = file offset */
	RAY_IMAGE_MEMORY, /* address = where it was mapped; base is where the ELF header lies */
};

/* False when there is no 64-bit little-endian ELF header at base. */
bool ray_image_read(const struct ray_reader *r, uint64_t base, enum ray_image_form form, struct ray_image *ret);

enum ray_image_match {
	RAY_IMAGE_SAME_ID,     /* both have the same build-id */
	RAY_IMAGE_SAME_LAYOUT, /* no build-id to compare, but entry point and segments are the same */
	RAY_IMAGE_OTHER_ID,
	RAY_IMAGE_OTHER_LAYOUT, /* whatever the build-ids say: such a file cannot stand in for the memory */
};

enum ray_image_match ray_image_compare(const struct ray_image *a, const struct ray_image *b);
/* Build-id as hex; "none" when there is none. */
const char *ray_image_id_text(const struct ray_image *image, char out[RAY_BUILD_ID_MAX * 2 + 1]);
/* PROT_* of the segment that holds a file offset; -1 if none does. */
int ray_image_prot(const struct ray_image *image, uint64_t offset);
/* The first file offset that is mapped to be written to; UINT64_MAX if none is. */
uint64_t ray_image_data(const struct ray_image *image);
/* vaddr of the byte at a file offset. */
bool ray_image_vaddr(const struct ray_image *image, uint64_t offset, uint64_t *ret);

#endif
