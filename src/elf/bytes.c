/* bytes.c - bytes of an ELF file by offset, address or section, and what address an offset has.
 * SPDX-License-Identifier: MIT
 *
 * Copies (ray_elf_read, ray_elf_read_file) go through pread and not through the mapping: a file
 * that is truncated under us then gives a short read and not zeros. */
#include <errno.h>
#include <string.h>

#include "elf/impl.h"

const uint8_t *ray_elf_range(const struct ray_elf *e, uint64_t offset, uint64_t size)
{
	if (offset > e->size || size > e->size - offset)
		return NULL;
	return e->bytes + offset;
}

const Elf64_Phdr *ray_elf_phdr(const struct ray_elf *e, uint32_t type)
{
	for (size_t i = 0; i < e->phdr_count; i++)
		if (e->phdrs[i].p_type == type)
			return &e->phdrs[i];
	return NULL;
}

const Elf64_Shdr *ray_elf_section_of_type(const struct ray_elf *e, uint32_t type)
{
	for (size_t i = 0; i < e->section_count; i++)
		if (e->sections[i].sh_type == type)
			return &e->sections[i];
	return NULL;
}

const Elf64_Phdr *ray_elf_segment(const struct ray_elf *e, uint64_t vaddr)
{
	for (size_t i = 0; i < e->phdr_count; i++) {
		const Elf64_Phdr *p = &e->phdrs[i];

		if (p->p_type == PT_LOAD && vaddr >= p->p_vaddr && vaddr - p->p_vaddr < p->p_memsz)
			return p;
	}
	return NULL;
}

bool ray_elf_vaddr_to_offset(struct ray_elf *e, uint64_t vaddr, uint64_t *ret)
{
	for (size_t i = 0; i < e->phdr_count; i++) {
		const Elf64_Phdr *p = &e->phdrs[i];

		if (p->p_type == PT_LOAD && vaddr >= p->p_vaddr && vaddr - p->p_vaddr < p->p_filesz) {
			*ret = p->p_offset + (vaddr - p->p_vaddr);
			return true;
		}
	}
	return false;
}

static bool offset_in(const Elf64_Phdr *p, uint64_t offset, uint64_t slack)
{
	uint64_t start = p->p_offset >= slack ? p->p_offset - slack : 0;

	return p->p_type == PT_LOAD && p->p_filesz && offset >= start && offset - start < p->p_filesz + 2 * slack;
}

bool ray_elf_offset_to_vaddr(struct ray_elf *e, uint64_t offset, uint64_t *ret)
{
	/* The kernel maps whole pages, so bytes beside a segment are in memory too: second choice. */
	static const uint64_t slacks[] = { 0, 4095 };

	for (size_t s = 0; s < RAY_COUNT(slacks); s++) {
		for (size_t i = 0; i < e->phdr_count; i++) {
			const Elf64_Phdr *p = &e->phdrs[i];

			if (offset_in(p, offset, slacks[s])) {
				*ret = p->p_vaddr + (offset - p->p_offset);
				return true;
			}
		}
	}
	return false;
}

const uint8_t *ray_elf_tail(const struct ray_elf *e, uint64_t vaddr, size_t *size_ret)
{
	for (size_t i = 0; i < e->phdr_count; i++) {
		const Elf64_Phdr *p = &e->phdrs[i];
		uint64_t in = vaddr - p->p_vaddr, left;

		if (p->p_type != PT_LOAD || vaddr < p->p_vaddr || in >= p->p_filesz)
			continue;
		if (p->p_offset > e->size || in >= e->size - p->p_offset)
			continue;
		left = p->p_filesz - in;
		if (left > e->size - p->p_offset - in)
			left = e->size - p->p_offset - in;
		*size_ret = left;
		return e->bytes + p->p_offset + in;
	}
	return NULL;
}

size_t ray_elf_read_file(struct ray_elf *e, uint64_t offset, void *buffer, size_t size)
{
	size_t done = 0;

	if (offset >= e->size)
		return 0;
	if (size > e->size - offset)
		size = e->size - offset;
	if (e->fd < 0) {
		memcpy(buffer, e->bytes + offset, size);
		return size;
	}
	while (done < size) {
		ssize_t n = pread(e->fd, (char *)buffer + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

/* How many bytes from vaddr on are zero because the file says so without holding them (.bss). A file of
 * debug information alone has all of its segments empty, which says nothing of what was in them. */
static uint64_t zeros_at(const struct ray_elf *e, uint64_t vaddr)
{
	const Elf64_Phdr *p = ray_elf_segment(e, vaddr);

	if (!p || !p->p_filesz || vaddr - p->p_vaddr < p->p_filesz)
		return 0;
	return p->p_memsz - (vaddr - p->p_vaddr);
}

size_t ray_elf_read(struct ray_elf *e, uint64_t vaddr, void *buffer, size_t size)
{
	size_t done = 0;

	while (done < size) {
		size_t left, part, got;
		const uint8_t *at = ray_elf_tail(e, vaddr + done, &left);

		if (!at) {
			left = zeros_at(e, vaddr + done);
			part = size - done < left ? size - done : left;
			memset((char *)buffer + done, 0, part);
			done += part;
			break;
		}
		part = size - done < left ? size - done : left;
		got = ray_elf_read_file(e, (uint64_t)(at - e->bytes), (char *)buffer + done, part);
		done += got;
		if (got < part)
			break;
	}
	return done;
}

static bool is_zero_filled(const struct ray_elf *e, uint64_t vaddr, size_t size)
{
	for (size_t i = 0; i < e->phdr_count; i++) {
		const Elf64_Phdr *p = &e->phdrs[i];
		uint64_t in = vaddr - p->p_vaddr;

		if (p->p_type == PT_LOAD && vaddr >= p->p_vaddr && in >= p->p_filesz && in < p->p_memsz &&
		    p->p_memsz - in >= size)
			return true;
	}
	return false;
}

bool ray_elf_read_int(struct ray_elf *e, uint64_t vaddr, int32_t *ret)
{
	int32_t value = 0;

	if (!is_zero_filled(e, vaddr, sizeof(value)) && ray_elf_read(e, vaddr, &value, sizeof(value)) != sizeof(value))
		return false;
	*ret = value;
	return true;
}

/* The relocations of a library that only add where it was loaded come sorted, and first. A file may say otherwise: so all are looked at. */
static bool find_relative(struct ray_elf *e, uint64_t vaddr, uint64_t *ret)
{
	const void *bytes;
	uint64_t at;
	size_t size;
	Elf64_Rela r;

	if (!ray_elf_section(e, ".rela.dyn", &bytes, &size, &at))
		return false;
	for (size_t i = 0; i + sizeof(r) <= size; i += sizeof(r)) {
		memcpy(&r, (const uint8_t *)bytes + i, sizeof(r));
		if (r.r_offset == vaddr && ELF64_R_TYPE(r.r_info) == R_X86_64_RELATIVE) {
			*ret = (uint64_t)r.r_addend;
			return true;
		}
	}
	return false;
}

bool ray_elf_read_pointer(struct ray_elf *e, uint64_t vaddr, uint64_t *ret)
{
	if (e->type == ET_DYN && find_relative(e, vaddr, ret))
		return true;
	return ray_elf_read(e, vaddr, ret, sizeof(*ret)) == sizeof(*ret);
}

const void *ray_elf_bytes(struct ray_elf *e, size_t *size_ret)
{
	*size_ret = e->size;
	return e->bytes;
}

/* False unless the name lies in .shstrtab, NUL included. */
static bool section_is_named(const struct ray_elf *e, const Elf64_Shdr *s, const char *name)
{
	const Elf64_Shdr *names = &e->sections[e->section_names];
	size_t length = strlen(name) + 1;
	const uint8_t *bytes;

	if (s->sh_name >= names->sh_size || names->sh_size - s->sh_name < length)
		return false;
	bytes = ray_elf_range(e, names->sh_offset, names->sh_size);
	return bytes && memcmp(bytes + s->sh_name, name, length) == 0;
}

bool ray_elf_section(struct ray_elf *e, const char *name, const void **bytes_ret, size_t *size_ret, uint64_t *vaddr_ret)
{
	for (size_t i = 1; i < e->section_count && e->section_names; i++) {
		const Elf64_Shdr *s = &e->sections[i];
		const uint8_t *bytes;

		if (s->sh_type == SHT_NOBITS || s->sh_flags & SHF_COMPRESSED || !s->sh_size ||
		    !section_is_named(e, s, name))
			continue;
		bytes = ray_elf_range(e, s->sh_offset, s->sh_size);
		if (!bytes)
			continue;
		*bytes_ret = bytes;
		*size_ret = s->sh_size;
		*vaddr_ret = s->sh_addr;
		return true;
	}
	return false;
}

uint64_t ray_elf_tls_size(struct ray_elf *e)
{
	const Elf64_Phdr *p = ray_elf_phdr(e, PT_TLS);
	uint64_t align;

	if (!p)
		return 0;
	align = p->p_align && !(p->p_align & (p->p_align - 1)) ? p->p_align : 1;
	return (p->p_memsz + align - 1) & ~(align - 1);
}
