/* image.c - see image.h. SPDX-License-Identifier: MIT */
#include "target/image.h"

#include <string.h>
#include <sys/mman.h>

#include "base/auto.h"

enum { PAGE = 4096, MAX_NOTES = 65536 /* bytes of notes looked at */ };

static bool read_header(const struct ray_reader *r, uint64_t base, Elf64_Ehdr *h)
{
	return ray_read(r, base, h, sizeof(*h)) && !memcmp(h->e_ident, ELFMAG, SELFMAG) &&
	       h->e_ident[EI_CLASS] == ELFCLASS64 && h->e_ident[EI_DATA] == ELFDATA2LSB;
}

static const Elf64_Phdr *first_load(const struct ray_image *image)
{
	const Elf64_Phdr *first = NULL;

	for (size_t i = 0; i < image->header_count; i++) {
		const Elf64_Phdr *p = &image->headers[i];

		if (p->p_type == PT_LOAD && (!first || p->p_vaddr < first->p_vaddr))
			first = p;
	}
	return first;
}

/* Looks for the GNU build-id among the notes at address; *left limits the bytes looked at in all of an image. */
static bool read_build_id(const struct ray_reader *r, uint64_t address, uint64_t size, uint64_t *left,
			  struct ray_image *image)
{
	uint64_t at = 0, name_size, desc_size;
	Elf64_Nhdr n;
	char name[4];

	if (size > *left)
		size = *left;
	*left -= size;
	while (size - at >= sizeof(n) && ray_read(r, address + at, &n, sizeof(n))) {
		name_size = ((uint64_t)n.n_namesz + 3) & ~3ull;
		desc_size = ((uint64_t)n.n_descsz + 3) & ~3ull;
		at += sizeof(n);
		if (name_size > size - at || desc_size > size - at - name_size)
			return false;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && n.n_descsz && n.n_descsz <= RAY_BUILD_ID_MAX &&
		    ray_read(r, address + at, name, 4) && !memcmp(name, "GNU", 4) &&
		    ray_read(r, address + at + name_size, image->build_id, n.n_descsz)) {
			image->build_id_size = n.n_descsz;
			return true;
		}
		at += name_size + desc_size;
	}
	return false;
}

bool ray_image_read(const struct ray_reader *r, uint64_t base, enum ray_image_form form, struct ray_image *ret)
{
	const Elf64_Phdr *first;
	uint64_t address, left = MAX_NOTES;
	size_t i;

	memset(ret, 0, sizeof(*ret));
	if (!read_header(r, base, &ret->header) || ret->header.e_phentsize != sizeof(Elf64_Phdr))
		return false;
	for (i = 0; i < ret->header.e_phnum && i < RAY_IMAGE_MAX_HEADERS; i++) {
		if (!ray_read(r, base + ret->header.e_phoff + i * sizeof(Elf64_Phdr), &ret->headers[i],
			      sizeof(Elf64_Phdr)))
			break;
	}
	ret->header_count = i;
	first = first_load(ret);
	for (i = 0; i < ret->header_count; i++) {
		const Elf64_Phdr *p = &ret->headers[i];

		if (p->p_type != PT_NOTE || (form == RAY_IMAGE_MEMORY && !first))
			continue;
		address = form == RAY_IMAGE_FILE ? base + p->p_offset :
						   base + (p->p_vaddr - (first->p_vaddr & ~(uint64_t)(PAGE - 1)));
		if (read_build_id(r, address, p->p_filesz, &left, ret))
			break;
	}
	return true;
}

static bool is_same_layout(const struct ray_image *a, const struct ray_image *b)
{
	size_t n = a->header_count < b->header_count ? a->header_count : b->header_count;

	if (a->header.e_machine != b->header.e_machine || a->header.e_entry != b->header.e_entry ||
	    a->header.e_phnum != b->header.e_phnum || a->header.e_type != b->header.e_type)
		return false;
	for (size_t i = 0; i < n; i++) {
		const Elf64_Phdr *x = &a->headers[i], *y = &b->headers[i];

		if (x->p_type != y->p_type)
			return false;
		if (x->p_type == PT_LOAD && (x->p_offset != y->p_offset || x->p_vaddr != y->p_vaddr ||
					     x->p_filesz != y->p_filesz || x->p_memsz != y->p_memsz))
			return false;
	}
	return true;
}

enum ray_image_match ray_image_compare(const struct ray_image *a, const struct ray_image *b)
{
	bool have_ids = a->build_id_size && b->build_id_size;

	if (have_ids && (a->build_id_size != b->build_id_size || memcmp(a->build_id, b->build_id, a->build_id_size)))
		return RAY_IMAGE_OTHER_ID;
	if (!is_same_layout(a, b))
		return RAY_IMAGE_OTHER_LAYOUT;
	return have_ids ? RAY_IMAGE_SAME_ID : RAY_IMAGE_SAME_LAYOUT;
}

const char *ray_image_id_text(const struct ray_image *image, char out[RAY_BUILD_ID_MAX * 2 + 1])
{
	if (!image->build_id_size)
		return "none";
	for (size_t i = 0; i < image->build_id_size; i++)
		snprintf(out + 2 * i, 3, "%02x", image->build_id[i]);
	return out;
}

static const Elf64_Phdr *load_at(const struct ray_image *image, uint64_t offset)
{
	for (size_t i = 0; i < image->header_count; i++) {
		const Elf64_Phdr *p = &image->headers[i];
		uint64_t start = p->p_offset & ~(uint64_t)(PAGE - 1);

		/* The last page of a segment is mapped whole. */
		if (p->p_type == PT_LOAD && offset >= start && p->p_filesz <= UINT64_MAX - PAGE - p->p_offset &&
		    offset < ((p->p_offset + p->p_filesz + PAGE - 1) & ~(uint64_t)(PAGE - 1)))
			return p;
	}
	return NULL;
}

int ray_image_prot(const struct ray_image *image, uint64_t offset)
{
	const Elf64_Phdr *p = load_at(image, offset);

	if (!p)
		return -1;
	return (p->p_flags & PF_R ? PROT_READ : 0) | (p->p_flags & PF_W ? PROT_WRITE : 0) |
	       (p->p_flags & PF_X ? PROT_EXEC : 0);
}

uint64_t ray_image_data(const struct ray_image *image)
{
	uint64_t lowest = UINT64_MAX;

	for (size_t i = 0; i < image->header_count; i++) {
		const Elf64_Phdr *p = &image->headers[i];
		uint64_t start = p->p_offset & ~(uint64_t)(PAGE - 1);

		if (p->p_type == PT_LOAD && (p->p_flags & PF_W) && start < lowest)
			lowest = start;
	}
	return lowest;
}

bool ray_image_vaddr(const struct ray_image *image, uint64_t offset, uint64_t *ret)
{
	const Elf64_Phdr *p = load_at(image, offset);

	if (!p)
		return false;
	*ret = p->p_vaddr + (offset - p->p_offset);
	return true;
}
