/* recorded.c - see recorded.h. SPDX-License-Identifier: MIT */
#include "stack/recorded.h"

#include <string.h>

#include "elf/unwind.h"
#include "stack/leaf.h"

/* Words of a frame that hold objects: struct ray_walk_frame. */
enum { WORD_FUNCTION = 3, WORD_CONTEXT = 4, WORD_RECEIVER = 7 };
/* More builtins without a frame than V8 ever nests. */
enum { MAX_FRAMELESS = 4 };

static const struct ray_walk_frame *frame_at(const struct ray_record_stack *record, size_t at)
{
	return (const struct ray_walk_frame *)((const char *)(record + 1) + at);
}

bool ray_recorded_is_sound(const struct ray_record_stack *record, size_t size)
{
	size_t at = 0;

	if (size < sizeof(*record) || record->bytes > size - sizeof(*record) || record->top_count > RAY_STACK_TOP ||
	    record->bytes % sizeof(uint64_t))
		return false;
	for (uint32_t i = 0; i < record->count; i++) {
		if (record->bytes - at < RAY_FRAME_SIZE_NATIVE ||
		    record->bytes - at < ray_walk_frame_size(frame_at(record, at)->flags))
			return false;
		at += ray_walk_frame_size(frame_at(record, at)->flags);
	}
	return true;
}

bool ray_recorded_next(struct ray_recorded_frames *at)
{
	uint32_t next = at->f ? at->index + 1 : 0;

	if (next >= at->record->count)
		return false;
	at->f = at->f ? (const void *)((const char *)at->f + ray_walk_frame_size(at->f->flags)) :
			frame_at(at->record, 0);
	at->index = next;
	return true;
}

static bool add_piece(struct ray_recorded *r, uint64_t start, const void *bytes, size_t size)
{
	return ray_vec_push(&r->pieces, (struct ray_overlay_piece){ start, size, bytes });
}

static bool add_frame_pieces(struct ray_recorded *r, const struct ray_walk_frame *f)
{
	bool ok = true;

	if (f->flags & RAY_FRAME_HAS_WORDS)
		ok = add_piece(r, f->fp - RAY_FRAME_BELOW, f->words, sizeof(f->words));
	if (f->flags & RAY_FRAME_HAS_FUNCTION)
		ok = ok && add_piece(r, f->words[WORD_FUNCTION] - 1, f->function, sizeof(f->function));
	if (f->flags & RAY_FRAME_HAS_CONTEXT)
		ok = ok && add_piece(r, f->words[WORD_CONTEXT] - 1, &f->context_map, sizeof(f->context_map));
	if (f->flags & RAY_FRAME_HAS_RECEIVER)
		ok = ok && add_piece(r, f->words[WORD_RECEIVER] - 1, &f->receiver_map, sizeof(f->receiver_map));
	if (f->flags & RAY_FRAME_HAS_BELOW && !(f->flags & RAY_FRAME_IS_REPLACED))
		ok = ok && add_piece(r, f->sp, f->below, sizeof(f->below));
	return ok;
}

static bool lay_over(struct ray_recorded *r, const struct ray_record_stack *record)
{
	struct ray_recorded_frames at = { .record = record };

	while (ray_recorded_next(&at)) {
		if (!add_frame_pieces(r, at.f))
			return false;
		if (at.index == 0 && record->top_count &&
		    !add_piece(r, at.f->sp, record->top, record->top_count * sizeof(record->top[0])))
			return false;
	}
	ray_overlay_sort(r->pieces.at, r->pieces.n);
	ray_target_lay_over(r->js->target, r->pieces.at, r->pieces.n);
	return true;
}

/* From the order of struct pt_regs to DWARF's. */
static void set_registers(struct ray_unwind_regs *regs, const struct ray_record_stack *record)
{
	static const uint8_t index[RAY_UNWIND_REGS] = { 10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16 };

	for (size_t i = 0; i < RAY_UNWIND_REGS; i++)
		regs->reg[i] = record->regs[index[i]];
	regs->valid = (1u << RAY_UNWIND_REGS) - 1;
}

static struct ray_raw_frame *add_frame(struct ray_recorded *r, uint64_t pc, uint64_t fp, uint64_t sp, bool exact)
{
	struct ray_raw_frame f = {
		.pc = pc, .fp = fp, .sp = sp, .exact = exact, .leaf_offset = -1, .number = r->number
	};
	const struct ray_module *m;
	uint64_t vaddr;

	f.at = ray_walk_lookup_address(r->js, pc, exact);
	f.region = ray_walk_region(r->js, f.at, &m, &vaddr);
	/* Generated code whose page was made, or taken away, since the mappings were read. */
	if (f.region == RAY_WALK_NOWHERE && r->js->layout && r->walk.frames.n)
		f.region = RAY_WALK_JIT;
	return ray_vec_push(&r->walk.frames, f) ? &r->walk.frames.at[r->walk.frames.n - 1] : NULL;
}

/* The innermost native frame, where the kernel had no row for it: without a frame of its own its caller was passed over. */
static bool add_native_caller(struct ray_recorded *r, const struct ray_recorded_frames *at, struct ray_unwind_regs regs)
{
	struct ray_reader memory = ray_target_reader(r->js->target);
	uint64_t pc = at->f->pc, fp = regs.reg[RAY_UNWIND_RBP], vaddr;
	struct ray_recorded_frames next = *at;
	const struct ray_module *m;

	if (ray_walk_region(r->js, pc, &m, &vaddr) != RAY_WALK_NATIVE || !m->elf ||
	    ray_unwind_step(m->elf, vaddr, pc - vaddr, &memory, &regs, NULL) != RAY_UNWIND_OK ||
	    !(regs.valid >> RAY_UNWIND_RBP & 1) || regs.reg[RAY_UNWIND_RBP] != fp ||
	    (ray_recorded_next(&next) && regs.reg[RAY_UNWIND_PC] == next.f->pc) ||
	    !ray_leaf_is_return_address(r->js, regs.reg[RAY_UNWIND_PC]))
		return true;
	return add_frame(r, regs.reg[RAY_UNWIND_PC], fp, regs.reg[RAY_UNWIND_RSP], false) != NULL;
}

/* Code of V8 that has no frame of its own: then fp is its caller's, whose place is on the stack. */
static bool add_v8_callers(struct ray_recorded *r, struct ray_raw_frame *f, const struct ray_unwind_regs *regs)
{
	struct ray_leaf leaf;

	for (int i = 0; i < MAX_FRAMELESS; i++) {
		if (f->region != RAY_WALK_JIT && f->region != RAY_WALK_BUILTIN)
			return true;
		if (f->exact)
			ray_leaf_inspect(r->js, f, regs, &leaf);
		else
			ray_leaf_inspect_caller(r->js, f, &leaf);
		f->leaf_offset = leaf.bytecode_offset;
		f->building = leaf.building;
		f->entering = leaf.entering;
		f->entered = leaf.entered;
		if (!leaf.frameless)
			return true;
		f->frameless = true;
		f = add_frame(r, leaf.return_address, f->fp, leaf.caller_sp, false);
		if (!f)
			return false;
	}
	return true;
}

/* A frame that V8 is replacing: the builtin that does so, and then the function, where it left its code; if that cannot be told, by its frame alone. */
static bool add_replaced(struct ray_recorded *r, struct ray_raw_frame *builtin, const struct ray_walk_frame *f)
{
	uint64_t words[RAY_BELOW_WORDS], left;
	struct ray_raw_frame *raw;

	memcpy(words, f->below, sizeof(words));
	left = ray_leaf_find_left(r->js, builtin->fp, words, RAY_COUNT(words));
	builtin->frameless = true;
	raw = add_frame(r, left ? left : f->pc, f->fp, f->sp, false);
	if (raw)
		raw->is_replaced = true;
	return raw != NULL;
}

static bool add_known(struct ray_recorded *r, const struct ray_walk_frame *f, bool is_construct)
{
	bool exact = f->flags & RAY_FRAME_IS_EXACT;

	return ray_vec_push(&r->walk.frames, ((struct ray_raw_frame){ .pc = f->pc,
								      .at = f->pc - !exact,
								      .exact = exact,
								      .leaf_offset = -1,
								      .number = r->number,
								      .is_known = true,
								      .is_construct = is_construct }));
}

static bool add_recorded_frame(struct ray_recorded *r, const struct ray_recorded_frames *at,
			       const struct ray_unwind_regs *regs)
{
	const struct ray_walk_frame *f = at->f;
	/* What was not recorded of a frame has been written over since. */
	uint64_t fp = f->flags & RAY_FRAME_HAS_WORDS ? f->fp : 0;
	struct ray_raw_frame *raw = add_frame(r, f->pc, fp, f->sp, f->flags & RAY_FRAME_IS_EXACT);

	if (!raw)
		return false;
	if (f->flags & RAY_FRAME_IS_REPLACED && r->js->layout)
		return add_replaced(r, raw, f);
	/* Elsewhere the stack is not recorded beyond the frames' own words, and is another one by now. */
	if (at->index && !(f->flags & RAY_FRAME_HAS_BELOW))
		return true;
	if (raw->region == RAY_WALK_NATIVE)
		return at->index || !(f->flags & RAY_FRAME_IS_UNKNOWN) || add_native_caller(r, at, *regs);
	return !r->js->layout || add_v8_callers(r, raw, regs);
}

struct ray_error *ray_recorded_init(struct ray_recorded *r, struct ray_js *js, const struct ray_record_stack *record,
				    const uint8_t *known)
{
	static const enum ray_walk_end ends[] = { [RAY_STOP_ROOT] = RAY_WALK_ROOT,
						  [RAY_STOP_FULL] = RAY_WALK_TRUNCATED,
						  [RAY_STOP_FAULT] = RAY_WALK_TRUNCATED,
						  [RAY_STOP_BROKEN] = RAY_WALK_BROKEN };
	struct ray_recorded_frames at = { .record = record };
	struct ray_unwind_regs regs;

	memset(r, 0, sizeof(*r));
	r->js = js;
	r->walk.end = record->stop < RAY_COUNT(ends) ? ends[record->stop] : RAY_WALK_BROKEN;
	if (js->cache)
		ray_cache_start(js->cache);
	if (!lay_over(r, record)) {
		ray_recorded_deinit(r);
		return &ray_enomem;
	}
	set_registers(&regs, record);
	while (ray_recorded_next(&at)) {
		r->number = at.index;
		if (known[at.index] != RAY_RECORDED_NEW ?
			    !add_known(r, at.f, known[at.index] == RAY_RECORDED_CONSTRUCT) :
			    !add_recorded_frame(r, &at, &regs)) {
			ray_recorded_deinit(r);
			return &ray_enomem;
		}
	}
	return NULL;
}

void ray_recorded_deinit(struct ray_recorded *r)
{
	ray_target_lay_over(r->js->target, NULL, 0);
	ray_vec_free(&r->pieces);
	ray_walk_deinit(&r->walk);
}
