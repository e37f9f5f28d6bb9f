/* notes.c - walks ELF notes. Pure over bytes; does not know what any note means.
 * SPDX-License-Identifier: MIT */
#include "elf/notes.h"

#include <string.h>

#include "elf/impl.h"

/* Far longer than any owner in use; a longer one is cut. */
enum { OWNER_MAX = 64 };

static size_t align_up(size_t at, size_t align)
{
	return (at + align - 1) & ~(align - 1);
}

static bool all_zero(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

/* Old kernels and some tools leave the NUL out of the owner's name, so it is always copied. */
static void copy_owner(const uint8_t *name, size_t size, char out[OWNER_MAX])
{
	size_t length = strnlen((const char *)name, size);

	if (length >= OWNER_MAX)
		length = OWNER_MAX - 1;
	memcpy(out, name, length);
	out[length] = 0;
}

bool ray_note_each(const void *bytes, size_t size, size_t align, ray_note_fn *each, void *arg)
{
	const uint8_t *b = bytes;
	size_t at = 0;

	if (align != 8)
		align = 4;
	while (at < size) {
		Elf64_Nhdr h;
		size_t desc;
		char owner[OWNER_MAX];

		if (size - at < sizeof(h))
			return all_zero(b + at, size - at);
		memcpy(&h, b + at, sizeof(h));
		if (h.n_namesz > size - at - sizeof(h))
			return false;
		desc = align_up(at + sizeof(h) + h.n_namesz, align);
		if (h.n_descsz && (desc > size || h.n_descsz > size - desc))
			return false;
		copy_owner(b + at + sizeof(h), h.n_namesz, owner);
		if (!each(owner, h.n_type, h.n_descsz ? b + desc : b, h.n_descsz, arg))
			return true;
		at = align_up(desc + h.n_descsz, align);
	}
	return true;
}

struct walk {
	ray_note_fn *each;
	void *arg;
	bool any, stopped;
};

static bool forward(const char *owner, uint32_t type, const void *desc, size_t size, void *arg)
{
	struct walk *w = arg;

	w->any = true;
	w->stopped = !w->each(owner, type, desc, size, w->arg);
	return !w->stopped;
}

void ray_elf_each_note(struct ray_elf *e, ray_note_fn *each, void *arg)
{
	struct walk w = { .each = each, .arg = arg };

	for (size_t i = 0; i < e->phdr_count && !w.stopped; i++) {
		const Elf64_Phdr *p = &e->phdrs[i];
		const uint8_t *bytes = p->p_type == PT_NOTE ? ray_elf_range(e, p->p_offset, p->p_filesz) : NULL;

		if (bytes)
			ray_note_each(bytes, p->p_filesz, p->p_align, forward, &w);
	}
	for (size_t i = 0; i < e->section_count && !w.any && !w.stopped; i++) {
		const Elf64_Shdr *s = &e->sections[i];
		const uint8_t *bytes = s->sh_type == SHT_NOTE ? ray_elf_range(e, s->sh_offset, s->sh_size) : NULL;

		if (bytes)
			ray_note_each(bytes, s->sh_size, s->sh_addralign, forward, &w);
	}
}
