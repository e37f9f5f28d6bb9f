/* walk.bpf.h - the user stack of the current thread, walked in the kernel.
 * SPDX-License-Identifier: MIT
 *
 * Native code is left by unwind rows that user space made from .eh_frame, or by frame pointers where a file keeps them; V8's code, and whatever is not
 * known, by frame pointers. Of frames that may be V8's the words are recorded that tell which function runs: objects move, so they are read now.
 * Nothing is named here. A stack is known by a hash of what names it; user space gets it whole the first time.
 * See docs/internals/stacks-in-the-kernel.md. */
#ifndef RAY_KERN_WALK_BPF_H
#define RAY_KERN_WALK_BPF_H

#include "kern/walk_frame.bpf.h"

enum { RAY_CS_USER64 = 0x33 };

struct ray_walk_context {
	struct ray_walker *w;
};

/* A probe on a function's return has put its own address in the place of the real one, which the kernel keeps in a list. */
RAY_WALK_PART int ray_walk_hijacked(struct ray_walker *w)
{
	__u64 address = 0, next = 0;

	if (!w || bpf_probe_read_kernel(&address, 8, (void *)(w->returns + RAY_CONST(RETURN_ADDRESS))) ||
	    bpf_probe_read_kernel(&next, 8, (void *)(w->returns + RAY_CONST(RETURN_NEXT))))
		return 0;
	w->at.pc = address;
	w->returns = next;
	return 1;
}

static __always_inline int ray_walk_by_pointer(struct ray_walker *w, struct ray_walk_frame *f, int native)
{
	__u64 link[2] = { 0, 0 };

	if (!ray_is_frame_pointer(&w->at))
		return RAY_STEP_BAD;
	if (!native && ray_walk_v8_words(w, f)) {
		link[0] = f->words[5];
		link[1] = f->words[6];
	} else if (ray_walk_read(w, link, sizeof(link), w->at.fp)) {
		return RAY_STEP_FAULT;
	}
	return ray_step_by_link(&w->at, link[0], link[1]);
}

static __always_inline int ray_walk_one(struct ray_walker *w, struct ray_walk_frame *f)
{
	int native, first, result = RAY_STEP_BAD;
	struct ray_leave leave;
	__u32 known;

	leave = ray_walk_leave(w, w->at.exact ? w->at.pc : w->at.pc - 1);
	known = leave.flags & RAY_PLACE_IS_KNOWN;
	native = known && !(leave.flags & RAY_PLACE_IS_V8);
	first = w->count == 0;
	f->pc = w->at.pc;
	f->sp = w->at.sp;
	if (!native)
		f->fp = w->at.fp;
	f->flags = (w->at.exact ? RAY_FRAME_IS_EXACT : 0) | (known ? 0 : RAY_FRAME_IS_UNKNOWN);
	w->count++;
	if (leave.flags & RAY_PLACE_HAS_ROW)
		result = ray_step_by_row(w, &w->at, leave.kind, leave.cfa, leave.saved);
	if (result == RAY_STEP_BAD || result == RAY_STEP_FAULT)
		result = leave.flags & RAY_PLACE_REPLACES ? ray_walk_replaced(w, f) : ray_walk_by_pointer(w, f, native);
	w->hash = ray_hash_add(w->hash, native ? f->pc : ray_walk_words_of(w, f));
	if (!native) {
		if (first)
			ray_walk_hash_leaf(w, f);
		else if (known && ray_walk_has_below(w, f))
			ray_walk_below(w, f);
	}
	w->bytes += ray_walk_frame_size(f->flags);
	return result;
}

/* One frame. 1: that was the last. */
RAY_WALK_PART int ray_walk_next(struct ray_walker *w)
{
	__u64 sp, at;
	__u32 n;
	int result;

	if (!w)
		return 1;
	n = w->count;
	at = w->bytes;
	if (n >= w->wanted || at > RAY_STACK_BYTES - sizeof(struct ray_walk_frame)) {
		w->record.stop = RAY_STOP_FULL;
		return 1;
	}
	sp = w->at.sp;
	result = ray_walk_one(w, (struct ray_walk_frame *)&w->frames[at]);
	if (result == RAY_STEP_OK) {
		if (w->returns && w->at.pc == w->trampoline)
			ray_walk_hijacked(w);
		/* The innermost may give back the same stack pointer, when it has no frame; a signal may have changed stacks. */
		if (w->at.sp > sp || (w->at.sp == sp && n == 0) || w->at.exact)
			return 0;
		w->record.stop = RAY_STOP_BROKEN;
		return 1;
	}
	/* What was read of the last frame lies around here. */
	if (result == RAY_STEP_END)
		w->root = (w->at.sp + RAY_ROOT_ROOM) & ~63ULL;
	w->record.stop = result == RAY_STEP_END	  ? RAY_STOP_ROOT :
			 result == RAY_STEP_FAULT ? RAY_STOP_FAULT :
						    RAY_STOP_BROKEN;
	return 1;
}

/* Several: a call of this one costs as much as one of those. */
static long ray_walk_step(__u32 i __attribute__((unused)), struct ray_walk_context *c)
{
	return ray_walk_next(c->w) || ray_walk_next(c->w) || ray_walk_next(c->w) || ray_walk_next(c->w);
}

static __always_inline __u64 ray_walk_kernel_word(__u64 address)
{
	__u64 value = 0;

	if (!address || bpf_probe_read_kernel(&value, 8, (void *)address))
		return 0;
	return value;
}

/* A word of a structure whose type the verifier knows: a plain load, which reads 0 where nothing is. */
static __always_inline void *ray_walk_typed_word(const void *structure, __u64 offset)
{
	return *(void *const volatile *)((const char *)structure + offset);
}

/* What is known of the process. Mostly it is the one of the last time, of which nothing has changed since. */
static __always_inline void ray_walk_process(struct ray_walker *w, __u32 tgid)
{
	struct ray_state *state = ray_state_get();
	__u64 changes = state ? *(volatile __u64 *)&state->process_changes : 0;
	struct ray_process *process;

	if (w->process_tgid != tgid || w->process_changes != changes) {
		process = bpf_map_lookup_elem(RAY_MAP(PROCESSES), &tgid);
		w->has_process = process != 0;
		if (process)
			w->process = *process;
		w->process_tgid = tgid;
		w->process_changes = changes;
	}
	w->is_known = w->has_process && w->process.space == w->record.space;
	if (!w->is_known) {
		w->process.range_count = w->process.shared_at = w->process.version = 0;
		w->process.code_start = w->process.code_end = 0;
		w->process_tgid = 0;
	}
}

/* The registers, the process, the words on top of the stack. 0: there is no user stack. */
static __noinline int ray_walk_begin(struct ray_slot *s, struct ray_walker *w)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	void *regs = (void *)bpf_task_pt_regs(task);
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	void *mm = ray_walk_typed_word(task, RAY_CONST(TASK_MM)), *utask;

	w->count = w->bytes = 0;
	w->record.stop = RAY_STOP_BROKEN;
	w->record.top_count = 0;
	w->below_left = RAY_BELOW_MAX;
	w->functions = 0;
	w->window_size = 0;
	w->function.object = 0;
	for (int i = 0; i < RAY_KNOWN_MAPS; i++)
		w->maps[i].object = 0;
	/* Threads of the kernel have no memory of a user's. */
	if (!mm || bpf_probe_read_kernel(w->record.regs, sizeof(w->record.regs), regs))
		return 0;
	w->record.space = (__u64)ray_walk_typed_word(mm, RAY_CONST(MM_START_STACK));
	w->at.pc = w->record.regs[RAY_REG_IP];
	w->at.sp = w->record.regs[RAY_REG_SP];
	w->at.fp = w->record.regs[RAY_REG_BP];
	w->at.exact = 1;
	if (s->user_pc) {
		w->at.pc = w->record.regs[RAY_REG_IP] = s->user_pc;
		w->at.sp = w->record.regs[RAY_REG_SP] = s->user_sp;
		w->at.fp = w->record.regs[RAY_REG_BP] = s->user_fp;
	}
	if (!w->at.pc || (w->record.regs[RAY_REG_CS] & 0xffff) != RAY_CS_USER64)
		return 0;
	ray_walk_process(w, tgid);
	w->tag = ray_hash_add(w->record.space, (__u64)tgid << 32 | w->process.version);
	if (w->ranges_tag != w->tag) {
		w->ranges_tag = w->tag;
		w->range.end = w->gap_end = 0;
	}
	utask = ray_walk_typed_word(task, RAY_CONST(TASK_UTASK));
	w->returns = utask ? (__u64)ray_walk_typed_word(utask, RAY_CONST(UTASK_RETURNS)) : 0;
	if (w->returns) {
		w->trampoline = ray_walk_kernel_word((__u64)mm + RAY_CONST(MM_XOL_AREA));
		w->trampoline = w->trampoline ? ray_walk_kernel_word(w->trampoline + RAY_CONST(XOL_VADDR)) : 0;
	}
	if (!ray_walk_read(w, w->record.top, sizeof(w->record.top), w->at.sp))
		w->record.top_count = RAY_STACK_TOP;
	w->hash = ray_hash_add(w->record.space, tgid);
	if (w->returns && w->at.pc == w->trampoline)
		ray_walk_hijacked(w);
	return 1;
}

static __always_inline struct ray_walker *ray_walk_run(struct ray_slot *s, __u32 frames)
{
	struct ray_walk_context context;
	__u32 key = s->index;

	context.w = bpf_map_lookup_elem(RAY_MAP(STACK_SCRATCH), &key);
	if (!context.w || !ray_walk_begin(s, context.w))
		return 0;
	context.w->wanted = frames;
	context.w->record.stop = RAY_STOP_FULL;
	bpf_loop(RAY_STACK_FRAMES / 4, ray_walk_step, &context, 0);
	return context.w;
}

#endif
