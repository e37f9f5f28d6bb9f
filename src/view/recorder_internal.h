/* recorder_internal.h - what the files of the recorder share; for recorder*.c only. SPDX-License-Identifier: MIT
 *
 *   recorder.c         samples, threads, waits
 *   recorder_stack.c   stacks to nodes of the profile, each once
 *   recorder_wait.c    what a thread waits for
 *   recorder_heap.c    which heap it is that grows
 *   recorder_prune.c   fewer nodes, when there are too many
 *   recorder_table.c   from some words to a number */
#ifndef RAY_VIEW_RECORDER_INTERNAL_H
#define RAY_VIEW_RECORDER_INTERNAL_H

#include "base/hashmap.h"
#include "view/recorder.h"

/* ---- recorder_table.c ---- */

struct ray_recorder_row {
	uint64_t key[4];
	uint32_t value;
};

struct ray_recorder_table {
	RAY_HASHMAP(struct ray_recorder_row) rows;
};

/* The row of the key, its value 0 if it is new. NULL without memory. Valid until the next call. */
struct ray_recorder_row *ray_recorder_table_get(struct ray_recorder_table *t, const uint64_t key[4]);
void ray_recorder_table_clear(struct ray_recorder_table *t);
void ray_recorder_table_deinit(struct ray_recorder_table *t);

/* ---- recorder_stack.c ---- */

/* A function of JavaScript, however it is called: its name in the profile may change as more of it is seen. */
struct ray_recorder_function {
	uint32_t function;
	const char *name; /* as called so far, with class or new; the profile's text */
	bool is_settled;  /* it was called in several ways, and goes by its own name */
};

struct ray_recorder_stacks {
	struct ray_recorder_table nodes;     /* root, ids of the stacks, end -> node + 1 */
	struct ray_recorder_table frames;    /* frame, kind of what it runs in -> frame of the profile */
	struct ray_recorder_table functions; /* file, name, where it begins -> index + 1 of list */
	RAY_VEC(struct ray_recorder_function) list;
	uint64_t generation;
};

/* The innermost node of the sample's stack. */
uint32_t ray_recorder_node(struct ray_recorder_stacks *s, struct ray_profile *p,
			   const struct ray_recorder_sample *sample);
void ray_recorder_stacks_deinit(struct ray_recorder_stacks *s);

/* ---- recorder_prune.c ---- */

/* Leaves about half of what there may be. *nodes_ret, the caller's to free: by old number of a node its new one. False without memory: then all is as it was. */
bool ray_recorder_prune(struct ray_recorder_stacks *s, struct ray_profile *profile, size_t most_nodes,
			size_t most_functions, uint32_t **nodes_ret);

/* ---- recorder_heap.c ---- */

/* "(V8 heap)", "(native heap)"... has_hint: whoever took it wanted it in a place of its own choice. */
const char *ray_recorder_heap_of(const struct ray_fact_stack *user, bool has_hint);

/* ---- recorder_wait.c ---- */

/* Has the thread ended? */
bool ray_recorder_is_last_wait(const struct ray_fact_stack *kernel);

#endif
