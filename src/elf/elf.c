/* elf.c - opens and closes an ELF file, and says which file it is.
 * SPDX-License-Identifier: MIT
 *
 * The file is mapped once and handed to libelf as memory, so that nothing is read before it is
 * asked for. Bytes and addresses are in bytes.c, symbols in symbols.c, spans.c and dynamic.c. */
#include "elf/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "elf/cfi.h"
#include "elf/impl.h"
#include "elf/notes.h"

/* Only cores have more; a damaged file must not make us search thousands for every symbol. */
enum { SEGMENTS_MAX = 128 };

static const struct {
	uint16_t machine;
	const char *name;
} machines[] = {
	{ EM_386, "x86" },
	{ EM_X86_64, "x86-64" },
	{ EM_ARM, "ARM" },
	{ EM_AARCH64, "aarch64" },
	{ EM_RISCV, "RISC-V" },
	{ EM_PPC, "PowerPC" },
	{ EM_PPC64, "PowerPC 64" },
	{ EM_S390, "s390" },
	{ EM_MIPS, "MIPS" },
	{ EM_SPARC, "SPARC" },
	{ EM_SPARCV9, "SPARC" },
	{ EM_IA_64, "Itanium" },
	{ EM_LOONGARCH, "LoongArch" },
	{ EM_68K, "m68k" },
	{ EM_BPF, "BPF" },
};

static const char *machine_name(uint16_t machine, char out[32])
{
	for (size_t i = 0; i < RAY_COUNT(machines); i++)
		if (machines[i].machine == machine)
			return machines[i].name;
	snprintf(out, 32, "machine %u", machine);
	return out;
}

/* Says what a file is that is not a 64-bit little-endian ELF file for a machine we know. */
static struct ray_error *check_kind(const struct ray_elf *e)
{
	const uint8_t *b = e->bytes;
	bool big, wide, known;
	uint16_t machine;
	char number[32];

	if (e->size < SELFMAG || memcmp(b, ELFMAG, SELFMAG) != 0)
		return ray_error_new(RAY_UNREADABLE, "%s is not an ELF file", e->name);
	if (e->size < EI_NIDENT + 4)
		return ray_error_new(RAY_UNREADABLE, "%s ends inside its ELF header", e->name);
	if ((b[EI_CLASS] != ELFCLASS32 && b[EI_CLASS] != ELFCLASS64) ||
	    (b[EI_DATA] != ELFDATA2LSB && b[EI_DATA] != ELFDATA2MSB))
		return ray_error_new(RAY_UNREADABLE, "%s has a broken ELF header", e->name);
	wide = b[EI_CLASS] == ELFCLASS64;
	big = b[EI_DATA] == ELFDATA2MSB;
	machine = big ? b[18] << 8 | b[19] : b[19] << 8 | b[18];
	known = machine == EM_X86_64 || machine == EM_AARCH64;
	if (wide && !big && known) {
		if (e->size < sizeof(Elf64_Ehdr))
			return ray_error_new(RAY_UNREADABLE, "%s ends inside its ELF header", e->name);
		return NULL;
	}
	return ray_error_new(RAY_UNREADABLE,
			     "%s is a %d-bit %sELF file for %s; only 64-bit files for x86-64 and aarch64 can be read",
			     e->name, wide ? 64 : 32, big ? "big-endian " : "", machine_name(machine, number));
}

/* A damaged table is an absent one: what needs it says so. */
static bool copy_headers(struct ray_elf *e)
{
	const Elf64_Phdr *phdrs;
	size_t n;

	if (elf_getphdrnum(e->elf, &n) == 0 && n && (phdrs = elf64_getphdr(e->elf))) {
		if (e->type != ET_CORE && n > SEGMENTS_MAX)
			n = SEGMENTS_MAX;
		e->phdrs = reallocarray(NULL, n, sizeof(*phdrs));
		if (!e->phdrs)
			return false;
		memcpy(e->phdrs, phdrs, n * sizeof(*phdrs));
		e->phdr_count = n;
	}
	if (elf_getshdrnum(e->elf, &n) != 0 || !n)
		return true;
	e->sections = calloc(n, sizeof(*e->sections));
	if (!e->sections)
		return false;
	for (size_t i = 0; i < n; i++) {
		Elf_Scn *scn = elf_getscn(e->elf, i);
		const Elf64_Shdr *s = scn ? elf64_getshdr(scn) : NULL;

		if (s)
			e->sections[i] = *s;
	}
	e->section_count = n;
	if (elf_getshdrstrndx(e->elf, &n) == 0 && n < e->section_count)
		e->section_names = n;
	return true;
}

static struct ray_error *start(struct ray_elf *e)
{
	struct ray_error *err = check_kind(e);
	const Elf64_Ehdr *h;

	if (err)
		return err;
	elf_version(EV_CURRENT);
	/* libelf takes char * but never writes to a file that it only reads. */
	e->elf = elf_memory((char *)(uintptr_t)e->bytes, e->size);
	h = e->elf ? elf64_getehdr(e->elf) : NULL;
	if (!h)
		return ray_error_new(RAY_UNREADABLE, "%s has a broken ELF header: %s", e->name, elf_errmsg(-1));
	e->type = h->e_type;
	e->machine = h->e_machine;
	return copy_headers(e) ? NULL : &ray_enomem;
}

static struct ray_elf *create(const char *name)
{
	struct ray_elf *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->fd = -1;
	e->name = strdup(name);
	if (!e->name) {
		free(e);
		return NULL;
	}
	return e;
}

void ray_elf_close(struct ray_elf *e)
{
	if (!e)
		return;
	ray_unwinder_free(e->unwinder);
	ray_elf_close(e->debug);
	if (e->elf)
		elf_end(e->elf);
	if (e->fd >= 0) {
		ray_mapping_close(&e->mapping);
		close(e->fd);
	} else {
		free((void *)(uintptr_t)e->bytes);
	}
	free(e->spans);
	ray_hashmap_free(&e->names);
	free(e->sections);
	free(e->phdrs);
	free(e->name);
	free(e);
}

static struct ray_error *map_file(struct ray_elf *e)
{
	struct stat st;

	if (fstat(e->fd, &st) != 0)
		return ray_error_errno(RAY_UNREADABLE, errno, "cannot look at %s", e->name);
	if (!S_ISREG(st.st_mode))
		return ray_error_new(RAY_UNREADABLE, "%s is %s, not an ELF file", e->name,
				     S_ISDIR(st.st_mode) ? "a directory" : "not a regular file");
	if (st.st_size == 0)
		return ray_error_new(RAY_UNREADABLE, "%s is empty", e->name);
	if (!ray_mapping_open(&e->mapping, e->fd, (size_t)st.st_size))
		return ray_error_errno(RAY_UNREADABLE, errno, "cannot map %s", e->name);
	e->bytes = e->mapping.bytes;
	e->size = e->mapping.size;
	return NULL;
}

struct ray_error *ray_elf_open_fd(int fd, const char *name, struct ray_elf **ret)
{
	ray_auto(ray_elf, e) = create(name);
	struct ray_error *err;

	if (!e) {
		close(fd);
		return &ray_enomem;
	}
	e->fd = fd;
	err = map_file(e);
	if (!err)
		err = start(e);
	if (err)
		return err;
	*ret = ray_take(e);
	return NULL;
}

struct ray_error *ray_elf_open(const char *path, struct ray_elf **ret)
{
	/* O_NONBLOCK: a FIFO must not hang us; it is refused right after. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return ray_error_errno(RAY_UNREADABLE, errno, "cannot open %s", path);
	return ray_elf_open_fd(fd, path, ret);
}

struct ray_error *ray_elf_open_image(const void *image, size_t size, const char *name, struct ray_elf **ret)
{
	ray_auto(ray_elf, e) = create(name);
	struct ray_error *err;
	uint8_t *copy;

	if (!e)
		return &ray_enomem;
	if (size == 0)
		return ray_error_new(RAY_UNREADABLE, "%s is empty", name);
	copy = malloc(size);
	if (!copy)
		return &ray_enomem;
	memcpy(copy, image, size);
	e->bytes = copy;
	e->size = size;
	err = start(e);
	if (err)
		return err;
	*ret = ray_take(e);
	return NULL;
}

const char *ray_elf_name(const struct ray_elf *e)
{
	return e->name;
}

static bool take_build_id(const char *owner, uint32_t type, const void *desc, size_t size, void *arg)
{
	struct ray_elf *e = arg;

	if (type != NT_GNU_BUILD_ID || strcmp(owner, "GNU") != 0 || !size || size > RAY_BUILD_ID_MAX)
		return true;
	memcpy(e->build_id, desc, size);
	e->build_id_size = size;
	for (size_t i = 0; i < size; i++)
		sprintf(e->build_id_text + 2 * i, "%02x", e->build_id[i]);
	return false;
}

const uint8_t *ray_elf_build_id(struct ray_elf *e, size_t *size_ret)
{
	if (!e->build_id_done) {
		e->build_id_done = true;
		if (e->type != ET_CORE)
			ray_elf_each_note(e, take_build_id, e);
	}
	*size_ret = e->build_id_size;
	return e->build_id_size ? e->build_id : NULL;
}

const char *ray_elf_build_id_text(struct ray_elf *e)
{
	size_t size;

	ray_elf_build_id(e, &size);
	return e->build_id_text;
}
