/* name.c - see name.h. SPDX-License-Identifier: MIT */
#include "stack/name.h"

#include <string.h>

#include "base/text.h"
#include "elf/demangle.h"
#include "stack/name_internal.h"
#include "v8/function.h"

bool ray_namer_push(struct ray_namer *n, struct ray_frame f)
{
	if (!f.function)
		n->unnamed++;
	return ray_vec_push(&n->frames, f);
}

struct ray_frame ray_namer_frame(const struct ray_raw_frame *raw, enum ray_frame_kind kind)
{
	return (struct ray_frame){ .kind = kind,
				   .pc = raw->pc,
				   .fp = raw->fp,
				   .sp = raw->sp,
				   .argc = -1,
				   .wasm_index = -1,
				   .wasm_offset = -1,
				   .number = raw->number };
}

/* Names from a target may hold anything; they are made safe for a terminal once, here. */
const char *ray_namer_safe(struct ray_namer *n, const char *text)
{
	ray_auto_text out = { 0 };

	if (!text)
		return NULL;
	ray_text_add_safe(&out, text, strlen(text));
	return ray_arena_copy(n->arena, ray_text_get(&out), out.length);
}

static void set_symbol(struct ray_namer *n, const struct ray_module *m, uint64_t vaddr, struct ray_frame *f)
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
	f->function = ray_namer_safe(n, demangled ? demangled : s.name);
	f->symbol = s.name;
	f->offset = vaddr - s.value;
}

/* Native frames get their symbols when all others have their names: files stay, objects of the heap do not. */
static bool push_native(struct ray_namer *n, const struct ray_raw_frame *raw)
{
	return ray_vec_push(&n->natives, (struct ray_namer_native){ raw, n->frames.n }) &&
	       ray_vec_push(&n->frames, ray_namer_frame(raw, RAY_FRAME_NATIVE));
}

static void name_native(struct ray_namer *n, const struct ray_raw_frame *raw, struct ray_frame *f)
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

static const char construct[] = "ConstructFrame";

static bool push_known(struct ray_namer *n, const struct ray_raw_frame *raw)
{
	struct ray_frame f = ray_namer_frame(raw, RAY_FRAME_STUB);

	f.is_known = true;
	f.function = raw->is_construct ? construct : "";
	return ray_namer_push(n, f);
}

bool ray_frame_is_construct_stub(const struct ray_frame *f)
{
	return f->kind == RAY_FRAME_STUB && f->function && strstr(f->function, construct);
}

/* "new" shows in the frame that called, a construct stub, unless the compiler did away with it. */
static void mark_constructors(struct ray_namer *n)
{
	for (size_t i = 0; i < n->frames.n; i++) {
		struct ray_frame *f = &n->frames.at[i];

		if (f->kind == RAY_FRAME_JS && !f->inlined && i + 1 < n->frames.n && ray_frame_is_construct_stub(f + 1))
			f->is_construct = true;
		else if (f->kind == RAY_FRAME_JS && f->script && ray_v8_shared_is_class(&n->js->v8, f->shared))
			f->is_construct = true;
	}
}

static bool is_entry(const struct ray_module *m, uint64_t vaddr)
{
	static const char entry[] = "DeoptimizationEntry";
	const char *name;
	struct ray_symbol s;

	if (!m || !m->elf || !ray_elf_symbol_at(m->elf, vaddr, &s))
		return false;
	name = ray_js_builtin_name(s.name);
	return name && !strncmp(name, entry, sizeof(entry) - 1);
}

/* V8 has taken the frame that it deoptimizes off the stack, and its caller with it: what seems to come next is garbage, unless the frame was found where it
 * is meanwhile. */
static bool is_deoptimizing(struct ray_namer *n, const struct ray_raw_frame *raw, const struct ray_raw_frame *next,
			    const struct ray_module *m, uint64_t vaddr)
{
	const struct ray_deopt *deopt;

	if (raw->region != RAY_WALK_BUILTIN || raw->is_replaced || (next && next->is_replaced))
		return false;
	deopt = ray_js_deopt(n->js);
	return deopt->count ? m == n->js->node.module && ray_deopt_is_moved(deopt, vaddr) : is_entry(m, vaddr);
}

/* Only the builtin is named then, whatever is at fp. */
static bool push_v8(struct ray_namer *n, const struct ray_raw_frame *raw, const struct ray_raw_frame *next,
		    bool *is_deoptimizing_ret)
{
	struct ray_raw_frame bare = *raw;
	const struct ray_module *m = NULL;
	uint64_t vaddr = 0;
	bool ok;

	ray_walk_region(n->js, raw->at, &m, &vaddr);
	*is_deoptimizing_ret = is_deoptimizing(n, raw, next, m, vaddr);
	bare.frameless |= *is_deoptimizing_ret;
	ok = ray_namer_v8(n, &bare, m, vaddr, next);
	/* Of what is no function's frame nothing is known while it is replaced. */
	if (ok && raw->is_replaced && n->frames.at[n->frames.n - 1].kind != RAY_FRAME_JS)
		*is_deoptimizing_ret = true;
	return ok;
}

struct ray_error *ray_name_frames(struct ray_js *js, const struct ray_walk *walk, struct ray_arena *arena,
				  struct ray_stack *stack)
{
	struct ray_namer n = { .js = js, .arena = arena };
	bool ok = true;

	for (size_t i = 0; i < walk->frames.n && ok && !stack->is_deoptimizing; i++) {
		const struct ray_raw_frame *raw = &walk->frames.at[i];

		if (raw->is_known)
			ok = push_known(&n, raw);
		else if (raw->region == RAY_WALK_NATIVE || raw->region == RAY_WALK_NOWHERE)
			ok = push_native(&n, raw);
		else
			ok = push_v8(&n, raw, i + 1 < walk->frames.n ? raw + 1 : NULL, &stack->is_deoptimizing);
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
