/* top_internal.h - what the parts of the model of `top` share. SPDX-License-Identifier: MIT */
#ifndef RAY_VIEW_TOP_INTERNAL_H
#define RAY_VIEW_TOP_INTERNAL_H

#include "base/vec.h"
#include "view/lag.h"
#include "view/top.h"

/* What a slice says of one event loop. */
struct ray_top_lap {
	uint32_t pid, tid;
	struct ray_lag_share share;
	uint64_t longest;
	struct ray_histogram shape;
	int64_t *bins; /* NULL: none */
};

struct ray_top_pauses {
	uint32_t pid, tid;
	uint64_t count, ns, longest;
	uint64_t heap; /* in use after the last one; 0: not known */
};

struct ray_top_use {
	uint32_t pid, tid; /* tid 0: of the process as a whole */
	uint64_t cpu_ns;
};

struct ray_top_slice {
	unsigned int references;
	uint64_t length_ns;
	struct ray_profile *samples;
	RAY_VEC(struct ray_top_use) uses;
	RAY_VEC(struct ray_top_lap) laps;
	RAY_VEC(struct ray_top_pauses) pauses;
	uint64_t requests;
};

/* What is counted in the kernel goes on from the start; so each knows where it was when the slice before ended. */
struct ray_top_loop_state {
	uint32_t pid, tid;
	struct ray_lag_work work;
	struct ray_lag_bins bins;
};

/* A thread or process as it was last seen; texts are copies. */
struct ray_top_thread_state {
	struct ray_top_thread thread;
	char *name;
	bool is_there;
};

struct ray_top_process_state {
	struct ray_top_process process;
	char *title, *version;
	bool is_there;
};

/* Slices, oldest first, and all that came before: what answers are made of. */
struct ray_top_past {
	RAY_VEC(struct ray_top_slice *) slices;
	struct ray_profile *total; /* since the start; samples are united now and then */
	uint64_t total_ns;
	int64_t dropped;
};

struct ray_top {
	struct ray_top_past past, held;
	bool is_held, failed;
	size_t total_size; /* samples of past.total when they were last united */
	uint64_t last_ns, last_epoch_ns;
	RAY_VEC(struct ray_top_thread_state) threads;
	RAY_VEC(struct ray_top_process_state) processes;
	RAY_VEC(struct ray_top_loop_state) loops;
	RAY_VEC(struct ray_top_pauses) collectors; /* in this slice so far */
	bool has_gc, has_requests;
	uint64_t requests, requests_before;
};

/* top_facts.c */
void ray_top_facts_end(struct ray_top *t, struct ray_top_slice *slice, uint64_t epoch_ns);
void ray_top_facts_free(struct ray_top *t);
void ray_top_facts_reset(struct ray_top *t);
/* One loop in the slices from `first` on. False without memory. */
bool ray_top_loop_make(const struct ray_top_past *past, size_t first, uint32_t pid, uint32_t tid,
		       struct ray_top_loop *ret);

/* top_threads.c */
void ray_top_threads_see(struct ray_top *t, const struct ray_top_moment *m,
			 struct ray_top_slice *slice /* NULL: the first time */);
void ray_top_threads_free(struct ray_top *t);
uint64_t ray_top_group_of(const struct ray_top *t, uint32_t pid, uint32_t tid);
/* Slices from `first` on. False without memory. */
bool ray_top_figures_make(struct ray_top *t, const struct ray_top_past *past, size_t first,
			  struct ray_top_figures *ret);

#endif
