/* cpu_tree.h - the tree of calls as V8's own profiler writes it, with samples that name its nodes. SPDX-License-Identifier: MIT
 *
 * Comes as one piece in a .cpuprofile, and in many in a trace of Chrome. Nodes may stand in any order. */
#ifndef RAY_PROFILE_CPU_TREE_H
#define RAY_PROFILE_CPU_TREE_H

#include "profile/profile.h"
#include "profile/pull.h"

struct ray_cpu_tree;

struct ray_cpu_tree *ray_cpu_tree_create(struct ray_profile *p); /* NULL without memory */
void ray_cpu_tree_free(struct ray_cpu_tree *t);
RAY_DEFINE_AUTO(ray_cpu_tree, ray_cpu_tree_free)

/* Arrays, as they come. */
void ray_cpu_tree_nodes(struct ray_cpu_tree *t, struct ray_pull *j);
void ray_cpu_tree_samples(struct ray_cpu_tree *t, struct ray_pull *j);
void ray_cpu_tree_deltas(struct ray_cpu_tree *t, struct ray_pull *j);

struct ray_cpu_times {
	struct ray_profile_thread thread; /* of nodes that do not say */
	double start_us;		  /* what the first delta counts from, since the start of the profile */
	double end_us;			  /* of the last sample; 0: not known */
	bool is_ours; /* a node that is marked as a gap is what we write for the time between samples, and weights are of the profile's unit */
};
/* All that was read, as samples of the profile. What is wrong is said in words. */
RAY_MUST_USE struct ray_error *ray_cpu_tree_finish(struct ray_cpu_tree *t, const struct ray_cpu_times *times);

#endif
