/* impl.h - what the files of src/elf share; nobody else includes it.
 * SPDX-License-Identifier: MIT
 *
 * The header tables come from libelf and are copied; contents are read through
 * ray_elf_range(), which is the one place that checks a span against the end of the file. */
#ifndef RAY_ELF_IMPL_H
#define RAY_ELF_IMPL_H

#include <gelf.h>
#include <libelf.h>

#include "base/hashmap.h"
#include "elf/elf.h"
#include "elf/mapping.h"

enum { RAY_BUILD_ID_MAX = 64 };

/* A symbol table and its names. Names end in NUL within names_size: the tail past the last NUL is
 * cut off when the table is set up. */
struct ray_symbols {
	struct ray_elf *owner; /* whose sections st_shndx means */
	const uint8_t *entries;
	size_t count;
	const char *names;
	size_t names_size;
};

/* One span of addresses in the index of ray_elf_symbol_at(). */
struct ray_span {
	uint64_t start;
	uint32_t size; /* saturates */
	uint32_t index : 30;
	uint32_t table : 1;	  /* of ray_elf_tables() */
	uint32_t is_function : 1; /* spares a look at the symbol while sorting */
};

/* The hash table of .dynsym, whichever kind there is. */
struct ray_dynamic_hash {
	const uint8_t *bytes;
	size_t size;
	bool gnu; /* DT_GNU_HASH, else DT_HASH */
};

struct ray_unwinder;

/* Whoever names a frame asks for the same address several times over. */
enum { RAY_ASKED_SYMBOLS = 256 };

struct ray_asked_symbol {
	uint64_t vaddr;
	bool is_known, is_found;
	struct ray_symbol symbol;
};

struct ray_elf {
	char *name;
	int fd;			    /* -1 for an image in memory */
	struct ray_mapping mapping; /* of the fd */
	const uint8_t *bytes;
	size_t size;
	Elf *elf;
	uint16_t type, machine;

	Elf64_Phdr *phdrs;
	size_t phdr_count;
	Elf64_Shdr *sections;
	size_t section_count;
	size_t section_names; /* index of .shstrtab, 0 if none */

	bool build_id_done;
	uint8_t build_id[RAY_BUILD_ID_MAX];
	size_t build_id_size;
	char build_id_text[2 * RAY_BUILD_ID_MAX + 1];

	bool dynamic_done;
	struct ray_symbols dynamic;
	struct ray_dynamic_hash dynamic_hash;

	bool static_done;
	struct ray_symbols symtab;
	struct ray_elf *debug; /* the separate or embedded debug file that lent us its .symtab */
	bool is_minidebug;     /* embedded: has only what .dynsym lacks */

	bool names_done;
	RAY_HASHMAP(uint32_t) names; /* indexes of symbols */

	bool spans_done;
	struct ray_span *spans;
	size_t span_count;
	struct ray_asked_symbol asked[RAY_ASKED_SYMBOLS]; /* the last answers */

	bool unwinder_done;
	struct ray_unwinder *unwinder; /* NULL: no usable .eh_frame */
};

/* NULL unless the whole span lies in the file. */
const uint8_t *ray_elf_range(const struct ray_elf *e, uint64_t offset, uint64_t size);
/* The bytes from vaddr to the end of the initialised part of its segment. */
const uint8_t *ray_elf_tail(const struct ray_elf *e, uint64_t vaddr, size_t *size_ret);
/* The PT_LOAD that holds vaddr in memory; NULL if none. */
const Elf64_Phdr *ray_elf_segment(const struct ray_elf *e, uint64_t vaddr);
/* The first header of that type; NULL if none. */
const Elf64_Phdr *ray_elf_phdr(const struct ray_elf *e, uint32_t type);
const Elf64_Shdr *ray_elf_section_of_type(const struct ray_elf *e, uint32_t type);

/* Sets up a table from a section (SHT_SYMTAB, SHT_DYNSYM); false if it is unusable. */
bool ray_symbols_from_section(struct ray_elf *e, const Elf64_Shdr *section, struct ray_symbols *ret);
bool ray_symbols_init(struct ray_elf *e, const uint8_t *entries, size_t count, const char *names, size_t names_size,
		      struct ray_symbols *ret);
/* Copies entry i; false past the end. */
bool ray_symbols_entry(const struct ray_symbols *t, size_t i, Elf64_Sym *ret);
const char *ray_symbols_name(const struct ray_symbols *t, const Elf64_Sym *s);
void ray_symbols_fill(const struct ray_symbols *t, const Elf64_Sym *s, struct ray_symbol *ret);

/* .dynsym, found and set up at the first call. */
const struct ray_symbols *ray_elf_dynamic(struct ray_elf *e);
/* The tables that name the file best, one or two: .symtab, else the debug file's, else .dynsym. */
enum { RAY_TABLES_MAX = 2 };
size_t ray_elf_tables(struct ray_elf *e, const struct ray_symbols *ret[RAY_TABLES_MAX]);

/* The ELF file inside .gnu_debugdata, the caller's to close; NULL if there is none that is sound. */
struct ray_elf *ray_elf_minidebug(struct ray_elf *e);

#endif
