/* pick.h - adds one profile to another, all of it or some. SPDX-License-Identifier: MIT
 *
 * For whoever looks at part of a profile (some threads, without the frames of certain kinds) or puts several together (a live screen's last seconds).
 * Pure. Times of samples are not kept: they count from another start. */
#ifndef RAY_PROFILE_PICK_H
#define RAY_PROFILE_PICK_H

#include "profile/profile.h"

struct ray_profile_pick {
	/* Bits (1u << kind): frames of these kinds are left out, and what they weigh is their callers'. A stack that has no others is the root. */
	uint32_t hidden;
	bool without_idle;   /* no samples whose innermost frame is RAY_KIND_IDLE */
	int64_t at_least;    /* only samples that weigh so much */
	const bool *threads; /* by number in `from`: those that are wanted; NULL: all */
	/* What was left out by at_least. */
	int64_t dropped_weight;
};

/* pick: NULL takes all. Counts of what was lost are added, too. False without memory: then some is missing. */
bool ray_profile_add_from(struct ray_profile *into, const struct ray_profile *from, struct ray_profile_pick *pick);
/* Samples of one thread with the same stack become one. */
void ray_profile_unite(struct ray_profile *p);

#endif
