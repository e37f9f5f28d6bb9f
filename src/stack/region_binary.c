/* region_binary.c - builtins and ICU inside node's binary, and reservations with a known shape.
 * SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "stack/claims.h"

enum {
	ICU_OLDEST = 60,
	ICU_NEWEST = 99,
	MAX_TABLE_PIECES = 8,
	WASM_PAGE = 64 << 10,
	MAX_BLOB = 64 << 20,
};

/* ---- inside the binary ---- */

/* From the symbols: before 11 the name is that of a pointer and "..._data_" that of the code. */
static bool blob_by_symbol(struct ray_survey *s, uint64_t *vaddr_ret, uint32_t *size_ret)
{
	struct ray_elf *elf = s->node->module->elf;
	struct ray_symbol code, size;

	if (!ray_elf_find_symbol(elf, "v8_Default_embedded_blob_code_data_", &code) &&
	    !ray_elf_find_symbol(elf, "v8_Default_embedded_blob_code_", &code))
		return false;
	if (!ray_elf_find_symbol(elf, "v8_Default_embedded_blob_code_size_", &size) ||
	    ray_elf_read(elf, size.value, size_ret, sizeof(*size_ret)) != sizeof(*size_ret))
		return false;
	*vaddr_ret = code.value;
	return true;
}

/* Where in its object a getter looks: mov disp32(%rdi),%eax or %rax. */
static bool getter_offset(struct ray_elf *elf, const char *function, int32_t *ret)
{
	struct ray_symbol symbol;
	uint8_t code[24];

	if (!ray_elf_find_dynamic(elf, function, &symbol) ||
	    ray_elf_read(elf, symbol.value, code, sizeof(code)) != sizeof(code))
		return false;
	for (size_t i = 0; i + 6 <= sizeof(code); i++) {
		if (code[i] != 0x8b || code[i + 1] != 0x87)
			continue;
		memcpy(ret, code + i + 2, sizeof(*ret));
		return *ret > 0;
	}
	return false;
}

/* A stripped libnode still exports the getters of the isolate's two fields. */
static bool blob_by_isolate(struct ray_survey *s, uint64_t *address_ret, uint32_t *size_ret)
{
	struct ray_elf *elf = s->node->module->elf;
	int32_t code, size;

	if (!getter_offset(elf, "_ZNK2v88internal7Isolate18embedded_blob_codeEv", &code) ||
	    !getter_offset(elf, "_ZNK2v88internal7Isolate23embedded_blob_code_sizeEv", &size))
		return false;
	for (size_t i = 0; i < s->thread_count; i++) {
		uint64_t isolate = s->roles[i].isolate;

		if (isolate && ray_read_u64(&s->reader, isolate + (uint64_t)code, address_ret) &&
		    ray_read_u32(&s->reader, isolate + (uint64_t)size, size_ret))
			return true;
	}
	return false;
}

/* Claims what of [address, address + size) node's file is mapped to. */
static void claim_inside(struct ray_survey *s, uint64_t address, uint64_t size, enum ray_region_kind kind)
{
	size_t i = ray_survey_map_at(s, address);

	if (i == s->map_count || !ray_map_is_node(s, &s->maps[i]) || size > s->maps[i].end - address)
		return;
	ray_claims_add(&s->claims, &(struct ray_part){ .start = address & ~4095ull,
						       .end = (address + size + 4095) & ~4095ull,
						       .kind = kind });
}

static void claim_icu(struct ray_survey *s)
{
	struct ray_symbol symbol;
	uint64_t address;
	char name[32];

	for (int version = ICU_NEWEST; version >= ICU_OLDEST; version--) {
		snprintf(name, sizeof(name), "icudt%d_dat", version);
		if (!ray_elf_find_dynamic(s->node->module->elf, name, &symbol) || symbol.type == STT_FUNC ||
		    !symbol.size)
			continue;
		if (ray_target_module_address(s->t, s->node->module, symbol.value, &address))
			claim_inside(s, address, symbol.size, RAY_REGION_ICU);
		return;
	}
}

/* V8 maps the builtins a second time, beside the code it makes, so that calls are short. The copy
 * tells where in the file they are, and so where the first is. */
static bool claim_copies(struct ray_survey *s)
{
	bool found = false;

	for (size_t i = 0; i < s->map_count; i++) {
		const struct ray_map *copy = &s->maps[i];
		uint64_t size = copy->end - copy->start;

		if (!s->code_range[i] || !ray_map_is_node(s, copy))
			continue;
		ray_claims_add(
			&s->claims,
			&(struct ray_part){ .start = copy->start, .end = copy->end, .kind = RAY_REGION_BUILTINS });
		for (size_t k = 0; k < s->map_count; k++) {
			const struct ray_map *m = &s->maps[k];

			if (s->code_range[k] || !(m->prot & PROT_EXEC) || strcmp(m->path, copy->path) ||
			    copy->offset < m->offset || copy->offset + size > m->offset + (m->end - m->start))
				continue;
			claim_inside(s, m->start + (copy->offset - m->offset), size, RAY_REGION_BUILTINS);
			found = true;
		}
	}
	return found;
}

static void claim_builtins(struct ray_survey *s)
{
	uint64_t vaddr, address;
	uint32_t size;
	bool found;

	if (blob_by_symbol(s, &vaddr, &size))
		found = ray_target_module_address(s->t, s->node->module, vaddr, &address);
	else
		found = blob_by_isolate(s, &address, &size);
	if (found && size <= MAX_BLOB)
		claim_inside(s, address, size, RAY_REGION_BUILTINS);
}

void ray_survey_binary(struct ray_survey *s)
{
	bool found = claim_copies(s);

	if (!s->node || !s->node->module || !s->node->module->elf)
		return;
	if (!found)
		claim_builtins(s);
	claim_icu(s);
}

/* ---- reservations ---- */

/* Guards of 4 GiB and more let V8 leave out bounds checks: nobody else reserves that much behind
 * a few pages of 64 KiB. */
static void claim_wasm(struct ray_survey *s, size_t i)
{
	const struct ray_map *reserved = &s->maps[i], *m = i ? &s->maps[i - 1] : NULL;
	uint64_t size = reserved->end - reserved->start;

	if (size < 4ull << 30 || !m || m->end != reserved->start ||
	    !ray_survey_is_plain(s, i - 1, PROT_READ | PROT_WRITE))
		return;
	if ((m->end - m->start) % WASM_PAGE || ray_claims_has(&s->claims, m->start))
		return;
	ray_claims_add(
		&s->claims,
		&(struct ray_part){ .start = m->start, .end = m->end, .kind = RAY_REGION_WASM_MEMORY, .count = 1 });
	ray_claims_add(
		&s->claims,
		&(struct ray_part){ .start = reserved->start, .end = reserved->end, .kind = RAY_REGION_WASM_RESERVED });
}

/* Since 13 functions are called through a table: 256 MiB of addresses, whose first piece is
 * read-only and the rest writable as far as it is used. */
static void claim_table(struct ray_survey *s, size_t i)
{
	const uint64_t table = 256ull << 20;
	uint64_t start;
	size_t first = i;

	while (first && i - first < MAX_TABLE_PIECES && s->maps[first - 1].end == s->maps[first].start &&
	       s->maps[i].end - s->maps[first - 1].start <= table && ray_map_is_anonymous(&s->maps[first - 1]) &&
	       !(s->maps[first - 1].prot & PROT_EXEC) && !ray_claims_has(&s->claims, s->maps[first - 1].start))
		first--;
	start = s->maps[first].start;
	if (first == i || s->maps[i].end - start != table || s->maps[first].prot != PROT_READ)
		return;
	ray_claims_add(
		&s->claims,
		&(struct ray_part){ .start = start, .end = s->maps[i].start, .kind = RAY_REGION_V8_TABLE, .count = 1 });
	ray_claims_add(&s->claims, &(struct ray_part){ .start = s->maps[i].start,
						       .end = s->maps[i].end,
						       .kind = RAY_REGION_TABLE_RESERVED });
}

void ray_survey_reservations(struct ray_survey *s)
{
	for (size_t i = 0; i < s->map_count; i++) {
		if (!s->reserved[i])
			continue;
		claim_wasm(s, i);
		claim_table(s, i);
	}
}
