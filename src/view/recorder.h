/* recorder.h - stacks as they are sampled become a profile. SPDX-License-Identifier: MIT
 *
 * Takes the facts of scripts/record*.d, or samples from elsewhere, and builds a struct ray_profile (profile/profile.h): the kernel's frames inside
 * the user's, kinds, threads, times, and what was lost. What V8 needs to get from one function to the next (entry trampolines, handlers of
 * bytecodes) is left out; builtins that do a program's work stay. A stack that was seen before costs one look into a table.
 *
 *   sample weight=1 kernel=%k user=%k    something that weighs so much; also root=%s and leaf=%s: frames around the stack
 *   off kernel=%k user=%k                the thread leaves its CPU there ...
 *   on                                   ... and is back: the time between is the weight
 *   trim weight=1                        the thread's last sample weighs so much less
 *
 * Pure: who knows threads by name is asked through a function. */
#ifndef RAY_VIEW_RECORDER_H
#define RAY_VIEW_RECORDER_H

#include "base/text.h"
#include "profile/profile.h"
#include "view/fact.h"

struct ray_recorder;

struct ray_recorder_options {
	enum ray_profile_unit unit;
	uint64_t period_ns;	/* between samples of a thread that runs; 0: they come with events */
	uint64_t sample_weight; /* of a sample that says none itself; 0: 1 */
	bool tells_heaps;	/* stacks are of memory that is taken: the outermost frame says for which heap */
	bool tells_collections; /* stacks are of collections: the innermost frame says which, frames of the collector are left out */
	/* What the thread is for ("main"), and its process ("node server.js"); false: that cannot be told now. May be NULL. */
	bool (*name_thread)(void *arg, uint32_t pid, uint32_t tid, struct ray_text *name, struct ray_text *process);
	void *arg;
	size_t most_samples; /* that keep their time; more than that are only added up. 0: a million */
	/* When there are more, what weighs next to nothing is folded into "[rarely seen]", and numbers in the profile change. 0: never */
	size_t most_nodes, most_functions;
};

struct ray_recorder *ray_recorder_create(const struct ray_recorder_options *options); /* NULL: no memory */
void ray_recorder_free(struct ray_recorder *r);
RAY_DEFINE_AUTO(ray_recorder, ray_recorder_free)

/* When it starts, in nanoseconds since the epoch; without it that is the first sample's time. */
void ray_recorder_start(struct ray_recorder *r, uint64_t epoch_ns);
void ray_recorder_take(struct ray_recorder *r, const struct ray_fact *fact);

struct ray_recorder_sample {
	uint64_t time_ns; /* since the epoch */
	uint32_t pid, tid;
	int64_t weight;
	const struct ray_fact_stack *kernel, *user; /* NULL: none */
	const char *root, *leaf;		    /* frames around it; NULL: none */
	bool is_waiting;			    /* the thread sleeps there: a frame says for what */
	bool is_collection;			    /* frames of V8's collector are left out */
};
void ray_recorder_add(struct ray_recorder *r, const struct ray_recorder_sample *s);

/* Now and then, and before the threads are gone: asks for the names that are missing. */
void ray_recorder_name_threads(struct ray_recorder *r);
/* How many samples there are, of whatever weight. */
uint64_t ray_recorder_count(const struct ray_recorder *r);
bool ray_recorder_is_thinned(const struct ray_recorder *r); /* something was folded into "[rarely seen]" */
/* What there is so far; the recorder's. */
struct ray_profile *ray_recorder_profile(struct ray_recorder *r);
/* The end, at epoch_ns: threads that still wait have done so until now; samples get into their order. The profile is the caller's from now on. */
struct ray_profile *ray_recorder_finish(struct ray_recorder *r, uint64_t epoch_ns);

/* ---- for tests and for those who show live what they record ---- */

/* Is it of V8 alone: nothing of the program's runs there? */
bool ray_recorder_is_plumbing(const struct ray_fact_frame *f);
/* What a thread that left its CPU there waits for, as its kernel stack tells: "epoll_wait", "futex", "page fault", "a CPU". */
const char *ray_recorder_waits_for(const struct ray_fact_stack *kernel, char *buffer, size_t size);

#endif
