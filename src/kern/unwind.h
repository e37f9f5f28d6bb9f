/* unwind.h - one step from a frame to its caller. SPDX-License-Identifier: MIT
 *
 * The rules that the walker in the kernel follows, without maps and helpers, so that tests can run them too: whoever includes this says with
 * RAY_WALK_READ(memory, to, size, address) how memory of the walked process is read (0: done); memory is whatever that needs. */
#ifndef RAY_KERN_UNWIND_H
#define RAY_KERN_UNWIND_H

#include "kern/wire.h"

enum ray_step_result { RAY_STEP_OK, RAY_STEP_END, RAY_STEP_FAULT, RAY_STEP_BAD };

struct ray_place {
	__u64 pc, sp, fp;
	__u32 exact; /* pc is no return address */
	__u32 pad;
};

/* Distances in the kernel's struct rt_sigframe behind its return address: ucontext's uc_mcontext.gregs of rbp, rsp, rip. */
enum { RAY_SIGNAL_FP = 120, RAY_SIGNAL_SP = 160 };

static inline __attribute__((always_inline)) int ray_step_signal(void *memory, struct ray_place *p)
{
	__u64 sp_and_pc[2] = { 0, 0 }, fp = 0;

	if (RAY_WALK_READ(memory, &fp, 8, p->sp + RAY_SIGNAL_FP) ||
	    RAY_WALK_READ(memory, sp_and_pc, 16, p->sp + RAY_SIGNAL_SP))
		return RAY_STEP_FAULT;
	p->fp = fp;
	p->sp = sp_and_pc[0];
	p->pc = sp_and_pc[1];
	p->exact = 1;
	return p->pc ? RAY_STEP_OK : RAY_STEP_END;
}

static inline __attribute__((always_inline)) int ray_step_to(struct ray_place *p, __u64 fp, __u64 pc)
{
	if (!pc)
		return RAY_STEP_END;
	p->fp = fp;
	p->pc = pc;
	p->exact = 0;
	return RAY_STEP_OK;
}

/* To the caller by a row. On BAD and FAULT the place is as it was. */
static inline __attribute__((always_inline)) int ray_step_by_row(void *memory, struct ray_place *p, __u32 kind,
								 __u64 offset, __u32 saved)
{
	__u64 cfa, at, pc = 0, fp = p->fp;

	switch (kind) {
	case RAY_ROW_SP:
		cfa = p->sp + offset * 8;
		break;
	case RAY_ROW_FP:
		cfa = p->fp + offset * 8;
		break;
	case RAY_ROW_FP_DEREF:
		cfa = 0;
		if (RAY_WALK_READ(memory, &cfa, 8, p->fp - offset * 8))
			return RAY_STEP_FAULT;
		break;
	case RAY_ROW_PLT:
		cfa = p->sp + ((p->pc & 15) >= 11 ? 16 : 8);
		break;
	case RAY_ROW_SIGNAL:
		return ray_step_signal(memory, p);
	case RAY_ROW_END:
		return RAY_STEP_END;
	default:
		return RAY_STEP_BAD;
	}
	/* The stack grows down: a caller is above. */
	if (cfa <= p->sp)
		return RAY_STEP_BAD;
	/* Where a frame is set up as usual, both lie side by side. */
	if (saved == 2) {
		__u64 link[2] = { 0, 0 };

		if (RAY_WALK_READ(memory, link, 16, cfa - 16))
			return RAY_STEP_FAULT;
		p->sp = cfa;
		return ray_step_to(p, link[0], link[1]);
	}
	if (RAY_WALK_READ(memory, &pc, 8, cfa - 8))
		return RAY_STEP_FAULT;
	at = saved == RAY_ROW_FP_AT_FP ? p->fp : cfa - (__u64)saved * 8;
	if (saved == RAY_ROW_FP_LOST || (saved != RAY_ROW_FP_SAME && RAY_WALK_READ(memory, &fp, 8, at)))
		fp = 0;
	p->sp = cfa;
	return ray_step_to(p, fp, pc);
}

/* To the caller by the frame pointer, when the two words that it leads to have been read. */
static inline __attribute__((always_inline)) int ray_step_by_link(struct ray_place *p, __u64 link, __u64 address)
{
	p->sp = p->fp + 16;
	return ray_step_to(p, link, address);
}

static inline __attribute__((always_inline)) int ray_is_frame_pointer(const struct ray_place *p)
{
	return p->fp >= p->sp && !(p->fp & 7) && p->fp >> 47 == 0 && p->fp >= 4096;
}

/* Takes one word into a running hash; every bit of it reaches every bit of the result within two more words. */
static inline __attribute__((always_inline)) __u64 ray_hash_add(__u64 hash, __u64 word)
{
	hash ^= word * 0x9e3779b97f4a7c15ULL;
	hash = (hash << 27 | hash >> 37) * 0xff51afd7ed558ccdULL;
	return hash ^ hash >> 29;
}

/* Takes one more word into what is to be added to a hash. */
static inline __attribute__((always_inline)) __u64 ray_hash_join(__u64 words, __u64 word)
{
	return words * 0x9e3779b97f4a7c15ULL + word;
}

static inline __attribute__((always_inline)) int ray_is_tagged(__u64 word)
{
	return (word & 3) == 1 && word > 0x10000 && word >> 47 == 0;
}

#endif
