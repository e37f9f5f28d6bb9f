/* slices.h - nested slices of time, as traces have them, turned into samples. SPDX-License-Identifier: MIT
 *
 * A slice is a call. Where nothing runs in it, its own time is a sample with the stack of what is open. */
#ifndef RAY_PROFILE_SLICES_H
#define RAY_PROFILE_SLICES_H

#include "profile/profile.h"

struct ray_slice {
	int64_t start_ns, end_ns;
	int64_t weight; /* of our own files, if not the time counts; 0: not told */
	uint32_t function;
	uint32_t thread;
	uint32_t order; /* in the file */
	char type;	/* X: whole; B and E: two halves, in the order of the file */
};

typedef RAY_VEC(struct ray_slice) ray_slices;

/* Adds the samples. base_ns becomes the start of the profile. Those that overlap without one being in the other are cut to fit. Returns
 * what is wrong, or NULL. The slices are changed. */
const char *ray_slices_finish(struct ray_profile *p, ray_slices *slices, int64_t base_ns, bool is_ours);

#endif
