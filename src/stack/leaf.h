/* leaf.h - the innermost frame when it lies in V8's code.
 * SPDX-License-Identifier: MIT
 *
 * A sample of rbp tells the truth only while a function's own frame stands. In a prologue or epilogue, and in
 * builtins that have no frame, it is still the caller's; then the return address must be found on the stack, or
 * the caller's current line is lost. */
#ifndef RAY_STACK_LEAF_H
#define RAY_STACK_LEAF_H

#include "elf/unwind.h"
#include "stack/walk.h"

struct ray_leaf {
	bool frameless;		 /* rbp is the caller's; then: */
	uint64_t return_address; /* into the caller */
	uint64_t caller_sp;	 /* behind it */
	bool entering;		 /* in the prologue: it has no frame yet, or only a part of one: */
	bool building; /* the frame stands, but its function is not in it yet, and what is there is of an older one */
	uint64_t entered;	 /* entering: the JSFunction that is called; 0 if not known */
	int32_t bytecode_offset; /* in an interpreted frame, from the registers; -1 when not there */
	bool stale;		 /* it should be there, but those registers are not known: the frame's own is old */
};

void ray_leaf_inspect(struct ray_js *js, const struct ray_raw_frame *f, const struct ray_unwind_regs *regs,
		      struct ray_leaf *ret);

/* The same for a builtin that called another: it may have no frame of its own either. */
void ray_leaf_inspect_caller(struct ray_js *js, const struct ray_raw_frame *f, struct ray_leaf *ret);

/* The first of these words that is a return address into code of the function whose frame is at fp; 0: there is none. */
uint64_t ray_leaf_find_left(struct ray_js *js, uint64_t fp, const uint64_t *words, size_t count);

/* Executable, and behind something that looks like a call instruction. */
bool ray_leaf_is_return_address(struct ray_js *js, uint64_t address);

/* In a builtin that makes the frames of functions. */
bool ray_leaf_is_entry(struct ray_js *js, uint64_t pc);

#endif
