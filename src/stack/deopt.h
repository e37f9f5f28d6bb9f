/* deopt.h - V8's builtin that replaces the frame of a compiled function, and where that frame is meanwhile. SPDX-License-Identifier: MIT
 *
 * DeoptimizationEntry has no frame of its own. It saves the registers on the stack and calls C++, which makes an object (Deoptimizer); it moves the whole
 * frame off the stack, into the object's description of it, and calls C++ again, which computes the frames that are to stand there. So at the first call
 * the frame is as it was, and during the second, which takes longest, what is on the stack where it was is C++'s; the frame's words are in the description.
 * The distances that it takes to find them are in the builtin's own instructions, whatever V8's version: they are read there. Machine code that is not
 * of the known form is not understood, and then nothing is said of the callers of such a frame. x86-64 only. */
#ifndef RAY_STACK_DEOPT_H
#define RAY_STACK_DEOPT_H

#include "elf/elf.h"

/* One of the builtins, kind by kind of deoptimization: */
struct ray_deopt_entry {
	uint64_t made;	   /* where the call returns to that makes the object */
	uint64_t moving;   /* from here on the frame is not on the stack any more, */
	uint64_t computed; /* here the other call returns to, */
	uint64_t end;	   /* and here the new frames stand */
};

/* Distances: */
struct ray_deopt_distances {
	uint32_t input;	  /* in the object, to the address of the description */
	uint32_t fp;	  /* in the description, to rbp; the frame's size is its first word */
	uint32_t content; /* in the description, to the frame's words */
	uint32_t from; /* at the first call, from the stack pointer to the address that the function left its code by */
};

enum { RAY_DEOPT_ENTRIES = 4, RAY_DEOPT_OBJECT_WORDS = 16 /* that are looked at */ };

struct ray_deopt {
	struct ray_deopt_entry entries[RAY_DEOPT_ENTRIES]; /* vaddrs */
	size_t count;					   /* 0: they were not found, or not understood */
	struct ray_deopt_distances distances;
};

/* Looks for the next builtin of that form in code[*at..size): its offsets, and what it says of objects. *at is then where to go on. Exposed for tests. */
bool ray_deopt_decode(const uint8_t *code, size_t size, size_t *at, struct ray_deopt_entry *entry,
		      struct ray_deopt_distances *distances);

/* Of the file that holds V8. By their symbols; a stripped file is searched. */
void ray_deopt_read(struct ray_elf *e, struct ray_deopt *ret);

/* Does vaddr lie in one of them, from the first call on? */
bool ray_deopt_has(const struct ray_deopt *d, uint64_t vaddr);
/* Is the frame that rbp leads to off the stack while vaddr runs, or what that called? */
bool ray_deopt_is_moved(const struct ray_deopt *d, uint64_t vaddr);

#endif
