/* name.c - see name.h. SPDX-License-Identifier: MIT */
#include "stack/name.h"

#include <string.h>

#include "base/text.h"
#include "elf/demangle.h"
#include "v8/frame.h"
#include "v8/function.h"
#include "v8/property.h"
#include "v8/script.h"
#include "v8/value.h"

struct native {
	const struct ray_raw_frame *raw;
	size_t at; /* in frames */
};

struct namer {
	struct ray_js *js;
	struct ray_arena *arena;
	RAY_VEC(struct ray_frame) frames;
	RAY_VEC(struct native) natives;
	size_t unnamed, no_symbol;
	/* The last answers of held_name() and receiver_class(): the frames of a recursion ask the same. */
	uint64_t held_in, held_function, class_of;
	const char *held, *class;
};

/* What V8 compiles a regular expression to. */
static const char regexp_code[] = "(RegExp code)";

static bool push(struct namer *n, struct ray_frame f)
{
	if (!f.function)
		n->unnamed++;
	return ray_vec_push(&n->frames, f);
}

static struct ray_frame new_frame(const struct ray_raw_frame *raw, enum ray_frame_kind kind)
{
	return (struct ray_frame){ .kind = kind,
				   .pc = raw->pc,
				   .fp = raw->fp,
				   .sp = raw->sp,
				   .argc = -1,
				   .wasm_index = -1,
				   .wasm_offset = -1 };
}

/* Names from a target may hold anything; they are made safe for a terminal once, here. */
static const char *safe(struct namer *n, const char *text)
{
	ray_auto_text out = { 0 };

	if (!text)
		return NULL;
	ray_text_add_safe(&out, text, strlen(text));
	return ray_arena_copy(n->arena, ray_text_get(&out), out.length);
}

static void set_symbol(struct namer *n, const struct ray_module *m, uint64_t vaddr, struct ray_frame *f)
{
	ray_auto_memory char *demangled = NULL;
	struct ray_symbol s;

	f->module = m->path;
	if (!m->elf) {
		f->why = "its file cannot be read";
		return;
	}
	if (!ray_elf_symbol_at(m->elf, vaddr, &s)) {
		f->why = "no symbol";
		return;
	}
	demangled = ray_demangle(s.name, 0);
	f->function = safe(n, demangled ? demangled : s.name);
	f->symbol = s.name;
	f->offset = vaddr - s.value;
}

/* Native frames get their symbols when all others have their names: files stay, objects of the heap do not. */
static bool push_native(struct namer *n, const struct ray_raw_frame *raw)
{
	return ray_vec_push(&n->natives, (struct native){ raw, n->frames.n }) &&
	       ray_vec_push(&n->frames, new_frame(raw, RAY_FRAME_NATIVE));
}

static void name_native(struct namer *n, const struct ray_raw_frame *raw, struct ray_frame *f)
{
	const struct ray_module *m = NULL;
	uint64_t vaddr = 0;

	ray_walk_region(n->js, raw->at, &m, &vaddr);
	if (m)
		set_symbol(n, m, vaddr, f);
	else
		f->why = "not in any mapped file";
	if (f->function)
		f->offset += raw->pc - raw->at;
	else
		n->no_symbol++;
}

/* The builtin that pc lies in, apart from the frame it runs on. */
static const char *builtin_name(struct namer *n, const struct ray_module *m, uint64_t vaddr)
{
	struct ray_symbol s;

	if (!m || !m->elf || !ray_elf_symbol_at(m->elf, vaddr, &s) || !ray_js_builtin_name(s.name))
		return NULL;
	return safe(n, ray_js_builtin_name(s.name));
}

static bool push_builtin(struct namer *n, const struct ray_raw_frame *raw, const struct ray_module *m, uint64_t vaddr)
{
	struct ray_frame f = new_frame(raw, RAY_FRAME_BUILTIN);

	f.tier = RAY_TIER_BUILTIN;
	f.function = builtin_name(n, m, vaddr);
	if (!f.function)
		f.function = "(builtin)";
	f.module = m ? safe(n, m->path) : NULL;
	return push(n, f);
}

/* Where a place is: file, line and column, or where its function starts. */
static void set_place(struct namer *n, const struct ray_v8_place *place, struct ray_frame *f)
{
	struct ray_v8 *v8 = &n->js->v8;
	int32_t start, end;

	f->shared = place->shared;
	if (!ray_v8_shared_script(v8, place->shared, &f->script)) {
		f->script = 0;
		return;
	}
	f->file = safe(n, ray_v8_script_name(v8, f->script));
	if (!ray_v8_shared_range(v8, place->shared, &start, &end) ||
	    !ray_v8_script_place(v8, f->script, start, &f->begin_line, &f->begin_column))
		f->begin_line = f->begin_column = 0;
	if (place->position >= 0 && ray_v8_script_place(v8, f->script, place->position, &f->line, &f->column))
		return;
	f->line = f->begin_line;
	f->column = f->begin_column;
	f->is_definition = f->begin_line > 0;
}

/* Optimized code of V8 up to 10 (whose code holds its instructions) gives its own start for what it does not know, such as where it allocates. */
static bool is_no_place(struct namer *n, enum ray_v8_tier tier, const struct ray_v8_place *place)
{
	int32_t start, end;

	return tier == RAY_TIER_TURBOFAN && !ray_v8_has(n->js->layout, RAY_V8_TYPE_STREAM) && place->position >= 0 &&
	       ray_v8_shared_range(&n->js->v8, place->shared, &start, &end) && place->position == start;
}

/* The class of the receiver, as node's own stacks show it: not for functions called without one. */
static const char *find_receiver_class(struct namer *n, const struct ray_v8_frame *v)
{
	struct ray_v8 *v8 = &n->js->v8;
	const char *name;

	if (!ray_v8_is_object(v->receiver) || ray_v8_is_nullish(v8, v->receiver) ||
	    ray_v8_is(v8, v->receiver, RAY_V8_TYPE_GLOBAL_PROXY) ||
	    ray_v8_is(v8, v->receiver, RAY_V8_TYPE_GLOBAL_OBJECT) || ray_v8_is_string(v8, v->receiver) ||
	    ray_v8_is(v8, v->receiver, RAY_V8_TYPE_HOLE))
		return NULL;
	/* A static method: the class itself says more than "Function". */
	name = ray_v8_is_function(v8, v->receiver) ? ray_v8_function_name(v8, v->receiver) :
						     ray_v8_class_name(v8, v->receiver);
	return name && name[0] ? safe(n, name) : NULL;
}

static const char *receiver_class(struct namer *n, const struct ray_v8_frame *v)
{
	if (v->receiver != n->class_of) {
		n->class_of = v->receiver;
		n->class = find_receiver_class(n, v);
	}
	return n->class;
}

/* What stands for a name where there is none. */
static const char *nameless(struct namer *n, const struct ray_frame *f)
{
	return f->script && ray_v8_script_is_eval(&n->js->v8, f->script) ? "eval" : "<anonymous>";
}

static const char *held_name(struct namer *n, uint64_t object, uint64_t function)
{
	if (object != n->held_in || function != n->held_function) {
		n->held_in = object;
		n->held_function = function;
		n->held = ray_v8_property_holding(&n->js->v8, object, function);
	}
	return n->held;
}

/* A method that has no name of its own is known by the property that holds it, as node's own stacks do. */
static const char *outer_name(struct namer *n, const struct ray_v8_frame *v)
{
	const char *name = ray_v8_function_name(&n->js->v8, v->function), *held;

	if (!name || name[0] || !ray_v8_is_object(v->receiver) || ray_v8_is_nullish(&n->js->v8, v->receiver))
		return name;
	held = held_name(n, v->receiver, v->function);
	return held ? held : name;
}

/* Builtins that run on a function's own frame while it is made or taken down: then there is no offset in it. */
struct own_builtin {
	const char *name;
	enum ray_v8_tier tier;
	bool entering;
};

static const struct own_builtin own_builtins[] = {
	{ "InterpreterEntryTrampoline", RAY_TIER_INTERPRETED, true },
	{ "BaselineOutOfLinePrologue", RAY_TIER_BASELINE, true },
	{ "BaselineLeaveFrame", RAY_TIER_BASELINE, false },
};

/* A function that is only being entered is where it starts. */
static void set_entry(struct namer *n, struct ray_v8_frame_code *code)
{
	int32_t start, end;

	code->count = 1;
	code->places[0].inlined = false;
	if (ray_v8_shared_range(&n->js->v8, code->places[0].shared, &start, &end))
		code->places[0].position = start;
}

/* The function has a script, but neither code of its own nor a bytecode offset was found: what runs is a builtin. */
static void set_own_builtin(struct namer *n, const char *builtin, struct ray_v8_frame_code *code)
{
	uint64_t script;

	if (code->tier != RAY_TIER_BUILTIN || !ray_v8_shared_script(&n->js->v8, code->places[0].shared, &script))
		return;
	code->tier = RAY_TIER_NONE;
	for (size_t i = 0; builtin && i < RAY_COUNT(own_builtins); i++) {
		if (strncmp(builtin, own_builtins[i].name, strlen(own_builtins[i].name)))
			continue;
		code->tier = own_builtins[i].tier;
		if (own_builtins[i].entering)
			set_entry(n, code);
	}
}

static bool push_function(struct namer *n, const struct ray_raw_frame *raw, const struct ray_v8_frame *v,
			  const char *builtin)
{
	struct ray_v8 *v8 = &n->js->v8;
	struct ray_v8_frame_code code;
	const char *name;

	ray_v8_frame_places(v8, v, raw->at, raw->region == RAY_WALK_JIT, raw->leaf_offset, &code);
	if (raw->entering)
		set_entry(n, &code);
	if (raw->stale_offset)
		code.places[0].position = -1;
	set_own_builtin(n, builtin, &code);
	/* Builtins that were copied next to the JIT's code look generated but are no Code. */
	if (raw->region == RAY_WALK_JIT && code.tier == RAY_TIER_NONE && v->bytecode_offset >= 0)
		ray_v8_frame_places(v8, v, raw->pc, false, -1, &code);
	for (size_t i = 0; i < code.count; i++) {
		struct ray_frame f = new_frame(raw, RAY_FRAME_JS);
		bool outer = i + 1 == code.count;

		f.tier = code.tier;
		f.inlined = !outer;
		set_place(n, &code.places[i], &f);
		f.is_definition |= !raw->entering && is_no_place(n, code.tier, &code.places[i]);
		name = outer && v->function ? outer_name(n, v) : ray_v8_shared_name(v8, code.places[i].shared);
		f.function = name && !name[0] ? nameless(n, &f) : safe(n, name);
		if (!f.function)
			f.why = "its name cannot be read";
		if (outer) {
			f.js_function = v->function;
			f.receiver = v->receiver;
			f.receiver_class = receiver_class(n, v);
			f.args = v->args;
			f.argc = v->argc;
		}
		if (!f.script && code.tier == RAY_TIER_BUILTIN)
			f.kind = RAY_FRAME_BUILTIN;
		if (!push(n, f))
			return false;
	}
	return true;
}

static bool push_wasm(struct namer *n, const struct ray_raw_frame *raw)
{
	struct ray_v8 *v8 = &n->js->v8;
	struct ray_wasm_frame wasm;
	uint64_t instance;

	if (!ray_read_u64(&v8->memory, raw->fp + (uint64_t)(int64_t)ray_v8_get(v8->layout, RAY_V8_FP_FUNCTION),
			  &instance) ||
	    !ray_wasm_find(n->js->wasm, instance, raw->pc, raw->exact, &wasm)) {
		struct ray_frame f = new_frame(raw, RAY_FRAME_WASM);

		f.why = "its instance does not lead to its code";
		return push(n, f);
	}
	for (size_t i = 0; i < wasm.count; i++) {
		const struct ray_wasm_function *w = &wasm.functions[i];
		struct ray_frame f = new_frame(raw, RAY_FRAME_WASM);

		f.inlined = i + 1 < wasm.count;
		f.wasm_index = (int)w->index;
		f.wasm_offset = w->offset;
		f.script = wasm.script;
		f.file = wasm.script ? safe(n, ray_v8_script_name(v8, wasm.script)) : NULL;
		f.function = w->name[0] ? safe(n, w->name) : ray_arena_printf(n->arena, "wasm-function[%u]", w->index);
		if (!push(n, f))
			return false;
	}
	return true;
}

/* A function that WebAssembly exports: what runs on its frame is the wrapper that calls it. */
static bool is_wasm_export(struct namer *n, const struct ray_v8_frame *v)
{
	uint64_t data;

	return ray_v8_field(&n->js->v8, v->shared, RAY_V8_SFI_DATA, &data) &&
	       ray_v8_is(&n->js->v8, data, RAY_V8_TYPE_WASM_EXPORT);
}

static bool push_export(struct namer *n, const struct ray_raw_frame *raw, const struct ray_module *m, uint64_t vaddr)
{
	struct ray_frame f = new_frame(raw, RAY_FRAME_STUB);

	f.function = builtin_name(n, m, vaddr);
	if (!f.function)
		f.function = "(wrapper of an exported WebAssembly function)";
	return push(n, f);
}

static bool push_typed(struct namer *n, const struct ray_raw_frame *raw, const struct ray_v8_frame *v,
		       const struct ray_module *m, uint64_t vaddr)
{
	const char *type = ray_v8_frame_type(n->js->layout, v->type);
	struct ray_frame f = new_frame(raw, RAY_FRAME_STUB);
	const char *builtin = builtin_name(n, m, vaddr);

	if (!strcmp(type, "WasmFrame"))
		return push_wasm(n, raw);
	if (!strcmp(type, "IrregexpFrame") && raw->region == RAY_WALK_JIT)
		f.function = regexp_code;
	else
		f.function = builtin ? ray_arena_printf(n->arena, "%s [%s]", builtin, type) :
				       ray_arena_strdup(n->arena, type);
	return push(n, f);
}

/* The frame that runs on top of a JS function's code without one of its own: code in its prologue, or a builtin. */
static bool push_frameless(struct namer *n, const struct ray_raw_frame *raw, const struct ray_module *m, uint64_t vaddr)
{
	struct ray_v8_frame v = {
		.kind = RAY_V8_FRAME_FUNCTION, .bytecode_offset = -1, .argc = -1, .shared = raw->shared
	};
	struct ray_frame f = new_frame(raw, RAY_FRAME_STUB);
	struct ray_v8_code code;

	if (raw->region != RAY_WALK_JIT)
		return push_builtin(n, raw, m, vaddr);
	if (ray_v8_code_find(&n->js->v8, raw->pc, &code) &&
	    (v.shared || ray_v8_function_shared(&n->js->v8, raw->entered, &v.shared) ||
	     ray_v8_code_shared(&n->js->v8, &code, &v.shared))) {
		v.function = raw->entered;
		if (!ray_v8_code_bytecode(&n->js->v8, &code, &v.bytecode_array))
			v.bytecode_array = 0;
		return push_function(n, raw, &v, NULL);
	}
	f.function = "(generated code)";
	return push(n, f);
}

/* The frame is being made: nothing of it can be read, but the function that it will be may be known. */
static bool push_building(struct namer *n, const struct ray_raw_frame *raw, const struct ray_module *m, uint64_t vaddr)
{
	struct ray_v8_frame v = { .kind = RAY_V8_FRAME_FUNCTION, .bytecode_offset = -1, .argc = -1 };

	if (raw->region == RAY_WALK_JIT)
		return push_frameless(n, raw, m, vaddr);
	if (!push_builtin(n, raw, m, vaddr))
		return false;
	if (!ray_v8_function_shared(&n->js->v8, raw->entered, &v.shared))
		return true;
	v.function = raw->entered;
	return push_function(n, raw, &v, builtin_name(n, m, vaddr));
}

/* Slots below the stack pointer are not written yet. */
static void forget_unwritten(struct namer *n, const struct ray_raw_frame *raw, struct ray_v8_frame *v)
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
static bool is_called_by_regexp(struct namer *n, const struct ray_raw_frame *caller)
{
	const struct ray_module *m;
	struct ray_symbol s;
	uint64_t vaddr;

	return caller && (caller->region == RAY_WALK_NATIVE || caller->region == RAY_WALK_BUILTIN) &&
	       ray_walk_region(n->js, caller->at, &m, &vaddr) != RAY_WALK_NOWHERE && m && m->elf &&
	       ray_elf_symbol_at(m->elf, vaddr, &s) && strstr(s.name, "RegExp");
}

/* caller: NULL if it is the outermost. */
static bool name_v8(struct namer *n, const struct ray_raw_frame *raw, const struct ray_module *m, uint64_t vaddr,
		    const struct ray_raw_frame *caller)
{
	struct ray_frame f = new_frame(raw, raw->region == RAY_WALK_BUILTIN ? RAY_FRAME_BUILTIN : RAY_FRAME_STUB);
	struct ray_v8_frame v = { .kind = RAY_V8_FRAME_UNKNOWN };
	struct ray_v8_code code;

	if (!n->js->layout) {
		f.why = n->js->why;
		return push(n, f);
	}
	if (raw->is_lost) {
		f.kind = RAY_FRAME_JS;
		f.why = "its function was moved meanwhile";
		return push(n, f);
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
		return push_function(n, raw, &v, builtin_name(n, m, vaddr));
	}
	if (raw->region == RAY_WALK_BUILTIN)
		return push_builtin(n, raw, m, vaddr);
	if (!ray_v8_code_find(&n->js->v8, raw->pc, &code) && is_called_by_regexp(n, caller))
		f.function = regexp_code;
	else if (!ray_v8_code_find(&n->js->v8, raw->pc, &code))
		f.why = "generated code without a frame that V8 writes";
	else if (code.tier == RAY_TIER_NONE)
		f.function = regexp_code;
	else
		return push_frameless(n, raw, m,
				      vaddr); /* it is being deoptimized: only the code still says whose it is */
	return push(n, f);
}

static bool is_construct(const struct ray_frame *f)
{
	return f->kind == RAY_FRAME_STUB && f->function && strstr(f->function, "ConstructFrame");
}

/* "new" shows in the frame that called, a construct stub, unless the compiler did away with it. */
static void mark_constructors(struct namer *n)
{
	for (size_t i = 0; i < n->frames.n; i++) {
		struct ray_frame *f = &n->frames.at[i];

		if (f->kind == RAY_FRAME_JS && !f->inlined && i + 1 < n->frames.n && is_construct(f + 1))
			f->is_construct = true;
		else if (f->kind == RAY_FRAME_JS && f->script && ray_v8_shared_is_class(&n->js->v8, f->shared))
			f->is_construct = true;
	}
}

/* V8 has taken the frame that it deoptimizes off the stack, and its caller with it: what seems to come next is garbage. */
static bool is_deoptimizing(const struct namer *n)
{
	const struct ray_frame *last = n->frames.n ? &n->frames.at[n->frames.n - 1] : NULL;

	return last && last->kind == RAY_FRAME_BUILTIN && last->function &&
	       !strncmp(last->function, "DeoptimizationEntry", 19);
}

struct ray_error *ray_name_frames(struct ray_js *js, const struct ray_walk *walk, struct ray_arena *arena,
				  struct ray_stack *stack)
{
	struct namer n = { .js = js, .arena = arena };
	bool ok = true;

	for (size_t i = 0; i < walk->frames.n && ok && !stack->is_deoptimizing; i++) {
		const struct ray_raw_frame *raw = &walk->frames.at[i];
		const struct ray_module *m = NULL;
		uint64_t vaddr = 0;

		if (raw->region == RAY_WALK_NATIVE || raw->region == RAY_WALK_NOWHERE) {
			ok = push_native(&n, raw);
			continue;
		}
		ray_walk_region(js, raw->at, &m, &vaddr);
		ok = name_v8(&n, raw, m, vaddr, i + 1 < walk->frames.n ? raw + 1 : NULL);
		stack->is_deoptimizing = is_deoptimizing(&n);
	}
	mark_constructors(&n);
	for (size_t i = 0; i < n.natives.n; i++)
		name_native(&n, n.natives.at[i].raw, &n.frames.at[n.natives.at[i].at]);
	stack->count = n.frames.n;
	stack->unnamed = n.unnamed;
	stack->no_symbol = n.no_symbol;
	stack->frames = ray_arena_alloc(arena, (n.frames.n + 1) * sizeof(*stack->frames));
	if (stack->frames && n.frames.n)
		memcpy(stack->frames, n.frames.at, n.frames.n * sizeof(*stack->frames));
	ray_vec_free(&n.frames);
	ray_vec_free(&n.natives);
	return ok && stack->frames ? NULL : &ray_enomem;
}

void ray_frame_js_name(const struct ray_frame *f, struct ray_text *out)
{
	const char *name = f->function ? f->function : "<unnamed>";
	bool accessor = !strncmp(name, "get ", 4) || !strncmp(name, "set ", 4);
	size_t length;

	if (f->is_construct) {
		ray_text_add(out, "new ");
	} else if (f->receiver_class && !accessor) {
		length = strlen(f->receiver_class);
		/* An inferred name may hold the class already. */
		if (strncmp(name, f->receiver_class, length) || name[length] != '.')
			ray_text_printf(out, "%s.", f->receiver_class);
	}
	ray_text_add(out, name);
}
