/* name_js.c - a function of JavaScript on its frame: its name, where it is, what it was called on. SPDX-License-Identifier: MIT */
#include <string.h>

#include "stack/name_internal.h"
#include "v8/function.h"
#include "v8/position.h"
#include "v8/property.h"
#include "v8/script.h"
#include "v8/value.h"

/* Where a place is: file, line and column, or where its function starts. */
static void set_place(struct ray_namer *n, const struct ray_v8_place *place, struct ray_frame *f)
{
	struct ray_v8 *v8 = &n->js->v8;
	int32_t start, end;

	f->shared = place->shared;
	if (!ray_v8_shared_script(v8, place->shared, &f->script)) {
		f->script = 0;
		return;
	}
	f->file = ray_namer_safe(n, ray_v8_script_name(v8, f->script));
	ray_script_maps_tell(n->js, f->script, f->file);
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
static bool is_no_place(struct ray_namer *n, enum ray_v8_tier tier, const struct ray_v8_place *place)
{
	int32_t start, end;

	return tier == RAY_TIER_TURBOFAN && !ray_v8_has(n->js->layout, RAY_V8_TYPE_STREAM) && place->position >= 0 &&
	       ray_v8_shared_range(&n->js->v8, place->shared, &start, &end) && place->position == start;
}

/* Called on nothing. A function that is not strict has the global object's proxy then. */
static bool has_no_receiver(struct ray_v8 *v8, uint64_t receiver)
{
	return !ray_v8_is_object(receiver) || ray_v8_is_nullish(v8, receiver) ||
	       ray_v8_is(v8, receiver, RAY_V8_TYPE_GLOBAL_PROXY) || ray_v8_is(v8, receiver, RAY_V8_TYPE_GLOBAL_OBJECT);
}

/* The class of the receiver, as node's own stacks show it: not for functions called without one. */
static const char *find_receiver_class(struct ray_namer *n, const struct ray_v8_frame *v)
{
	struct ray_v8 *v8 = &n->js->v8;
	const char *name;

	if (has_no_receiver(v8, v->receiver) || ray_v8_is_string(v8, v->receiver) ||
	    ray_v8_is(v8, v->receiver, RAY_V8_TYPE_HOLE))
		return NULL;
	/* A static method: the class itself says more than "Function". */
	name = ray_v8_is_function(v8, v->receiver) ? ray_v8_function_name(v8, v->receiver) :
						     ray_v8_class_name(v8, v->receiver);
	return name && name[0] ? ray_namer_safe(n, name) : NULL;
}

static void set_receiver_class(struct ray_namer *n, const struct ray_v8_frame *v, struct ray_frame *f)
{
	if (v->receiver != n->class_of) {
		n->class_of = v->receiver;
		n->class = find_receiver_class(n, v);
	}
	f->receiver_class = n->class;
	if (ray_v8_is_function(&n->js->v8, v->receiver))
		f->named_by |= RAY_NAMED_BY_RECEIVER;
}

/* What stands for a name where there is none. */
static const char *nameless(struct ray_namer *n, const struct ray_frame *f)
{
	return f->script && ray_v8_script_is_eval(&n->js->v8, f->script) ? "eval" : "<anonymous>";
}

static const char *held_name(struct ray_namer *n, uint64_t object, uint64_t function)
{
	if (object != n->held_in || function != n->held_function) {
		n->held_in = object;
		n->held_function = function;
		n->held = ray_v8_property_holding(&n->js->v8, object, function);
	}
	return n->held;
}

/* A method that has no name of its own is known by the property that holds it, as node's own stacks do. Theirs do not look for it among what is global
 * either; it would take hundreds of reads, for every callback without a name. */
static const char *outer_name(struct ray_namer *n, const struct ray_v8_frame *v, struct ray_frame *f)
{
	const char *name = ray_v8_function_own_name(&n->js->v8, v->function), *held;

	if (name) {
		f->named_by |= RAY_NAMED_BY_FUNCTION;
		return name;
	}
	name = ray_v8_function_name(&n->js->v8, v->function);
	if (!name || name[0] || has_no_receiver(&n->js->v8, v->receiver))
		return name;
	f->named_by |= RAY_NAMED_BY_FUNCTION | RAY_NAMED_BY_RECEIVER;
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
static void set_entry(struct ray_namer *n, struct ray_v8_frame_code *code)
{
	int32_t start, end;

	code->count = 1;
	code->places[0].inlined = false;
	if (ray_v8_shared_range(&n->js->v8, code->places[0].shared, &start, &end))
		code->places[0].position = start;
}

/* The function has a script, but neither code of its own nor a bytecode offset was found: what runs is a builtin. */
static void set_own_builtin(struct ray_namer *n, const char *builtin, struct ray_v8_frame_code *code)
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

/* V8 is replacing the frame: it left its code by an exit, which tells where it was; nothing else does. */
static void set_left(struct ray_namer *n, const struct ray_raw_frame *raw, const struct ray_v8_frame *v,
		     struct ray_v8_frame_code *code)
{
	struct ray_v8_code c;

	code->count = 1;
	code->places[0] = (struct ray_v8_place){ .shared = v->shared, .position = -1 };
	if (raw->region == RAY_WALK_JIT && ray_v8_code_find(&n->js->v8, raw->at, &c))
		code->count = ray_v8_left_places(&n->js->v8, &c, raw->pc, v->shared, code->places);
}

bool ray_namer_function(struct ray_namer *n, const struct ray_raw_frame *raw, const struct ray_v8_frame *v,
			const char *builtin)
{
	struct ray_v8 *v8 = &n->js->v8;
	struct ray_v8_frame_code code;
	const char *name;

	ray_v8_frame_places(v8, v, raw->at, raw->region == RAY_WALK_JIT, raw->leaf_offset, &code);
	if (raw->entering)
		set_entry(n, &code);
	if (raw->is_replaced)
		set_left(n, raw, v, &code);
	if (raw->stale_offset)
		code.places[0].position = -1;
	set_own_builtin(n, builtin, &code);
	/* Builtins that were copied next to the JIT's code look generated but are no Code. */
	if (raw->region == RAY_WALK_JIT && code.tier == RAY_TIER_NONE && v->bytecode_offset >= 0)
		ray_v8_frame_places(v8, v, raw->pc, false, -1, &code);
	for (size_t i = 0; i < code.count; i++) {
		struct ray_frame f = ray_namer_frame(raw, RAY_FRAME_JS);
		bool outer = i + 1 == code.count;

		f.tier = code.tier;
		f.inlined = !outer;
		set_place(n, &code.places[i], &f);
		f.is_definition |= !raw->entering && is_no_place(n, code.tier, &code.places[i]);
		name = outer && v->function ? outer_name(n, v, &f) : ray_v8_shared_name(v8, code.places[i].shared);
		f.function = name && !name[0] ? nameless(n, &f) : ray_namer_safe(n, name);
		if (!f.function)
			f.why = "its name cannot be read";
		if (outer) {
			f.js_function = v->function;
			f.receiver = v->receiver;
			set_receiver_class(n, v, &f);
			f.args = v->args;
			f.argc = v->argc;
		}
		if (!f.script && code.tier == RAY_TIER_BUILTIN)
			f.kind = RAY_FRAME_BUILTIN;
		if (!ray_namer_push(n, f))
			return false;
	}
	return true;
}
