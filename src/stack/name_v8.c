/* name_v8.c - frames of V8's code: which of its kinds one is, and what that makes of it. SPDX-License-Identifier: MIT */
#include <string.h>

#include "stack/name_internal.h"
#include "v8/function.h"
#include "v8/script.h"

/* What V8 compiles a regular expression to. */
static const char regexp_code[] = "(RegExp code)";

/* The builtin that pc lies in, apart from the frame it runs on. */
static const char *builtin_name(struct ray_namer *n, const struct ray_module *m, uint64_t vaddr)
{
	struct ray_symbol s;

	if (!m || !m->elf || !ray_elf_symbol_at(m->elf, vaddr, &s) || !ray_js_builtin_name(s.name))
		return NULL;
	return ray_namer_safe(n, ray_js_builtin_name(s.name));
}

static bool push_builtin(struct ray_namer *n, const struct ray_raw_frame *raw, const struct ray_module *m,
			 uint64_t vaddr)
{
	struct ray_frame f = ray_namer_frame(raw, RAY_FRAME_BUILTIN);

	f.tier = RAY_TIER_BUILTIN;
	f.function = builtin_name(n, m, vaddr);
	if (!f.function)
		f.function = m == n->js->node.module && ray_deopt_has(ray_js_deopt(n->js), vaddr) ?
				     "DeoptimizationEntry" :
				     "(builtin)";
	f.module = m ? ray_namer_safe(n, m->path) : NULL;
	return ray_namer_push(n, f);
}

static bool push_wasm(struct ray_namer *n, const struct ray_raw_frame *raw)
{
	struct ray_v8 *v8 = &n->js->v8;
	struct ray_wasm_frame wasm;
	uint64_t instance;

	if (!ray_read_u64(&v8->memory, raw->fp + (uint64_t)(int64_t)ray_v8_get(v8->layout, RAY_V8_FP_FUNCTION),
			  &instance) ||
	    !ray_wasm_find(n->js->wasm, instance, raw->pc, raw->exact, &wasm)) {
		struct ray_frame f = ray_namer_frame(raw, RAY_FRAME_WASM);

		f.why = "its instance does not lead to its code";
		return ray_namer_push(n, f);
	}
	for (size_t i = 0; i < wasm.count; i++) {
		const struct ray_wasm_function *w = &wasm.functions[i];
		struct ray_frame f = ray_namer_frame(raw, RAY_FRAME_WASM);

		f.inlined = i + 1 < wasm.count;
		f.wasm_index = (int)w->index;
		f.wasm_offset = w->offset;
		f.script = wasm.script;
		f.file = wasm.script ? ray_namer_safe(n, ray_v8_script_name(v8, wasm.script)) : NULL;
		f.function = w->name[0] ? ray_namer_safe(n, w->name) :
					  ray_arena_printf(n->arena, "wasm-function[%u]", w->index);
		if (!ray_namer_push(n, f))
			return false;
	}
	return true;
}

/* A function that WebAssembly exports: what runs on its frame is the wrapper that calls it. */
static bool is_wasm_export(struct ray_namer *n, const struct ray_v8_frame *v)
{
	uint64_t data;

	return ray_v8_field(&n->js->v8, v->shared, RAY_V8_SFI_DATA, &data) &&
	       ray_v8_is(&n->js->v8, data, RAY_V8_TYPE_WASM_EXPORT);
}

static bool push_export(struct ray_namer *n, const struct ray_raw_frame *raw, const struct ray_module *m,
			uint64_t vaddr)
{
	struct ray_frame f = ray_namer_frame(raw, RAY_FRAME_STUB);

	f.function = builtin_name(n, m, vaddr);
	if (!f.function)
		f.function = "(wrapper of an exported WebAssembly function)";
	return ray_namer_push(n, f);
}

static bool push_typed(struct ray_namer *n, const struct ray_raw_frame *raw, const struct ray_v8_frame *v,
		       const struct ray_module *m, uint64_t vaddr)
{
	const char *type = ray_v8_frame_type(n->js->layout, v->type);
	struct ray_frame f = ray_namer_frame(raw, RAY_FRAME_STUB);
	const char *builtin = builtin_name(n, m, vaddr);

	if (!strcmp(type, "WasmFrame"))
		return push_wasm(n, raw);
	if (!strcmp(type, "IrregexpFrame") && raw->region == RAY_WALK_JIT)
		f.function = regexp_code;
	else
		f.function = builtin ? ray_arena_printf(n->arena, "%s [%s]", builtin, type) :
				       ray_arena_strdup(n->arena, type);
	return ray_namer_push(n, f);
}

/* The frame that runs on top of a JS function's code without one of its own: code in its prologue, or a builtin. */
static bool push_frameless(struct ray_namer *n, const struct ray_raw_frame *raw, const struct ray_module *m,
			   uint64_t vaddr)
{
	struct ray_v8_frame v = {
		.kind = RAY_V8_FRAME_FUNCTION, .bytecode_offset = -1, .argc = -1, .shared = raw->shared
	};
	struct ray_frame f = ray_namer_frame(raw, RAY_FRAME_STUB);
	struct ray_v8_code code;

	if (raw->region != RAY_WALK_JIT)
		return push_builtin(n, raw, m, vaddr);
	if (ray_v8_code_find(&n->js->v8, raw->pc, &code) &&
	    (v.shared || ray_v8_function_shared(&n->js->v8, raw->entered, &v.shared) ||
	     ray_v8_code_shared(&n->js->v8, &code, &v.shared))) {
		v.function = raw->entered;
		if (!ray_v8_code_bytecode(&n->js->v8, &code, &v.bytecode_array))
			v.bytecode_array = 0;
		return ray_namer_function(n, raw, &v, NULL);
	}
	f.function = "(generated code)";
	return ray_namer_push(n, f);
}

/* The frame is being made: nothing of it can be read, but the function that it will be may be known. */
static bool push_building(struct ray_namer *n, const struct ray_raw_frame *raw, const struct ray_module *m,
			  uint64_t vaddr)
{
	struct ray_v8_frame v = { .kind = RAY_V8_FRAME_FUNCTION, .bytecode_offset = -1, .argc = -1 };

	if (raw->region == RAY_WALK_JIT)
		return push_frameless(n, raw, m, vaddr);
	if (!push_builtin(n, raw, m, vaddr))
		return false;
	if (!ray_v8_function_shared(&n->js->v8, raw->entered, &v.shared))
		return true;
	v.function = raw->entered;
	return ray_namer_function(n, raw, &v, builtin_name(n, m, vaddr));
}

/* Slots below the stack pointer are not written yet. */
static void forget_unwritten(struct ray_namer *n, const struct ray_raw_frame *raw, struct ray_v8_frame *v)
{
	const struct ray_v8_layout *layout = n->js->layout;
	static const uint8_t pop_rbp = 0x5d;
	uint8_t next;

	if (!raw->exact || raw->sp > raw->fp ||
	    raw->sp <= raw->fp + (uint64_t)(int64_t)ray_v8_get(layout, RAY_V8_FP_BYTECODE_OFFSET) ||
	    (ray_target_read(n->js->target, raw->pc, &next, 1) == 1 && next == pop_rbp))
		return;
	v->bytecode_offset = -1;
	if (raw->sp > raw->fp + (uint64_t)(int64_t)ray_v8_get(layout, RAY_V8_FP_BYTECODE_ARRAY))
		v->bytecode_array = 0;
}

/* Compiled regular expressions are thrown away early; who called them is still there: V8 itself, or a builtin. */
static bool is_called_by_regexp(struct ray_namer *n, const struct ray_raw_frame *caller)
{
	const struct ray_module *m;
	struct ray_symbol s;
	uint64_t vaddr;

	return caller && ray_walk_region(n->js, caller->at, &m, &vaddr) != RAY_WALK_NOWHERE && m && m->elf &&
	       ray_elf_symbol_at(m->elf, vaddr, &s) && strstr(s.name, "RegExp");
}

/* caller: NULL if it is the outermost. */
bool ray_namer_v8(struct ray_namer *n, const struct ray_raw_frame *raw, const struct ray_module *m, uint64_t vaddr,
		  const struct ray_raw_frame *caller)
{
	struct ray_frame f = ray_namer_frame(raw, raw->region == RAY_WALK_BUILTIN ? RAY_FRAME_BUILTIN : RAY_FRAME_STUB);
	struct ray_v8_frame v = { .kind = RAY_V8_FRAME_UNKNOWN };
	struct ray_v8_code code;

	if (!n->js->layout) {
		f.why = n->js->why;
		return ray_namer_push(n, f);
	}
	if (raw->is_lost) {
		f.kind = RAY_FRAME_JS;
		f.why = "its function was moved meanwhile";
		return ray_namer_push(n, f);
	}
	if (raw->frameless)
		return push_frameless(n, raw, m, vaddr);
	if (raw->building)
		return push_building(n, raw, m, vaddr);
	if (raw->fp && raw->shared)
		ray_v8_frame_read_as(&n->js->v8, raw->fp, raw->shared, &v);
	else if (raw->fp)
		ray_v8_frame_read(&n->js->v8, raw->fp, &v);
	if (raw->no_receiver)
		v.receiver = 0;
	forget_unwritten(n, raw, &v);
	if (v.kind == RAY_V8_FRAME_TYPED)
		return push_typed(n, raw, &v, m, vaddr);
	if (v.kind == RAY_V8_FRAME_FUNCTION && is_wasm_export(n, &v))
		return push_export(n, raw, m, vaddr);
	if (v.kind == RAY_V8_FRAME_FUNCTION) {
		/* Handlers run on the function's frame: with them the leaf is two frames to the eye. */
		if (raw->region == RAY_WALK_BUILTIN && raw->exact && !push_builtin(n, raw, m, vaddr))
			return false;
		return ray_namer_function(n, raw, &v, builtin_name(n, m, vaddr));
	}
	if (raw->region == RAY_WALK_BUILTIN)
		return push_builtin(n, raw, m, vaddr);
	if (!ray_v8_code_find(&n->js->v8, raw->pc, &code)) {
		f.named_by = RAY_NAMED_BY_CALLER;
		if (is_called_by_regexp(n, caller))
			f.function = regexp_code;
		else
			f.why = "generated code without a frame that V8 writes";
	} else if (code.tier == RAY_TIER_NONE) {
		f.function = regexp_code;
	} else {
		/* It is being deoptimized: only the code still says whose it is. */
		return push_frameless(n, raw, m, vaddr);
	}
	return ray_namer_push(n, f);
}
