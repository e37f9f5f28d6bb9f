/* fuzz_cfi.c - any bytes as call frame instructions and as a DWARF expression. SPDX-License-Identifier: MIT
 *
 * fuzz_elf damages whole files and seldom gets this deep. Here a sound image is built around the input:
 * its first byte says how much of it goes to the CIE, the rest to an FDE for 0x1000 to 0x2000. */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elf/cfi.h"
#include "elf/elf.h"
#include "elf/rows.h"
#include "elf/unwind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PROGRAM_MAX = 4096, START = 0x1000, LENGTH = 0x1000 };

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[3];
	char names[32];
	uint8_t frame[2 * PROGRAM_MAX];
};

static size_t read_anything(void *arg, uint64_t address, void *buffer, size_t size)
{
	(void)arg;
	if (address % 7 == 0)
		return 0;
	memset(buffer, (int)(address >> 3), size);
	return size;
}

static size_t put(uint8_t *at, const void *bytes, size_t size)
{
	memcpy(at, bytes, size);
	return size;
}

static size_t put_entry(uint8_t *at, uint32_t id, const void *head, size_t head_size, const uint8_t *program,
			size_t size)
{
	uint32_t length = (uint32_t)(4 + head_size + size);
	size_t n = put(at, &length, 4);

	n += put(at + n, &id, 4);
	n += put(at + n, head, head_size);
	return n + put(at + n, program, size);
}

static size_t fill_frame(uint8_t *frame, const uint8_t *data, size_t size)
{
	/* Version 1, "zRS", code by 1, data by -8, return address in 16, absolute 4-byte addresses. */
	static const uint8_t cie[] = { 1, 'z', 'R', 'S', 0, 1, 0x78, 16, 1, 0x03 };
	static const uint32_t range[] = { START, LENGTH };
	size_t first = size ? data[0] % size : 0;
	uint8_t fde[9] = { 0 };
	size_t n;

	memcpy(fde, range, sizeof(range));
	n = put_entry(frame, 0, cie, sizeof(cie), data, first);
	n += put_entry(frame + n, (uint32_t)(n + 4), fde, sizeof(fde), data + first, size - first);
	return n + put(frame + n, "\0\0\0", 4);
}

static void fill_image(struct image *i, const uint8_t *data, size_t size)
{
	const uint64_t frame = offsetof(struct image, frame), names = offsetof(struct image, names);
	size_t frame_size = fill_frame(i->frame, data, size);

	i->header = (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
				  .e_type = ET_DYN,
				  .e_machine = EM_X86_64,
				  .e_version = EV_CURRENT,
				  .e_phoff = offsetof(struct image, segment),
				  .e_shoff = offsetof(struct image, sections),
				  .e_ehsize = sizeof(Elf64_Ehdr),
				  .e_phentsize = sizeof(Elf64_Phdr),
				  .e_phnum = 1,
				  .e_shentsize = sizeof(Elf64_Shdr),
				  .e_shnum = 3,
				  .e_shstrndx = 2 };
	i->segment = (Elf64_Phdr){ .p_type = PT_LOAD, .p_filesz = sizeof(*i), .p_memsz = 0x10000 };
	memset(i->sections, 0, sizeof(i->sections));
	i->sections[1] = (Elf64_Shdr){
		.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_addr = frame, .sh_offset = frame, .sh_size = frame_size
	};
	i->sections[2] = (Elf64_Shdr){ .sh_name = 11, .sh_type = SHT_STRTAB, .sh_offset = names, .sh_size = 32 };
	memcpy(i->names, "\0.eh_frame\0.shstrtab", 21);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct image image;
	const struct ray_reader memory = { read_anything, NULL };
	struct ray_unwind_regs regs, first = { .valid = (1u << RAY_UNWIND_REGS) - 1 };
	ray_auto(ray_elf, e) = NULL;
	uint64_t value = 0x8000;
	struct ray_rows rows;

	if (size > PROGRAM_MAX)
		size = PROGRAM_MAX;
	for (unsigned i = 0; i < RAY_UNWIND_REGS; i++)
		first.reg[i] = 0x7fff0000 + 8 * i;
	ray_expr_run(data, size, &first, 0x5000, &memory, size & 1 ? &value : NULL, &value);
	fill_image(&image, data, size);
	if (ray_elf_open_image(&image, sizeof(image), "input", &e) != NULL)
		abort();
	for (uint64_t at = START; at < START + LENGTH; at += 97) {
		regs = first;
		ray_unwind_step(e, at, 0x5000, &memory, &regs, NULL);
	}
	if (ray_rows_make(e, &rows))
		abort();
	for (size_t i = 1; i < rows.rows.n; i++)
		if (rows.rows.at[i].start <= rows.rows.at[i - 1].start)
			abort();
	ray_rows_deinit(&rows);
	/* The image itself is sound, so the entry is found for every pc in it and for no other. */
	regs = first;
	if (ray_unwind_step(e, START - 1, 0, &memory, &regs, NULL) != RAY_UNWIND_NO_ROW ||
	    ray_unwind_step(e, START + LENGTH, 0, &memory, &regs, NULL) != RAY_UNWIND_NO_ROW)
		abort();
	return 0;
}
