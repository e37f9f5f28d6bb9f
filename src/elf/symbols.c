/* symbols.c - the symbol tables of an ELF file and symbols by name. By address: spans.c.
 * SPDX-License-Identifier: MIT
 *
 * Looks in .symtab; a stripped file borrows that of its separate debug file, if the machine has
 * one with the same build-id, or that of the one it has inside, or makes do with .dynsym. */
#include <string.h>

#include "elf/impl.h"

/* Longer names are not indexed: a damaged table could make all of them megabytes long. */
enum { COUNT_MAX = (1 << 30) - 1, NAME_LENGTH_MAX = 4096 };

bool ray_symbols_init(struct ray_elf *e, const uint8_t *entries, size_t count, const char *names, size_t names_size,
		      struct ray_symbols *ret)
{
	const char *last = names_size ? memrchr(names, 0, names_size) : NULL;

	if (!last || !count)
		return false;
	/* Indexes hold 30 bits; no linker writes as many symbols. */
	if (count > COUNT_MAX)
		count = COUNT_MAX;
	ret->owner = e;
	ret->entries = entries;
	ret->count = count;
	ret->names = names;
	ret->names_size = (size_t)(last - names) + 1;
	return true;
}

bool ray_symbols_from_section(struct ray_elf *e, const Elf64_Shdr *section, struct ray_symbols *ret)
{
	const Elf64_Shdr *strings;
	const uint8_t *entries, *names;
	uint64_t size = section->sh_size;

	if (section->sh_link >= e->section_count || section->sh_entsize != sizeof(Elf64_Sym))
		return false;
	strings = &e->sections[section->sh_link];
	if (strings->sh_type != SHT_STRTAB)
		return false;
	/* A truncated file still has its first symbols. */
	if (section->sh_offset < e->size && size > e->size - section->sh_offset)
		size = e->size - section->sh_offset;
	entries = ray_elf_range(e, section->sh_offset, size);
	names = ray_elf_range(e, strings->sh_offset, strings->sh_size);
	if (!entries || !names)
		return false;
	return ray_symbols_init(e, entries, size / sizeof(Elf64_Sym), (const char *)names, strings->sh_size, ret);
}

bool ray_symbols_entry(const struct ray_symbols *t, size_t i, Elf64_Sym *ret)
{
	if (i >= t->count)
		return false;
	memcpy(ret, t->entries + i * sizeof(*ret), sizeof(*ret));
	return true;
}

const char *ray_symbols_name(const struct ray_symbols *t, const Elf64_Sym *s)
{
	return s->st_name < t->names_size ? t->names + s->st_name : "";
}

void ray_symbols_fill(const struct ray_symbols *t, const Elf64_Sym *s, struct ray_symbol *ret)
{
	ret->name = ray_symbols_name(t, s);
	ret->value = s->st_value;
	ret->size = s->st_size;
	ret->type = ELF64_ST_TYPE(s->st_info);
	ret->bind = ELF64_ST_BIND(s->st_info);
}

static bool load_symtab(struct ray_elf *e, struct ray_symbols *ret)
{
	const Elf64_Shdr *s = ray_elf_section_of_type(e, SHT_SYMTAB);

	return s && ray_symbols_from_section(e, s, ret);
}

/* Distributions put debug files where gdb looks for them too. */
static void open_debug_file(struct ray_elf *e)
{
	const char *id = ray_elf_build_id_text(e);
	ray_auto(ray_elf, debug) = NULL;
	char path[sizeof("/usr/lib/debug/.build-id/xx/.debug") + 2 * RAY_BUILD_ID_MAX];
	struct ray_error *err;

	if (strlen(id) < 4)
		return;
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
	err = ray_elf_open(path, &debug);
	if (err) {
		ray_error_free(err);
		return;
	}
	if (strcmp(ray_elf_build_id_text(debug), id) == 0 && load_symtab(debug, &e->symtab))
		e->debug = ray_take(debug);
}

static void open_minidebug(struct ray_elf *e)
{
	ray_auto(ray_elf, debug) = ray_elf_minidebug(e);

	if (!debug || !load_symtab(debug, &e->symtab))
		return;
	e->debug = ray_take(debug);
	e->is_minidebug = true;
}

static void load_static(struct ray_elf *e)
{
	if (e->static_done)
		return;
	e->static_done = true;
	if (load_symtab(e, &e->symtab) || e->type == ET_CORE)
		return;
	open_debug_file(e);
	if (!e->debug)
		open_minidebug(e);
}

size_t ray_elf_tables(struct ray_elf *e, const struct ray_symbols *ret[RAY_TABLES_MAX])
{
	size_t n = 0;

	load_static(e);
	if (e->symtab.count)
		ret[n++] = &e->symtab;
	if (!n || e->is_minidebug)
		ret[n++] = ray_elf_dynamic(e);
	return n;
}

bool ray_elf_is_stripped(struct ray_elf *e)
{
	load_static(e);
	return !e->symtab.count || e->debug;
}

/* Undefined and nameless ones, and those that name a file or a section, are of no use to anybody. */
static bool is_definition(const struct ray_symbols *t, const Elf64_Sym *s)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);

	return s->st_shndx != SHN_UNDEF && s->st_shndx != SHN_COMMON && type != STT_FILE && type != STT_SECTION &&
	       *ray_symbols_name(t, s);
}

void ray_elf_each_symbol(struct ray_elf *e, bool (*each)(const struct ray_symbol *s, void *arg), void *arg)
{
	const struct ray_symbols *tables[RAY_TABLES_MAX];
	size_t count = ray_elf_tables(e, tables);
	struct ray_symbol symbol;
	Elf64_Sym s;

	for (size_t t = 0; t < count; t++) {
		for (size_t i = 0; ray_symbols_entry(tables[t], i, &s); i++) {
			if (!is_definition(tables[t], &s))
				continue;
			ray_symbols_fill(tables[t], &s, &symbol);
			if (!each(&symbol, arg))
				return;
		}
	}
}

static uint32_t *find_name(const struct ray_elf *e, const char *name, uint64_t hash)
{
	const struct ray_symbols *t = &e->symtab;
	Elf64_Sym s;

	return ray_hashmap_find(&e->names, hash, one,
				ray_symbols_entry(t, *one, &s) && !strcmp(ray_symbols_name(t, &s), name));
}

/* Of several symbols with one name the first global one wins, else the first. */
static void add_name(struct ray_elf *e, uint32_t index, const Elf64_Sym *s)
{
	const char *name = ray_symbols_name(&e->symtab, s);
	size_t length = strnlen(name, NAME_LENGTH_MAX);
	uint64_t hash = ray_hash_bytes(0, name, length);
	uint32_t *known;
	Elf64_Sym other;

	if (length == NAME_LENGTH_MAX)
		return;
	known = find_name(e, name, hash);
	if (!known) {
		ray_hashmap_add(&e->names, hash, index);
		return;
	}
	ray_symbols_entry(&e->symtab, *known, &other);
	if (ELF64_ST_BIND(s->st_info) != STB_LOCAL && ELF64_ST_BIND(other.st_info) == STB_LOCAL)
		*known = index;
}

static void index_names(struct ray_elf *e)
{
	Elf64_Sym s;

	if (e->names_done)
		return;
	e->names_done = true;
	if (!ray_hashmap_reserve(&e->names, e->symtab.count))
		return;
	for (size_t i = 0; ray_symbols_entry(&e->symtab, i, &s); i++)
		if (is_definition(&e->symtab, &s))
			add_name(e, (uint32_t)i, &s);
}

bool ray_elf_find_symbol(struct ray_elf *e, const char *name, struct ray_symbol *ret)
{
	const uint32_t *found;
	Elf64_Sym s;

	/* What is exported is in both tables, and .dynsym has its hash table ready made. */
	if (!*name)
		return false;
	if (ray_elf_find_dynamic(e, name, ret))
		return true;
	load_static(e);
	index_names(e);
	found = find_name(e, name, ray_hash_text(0, name));
	if (!found)
		return false;
	ray_symbols_entry(&e->symtab, *found, &s);
	ray_symbols_fill(&e->symtab, &s, ret);
	return true;
}
