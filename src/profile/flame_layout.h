/* flame_layout.h - where the boxes of a flame graph stand: the root first, the heaviest call to the left. SPDX-License-Identifier: MIT
 *
 * One tree that is weighed once, or twice for a difference: then every box has a place by each of the two, in the same order, so that they can be told
 * to change places. What is narrower than RAY_FLAME_LEAST by all of them gets no box, and is counted. Pure: knows neither colours nor files. */
#ifndef RAY_PROFILE_FLAME_LAYOUT_H
#define RAY_PROFILE_FLAME_LAYOUT_H

#include "profile/profile.h"

#define RAY_FLAME_LEAST 0.1 /* pixels */

enum { RAY_FLAME_SHOWN, RAY_FLAME_OTHER, RAY_FLAME_SIDES };

struct ray_flame_place {
	double x, width; /* pixels; no width: not to be drawn by this weight */
};

struct ray_flame_box {
	uint32_t node, depth; /* of the root: 0 */
	struct ray_flame_place at[RAY_FLAME_SIDES];
};

struct ray_flame {
	const struct ray_profile *tree;
	const int64_t *total
		[RAY_FLAME_SIDES]; /* per node of the tree; borrowed, and NULL for the other where there is one only */
	RAY_VEC(struct ray_flame_box) boxes; /* the root's first, and it always is as wide as all */
	uint32_t depth;			     /* of the deepest box */
	size_t narrow[RAY_FLAME_SIDES];	     /* calls that have a weight and are not drawn */
};

/* tree and total must be set, and the rest 0. left, room: where all of it is, in pixels. False without memory. */
bool ray_flame_layout(struct ray_flame *f, double left, double room);
void ray_flame_deinit(struct ray_flame *f);

#endif
