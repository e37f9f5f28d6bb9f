/* minidebug.c - the small symbol table that Fedora and its relatives leave in stripped files.
 * SPDX-License-Identifier: MIT
 *
 * .gnu_debugdata holds an xz-compressed ELF file whose .symtab has the functions that .dynsym lacks.
 * Compressed bytes are foreign too: memory and output are bounded. */
#include <lzma.h>
#include <string.h>

#include "elf/impl.h"

enum { DECODER_MAX = 96 << 20, OUTPUT_FIRST = 1 << 18, OUTPUT_MAX = 64 << 20 };

/* Decodes the whole stream into *ret, the caller's to free; false if it is broken or too large. */
static bool decode(const uint8_t *bytes, size_t size, uint8_t **ret, size_t *size_ret)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	size_t room = OUTPUT_FIRST;
	uint8_t *out = malloc(room);
	lzma_ret status = out ? lzma_stream_decoder(&stream, DECODER_MAX, 0) : LZMA_MEM_ERROR;

	stream.next_in = bytes;
	stream.avail_in = size;
	while (status == LZMA_OK) {
		stream.next_out = out + stream.total_out;
		stream.avail_out = room - stream.total_out;
		status = lzma_code(&stream, LZMA_FINISH);
		if (status == LZMA_OK && !stream.avail_out && room < OUTPUT_MAX) {
			uint8_t *grown = realloc(out, room *= 2);

			if (!grown)
				break;
			out = grown;
		} else if (status == LZMA_OK) {
			break; /* too large, or it wants input that is not there */
		}
	}
	*size_ret = stream.total_out;
	lzma_end(&stream);
	if (status != LZMA_STREAM_END) {
		free(out);
		return false;
	}
	*ret = out;
	return true;
}

struct ray_elf *ray_elf_minidebug(struct ray_elf *e)
{
	struct ray_elf *mini = NULL;
	const void *section;
	uint8_t *image;
	size_t size;
	uint64_t vaddr;
	struct ray_error *err;

	if (!ray_elf_section(e, ".gnu_debugdata", &section, &size, &vaddr) || !decode(section, size, &image, &size))
		return NULL;
	err = ray_elf_open_image(image, size, ".gnu_debugdata", &mini);
	ray_error_free(err);
	free(image);
	return mini;
}
