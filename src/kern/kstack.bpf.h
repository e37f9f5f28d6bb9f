/* kstack.bpf.h - the kernel's own stack, where a clock has interrupted it. SPDX-License-Identifier: MIT
 *
 * The kernel's unwinder takes most of a microsecond a frame: it searches its tables (ORC) for each, and everything it touches is out of the cache. This is
 * the same walk by the same tables, which are read where they lie; how a place is left is looked up once and remembered. Only the kernel's own text is
 * walked, and only what its compiler makes: at anything else (modules, programs, an entry that is half done, a return address that a probe has
 * replaced) it gives up, and the kernel is asked. The first stacks, and some later ones, are asked for as well and compared: should they ever
 * differ, this is not used any more. See docs/internals/stacks-in-the-kernel.md. */
#ifndef RAY_KERN_KSTACK_BPF_H
#define RAY_KERN_KSTACK_BPF_H

#include "kern/walk_memory.bpf.h"

/* Registers and types of struct orc_entry. */
enum {
	RAY_ORC_REG_UNDEFINED,
	RAY_ORC_REG_PREV_SP,
	RAY_ORC_REG_BP = 4,
	RAY_ORC_REG_SP = 5,
	RAY_ORC_REG_BP_INDIRECT = 8,
	RAY_ORC_REG_SP_INDIRECT = 9
};
enum { RAY_ORC_END = 1, RAY_ORC_CALL, RAY_ORC_REGS };

/* Offsets in struct pt_regs. */
enum { RAY_REGS_AT_BP = 32, RAY_REGS_AT_IP = 128, RAY_REGS_AT_CS = 136, RAY_REGS_AT_SP = 152 };

enum {
	RAY_KERNEL_WINDOW = 1024,
	RAY_KERNEL_FRAMES = 127, /* the kernel's own limit, unless it was changed */
	RAY_ORC_STEPS = 24,	 /* of a search through all rows */
	RAY_ORC_BLOCK_SHIFT = 8, /* of text, in the kernel's own index of its rows */
	RAY_ORC_LINE_SHIFT = 6,	 /* of text, in what is remembered */
	RAY_ORC_PLACES = 1024,
	RAY_KERNEL_CHECKS = 16, /* stacks that are compared at first, */
	RAY_KERNEL_EVERY = 256, /* and later one in so many */
};

/* A row of the kernel's, unpacked; type 0: none. */
struct ray_orc {
	__s16 sp_offset, bp_offset;
	__u8 sp_reg, bp_reg, type, is_exact;
};

/* What was learnt of a line of text: most of the places that a clock finds there are left alike. */
struct ray_orc_place {
	__u32 line;	  /* + 1 */
	__u8 first, last; /* bytes of it that this is about */
	__u8 pad[2];
	struct ray_orc orc;
};

enum ray_kernel_end { RAY_KERNEL_BROKEN, RAY_KERNEL_DONE };

/* Element of the map kernel_walk: one for each slot. */
struct ray_kernel_walk {
	struct ray_place at;
	struct ray_orc orc; /* of the place that was looked up last */
	__u32 count, wanted;
	__u32 end; /* enum ray_kernel_end */
	__u32 turns;
	__u64 window_start, window_size;
	char window[RAY_KERNEL_WINDOW + 8];
	struct ray_orc_place places[RAY_ORC_PLACES];
	__u64 kept_count; /* of frames below, which the kernel's are to be compared with */
	__u64 kept[RAY_KERNEL_FRAMES + 1];
};

_Static_assert(sizeof(struct ray_kernel_walk) <= RAY_KERNEL_WALK_SIZE, "scratch");

struct ray_kernel_context {
	struct ray_kernel_walk *w;
	struct ray_slot *s;
	__u64 to;
};

/* The piece of the stack that begins near address, to the end of its page at most. */
RAY_WALK_PART int ray_walk_kernel_move(struct ray_kernel_walk *w, __u64 address)
{
	__u64 start = address & ~63ULL, size = RAY_PAGE - (start & (RAY_PAGE - 1));

	if (!w)
		return 0;
	if (size > RAY_KERNEL_WINDOW)
		size = RAY_KERNEL_WINDOW;
	w->window_start = start;
	w->window_size = 0;
	if (bpf_probe_read_kernel(w->window, size, (void *)start))
		return 0;
	w->window_size = size;
	return 1;
}

static __always_inline int ray_kernel_read(struct ray_kernel_walk *w, __u64 address, __u64 *to)
{
	__u64 at = address - w->window_start;

	if (at >= w->window_size) {
		if (address & 7 || !ray_walk_kernel_move(w, address))
			return 0;
		at = address - w->window_start;
	}
	RAY_OPAQUE(at);
	if (at >= RAY_KERNEL_WINDOW)
		return 0;
	*to = ray_word_at(&w->window[at]);
	return 1;
}

/* How many rows begin up to pc: from low to high. The table has what to add to a number's own place. */
RAY_WALK_PART __u64 ray_orc_rows_to(__u64 pc, __u64 low, __u64 high)
{
	for (int i = 0; i < RAY_ORC_STEPS && low < high; i++) {
		__u64 middle = (low + high) >> 1, at = RAY_CONST(ORC_STARTS) + middle * 4;
		__s32 distance = 0;

		if (bpf_probe_read_kernel(&distance, sizeof(distance), (void *)at))
			return 0;
		if (at + (__s64)distance <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The addresses that a row is about. */
struct ray_orc_span {
	__u64 start, end;
};

/* Is pc among those of the last of so many rows? Then which they are. */
static __always_inline int ray_orc_covers(__u64 rows, __u64 pc, struct ray_orc_span *span)
{
	__u64 at = RAY_CONST(ORC_STARTS) + (rows - 1) * 4;
	__s32 distances[2] = { 0, 0 };

	if (!rows || rows >= RAY_CONST(ORC_COUNT) || bpf_probe_read_kernel(distances, sizeof(distances), (void *)at))
		return 0;
	span->start = at + (__s64)distances[0];
	span->end = at + 4 + (__s64)distances[1];
	return pc >= span->start && pc < span->end;
}

/* The number of the row that covers pc, + 1. Its neighbourhood is told by the kernel's own index, which is believed only if what is found so is right. */
static __always_inline __u64 ray_orc_search(__u64 pc, struct ray_orc_span *span)
{
	__u64 block = (pc - RAY_CONST(TEXT_START)) >> RAY_ORC_BLOCK_SHIFT, rows;
	__u32 bounds[2] = { 0, 0 };

	if (RAY_CONST(ORC_INDEX) &&
	    !bpf_probe_read_kernel(bounds, sizeof(bounds), (void *)(RAY_CONST(ORC_INDEX) + block * 4)) &&
	    bounds[0] <= bounds[1] && bounds[1] < RAY_CONST(ORC_COUNT)) {
		rows = ray_orc_rows_to(pc, bounds[0], bounds[1] + 1);
		if (ray_orc_covers(rows, pc, span))
			return rows;
	}
	rows = ray_orc_rows_to(pc, 0, RAY_CONST(ORC_COUNT));
	return ray_orc_covers(rows, pc, span) ? rows : 0;
}

/* Looks up how to leave pc, into w->orc, and remembers it for what is left alike of the line around it. */
RAY_WALK_PART int ray_walk_orc_learn(struct ray_kernel_walk *w, struct ray_orc_place *place, __u64 pc)
{
	__u64 line = (pc - RAY_CONST(TEXT_START)) >> RAY_ORC_LINE_SHIFT, rows, raw = 0;
	__u64 start = RAY_CONST(TEXT_START) + (line << RAY_ORC_LINE_SHIFT), end = start + (1 << RAY_ORC_LINE_SHIFT);
	struct ray_orc_span span = { 0, 0 };

	if (!w || !place)
		return 0;
	rows = ray_orc_search(pc, &span);
	if (rows && bpf_probe_read_kernel(&raw, RAY_ORC_ROW_SIZE,
					  (void *)(RAY_CONST(ORC_ROWS) + (rows - 1) * RAY_ORC_ROW_SIZE)))
		raw = 0;
	w->orc.sp_offset = raw;
	w->orc.bp_offset = raw >> 16;
	w->orc.sp_reg = raw >> 32 & 15;
	w->orc.bp_reg = raw >> 36 & 15;
	w->orc.type = raw >> 40 & 7;
	w->orc.is_exact = raw >> 43 & 1;
	place->line = rows ? line + 1 : 0;
	place->first = span.start > start ? span.start - start : 0;
	place->last = (span.end < end ? span.end : end) - 1 - start;
	place->orc = w->orc;
	return 1;
}

static __always_inline struct ray_orc ray_orc_of(struct ray_kernel_walk *w, __u64 pc)
{
	__u64 at = pc - RAY_CONST(TEXT_START), line = at >> RAY_ORC_LINE_SHIFT,
	      byte = at & ((1 << RAY_ORC_LINE_SHIFT) - 1);
	struct ray_orc_place *place = &w->places[(line ^ line >> 10) & (RAY_ORC_PLACES - 1)];

	if (place->line == (__u32)line + 1 && byte >= place->first && byte <= place->last)
		return place->orc;
	ray_walk_orc_learn(w, place, pc);
	return w->orc;
}

/* Where the caller's frame begins; 0: by a rule that is not followed here. */
static __always_inline __u64 ray_kernel_frame(struct ray_kernel_walk *w, const struct ray_orc *orc)
{
	__u64 frame = 0;

	switch (orc->sp_reg) {
	case RAY_ORC_REG_SP:
		return w->at.sp + orc->sp_offset;
	case RAY_ORC_REG_BP:
		return w->at.fp + orc->sp_offset;
	case RAY_ORC_REG_SP_INDIRECT:
		return ray_kernel_read(w, w->at.sp, &frame) ? frame + orc->sp_offset : 0;
	case RAY_ORC_REG_BP_INDIRECT:
		return ray_kernel_read(w, w->at.fp + orc->sp_offset, &frame) ? frame : 0;
	}
	return 0;
}

/* From what an interrupt or a system call has saved. 0: it came from a program, or cannot be read. */
static __always_inline int ray_kernel_leave_regs(struct ray_kernel_walk *w, __u64 regs, __u64 *fp)
{
	__u64 segment = 0;

	if (!ray_kernel_read(w, regs + RAY_REGS_AT_BP, fp) || !ray_kernel_read(w, regs + RAY_REGS_AT_IP, &w->at.pc) ||
	    !ray_kernel_read(w, regs + RAY_REGS_AT_CS, &segment) ||
	    !ray_kernel_read(w, regs + RAY_REGS_AT_SP, &w->at.sp))
		return 0;
	if (segment & 3)
		w->end = RAY_KERNEL_DONE;
	return !(segment & 3);
}

/* To the caller. 0: there is none, or it was not found. */
static __always_inline int ray_kernel_leave(struct ray_kernel_walk *w)
{
	struct ray_orc orc = ray_orc_of(w, w->at.exact ? w->at.pc : w->at.pc - 1);
	__u64 frame, fp = w->at.fp;

	if (orc.type == RAY_ORC_END) {
		w->end = RAY_KERNEL_DONE;
		return 0;
	}
	frame = ray_kernel_frame(w, &orc);
	if (!frame)
		return 0;
	if (orc.type == RAY_ORC_CALL) {
		if (!ray_kernel_read(w, frame - 8, &w->at.pc))
			return 0;
		w->at.sp = frame;
	} else if (orc.type != RAY_ORC_REGS || !ray_kernel_leave_regs(w, frame, &fp)) {
		return 0;
	}
	if ((orc.bp_reg == RAY_ORC_REG_PREV_SP && !ray_kernel_read(w, frame + orc.bp_offset, &fp)) ||
	    (orc.bp_reg == RAY_ORC_REG_BP && !ray_kernel_read(w, w->at.fp + orc.bp_offset, &fp)))
		return 0;
	w->at.fp = fp;
	w->at.exact = orc.is_exact;
	return 1;
}

static long ray_kernel_step(__u32 i __attribute__((unused)), struct ray_kernel_context *c)
{
	struct ray_kernel_walk *w = c->w;
	__u64 pc = w->at.pc;

	if (w->count >= w->wanted) {
		w->end = RAY_KERNEL_DONE;
		return 1;
	}
	if (pc < RAY_CONST(TEXT_START) || pc >= RAY_CONST(TEXT_END) || pc == RAY_CONST(HIJACK_GRAPH) ||
	    pc == RAY_CONST(HIJACK_RETURN))
		return 1;
	ray_word_put(ray_at(c->s, c->to + (__u64)w->count * 8), pc);
	w->count++;
	return !ray_kernel_leave(w);
}

/* Puts the frames of the interrupted kernel at `to`, at most `size` bytes of them, and returns how many bytes they are. 0: the kernel is to
 * be asked, and ray_kstack_compare() to be told. */
RAY_RUNTIME __u64 ray_kstack(__u64 slot, __u64 to, __u64 size)
{
	struct ray_kernel_context c = { .s = ray_slot_get(slot), .to = to };
	struct ray_state *state = ray_state_get();
	__u32 key = slot;

	c.w = bpf_map_lookup_elem(RAY_MAP(KERNEL_WALK), &key);
	if (!RAY_CONST(ORC_COUNT) || !c.s || !c.w || !state || *(volatile __u64 *)&state->kernel_differs)
		return 0;
	c.w->at.pc = c.s->kernel_pc;
	c.w->at.sp = c.s->kernel_sp;
	c.w->at.fp = c.s->kernel_fp;
	c.w->at.exact = 1;
	c.w->count = c.w->end = 0;
	c.w->window_size = 0;
	c.w->kept_count = 0;
	c.w->wanted = size / 8;
	if (c.w->wanted > RAY_KERNEL_FRAMES)
		return 0;
	bpf_loop(RAY_KERNEL_FRAMES + 1, ray_kernel_step, &c, 0);
	if (c.w->end != RAY_KERNEL_DONE)
		return 0;
	if (c.w->turns++ < RAY_KERNEL_CHECKS || !(c.w->turns % RAY_KERNEL_EVERY)) {
		c.w->kept_count = c.w->count;
		bpf_probe_read_kernel(c.w->kept, RAY_KERNEL_FRAMES * 8, ray_at(c.s, to));
		return 0;
	}
	return (__u64)c.w->count * 8;
}

/* The kernel was asked, and its answer is `got` bytes at `at`; returns `got`. */
RAY_RUNTIME __u64 ray_kstack_compare(__u64 slot, __u64 at, __u64 got)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_state *state = ray_state_get();
	struct ray_kernel_walk *w;
	__u32 key = slot;
	__u64 differ;

	w = bpf_map_lookup_elem(RAY_MAP(KERNEL_WALK), &key);
	if (!s || !w || !state || !w->kept_count)
		return got;
	differ = got ^ w->kept_count * 8;
	for (__u64 i = 0; i < RAY_KERNEL_FRAMES && i < w->kept_count; i++)
		differ |= ray_word_at(ray_at(s, at + i * 8)) ^ w->kept[i];
	if (differ)
		*(volatile __u64 *)&state->kernel_differs = 1;
	return got;
}

#endif
