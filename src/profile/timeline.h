/* timeline.h - samples as stretches of time, for formats that draw them one after the other. SPDX-License-Identifier: MIT
 *
 * A sample of something that is taken so often a second stands for the time until the next one of its thread, or for one period if that comes
 * later: between them the thread did nothing. One that weighs nanoseconds ended at its time. Where there are no times, samples follow each other
 * as they stand, thread by thread. */
#ifndef RAY_PROFILE_TIMELINE_H
#define RAY_PROFILE_TIMELINE_H

#include "profile/profile.h"

struct ray_stretch {
	uint64_t start_ns, length_ns; /* the next of the same thread never begins before this ends */
	uint32_t node;
	uint32_t count;
	int64_t weight;
};

struct ray_timeline {
	struct ray_stretch *at; /* thread by thread */
	size_t *first;		/* of each thread; one more than there are threads */
};

enum ray_timeline_kind {
	RAY_TIMELINE_WEIGHT, /* every length stands for the weight: what is no time counts as a microsecond for each byte, call... */
	RAY_TIMELINE_TIME, /* every start is when it was: what has no length lasts until the next, and a millisecond at most */
};

/* Samples that weigh nothing, or less, are left out. False without memory. */
bool ray_timeline_create(const struct ray_profile *p, enum ray_timeline_kind kind, struct ray_timeline *ret);
void ray_timeline_deinit(struct ray_timeline *t);
#define ray_auto_timeline __attribute__((cleanup(ray_timeline_deinit))) struct ray_timeline

/* Is a weight a time, or a number of samples that stands for one? */
bool ray_timeline_is_time(const struct ray_profile *p);
/* The way back, for readers: what a stretch weighs in the unit of p. */
int64_t ray_timeline_weight(const struct ray_profile *p, double length_ns);

/* "main (4242)", "worker_threads worker 1 (4250)"; with the process if there are several: "node app.js (4242): main (4242)". */
struct ray_text;
void ray_timeline_thread(const struct ray_profile *p, uint32_t thread, struct ray_text *out);

#endif
