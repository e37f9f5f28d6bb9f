/* stacks.h - what the files of the stacker share; for stacks*.c, and sampling.c, which keeps its stacks in the same table.
 * SPDX-License-Identifier: MIT
 *
 *   stacks.c          prints stacks and symbols
 *   stacks_take.c     takes records
 *   stacks_known.c    frames that were named already
 *   stacks_process.c  the processes whose stacks were seen: opened, read again, named
 *   stacks_maps.c     tells the walker in the kernel what it needs: ranges and rows
 *   stacks_table.c    lines and stacks, each kept once
 *   stacks_frames.c   frames, as a view is told them
 *   stacks_threads.c  what threads are for
 *   stacks_age.c      forgetting what was known for long */
#ifndef RAY_ENGINE_STACKS_H
#define RAY_ENGINE_STACKS_H

#include "base/hashmap.h"
#include "base/vec.h"
#include "engine/internal.h"
#include "stack/js.h"
#include "stack/kernel.h"
#include "stack/stack.h"
#include "stack/thread_names.h"
#include "view/fact.h"

/* ---- stacks_table.c ---- */

struct ray_stack_line {
	bool is_plumbing; /* of V8: jstack() leaves it out */
	bool is_plain;	  /* some frame reads exactly so */
	/* The same place without the class of the receiver, which is not known where a function was inlined; NULL: it says none. */
	struct ray_stack_line *plain;
	char text[];
};

struct ray_stack_entry {
	uint64_t id;
	uint32_t count;
	const struct ray_stack_line *
		*lines; /* innermost first; NULL: of a kernel stack, which is told as frames only */
	const struct ray_fact_stack *stack;
};

struct ray_stack_table {
	struct ray_arena *arena;
	RAY_HASHMAP(struct ray_stack_entry) stacks;
	RAY_HASHMAP(struct ray_stack_line *) lines;
	RAY_HASHMAP(struct ray_fact_frame *) frames;
	uint64_t generation;
	size_t bytes; /* of the arena, about */
};

bool ray_stack_table_init(struct ray_stack_table *t);
void ray_stack_table_deinit(struct ray_stack_table *t);
/* NULL without memory. */
struct ray_stack_line *ray_stack_table_line(struct ray_stack_table *t, const char *text, bool is_plumbing);
/* What to print: places that were seen without a class are printed without one, so that stacks that mean the same read the same. */
const char *ray_stack_line_text(const struct ray_stack_line *line);
/* Replaces what was known of stack->id. Lines (NULL: none) and frames, stack->count of each, are copied. */
bool ray_stack_table_add(struct ray_stack_table *t, const struct ray_fact_stack *stack,
			 const struct ray_stack_line *const *lines);
const struct ray_stack_entry *ray_stack_table_find(const struct ray_stack_table *t, uint64_t id);

/* ---- stacks_frames.c ---- */

/* The frame that says the same, made if it is new: its texts are copied. NULL without memory. */
const struct ray_fact_frame *ray_stack_table_frame(struct ray_stack_table *t, const struct ray_fact_frame *f);
/* A frame of a thread, as facts have it. */
const struct ray_fact_frame *ray_stack_table_user_frame(struct ray_stack_table *t, const struct ray_frame *f);
/* The kernel stack of count addresses; NULL without memory. */
const struct ray_fact_stack *ray_stack_kernel(struct ray_stacker *s, const uint64_t *addresses, size_t count);

/* ---- stacks_known.c ---- */

/* What one recorded frame was named as: itself, with what was inlined into it and what it called without a frame. */
struct ray_stack_known {
	uint64_t key;
	uint8_t by;	   /* not 0: no frames, but objects that must be known too: bits of enum ray_frame_source */
	bool is_construct; /* the first is V8's frame for "new" */
	uint32_t count;
	struct {
		const struct ray_fact_frame *frame;
		const struct ray_stack_line *line;
	} frames[];
};

struct ray_stack_knowns {
	struct ray_arena *arena;
	RAY_HASHMAP(struct ray_stack_known *) map;
	size_t bytes;
};

struct ray_stack_process;

bool ray_stack_known_init(struct ray_stack_knowns *k);
void ray_stack_known_deinit(struct ray_stack_knowns *k);
/* What a frame is known by; 0: it is named anew each time. caller: NULL if it is the outermost. */
uint64_t ray_stack_known_key(const struct ray_stack_process *p, const struct ray_walk_frame *f, bool is_innermost,
			     const struct ray_walk_frame *caller);
const struct ray_stack_known *ray_stack_known_find(const struct ray_stack_knowns *k, uint64_t key,
						   const struct ray_walk_frame *f);
/* A new one, for the caller to fill. NULL: it is not to be kept, for want of memory or otherwise. */
struct ray_stack_known *ray_stack_known_add(struct ray_stack_knowns *k, uint64_t key, uint8_t by,
					    const struct ray_walk_frame *f, size_t count);

/* ---- stacks_process.c ---- */

struct ray_stack_process {
	uint32_t tgid;
	uint64_t space;		   /* struct ray_record_stack */
	struct ray_target *target; /* NULL: it could not be opened, or it is another one by now */
	struct ray_js *js;
	uint64_t looked_ns; /* when its mappings were read */
	bool is_changed;    /* since the kernel was told */
	uint32_t first_range, range_room, range_count;
	uint64_t pushed;	       /* a hash of what the kernel was told */
	uint32_t shared_at;	       /* where a JSFunction has its SharedFunctionInfo; 0: it is no node */
	uint64_t code_start, code_end; /* what V8 generated lies in between */
	uint64_t used;		       /* for throwing out the one that was not needed longest */
	struct ray_thread_names threads;
};

/* The process that the record is of, opened at the first time. NULL without memory. */
struct ray_stack_process *ray_stack_process_get(struct ray_stacker *s, uint32_t tgid, uint64_t space);
/* The newest one with this tgid, or NULL; opened now if it was never seen. */
struct ray_stack_process *ray_stack_process_find(struct ray_stacker *s, uint32_t tgid);
/* Reads its mappings anew unless pc lies in executable memory as they are known. */
void ray_stack_process_cover(struct ray_stack_process *p, uint64_t pc);
/* Tells the kernel what has changed. It takes milliseconds, in which a program that ends takes its heap down: naming comes first. */
void ray_stack_process_tell(struct ray_stacker *s, struct ray_stack_process *p);
/* Reads its mappings and threads anew; false: it is gone, or another one by now. */
bool ray_stack_process_refresh(struct ray_stack_process *p);
/* So that it is opened afresh when it is next asked for. */
void ray_stack_process_forget(struct ray_stacker *s, uint32_t tgid);
void ray_stack_process_close(struct ray_stacker *s, struct ray_stack_process *p);

/* ---- stacks_maps.c ---- */

struct ray_stack_module {
	dev_t dev;
	uint64_t inode;
	uint32_t first_row, row_count, first_page, page_count;
	uint64_t base; /* vaddr of a row's start 0 */
};

struct ray_stack_maps {
	RAY_VEC(struct ray_stack_module) modules;
	uint32_t row_room, row_count;
	uint32_t range_room, range_count;  /* taken from the start on */
	RAY_VEC(uint32_t) free_ranges[16]; /* by the logarithm of their number */
};

/* The maps of the walker, if some code uses them. */
RAY_MUST_USE struct ray_error *ray_stack_maps_create(struct ray_stacker *s);
void ray_stack_maps_deinit(struct ray_stacker *s);
/* Tells the kernel what is mapped where; when there is no room, it goes on by frame pointers. */
void ray_stack_maps_push(struct ray_stacker *s, struct ray_stack_process *p);
void ray_stack_maps_forget(struct ray_stacker *s, struct ray_stack_process *p);

/* ---- stacks_age.c ---- */

/* The period of the clock that all clauses hang on; 0: there is none, or something else. */
uint64_t ray_stack_clock(const struct ray_trace *t);

struct ray_stacker {
	struct ray_trace *trace;
	/* Records that are under way when all is forgotten find what they need in the one before. */
	struct ray_stack_table table, before;
	struct ray_stack_knowns known; /* of table */
	bool forgets;		       /* nothing holds on to stacks for longer than that */
	uint64_t begun_ns;	       /* when table was empty, or known if nothing else is forgotten */
	struct ray_stack_maps maps;
	RAY_VEC(struct ray_stack_process *) processes;
	struct ray_kernel *kernel;
	struct ray_kernel_names *kernel_names; /* NULL: nobody has asked yet, or it cannot be asked */
	uint64_t clock;			       /* counts uses */
	uint64_t taken_ns;		       /* when the last stack was recorded that came */
	uint64_t clock_ns; /* the period of the clock that all of them are of; 0: they come as they like */
};

#endif
