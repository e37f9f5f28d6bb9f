/* sampling.h - the facts of scripts/record.d without the rights to trace: samples of what runs in user space.
 * SPDX-License-Identifier: MIT
 *
 * Tells "sample user=%k", as a trace of that script does, with stacks from stack/sampler.h; kernel= is never there. */
#ifndef RAY_ENGINE_SAMPLING_H
#define RAY_ENGINE_SAMPLING_H

#include "stack/sampler.h"
#include "view/fact.h"

struct ray_sampling_options {
	const pid_t *pids; /* must stay, as must what else is given */
	size_t count;
	unsigned hz;
	bool follow;
	int thread;				   /* only this one; -1: the first of each process; 0: all */
	const struct ray_script_maps *script_maps; /* as those of a trace */
	void (*on_fact)(void *arg, const struct ray_fact *fact);
	void *arg;
};

struct ray_sampling;

RAY_MUST_USE struct ray_error *ray_sampling_create(const struct ray_sampling_options *options,
						   struct ray_sampling **ret);
void ray_sampling_free(struct ray_sampling *s);
RAY_DEFINE_AUTO(ray_sampling, ray_sampling_free)
/* Waits at most so long, and tells what was seen. */
RAY_MUST_USE struct ray_error *ray_sampling_work(struct ray_sampling *s, int timeout_ms);
bool ray_sampling_is_over(struct ray_sampling *s); /* targets, and what they started, have ended */
/* What a thread is for; NULL: that cannot be told now. Valid until the next call of anything. */
const struct ray_role_info *ray_sampling_thread_role(struct ray_sampling *s, uint32_t pid, uint32_t tid);
struct ray_sampler_report ray_sampling_report(const struct ray_sampling *s);

#endif
