/* walk_frame.bpf.h - what is recorded of one frame of V8's: the words that tell which function runs, and where. SPDX-License-Identifier: MIT
 *
 * Objects move, and frames are written over, so all of it is read now. What the words mean is for user space to find out. */
#ifndef RAY_KERN_WALK_FRAME_BPF_H
#define RAY_KERN_WALK_FRAME_BPF_H

#include "kern/walk_place.bpf.h"

/* Indices in struct pt_regs of x86-64. */
enum {
	RAY_REG_R12 = 3,
	RAY_REG_BP = 4,
	RAY_REG_R9 = 8,
	RAY_REG_DI = 14,
	RAY_REG_IP = 16,
	RAY_REG_CS = 17,
	RAY_REG_SP = 19
};
/* The innermost frame may only be being made: then its function is not on the stack yet, but in rdi. A frame that is being taken down
 * (mov rsp, rbp; pop rbp) has the stack pointer there, too. */
static __always_inline int ray_walk_is_building(struct ray_walker *w)
{
	__u64 depth = w->at.fp - w->at.sp;
	__u8 next = 0;

	if (w->count != 1 || (depth != 0 && depth != 8) || !ray_is_tagged(w->record.regs[RAY_REG_DI]))
		return 0;
	return depth || (!bpf_probe_read_user(&next, 1, (void *)w->at.pc) && next != 0x5d);
}

/* While V8 moves objects, the first word of one that has moved is where it is now, without a tag: its type is there. Later it may have moved again. */
static __always_inline void ray_walk_follow(__u64 *map)
{
	__u64 moved = *map;

	if (!(moved & 3) && moved > 0x10000 && moved >> 47 == 0)
		bpf_probe_read_user(map, 8, (void *)moved);
}

static __always_inline int ray_walk_map(struct ray_walker *w, __u64 object, __u64 *to)
{
	struct ray_known_map *known = &w->maps[(object >> 4 ^ object >> 8) & (RAY_KNOWN_MAPS - 1)];

	if (!ray_is_tagged(object))
		return 0;
	if (known->object != object) {
		known->object = 0;
		if (bpf_probe_read_user(&known->map, 8, (void *)(object - 1)))
			return 0;
		ray_walk_follow(&known->map);
		known->object = object;
	}
	*to = known->map;
	return 1;
}

static __always_inline int ray_walk_function(struct ray_known_function *known, __u64 object, __u64 *to)
{
	if (known->object != object) {
		known->object = 0;
		if (bpf_probe_read_user(known->words, sizeof(known->words), (void *)(object - 1)))
			return 0;
		ray_walk_follow(&known->words[0]);
		known->object = object;
	}
	for (int i = 0; i < RAY_FUNCTION_WORDS; i++)
		to[i] = known->words[i];
	return 1;
}

/* Of the objects that a frame's words lead to, what names the function. */
static __always_inline void ray_walk_v8_objects(struct ray_walker *w, struct ray_walk_frame *f, int building)
{
	__u32 flags = RAY_FRAME_HAS_WORDS;

	if ((building || ray_is_tagged(f->words[4])) && ray_is_tagged(f->words[3])) {
		if (ray_walk_function(&w->function, f->words[3], f->function)) {
			flags |= RAY_FRAME_HAS_FUNCTION;
			f->inner = w->functions;
			w->functions = w->bytes + 1;
		}
		if (ray_walk_map(w, f->words[7], &f->receiver_map))
			flags |= RAY_FRAME_HAS_RECEIVER;
	}
	f->flags |= flags;
}

/* Of a frame that may be V8's: the words around fp, and those of the objects there. */
static __always_inline int ray_walk_v8_words(struct ray_walker *w, struct ray_walk_frame *f)
{
	int building;

	if (ray_walk_read(w, f->words, sizeof(f->words), w->at.fp - RAY_FRAME_BELOW))
		return 0;
	building = ray_walk_is_building(w);
	if (building)
		f->words[3] = w->record.regs[RAY_REG_DI];
	ray_walk_v8_objects(w, f, building);
	return 1;
}

/* What makes two frames of V8 the same: the function, where in it, and what it was called on. Functions move; what they share stays. */
static __always_inline __u64 ray_walk_words_of(struct ray_walker *w, struct ray_walk_frame *f)
{
	__u64 words = f->pc;

	if (f->flags & RAY_FRAME_HAS_FUNCTION) {
		if (w->process.shared_at == 24 || !w->is_known)
			words = ray_hash_join(words, f->function[3]);
		if (w->process.shared_at == 32 || !w->is_known)
			words = ray_hash_join(words, f->function[4]);
		if (!(f->words[0] & 0xffffffff) && ray_is_tagged(f->words[1]))
			words = ray_hash_join(words, f->words[0]);
		if (f->flags & RAY_FRAME_HAS_RECEIVER)
			words = ray_hash_join(words, f->receiver_map);
	} else if (f->flags & RAY_FRAME_HAS_WORDS && f->words[4] < 256) {
		words = ray_hash_join(words, f->words[4]);
	}
	return words;
}

static __always_inline int ray_walk_is_code(const struct ray_walker *w, __u64 word)
{
	return word >= w->process.code_start && word < w->process.code_end;
}

/* The innermost frame may have no frame of its own: then its caller's place is told by a return address on top of the stack, or, in a handler of the
 * interpreter, by a register. */
RAY_WALK_PART int ray_walk_hash_leaf(struct ray_walker *w, struct ray_walk_frame *f)
{
	__u64 hash;

	if (!w || !f)
		return 0;
	hash = w->hash;

	if (f->flags & RAY_FRAME_HAS_FUNCTION && f->words[1] == w->record.regs[RAY_REG_R12])
		hash = ray_hash_add(hash, w->record.regs[RAY_REG_R9]);
	for (__u32 i = 0; i < RAY_STACK_TOP && i < w->record.top_count; i++) {
		if (f->sp + (__u64)i * 8 >= f->fp)
			break;
		if (ray_walk_is_code(w, w->record.top[i])) {
			hash = ray_hash_add(hash, w->record.top[i]);
			break;
		}
	}
	w->hash = hash;
	return 1;
}

/* A builtin on the frame of a compiled function: of an interpreted one the frame itself says where it is. */
static __always_inline int ray_walk_has_below(const struct ray_walker *w, const struct ray_walk_frame *f)
{
	return f->flags & RAY_FRAME_HAS_FUNCTION && !(f->flags & RAY_FRAME_IS_REPLACED) &&
	       ((f->words[0] & 0xffffffff) || !ray_is_tagged(f->words[1])) && w->below_left;
}

/* Where in the function it was called from lies below that frame. */
RAY_WALK_PART int ray_walk_below(struct ray_walker *w, struct ray_walk_frame *f)
{
	__u64 hash;

	if (!w || !f)
		return 0;
	hash = w->hash;
	if (ray_walk_read(w, f->below, sizeof(f->below), f->sp))
		return 0;
	f->flags |= RAY_FRAME_HAS_BELOW;
	w->below_left--;
	for (int i = 0; i < RAY_BELOW_WORDS; i++) {
		if (f->sp + (__u64)i * 8 >= f->fp)
			break;
		if (ray_walk_is_code(w, f->below[i])) {
			hash = ray_hash_add(hash, f->below[i]);
			break;
		}
	}
	w->hash = hash;
	return 1;
}

/* The frame has been moved off the stack, to where the Deoptimizer at `object` keeps it. limit: what lay above it on the stack. How much farther up
 * its words are now; 0: what is found does not hold together. */
static __always_inline __u64 ray_walk_moved(struct ray_walker *w, struct ray_walk_frame *f, __u64 object, __u64 limit)
{
	__u64 input, size = 0, fp = 0;

	if (bpf_probe_read_user(f->below, sizeof(f->below), (void *)object))
		return 0;
	input = ray_word_at((char *)f->below + (w->process.deopt.input & (RAY_BELOW_WORDS - 1) * 8));
	if (bpf_probe_read_user(&size, 8, (void *)input) ||
	    bpf_probe_read_user(&fp, 8, (void *)(input + w->process.deopt.fp)))
		return 0;
	/* It is the description of this very frame, and has its words from the number of arguments to the return address. */
	if (fp != w->at.fp || size > RAY_WINDOW_FAR || size & 7 || fp + 16 > limit || fp - 24 < limit - size)
		return 0;
	return input + w->process.deopt.content + size - limit;
}

/* A frame that V8 is replacing: pc is where the builtin that does so called C++. At a call the stack pointer that was before lies on top of the stack. Below
 * the frame, the frame is as it was; above it, the frame is elsewhere by now, and the object that knows where lies there. Only a chain that goes
 * on above is believed. */
RAY_WALK_PART int ray_walk_replaced(struct ray_walker *w, struct ray_walk_frame *f)
{
	__u64 sp = 0, word = 0, limit, shift = 0, hash;

	if (!w || !f)
		return RAY_STEP_BAD;
	hash = w->hash;
	if (ray_walk_read(w, &sp, 8, w->at.sp))
		return RAY_STEP_FAULT;
	if (w->at.exact || sp - w->at.sp > 16 || !w->below_left)
		return RAY_STEP_BAD;
	if (sp < w->at.fp) {
		limit = w->at.fp + 16;
		if (sp + w->process.deopt.from >= w->at.fp ||
		    bpf_probe_read_user(&word, 8, (void *)(sp + w->process.deopt.from)))
			return RAY_STEP_BAD;
		for (int i = 0; i < RAY_BELOW_WORDS; i++)
			f->below[i] = 0;
		f->below[0] = word;
	} else {
		limit = sp + 8;
		if (bpf_probe_read_user(&word, 8, (void *)sp))
			return RAY_STEP_FAULT;
		shift = ray_walk_moved(w, f, word, limit);
		if (!shift)
			return RAY_STEP_BAD;
	}
	f->fp = w->at.fp + shift;
	if (bpf_probe_read_user(f->words, sizeof(f->words), (void *)(f->fp - RAY_FRAME_BELOW)))
		return RAY_STEP_FAULT;
	if (f->words[5] < limit || f->words[5] & 7)
		return RAY_STEP_BAD;
	/* What compiled code has there is no bytecode. */
	f->words[0] = f->words[1] = 0;
	ray_walk_v8_objects(w, f, 0);
	f->flags |= RAY_FRAME_HAS_BELOW | RAY_FRAME_IS_REPLACED;
	w->below_left--;
	for (int i = 0; i < RAY_BELOW_WORDS; i++)
		if (ray_walk_is_code(w, f->below[i]))
			hash = ray_hash_add(hash, f->below[i]);
	w->hash = hash;
	w->at.sp = limit;
	return ray_step_to(&w->at, f->words[5], f->words[6]);
}

#endif
