/* constants.c - see constants.h. SPDX-License-Identifier: MIT */
#include "stack/constants.h"

#include <string.h>

#include "base/vec.h"

static const char constant_prefix[] = "v8dbg_";
static const char bytecode_sizes_symbol[] = "_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE";
static const char translation_symbol[] =
	"_ZZN2v88internal29TranslationOpcodeOperandCountENS0_17TranslationOpcodeEE6counts";

enum { SCALES = 3, LEAST_BYTECODES = 100, MOST_BYTECODES = 256, LEAST_OPCODES = 16, MOST_OPCODES = 255 };

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

struct ray_error *ray_constants_read(struct ray_elf *e, uint32_t v8, struct ray_constants *ret)
{
	struct collect c = { .elf = e, .into = ret };
	struct ray_error *err;

	memset(ret, 0, sizeof(*ret));
	ray_elf_each_symbol(e, look_at, &c);
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
