/* stacks_frames.c - frames as a view is told them, each kept once. SPDX-License-Identifier: MIT
 *
 * Where a line is what a person reads, a frame is what a profile is made of: the function and where it begins apart from the place in it that
 * runs. A native frame has no place in it: all of a function's are one. */
#include <string.h>

#include "engine/stacks.h"
#include "view/frame.h"

/* ---- one frame ---- */

/* Texts are kept once: the same text is the same pointer. */
static uint64_t hash_frame(const struct ray_fact_frame *f)
{
	uint64_t hash =
		ray_hash_word((uint64_t)f->kind << 2 | (uint64_t)f->is_inlined << 1 | f->is_plumbing, f->address);

	hash = ray_hash_pointer(ray_hash_pointer(hash, f->function), f->file);
	hash = ray_hash_pointer(ray_hash_pointer(hash, f->module), f->base);
	hash = ray_hash_word(hash, (uint64_t)(uint32_t)f->line << 32 | (uint32_t)f->column);
	return ray_hash_word(hash, (uint64_t)(uint32_t)f->begin_line << 32 | (uint32_t)f->begin_column);
}

static bool is_same(const struct ray_fact_frame *a, const struct ray_fact_frame *b)
{
	return a->kind == b->kind && a->function == b->function && a->base == b->base && a->file == b->file &&
	       a->module == b->module && a->address == b->address && a->line == b->line && a->column == b->column &&
	       a->begin_line == b->begin_line && a->begin_column == b->begin_column && a->is_inlined == b->is_inlined &&
	       a->is_plumbing == b->is_plumbing;
}

/* The table of lines keeps texts of any kind. False: no memory. */
static bool keep_text(struct ray_stack_table *t, const char **text)
{
	const struct ray_stack_line *line;

	if (!*text)
		return true;
	line = ray_stack_table_line(t, *text, false);
	*text = line ? line->text : NULL;
	return line != NULL;
}

const struct ray_fact_frame *ray_stack_table_frame(struct ray_stack_table *t, const struct ray_fact_frame *f)
{
	struct ray_fact_frame own = *f, **known, *new;
	uint64_t hash;

	if (!keep_text(t, &own.function) || !keep_text(t, &own.base) || !keep_text(t, &own.file) ||
	    !keep_text(t, &own.module))
		return NULL;
	hash = hash_frame(&own);
	known = ray_hashmap_find(&t->frames, hash, one, is_same(*one, &own));
	if (known)
		return *known;
	new = ray_arena_alloc(t->arena, sizeof(*new));
	if (!new || !ray_hashmap_add(&t->frames, hash, new))
		return NULL;
	*new = own;
	t->bytes += sizeof(*new);
	return new;
}

const struct ray_fact_frame *ray_stack_table_user_frame(struct ray_stack_table *t, const struct ray_frame *f)
{
	struct ray_fact_frame frame = { .kind = f->kind,
					.function = f->function,
					.base = f->function,
					.file = f->file && *f->file ? f->file : NULL,
					.address = f->function ? 0 : f->pc,
					.begin_line = f->begin_line,
					.begin_column = f->begin_column,
					.is_inlined = f->inlined,
					.is_plumbing = ray_frame_is_plumbing(f) };
	ray_auto_text name = { 0 }, module = { 0 };

	if (!f->is_definition) {
		frame.line = f->line;
		frame.column = f->column;
	}
	/* What builtins are called on says more than their name, unless it is any object. */
	if (f->function && (f->kind == RAY_FRAME_JS || (f->kind == RAY_FRAME_BUILTIN && f->receiver_class &&
							strcmp(f->receiver_class, "Object")))) {
		ray_frame_js_name(f, &name);
		frame.function = ray_text_get(&name);
	}
	if (f->module) {
		ray_text_add_safe(&module, f->module, strlen(f->module));
		frame.module = ray_text_get(&module);
	}
	return name.failed || module.failed ? NULL : ray_stack_table_frame(t, &frame);
}

/* ---- the kernel's ---- */

static const struct ray_fact_frame *kernel_frame(struct ray_stacker *s, uint64_t address, size_t *no_symbol)
{
	struct ray_fact_frame frame = { .kind = RAY_FRAME_KERNEL, .address = address };
	struct ray_kernel_symbol symbol;

	if (ray_kernel_symbol_at(s->kernel, address, &symbol)) {
		frame.function = frame.base = symbol.name;
		frame.module = symbol.module;
		frame.address = 0;
	} else {
		++*no_symbol;
	}
	return ray_stack_table_frame(&s->table, &frame);
}

/* What makes a kernel stack: its addresses. */
static uint64_t hash_addresses(const uint64_t *addresses, size_t count)
{
	uint64_t hash = ray_hash_bytes(0, addresses, count * sizeof(*addresses));

	return hash ? hash : 1;
}

const struct ray_fact_stack *ray_stack_kernel(struct ray_stacker *s, const uint64_t *addresses, size_t count)
{
	struct ray_fact_stack stack = { .id = hash_addresses(addresses, count), .count = count };
	const struct ray_stack_entry *e = ray_stack_table_find(&s->table, stack.id);
	ray_auto_memory const struct ray_fact_frame **frames = NULL;

	if (e)
		return e->stack;
	frames = calloc(count, sizeof(const void *));
	if (!frames)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		frames[i] = kernel_frame(s, addresses[i], &stack.no_symbol);
		if (!frames[i])
			return NULL;
	}
	stack.frames = frames;
	if (!ray_stack_table_add(&s->table, &stack, NULL))
		return NULL;
	return ray_stack_table_find(&s->table, stack.id)->stack;
}
