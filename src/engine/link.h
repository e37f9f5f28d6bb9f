/* link.h - puts generated pieces and the runtime functions they need together: one BPF program.
 * SPDX-License-Identifier: MIT
 *
 * Only what is reachable from the entry goes in. Maps and constants that were symbolic become file descriptors and
 * immediates, so that the verifier knows the numbers. Loads nothing. */
#ifndef RAY_ENGINE_LINK_H
#define RAY_ENGINE_LINK_H

#include "engine/object.h"
#include "engine/piece.h"
#include "kern/wire.h"

/* Where a function lies in the program: a piece, or one of the runtime. */
struct ray_linked_part {
	const struct ray_piece *piece; /* or NULL */
	const struct ray_object_function *function;
	uint32_t start, count;
};

struct ray_linked {
	RAY_VEC(struct ray_linked_part) parts; /* the entry first */
	RAY_VEC(struct bpf_insn) insns;
	RAY_VEC(struct bpf_func_info) infos;
	uint32_t *part_of; /* by function of the object: index of its part + 1; 0: not in */
};

void ray_linked_deinit(struct ray_linked *l);

/* Gives symbolic numbers their values. */
struct ray_link_values {
	/* number: RAY_LINK_* below RAY_LINK_MAP_COUNT, or from RAY_MAP_OWN on. */
	struct ray_error *(*map)(void *arg, uint32_t number, int *fd_ret);
	struct ray_error *(*constant)(void *arg, uint32_t number, uint64_t *ret);
	void *arg;
};

/* The first step alone: which parts are needed. */
RAY_MUST_USE struct ray_error *ray_link_collect(const struct ray_object *object, const struct ray_piece *entry,
						struct ray_linked *l);
/* After it: adds the RAY_LINK_* maps that the parts use to used[]. */
void ray_link_used_maps(const struct ray_object *object, const struct ray_linked *l, bool used[RAY_LINK_MAP_COUNT]);
/* The rest. */
RAY_MUST_USE struct ray_error *ray_link_finish(const struct ray_object *object, const struct ray_link_values *values,
					       struct ray_linked *l);

#endif
