/* js.c - see js.h. SPDX-License-Identifier: MIT */
#include "stack/js.h"

#include <string.h>

#include "base/clock.h"

enum { OLD_NS = 2000000000 }; /* as long as a map is believed to be one */

static const char builtin_prefix[] = "Builtins_";

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
	err = ray_constants_read(js->node.module->elf, js->node.v8, &js->constants);
	js->layout = js->constants.layout;
	if (err) {
		js->why = strdup(ray_error_text(err));
		ray_error_free(err);
		if (!js->why)
			return &ray_enomem;
	} else {
		js->cache = ray_cache_create(t);
		if (!js->cache || !ray_v8_init(&js->v8, js->layout, ray_cache_reader(js->cache)))
			return &ray_enomem;
		js->v8.bytecode_sizes = js->constants.bytecode_sizes;
		js->v8.bytecode_count = js->constants.bytecode_count;
		js->v8.translation_operands = js->constants.translation_operands;
		js->v8.translation_opcodes = js->constants.translation_opcodes;
		js->wasm_layout = ray_wasm_layout_of(js->layout);
		js->wasm = ray_wasm_create(&js->v8.memory, &js->wasm_layout);
		if (!js->wasm)
			return &ray_enomem;
	}
	*ret = ray_take(js);
	return NULL;
}

struct ray_error *ray_js_open_blind(struct ray_target *t, const char *why, struct ray_js **ret)
{
	ray_auto(ray_js, js) = calloc(1, sizeof(*js));

	if (!js)
		return &ray_enomem;
	js->target = t;
	js->blind = true;
	js->why = strdup(why);
	if (!js->why)
		return &ray_enomem;
	*ret = ray_take(js);
	return NULL;
}

struct ray_error *ray_js_open_native(struct ray_target *t, struct ray_js **ret)
{
	struct ray_error *err = ray_js_open_blind(t, "no code of V8", ret);

	if (!err)
		(*ret)->blind = false;
	return err;
}

struct ray_error *ray_js_forget(struct ray_js *js)
{
	uint64_t now = ray_clock_ns();
	bool with_maps = now - js->maps_ns >= OLD_NS;

	if (!js->layout)
		return NULL;
	if (with_maps)
		js->maps_ns = now;
	ray_cache_forget(js->cache);
	ray_wasm_free(js->wasm);
	js->wasm = NULL;
	if (!ray_v8_forget(&js->v8, with_maps))
		return &ray_enomem;
	js->wasm = ray_wasm_create(&js->v8.memory, &js->wasm_layout);
	return js->wasm ? NULL : &ray_enomem;
}

void ray_js_close(struct ray_js *js)
{
	if (!js)
		return;
	ray_wasm_free(js->wasm);
	if (js->layout)
		ray_v8_deinit(&js->v8);
	ray_cache_free(js->cache);
	ray_constants_deinit(&js->constants);
	ray_hashmap_free(&js->told_maps);
	free(js->why);
	free(js);
}

const struct ray_deopt *ray_js_deopt(struct ray_js *js)
{
	if (!js->has_deopt && js->layout && js->node.module && js->node.module->elf)
		ray_deopt_read(js->node.module->elf, &js->deopt);
	js->has_deopt = true;
	return &js->deopt;
}

const char *ray_js_builtin_name(const char *symbol)
{
	return strncmp(symbol, builtin_prefix, sizeof(builtin_prefix) - 1) ? NULL : symbol + sizeof(builtin_prefix) - 1;
}
