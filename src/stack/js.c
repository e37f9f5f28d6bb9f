/* js.c - see js.h. SPDX-License-Identifier: MIT */
#include "stack/js.h"

#include <string.h>

static const char constant_prefix[] = "v8dbg_";
static const char bytecode_sizes_symbol[] = "_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE";
static const char builtin_prefix[] = "Builtins_";

enum { MAX_CONSTANTS = 4096 };

struct constants {
	struct ray_elf *elf;
	RAY_VEC(struct ray_v8_constant) list;
};

static bool add_constant(const struct ray_symbol *s, void *arg)
{
	struct constants *c = arg;
	int32_t value;

	if (strncmp(s->name, constant_prefix, sizeof(constant_prefix) - 1))
		return true;
	if (ray_elf_read(c->elf, s->value, &value, sizeof(value)) != sizeof(value))
		return true;
	return c->list.n < MAX_CONSTANTS &&
	       ray_vec_push(&c->list, (struct ray_v8_constant){ s->name + sizeof(constant_prefix) - 1, value });
}

static struct ray_error *load_layout(struct ray_js *js)
{
	struct constants c = { .elf = js->node.module->elf };
	struct ray_error *err;

	ray_elf_each_symbol(c.elf, add_constant, &c);
	err = ray_v8_layout_create(js->node.v8, c.list.at, c.list.n, &js->layout);
	ray_vec_free(&c.list);
	return err;
}

/* Three rows, one per operand scale. */
static void load_bytecode_sizes(struct ray_js *js)
{
	struct ray_elf *elf = js->node.module->elf;
	struct ray_symbol s;

	if (!ray_elf_find_symbol(elf, bytecode_sizes_symbol, &s) || s.size % 3 || s.size < 300 || s.size > 3 * 256)
		return;
	js->bytecode_sizes = malloc(s.size);
	if (!js->bytecode_sizes || ray_elf_read(elf, s.value, js->bytecode_sizes, s.size) != s.size)
		return;
	js->v8.bytecode_sizes = js->bytecode_sizes;
	js->v8.bytecode_count = s.size / 3;
}

struct ray_error *ray_js_open(struct ray_target *t, struct ray_js **ret)
{
	ray_auto(ray_js, js) = calloc(1, sizeof(*js));
	struct ray_error *err;

	if (!js)
		return &ray_enomem;
	js->target = t;
	err = ray_node_identify(t, &js->node);
	if (err)
		return err;
	err = load_layout(js);
	if (err) {
		js->why = strdup(ray_error_text(err));
		ray_error_free(err);
		if (!js->why)
			return &ray_enomem;
	} else {
		if (!ray_v8_init(&js->v8, js->layout, ray_target_reader(t)))
			return &ray_enomem;
		load_bytecode_sizes(js);
		js->wasm_layout = ray_wasm_layout_of(js->layout);
		js->wasm = ray_wasm_create(&js->v8.memory, &js->wasm_layout);
		if (!js->wasm)
			return &ray_enomem;
	}
	*ret = ray_take(js);
	return NULL;
}

void ray_js_close(struct ray_js *js)
{
	if (!js)
		return;
	ray_wasm_free(js->wasm);
	if (js->layout)
		ray_v8_deinit(&js->v8);
	ray_v8_layout_free(js->layout);
	free(js->bytecode_sizes);
	free(js->why);
	free(js);
}

const char *ray_js_builtin_name(const char *symbol)
{
	return strncmp(symbol, builtin_prefix, sizeof(builtin_prefix) - 1) ? NULL : symbol + sizeof(builtin_prefix) - 1;
}
