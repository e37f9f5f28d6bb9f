/* follow.h - functions of a file without names: where they begin, and what their code leads to.
 * SPDX-License-Identifier: MIT
 *
 * For those who know an exported function and look for a local one (node_derive.c). The tables for unwinding say where functions begin and end, also
 * in a stripped file; an address counts as a function only if one begins there. */
#ifndef RAY_PROBE_FOLLOW_H
#define RAY_PROBE_FOLLOW_H

#include "elf/elf.h"
#include "probe/flow.h"

enum { RAY_FOLLOW_CALLEES = 64 };

typedef bool ray_follow_fn(const struct ray_flow_step *step, void *arg);

/* Whether a function begins there; size_ret may be NULL. */
bool ray_follow_begins(struct ray_elf *e, uint64_t vaddr, uint64_t *size_ret);
/* 0 if there is none of that name. */
uint64_t ray_follow_exported(struct ray_elf *e, const char *name);
/* Calls each() for all steps of the function. False when there is none, or its code cannot be read. */
bool ray_follow_walk(struct ray_elf *e, uint64_t vaddr, ray_follow_fn *each, void *arg);
/* The same from an instruction inside a function to its end. */
bool ray_follow_walk_from(struct ray_elf *e, uint64_t vaddr, ray_follow_fn *each, void *arg);
static inline bool ray_follow_is_call(const struct ray_flow_step *step)
{
	return step->kind == RAY_FLOW_CALL || step->kind == RAY_FLOW_LEAVE;
}

struct ray_follow_content {
	struct ray_elf *elf;
	int64_t displacement;		      /* asked for */
	bool is_touched;		      /* it is touched, or something called through it */
	bool has_indirect;		      /* something is called through a pointer */
	uint64_t callees[RAY_FOLLOW_CALLEES]; /* functions of this file, each once, in the order of the calls */
	size_t callee_count;
};

/* What a function does; false as above, and then all is empty. */
bool ray_follow_content(struct ray_elf *e, uint64_t vaddr, int64_t displacement, struct ray_follow_content *ret);
bool ray_follow_touches(struct ray_elf *e, uint64_t vaddr, int64_t displacement);
/* The same, or a function that it calls does. */
bool ray_follow_leads_to(struct ray_elf *e, uint64_t vaddr, int64_t displacement);
bool ray_follow_has_indirect(struct ray_elf *e, uint64_t vaddr);

/* Witnesses that must agree. */
struct ray_vote {
	uint64_t value;
	size_t count;
	bool is_split;
};

void ray_vote_cast(struct ray_vote *v, uint64_t value);
bool ray_vote_is_won(const struct ray_vote *v, size_t witnesses);

#endif
