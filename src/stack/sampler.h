/* sampler.h - what the threads of processes do, looked at again and again without capabilities. SPDX-License-Identifier: MIT
 *
 * For whoever runs as the same user as the target and may not load programs into the kernel. By the kernel's clock where that is allowed, else
 * by stopping what runs for a moment, at a rate that keeps the stopped share small. Only what runs in user space is seen: no kernel frames,
 * nobody who waits. Processes that the targets start are followed. */
#ifndef RAY_STACK_SAMPLER_H
#define RAY_STACK_SAMPLER_H

#include "stack/stack.h"

struct ray_sampler_look {
	int pid, tid;
	uint64_t time_ns; /* of CLOCK_MONOTONIC */
	uint64_t id;	  /* of the stack: the same one has the same */
	bool is_cut;
	size_t unnamed;		       /* functions that could not be told any more */
	const struct ray_stack *stack; /* NULL: is_known() said that it is. Valid during the call */
	bool is_unreadable;	       /* the process could not be opened: there are no frames */
};

struct ray_sampler_options {
	const pid_t *pids;
	size_t count;
	unsigned hz;
	bool follow;				   /* what they start, too */
	int thread;				   /* only this one; -1: the first of each process; 0: all */
	const struct ray_script_maps *script_maps; /* who is told of them; NULL: nobody */
	/* Was this stack given before? Then it is not named again. */
	bool (*is_known)(void *arg, uint64_t id);
	void (*on_look)(void *arg, const struct ray_sampler_look *look);
	void *arg;
};

struct ray_sampler;

/* Fails with RAY_DENIED when neither way is open; pids and options' functions must stay. */
RAY_MUST_USE struct ray_error *ray_sampler_create(const struct ray_sampler_options *options, struct ray_sampler **ret);
void ray_sampler_free(struct ray_sampler *s);
RAY_DEFINE_AUTO(ray_sampler, ray_sampler_free)
/* Waits for looks, at most so long, and gives those that are there. */
RAY_MUST_USE struct ray_error *ray_sampler_run(struct ray_sampler *s, int timeout_ms);
/* What a thread is for; NULL: that cannot be told now. */
const struct ray_role_info *ray_sampler_thread_role(struct ray_sampler *s, pid_t pid, int tid);
bool ray_sampler_is_over(struct ray_sampler *s); /* all targets, and what they started, have ended */

struct ray_sampler_report {
	const char *why_stops; /* why the kernel's clock could not be used; NULL: it is */
	uint64_t period_ns;    /* between two looks at what runs; as it was, on average */
	uint64_t looks, lost, unreadable;
	/* By stopping: */
	uint64_t rounds, stops, missed;
	uint64_t pause_ns; /* all together */
};
struct ray_sampler_report ray_sampler_report(const struct ray_sampler *s);

#endif
