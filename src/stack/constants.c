/* constants.c - see constants.h. SPDX-License-Identifier: MIT */
#include "stack/constants.h"

#include <string.h>

#include "base/vec.h"

static const char constant_prefix[] = "v8dbg_";
static const char bytecode_sizes_symbol[] = "_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE";

enum { SCALES = 3, LEAST_BYTECODES = 100, MOST_BYTECODES = 256 };

struct collect {
	struct ray_elf *elf;
	struct ray_constants *into;
	RAY_VEC(struct ray_v8_constant) constants;
	bool failed;
};

static void read_bytecode_sizes(struct collect *c, const struct ray_symbol *s)
{
	size_t count = s->size / SCALES;
	uint8_t *sizes;

	if (c->into->bytecode_sizes || s->size % SCALES || count < LEAST_BYTECODES || count > MOST_BYTECODES)
		return;
	sizes = malloc(s->size);
	if (!sizes || ray_elf_read(c->elf, s->value, sizes, s->size) != s->size) {
		free(sizes);
		return;
	}
	c->into->bytecode_sizes = sizes;
	c->into->bytecode_count = count;
}

/* Called for a hundred thousand symbols: the first letters decide. */
static bool look_at(const struct ray_symbol *s, void *arg)
{
	struct collect *c = arg;
	int32_t value;

	if (s->name[0] == '_' && s->size && !strcmp(s->name, bytecode_sizes_symbol))
		read_bytecode_sizes(c, s);
	if (s->name[0] != 'v' || strncmp(s->name, constant_prefix, sizeof(constant_prefix) - 1) != 0 ||
	    ray_elf_read(c->elf, s->value, &value, sizeof(value)) != sizeof(value))
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
	memset(c, 0, sizeof(*c));
}
