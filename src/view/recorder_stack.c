/* recorder_stack.c - stacks to nodes of the profile, each once. See recorder_internal.h. SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "profile/kind.h"
#include "view/frame.h"
#include "view/recorder_internal.h"

/* ---- what is left out ---- */

/* What V8 needs to get from one function to the next. Names of builtins that begin so. */
static const char *const plumbing[] = {
	"InterpreterEntryTrampoline",
	"InterpreterPushArgs",
	"InterpreterEnter",
	"BaselineOutOfLinePrologue",
	"BaselineLeaveFrame",
	"BaselineOrInterpreter",
	"JSEntry",
	"JSConstructEntry",
	"JSRunMicrotasksEntry",
	"JSConstructStub",
	"JSBuiltinsConstructStub",
	"CEntry",
	"CallFunction",
	"Call_",
	"CallWithSpread",
	"CallWithArrayLike",
	"ConstructFunction",
	"Construct_",
	"ConstructWithSpread",
	"ConstructProxy",
	"Construct",
	"ArgumentsAdaptor",
	"AdaptorWithBuiltinExit",
	"CallApiCallback",
	"CallApiGetter",
	"HandleApiCall",
	"CompileLazy",
	"CallBoundFunction",
	"CallVarargs",
	"CallForwardVarargs",
	"CallOrConstruct",
	"ConstructForwardVarargs",
	"ConstructVarargs",
	"ResumeGenerator",
	"NotifyDeoptimized",
	"ContinueTo",
	"RestartFrame",
	"DirectCEntry",
	"WasmCompileLazy",
	"JSToWasm",
	"WasmToJs",
	"GenericJSToWasm",
};

/* Whether the first n bytes of text end so. */
static bool ends_with(const char *text, size_t n, const char *end)
{
	size_t e = strlen(end);

	return n >= e && !strncmp(text + n - e, end, e);
}

/* Builtins that have a frame to themselves are named with its type: "ArrayTimSort [StubFrame]". How long the name is without it. */
static size_t builtin_length(const char *function)
{
	static const char type[] = " [StubFrame]";
	size_t n = strlen(function);

	return ends_with(function, n, type) ? n - (sizeof(type) - 1) : n;
}

bool ray_recorder_is_plumbing(const struct ray_fact_frame *f)
{
	size_t length;

	if (!f->is_plumbing || !f->function)
		return false;
	/* "(RegExp code)", "(generated code)": not what they are called, but what they are. */
	if (f->function[0] == '(')
		return false;
	length = builtin_length(f->function);
	/* Frames of other types lead from one kind of code into another. */
	if (f->kind == RAY_FRAME_STUB && !f->function[length])
		return true;
	/* The interpreter at work is the function that it interprets. */
	if (ends_with(f->function, length, "Handler"))
		return true;
	for (size_t i = 0; i < RAY_COUNT(plumbing); i++)
		if (!strncmp(f->function, plumbing[i], strlen(plumbing[i])))
			return true;
	return false;
}

/* A builtin's own code on the frame of the function it implements: ArrayMap on map. */
static bool is_own_code(const struct ray_fact_frame *f, const struct ray_fact_frame *caller)
{
	size_t n, c;

	if (!caller || f->kind != RAY_FRAME_BUILTIN || caller->kind != RAY_FRAME_BUILTIN || !f->function ||
	    !caller->base)
		return false;
	n = strlen(f->function);
	c = strlen(caller->base);
	return n > c && !strcasecmp(f->function + n - c, caller->base);
}

/* ---- functions ---- */

static uint32_t plain_function(struct ray_profile *p, enum ray_profile_kind kind, const char *name, const char *file)
{
	return ray_profile_function(p, &(struct ray_profile_function){ .kind = kind, .name = name, .file = file });
}

/* The same function may be called on objects of several classes, with new and without, and inlined code does not say: one function all the same. */
static uint32_t js_function(struct ray_recorder_stacks *s, struct ray_profile *p, const struct ray_fact_frame *f)
{
	const char *file = ray_profile_text(p, f->file), *base = ray_profile_text(p, f->base), *package;
	const char *name = ray_profile_text(p, f->function);
	uint64_t key[4] = { (uintptr_t)file, (uintptr_t)base, (uint32_t)f->begin_line, (uint32_t)f->begin_column };
	struct ray_recorder_row *row = ray_recorder_table_get(&s->functions, key);
	struct ray_profile_function new = { .file = file, .line = f->begin_line, .column = f->begin_column };
	struct ray_recorder_function *known;
	size_t length = 0;

	if (!row)
		return 0;
	if (!row->value) {
		new.kind = ray_kind_of_script(file, &package, &length);
		new.name = name;
		new.package = package ? ray_profile_text_n(p, package, length) : "";
		if (!ray_vec_push(&s->list,
				  (struct ray_recorder_function){ ray_profile_function(p, &new), name, false }))
			return 0;
		row->value = (uint32_t)s->list.n;
		return s->list.at[s->list.n - 1].function;
	}
	known = &s->list.at[row->value - 1];
	if (known->name == name || name == base || known->is_settled || !known->function)
		return known->function;
	if (known->name != base) { /* another class */
		known->is_settled = true;
		name = base;
	}
	known->name = p->functions.at[known->function].name = name;
	return known->function;
}

static uint32_t unnamed_function(struct ray_profile *p, const struct ray_fact_frame *f)
{
	char name[256];

	if (f->kind == RAY_FRAME_KERNEL)
		return plain_function(p, RAY_KIND_KERNEL, "[kernel]", "");
	if (f->module) {
		snprintf(name, sizeof(name), "[%s]", ray_frame_module(f->module));
		return plain_function(p, RAY_KIND_UNKNOWN, name, f->module);
	}
	return plain_function(p, RAY_KIND_UNKNOWN, f->kind == RAY_FRAME_NATIVE ? "[unknown]" : "[unknown code of V8]",
			      "");
}

static uint32_t builtin_function(struct ray_profile *p, const struct ray_fact_frame *f)
{
	const char *name = ray_profile_text_n(p, f->function, builtin_length(f->function));

	return plain_function(p, RAY_KIND_BUILTIN, name, "");
}

/* inside: what the native code that called it does. Helpers of the collector collect, too. */
static uint32_t function_of(struct ray_recorder_stacks *s, struct ray_profile *p, const struct ray_fact_frame *f,
			    enum ray_profile_kind inside)
{
	enum ray_profile_kind kind;

	if (!f->function)
		return unnamed_function(p, f);
	switch (f->kind) {
	case RAY_FRAME_JS:
		return js_function(s, p, f);
	case RAY_FRAME_WASM:
		return plain_function(p, RAY_KIND_WASM, f->function, f->file);
	case RAY_FRAME_KERNEL:
		return plain_function(p, RAY_KIND_KERNEL, f->function,
				      f->module && strcmp(f->module, "vmlinux") ? f->module : "");
	case RAY_FRAME_NATIVE:
		kind = ray_kind_of_native(f->function);
		return plain_function(p, kind == RAY_KIND_NATIVE ? inside : kind, f->function, f->module);
	default:
		return builtin_function(p, f);
	}
}

/* ---- frames and nodes ---- */

static uint32_t add_frame(struct ray_recorder_stacks *s, struct ray_profile *p, uint32_t parent,
			  const struct ray_fact_frame *f, enum ray_profile_kind *inside)
{
	uint64_t key[4] = { (uintptr_t)f, *inside };
	struct ray_recorder_row *row = ray_recorder_table_get(&s->frames, key);
	struct ray_profile_frame frame = { .line = f->line, .column = f->column, .is_inlined = f->is_inlined };
	enum ray_profile_kind kind;

	if (!row) {
		p->failed = true;
		return parent;
	}
	if (!row->value) {
		frame.function = function_of(s, p, f, *inside);
		row->value = frame.function ? ray_profile_frame(p, &frame) : 0;
	}
	if (!row->value) {
		p->failed = true;
		return parent;
	}
	kind = p->functions.at[p->frames.at[row->value].function].kind;
	*inside = kind == RAY_KIND_GC || kind == RAY_KIND_COMPILER ? kind : RAY_KIND_NATIVE;
	return ray_profile_node(p, parent, row->value);
}

static uint32_t add_plain(struct ray_profile *p, uint32_t parent, enum ray_profile_kind kind, const char *name)
{
	struct ray_profile_frame frame = { .function = plain_function(p, kind, name, "") };

	return frame.function ? ray_profile_node(p, parent, ray_profile_frame(p, &frame)) : parent;
}

/* stops_at_gc: what V8's collector does inside it is left out. */
static uint32_t add_user(struct ray_recorder_stacks *s, struct ray_profile *p, uint32_t node,
			 const struct ray_fact_stack *stack, bool stops_at_gc)
{
	enum ray_profile_kind inside = RAY_KIND_NATIVE;

	if (stack->is_lost)
		return add_plain(p, node, RAY_KIND_UNKNOWN, "[stack lost]");
	if (stack->is_cut)
		node = add_plain(p, node, RAY_KIND_UNKNOWN, "[stack cut]");
	for (size_t i = stack->count; i-- > 0;) {
		const struct ray_fact_frame *f = stack->frames[i];

		/* Where a stack is cut, the innermost frame may be all that tells what it was. */
		if ((ray_recorder_is_plumbing(f) && (i || !stack->is_cut)) ||
		    is_own_code(f, i + 1 < stack->count ? stack->frames[i + 1] : NULL))
			continue;
		if (stops_at_gc && f->kind == RAY_FRAME_NATIVE && f->function &&
		    ray_kind_of_native(f->function) == RAY_KIND_GC)
			break;
		node = add_frame(s, p, node, f, &inside);
	}
	return node;
}

static uint32_t make_node(struct ray_recorder_stacks *s, struct ray_profile *p,
			  const struct ray_recorder_sample *sample)
{
	enum ray_profile_kind inside = RAY_KIND_KERNEL;
	char waits[64 + sizeof("waiting: ")];
	uint32_t node = 0;

	if (sample->root)
		node = add_plain(p, node, RAY_KIND_NATIVE, sample->root);
	if (sample->user)
		node = add_user(s, p, node, sample->user, sample->is_collection);
	for (size_t i = sample->kernel ? sample->kernel->count : 0; i-- > 0;)
		node = add_frame(s, p, node, sample->kernel->frames[i], &inside);
	if (sample->is_waiting) {
		char buffer[64];

		snprintf(waits, sizeof(waits), "waiting: %s",
			 ray_recorder_waits_for(sample->kernel, buffer, sizeof(buffer)));
		node = add_plain(p, node, RAY_KIND_IDLE, waits);
	}
	if (sample->leaf)
		node = add_plain(p, node, RAY_KIND_GC, sample->leaf);
	return node;
}

static uint64_t hash_of(const char *text, uint64_t hash)
{
	return text ? ray_hash_text(hash, text) : ray_hash_word(hash, 0);
}

uint32_t ray_recorder_node(struct ray_recorder_stacks *s, struct ray_profile *p,
			   const struct ray_recorder_sample *sample)
{
	const struct ray_fact_stack *user = sample->user, *kernel = sample->kernel;
	const struct ray_fact_stack *dated = user && !user->is_lost ? user : kernel;
	/* They are few, and known by their content. */
	uint64_t around = hash_of(sample->leaf, hash_of(sample->root, 0));
	uint64_t key[4] = { user ? user->id : 0, kernel ? kernel->id : 0, around,
			    (uint64_t)sample->is_collection << 3 | (uint64_t)sample->is_waiting << 2 |
				    (uint64_t)(user != NULL) << 1 | (kernel != NULL) };
	struct ray_recorder_row *row;
	uint32_t node;

	if (dated && dated->generation != s->generation) {
		ray_recorder_table_clear(&s->nodes);
		ray_recorder_table_clear(&s->frames);
		s->generation = dated->generation;
	}
	row = ray_recorder_table_get(&s->nodes, key);
	if (row && row->value)
		return row->value - 1;
	node = make_node(s, p, sample);
	if (row) /* making a node does not touch this table */
		row->value = node + 1;
	return node;
}

void ray_recorder_stacks_deinit(struct ray_recorder_stacks *s)
{
	ray_recorder_table_deinit(&s->nodes);
	ray_recorder_table_deinit(&s->frames);
	ray_recorder_table_deinit(&s->functions);
	ray_vec_free(&s->list);
}
