/* fuzz_elf.c - any bytes as an ELF image: every question of src/elf is asked. SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "elf/demangle.h"
#include "elf/elf.h"
#include "elf/notes.h"
#include "elf/rows.h"
#include "elf/unwind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every address holds something, so that unwinding goes on. */
static size_t read_anything(void *arg, uint64_t address, void *buffer, size_t size)
{
	(void)arg;
	if (address % 7 == 0)
		return 0;
	for (size_t i = 0; i < size; i++)
		((uint8_t *)buffer)[i] = (uint8_t)((address + i) * 31 >> 3);
	return size;
}

static bool use_note(const char *owner, uint32_t type, const void *desc, size_t size, void *arg)
{
	uint64_t *sum = arg;

	*sum += strlen(owner) + type;
	for (size_t i = 0; i < size; i++)
		*sum += ((const uint8_t *)desc)[i];
	return true;
}

struct walk {
	struct ray_elf *elf;
	unsigned left;
};

static void unwind(struct ray_elf *e, uint64_t vaddr)
{
	const struct ray_reader memory = { read_anything, NULL };
	struct ray_unwind_regs regs = { .valid = (1u << RAY_UNWIND_REGS) - 1 };

	for (unsigned i = 0; i < RAY_UNWIND_REGS; i++)
		regs.reg[i] = 0x7fff0000 + 8 * i;
	for (int i = 0; i < 4 && ray_unwind_step(e, vaddr, 0, &memory, &regs, NULL) == RAY_UNWIND_OK; i++)
		vaddr += regs.reg[RAY_UNWIND_PC] % 64;
}

static bool use_symbol(const struct ray_symbol *s, void *arg)
{
	struct walk *w = arg;
	struct ray_symbol other;

	free(ray_demangle(s->name, (int)(s->value & 1)));
	ray_elf_find_symbol(w->elf, s->name, &other);
	ray_elf_find_dynamic(w->elf, s->name, &other);
	if (ray_elf_symbol_at(w->elf, s->value + s->size / 2, &other) && !strlen(other.name))
		abort();
	unwind(w->elf, s->value);
	unwind(w->elf, s->value + s->size / 2);
	return --w->left > 0;
}

static void use_addresses(struct ray_elf *e)
{
	struct ray_rows rows;
	struct ray_symbol s;
	uint8_t buffer[256];
	uint64_t vaddr, offset;
	size_t size;

	ray_error_free(ray_rows_make(e, &rows));
	ray_rows_deinit(&rows);
	ray_elf_bytes(e, &size);
	for (size_t at = 0; at < size; at += size / 64 + 1) {
		ray_elf_read_file(e, at, buffer, sizeof(buffer));
		if (!ray_elf_offset_to_vaddr(e, at, &vaddr))
			continue;
		ray_elf_vaddr_to_offset(e, vaddr, &offset);
		ray_elf_read(e, vaddr, buffer, sizeof(buffer));
		ray_elf_symbol_at(e, vaddr, &s);
		unwind(e, vaddr);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const sections[] = { ".text", ".eh_frame", ".rodata", ".symtab", "" };
	static const char *const names[] = { "main", "no_such_symbol", "", "_ZN4node5StartEiPPc" };
	ray_auto(ray_elf, e) = NULL;
	ray_auto(ray_error, err) = ray_elf_open_image(data, size, "input", &e);
	uint64_t sum = 0;

	if (err)
		return 0;
	struct walk w = { e, 200 };
	struct ray_symbol s;
	const void *bytes;
	uint64_t vaddr;

	ray_elf_build_id_text(e);
	ray_elf_is_stripped(e);
	ray_elf_tls_size(e);
	ray_elf_each_note(e, use_note, &sum);
	ray_note_each(data, size, 8, use_note, &sum);
	for (size_t i = 0; i < RAY_COUNT(names); i++) {
		ray_elf_find_dynamic(e, names[i], &s);
		ray_elf_find_symbol(e, names[i], &s);
	}
	for (size_t i = 0; i < RAY_COUNT(sections); i++)
		if (ray_elf_section(e, sections[i], &bytes, &size, &vaddr) && size)
			sum += ((const uint8_t *)bytes)[size - 1];
	ray_elf_each_symbol(e, use_symbol, &w);
	use_addresses(e);
	return 0;
}
