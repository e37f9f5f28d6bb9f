/* walk.h - from a thread's registers to the list of its frames, unnamed.
 * SPDX-License-Identifier: MIT
 *
 * Native code is unwound by .eh_frame, V8's code by frame pointers, and the innermost frame with the
 * care it needs: it may stand in a prologue, or in a builtin that has no frame of its own. Names
 * nothing; reads memory only through the target. */
#ifndef RAY_STACK_WALK_H
#define RAY_STACK_WALK_H

#include "stack/js.h"

enum { RAY_WALK_MAX = 100000 };

enum ray_walk_region {
	RAY_WALK_NOWHERE, /* not executable, or not mapped */
	RAY_WALK_NATIVE,  /* a file's code */
	RAY_WALK_BUILTIN, /* V8's own, embedded in the file */
	RAY_WALK_JIT,	  /* generated at run time */
};

struct ray_raw_frame {
	uint64_t pc, fp, sp;
	uint64_t at; /* the address to look up: pc, or inside the call before it when pc is a return address */
	enum ray_walk_region region;
	bool exact;	     /* pc is the instruction itself, not a return address behind a call */
	bool frameless;	     /* it has no frame of its own (yet, or any more): fp is its caller's */
	bool entering;	     /* frameless or building, in the prologue */
	bool building;	     /* its frame stands, but does not hold its function yet */
	uint64_t entered;    /* entering: the JSFunction that is being called, by a register; 0 if not known */
	uint64_t shared;     /* its SharedFunctionInfo, where the frame's JSFunction is not to be trusted; else 0 */
	bool is_replaced;    /* V8 is replacing it: at is where it left its code, or in the builtin that does so */
	bool is_lost;	     /* a function's frame, but which one's cannot be told any more */
	bool no_receiver;    /* what it was called on may be something else by now */
	int32_t leaf_offset; /* innermost interpreted frame: the bytecode offset in a register; else -1 */
	bool stale_offset;   /* that register is not known, and the offset in the frame is old */
	uint32_t number;     /* of the recorded frame that it was found in */
	bool is_known;	     /* it was named before; then only its neighbours' sake remains: */
	bool is_construct;   /* it is V8's frame for "new" */
};

enum ray_walk_end {
	RAY_WALK_ROOT,	    /* the outermost frame was reached */
	RAY_WALK_TRUNCATED, /* RAY_WALK_MAX, or the end of the copied stack */
	RAY_WALK_BROKEN,    /* the chain does not hold: frames may be missing */
};

struct ray_walk {
	RAY_VEC(struct ray_raw_frame) frames;
	enum ray_walk_end end;
	bool guessed_fp; /* the frame pointer had to be searched for (nonblocking) */
};

/* What lies at pc. vaddr_ret and module_ret are set for NATIVE and BUILTIN. */
enum ray_walk_region ray_walk_region(struct ray_js *js, uint64_t pc, const struct ray_module **module_ret,
				     uint64_t *vaddr_ret);

/* The address to look up for a pc. A return address may lie just behind its function's end, so the call before it is
 * looked up. The exception is a frame that the deoptimizer wrote: it returns to the very start of a builtin. */
uint64_t ray_walk_lookup_address(struct ray_js *js, uint64_t pc, bool exact);

RAY_MUST_USE struct ray_error *ray_walk_thread(struct ray_js *js, const struct ray_thread *thread,
					       struct ray_walk *ret);
void ray_walk_deinit(struct ray_walk *w);

#endif
