/* constants.c - see constants.h. SPDX-License-Identifier: MIT */
#include "stack/constants.h"

#include <string.h>

#include "base/vec.h"

struct collect {
	struct ray_elf *elf;
	RAY_VEC(struct ray_v8_constant) constants;
	bool failed;
};

static bool add_constant(const struct ray_symbol *s, void *arg)
{
	static const char prefix[] = "v8dbg_";
	struct collect *c = arg;
	int32_t value;

	if (strncmp(s->name, prefix, sizeof(prefix) - 1) != 0 ||
	    ray_elf_read(c->elf, s->value, &value, sizeof(value)) != sizeof(value))
		return true;
	c->failed |= !ray_vec_push(&c->constants, (struct ray_v8_constant){ s->name + sizeof(prefix) - 1, value });
	return !c->failed;
}

struct ray_error *ray_constants_layout(struct ray_elf *e, uint32_t v8, struct ray_v8_layout **ret)
{
	struct collect c = { .elf = e };
	struct ray_error *err;

	ray_elf_each_symbol(e, add_constant, &c);
	err = c.failed ? &ray_enomem : ray_v8_layout_create(v8, c.constants.at, c.constants.n, ret);
	ray_vec_free(&c.constants);
	return err;
}
