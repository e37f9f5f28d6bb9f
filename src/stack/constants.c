/* constants.c - see constants.h. SPDX-License-Identifier: MIT */
#include "stack/constants.h"

#include <string.h>

#include "base/vec.h"

static const char constant_prefix[] = "v8dbg_";
static const char bytecode_sizes_symbol[] = "_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE";
static const char translation_symbol[] =
	"_ZZN2v88internal29TranslationOpcodeOperandCountENS0_17TranslationOpcodeEE6counts";

enum { SCALES = 3, LEAST_BYTECODES = 100, MOST_BYTECODES = 256, LEAST_OPCODES = 16, MOST_OPCODES = 255 };

/* A file that was stripped of its symbols still has the table of operands somewhere among its constants. These are the
 * known ones; one that is found there, whole, is believed. */
static const struct {
	uint32_t since, before; /* V8's version */
	uint8_t count;
	int8_t operands[LEAST_OPCODES * 3];
} known_operands[] = {
	{ RAY_V8(13, 6, 0),
	  RAY_V8(14, 7, 0),
	  45,
	  { 6, 4, 3, 3, 2, 1, 3, 4, 3, 3, 3, 1, 0, 0, 3, 3, 1, 1, 1, 0, 1, 1, 1,
	    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 2, 1 } },
	{ RAY_V8(12, 4, 0), RAY_V8(12, 5, 0), 40, { 5, 3, 3, 3, 2, 1, 3, 4, 3, 2, 1, 0, 3, 3, 1, 1, 1, 1, 1, 1,
						    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 2, 1 } },
};

struct collect {
	struct ray_elf *elf;
	struct ray_constants *into;
	RAY_VEC(struct ray_v8_constant) constants;
	bool failed;
};

/* The table behind a symbol; NULL when it has not between least and most units. */
static void *read_table(struct collect *c, const struct ray_symbol *s, size_t unit, size_t least, size_t most)
{
	void *table;

	if (s->size % unit || s->size / unit < least || s->size / unit > most)
		return NULL;
	table = malloc(s->size);
	if (table && ray_elf_read(c->elf, s->value, table, s->size) == s->size)
		return table;
	free(table);
	return NULL;
}

static void read_tables(struct collect *c, const struct ray_symbol *s)
{
	struct ray_constants *to = c->into;

	if (!to->bytecode_sizes && !strcmp(s->name, bytecode_sizes_symbol)) {
		to->bytecode_sizes = read_table(c, s, SCALES, LEAST_BYTECODES, MOST_BYTECODES);
		to->bytecode_count = s->size / SCALES;
	} else if (!to->translation_operands && !strcmp(s->name, translation_symbol)) {
		to->translation_operands = read_table(c, s, sizeof(int32_t), LEAST_OPCODES, MOST_OPCODES);
		to->translation_opcodes = s->size / sizeof(int32_t);
	}
}

/* Called for a hundred thousand symbols: the first letters decide. */
static bool look_at(const struct ray_symbol *s, void *arg)
{
	struct collect *c = arg;
	int32_t value;

	if (s->name[0] == '_' && s->size)
		read_tables(c, s);
	if (s->name[0] != 'v' || strncmp(s->name, constant_prefix, sizeof(constant_prefix) - 1) != 0 ||
	    !ray_elf_read_int(c->elf, s->value, &value))
		return true;
	c->failed |=
		!ray_vec_push(&c->constants, (struct ray_v8_constant){ s->name + sizeof(constant_prefix) - 1, value });
	return !c->failed;
}

/* The compiler aligns a table of this size to 16 bytes at least. */
static bool has_table(const unsigned char *bytes, size_t size, uint64_t vaddr, const int32_t *table, size_t count)
{
	enum { ALIGN = 16 };

	for (size_t at = (size_t)(-vaddr % ALIGN); at < size && size - at >= count * sizeof(*table); at += ALIGN) {
		if (!memcmp(bytes + at, table, sizeof(*table)) && !memcmp(bytes + at, table, count * sizeof(*table)))
			return true;
	}
	return false;
}

static void find_operands(struct ray_elf *e, uint32_t v8, struct ray_constants *to)
{
	const void *bytes;
	uint64_t vaddr;
	int32_t *table;
	size_t size;

	for (size_t i = 0; i < RAY_COUNT(known_operands); i++) {
		size_t count = known_operands[i].count;

		if (v8 < known_operands[i].since || v8 >= known_operands[i].before)
			continue;
		table = ray_elf_section(e, ".rodata", &bytes, &size, &vaddr) ? calloc(count, sizeof(*table)) : NULL;
		for (size_t k = 0; table && k < count; k++)
			table[k] = known_operands[i].operands[k];
		if (table && has_table(bytes, size, vaddr, table, count)) {
			to->translation_operands = table;
			to->translation_opcodes = count;
			return;
		}
		free(table);
	}
}

struct ray_error *ray_constants_read(struct ray_elf *e, uint32_t v8, struct ray_constants *ret)
{
	struct collect c = { .elf = e, .into = ret };
	struct ray_error *err;

	memset(ret, 0, sizeof(*ret));
	ray_elf_each_symbol(e, look_at, &c);
	if (!ret->translation_operands)
		find_operands(e, v8, ret);
	err = c.failed ? &ray_enomem : ray_v8_layout_create(v8, c.constants.at, c.constants.n, &ret->layout);
	ray_vec_free(&c.constants);
	return err;
}

void ray_constants_deinit(struct ray_constants *c)
{
	ray_v8_layout_free(c->layout);
	free(c->bytecode_sizes);
	free(c->translation_operands);
	memset(c, 0, sizeof(*c));
}
