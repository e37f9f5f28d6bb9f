/* diff.h - two profiles as one tree: what each path of functions weighed before, and what it weighs after. SPDX-License-Identifier: MIT
 *
 * Shares of the whole are compared, not weights: the two may have run for different times. Functions are the same if they have the same name in
 * the same file and begin at the same place; one that only moved within its file (the code above it was edited) is still the same if its name
 * stands for nothing else there, and binaries may lie elsewhere. Pure. */
#ifndef RAY_PROFILE_DIFF_H
#define RAY_PROFILE_DIFF_H

#include "profile/profile.h"

enum { RAY_DIFF_BEFORE, RAY_DIFF_AFTER, RAY_DIFF_SIDES };

struct ray_profile_side {
	const char *title, *event;
	enum ray_profile_unit unit;
	int64_t weight;	       /* of all of it; at least 1 */
	int64_t *self, *total; /* per node of the tree */
};

struct ray_profile_diff {
	struct ray_profile *
		tree; /* nodes, frames without lines, and functions of both, and what the two lost together; no threads, no samples */
	struct ray_profile_side sides[RAY_DIFF_SIDES];
};

/* RAY_USAGE if one is of time and the other of bytes, or the like: then nothing can be said. */
RAY_MUST_USE struct ray_error *ray_profile_diff_create(const struct ray_profile *before,
						       const struct ray_profile *after, struct ray_profile_diff **ret);
void ray_profile_diff_free(struct ray_profile_diff *d);
RAY_DEFINE_AUTO(ray_profile_diff, ray_profile_diff_free)

/* Of 1: how much larger the node's share of the whole is after than before. */
double ray_profile_diff_self(const struct ray_profile_diff *d, uint32_t node);
double ray_profile_diff_total(const struct ray_profile_diff *d, uint32_t node);

struct ray_profile_diff_row {
	uint32_t function;
	double self[RAY_DIFF_SIDES], total[RAY_DIFF_SIDES]; /* shares, of 1; a function that calls itself counts once */
};
/* Functions by how much their own share changed, the largest change first, whichever way. The caller frees *ret; false without memory. */
bool ray_profile_diff_rank(const struct ray_profile_diff *d, struct ray_profile_diff_row **ret, size_t *count_ret);

#endif
