/* dynamic.c - .dynsym and its hash table, by section headers or, without those, by PT_DYNAMIC.
 * SPDX-License-Identifier: MIT
 *
 * What the dynamic loader needs survives any stripping, so this is how a stripped node is
 * recognised. Counts and offsets in the tables are foreign and may lie. */
#include <string.h>

#include "elf/impl.h"

/* Chains of a real table have a few links; a broken one must not make us walk the whole file. */
enum { CHAIN_MAX = 1 << 16 };

static uint32_t word(const struct ray_dynamic_hash *h, uint64_t index)
{
	uint32_t value = 0;

	if (index < h->size / 4)
		memcpy(&value, h->bytes + index * 4, 4);
	return value;
}

static bool has_word(const struct ray_dynamic_hash *h, uint64_t index)
{
	return index < h->size / 4;
}

/* DT_GNU_HASH: four words, then the Bloom filter (64-bit words), the buckets and the chains. */
struct gnu_hash {
	uint32_t buckets, first, bloom_words, shift;
	uint64_t bucket_at, chain_at; /* as word indexes */
};

static bool gnu_parse(const struct ray_dynamic_hash *h, struct gnu_hash *g)
{
	if (!has_word(h, 3))
		return false;
	g->buckets = word(h, 0);
	g->first = word(h, 1);
	g->bloom_words = word(h, 2);
	g->shift = word(h, 3) & 31;
	g->bucket_at = 4 + 2 * (uint64_t)g->bloom_words;
	g->chain_at = g->bucket_at + g->buckets;
	return g->buckets && g->bloom_words && has_word(h, g->chain_at - 1);
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

static uint32_t sysv_hash(const char *name)
{
	uint32_t h = 0;

	for (; *name; name++) {
		h = (h << 4) + (unsigned char)*name;
		h ^= (h >> 24) & 0xf0;
		h &= 0x0fffffff;
	}
	return h;
}

static bool entry_matches(const struct ray_symbols *t, uint64_t index, const char *name, struct ray_symbol *ret)
{
	Elf64_Sym s;

	if (!ray_symbols_entry(t, index, &s) || s.st_shndx == SHN_UNDEF || strcmp(ray_symbols_name(t, &s), name) != 0)
		return false;
	ray_symbols_fill(t, &s, ret);
	return true;
}

static bool gnu_find(const struct ray_elf *e, const char *name, struct ray_symbol *ret)
{
	const struct ray_dynamic_hash *h = &e->dynamic_hash;
	struct gnu_hash g;
	uint32_t hash = gnu_hash(name), index;
	uint64_t bloom, at;

	if (!gnu_parse(h, &g))
		return false;
	at = 4 + 2 * (uint64_t)(hash / 64 % g.bloom_words);
	bloom = word(h, at) | (uint64_t)word(h, at + 1) << 32;
	if (!(bloom >> (hash % 64) & bloom >> ((hash >> g.shift) % 64) & 1))
		return false;
	index = word(h, g.bucket_at + hash % g.buckets);
	if (index < g.first)
		return false;
	for (int i = 0; i < CHAIN_MAX; i++, index++) {
		uint64_t link = g.chain_at + (index - g.first);
		uint32_t value = word(h, link);

		if (!has_word(h, link))
			return false;
		if ((value | 1) == (hash | 1) && entry_matches(&e->dynamic, index, name, ret))
			return true;
		if (value & 1)
			return false;
	}
	return false;
}

/* DT_HASH: bucket count, chain count, buckets, chains. */
static bool sysv_find(const struct ray_elf *e, const char *name, struct ray_symbol *ret)
{
	const struct ray_dynamic_hash *h = &e->dynamic_hash;
	uint32_t buckets = word(h, 0), index;

	if (!buckets)
		return false;
	index = word(h, 2 + (uint64_t)(sysv_hash(name) % buckets));
	for (int i = 0; i < CHAIN_MAX && index; i++) {
		if (entry_matches(&e->dynamic, index, name, ret))
			return true;
		index = word(h, 2 + (uint64_t)buckets + index);
	}
	return false;
}

bool ray_elf_find_dynamic(struct ray_elf *e, const char *name, struct ray_symbol *ret)
{
	const struct ray_symbols *t = ray_elf_dynamic(e);

	if (e->dynamic_hash.bytes)
		return e->dynamic_hash.gnu ? gnu_find(e, name, ret) : sysv_find(e, name, ret);
	for (size_t i = 0; i < t->count; i++)
		if (entry_matches(t, i, name, ret))
			return true;
	return false;
}

/* Only the hash tables tell how many symbols there are when section headers are gone. */
static uint64_t count_by_hash(const struct ray_dynamic_hash *h)
{
	struct gnu_hash g;
	uint64_t last = 0;

	if (!h->bytes)
		return 0;
	if (!h->gnu)
		return word(h, 1);
	if (!gnu_parse(h, &g))
		return 0;
	for (uint64_t i = 0; i < g.buckets; i++)
		if (word(h, g.bucket_at + i) > last)
			last = word(h, g.bucket_at + i);
	if (last < g.first)
		return g.first;
	while (has_word(h, g.chain_at + last - g.first) && !(word(h, g.chain_at + last - g.first) & 1))
		last++;
	return last + 1;
}

struct dynamic_table {
	uint64_t symtab, strtab, strsz, gnu_hash, hash;
};

static void read_dynamic(struct ray_elf *e, const Elf64_Phdr *p, struct dynamic_table *ret)
{
	Elf64_Dyn d;

	for (uint64_t at = 0; at + sizeof(d) <= p->p_filesz; at += sizeof(d)) {
		const uint8_t *bytes = ray_elf_range(e, p->p_offset + at, sizeof(d));

		if (!bytes)
			return;
		memcpy(&d, bytes, sizeof(d));
		switch (d.d_tag) {
		case DT_NULL:
			return;
		case DT_SYMTAB:
			ret->symtab = d.d_un.d_ptr;
			break;
		case DT_STRTAB:
			ret->strtab = d.d_un.d_ptr;
			break;
		case DT_STRSZ:
			ret->strsz = d.d_un.d_val;
			break;
		case DT_GNU_HASH:
			ret->gnu_hash = d.d_un.d_ptr;
			break;
		case DT_HASH:
			ret->hash = d.d_un.d_ptr;
			break;
		}
	}
}

static void from_segment(struct ray_elf *e)
{
	const Elf64_Phdr *p = ray_elf_phdr(e, PT_DYNAMIC);
	struct ray_dynamic_hash *h = &e->dynamic_hash;
	struct dynamic_table d = { 0 };
	const uint8_t *entries, *names;
	size_t entries_size, names_size;
	uint64_t count;

	if (!p || e->type == ET_CORE)
		return;
	read_dynamic(e, p, &d);
	if (d.gnu_hash)
		h->bytes = ray_elf_tail(e, d.gnu_hash, &h->size);
	h->gnu = h->bytes != NULL;
	if (!h->bytes && d.hash)
		h->bytes = ray_elf_tail(e, d.hash, &h->size);
	entries = d.symtab ? ray_elf_tail(e, d.symtab, &entries_size) : NULL;
	names = d.strtab ? ray_elf_tail(e, d.strtab, &names_size) : NULL;
	if (!entries || !names)
		return;
	count = count_by_hash(h);
	if (count > entries_size / sizeof(Elf64_Sym))
		count = entries_size / sizeof(Elf64_Sym);
	if (names_size > d.strsz)
		names_size = d.strsz;
	ray_symbols_init(e, entries, count, (const char *)names, names_size, &e->dynamic);
}

static bool from_sections(struct ray_elf *e)
{
	const Elf64_Shdr *symbols = ray_elf_section_of_type(e, SHT_DYNSYM), *hash;
	struct ray_dynamic_hash *h = &e->dynamic_hash;

	if (!symbols || !ray_symbols_from_section(e, symbols, &e->dynamic))
		return false;
	hash = ray_elf_section_of_type(e, SHT_GNU_HASH);
	h->gnu = hash != NULL;
	if (!hash)
		hash = ray_elf_section_of_type(e, SHT_HASH);
	h->bytes = hash ? ray_elf_range(e, hash->sh_offset, hash->sh_size) : NULL;
	h->size = h->bytes ? hash->sh_size : 0;
	return true;
}

const struct ray_symbols *ray_elf_dynamic(struct ray_elf *e)
{
	if (!e->dynamic_done) {
		e->dynamic_done = true;
		e->dynamic.owner = e;
		if (!from_sections(e))
			from_segment(e);
	}
	return &e->dynamic;
}
