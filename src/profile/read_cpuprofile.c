/* read_cpuprofile.c - .cpuprofile of node --cpu-prof, of DevTools, and our own. SPDX-License-Identifier: MIT */
#include <string.h>

#include "profile/head.h"
#include "profile/cpu_tree.h"
#include "profile/formats.h"
#include "profile/reading.h"

struct cpu_file {
	struct ray_profile *p;
	struct ray_cpu_tree *tree;
	double start_us, end_us;
	bool is_ours, has_nodes;
};

static void read_top(struct cpu_file *f, struct ray_pull *j)
{
	struct ray_pull_text key;

	for (ray_pull_object(j); ray_pull_key(j, &key);) {
		if (!strcmp(key.bytes, "nodes")) {
			ray_cpu_tree_nodes(f->tree, j);
			f->has_nodes = true;
		} else if (!strcmp(key.bytes, "samples")) {
			ray_cpu_tree_samples(f->tree, j);
		} else if (!strcmp(key.bytes, "timeDeltas")) {
			ray_cpu_tree_deltas(f->tree, j);
		} else if (!strcmp(key.bytes, "startTime")) {
			f->start_us = ray_pull_number(j);
		} else if (!strcmp(key.bytes, "endTime")) {
			f->end_us = ray_pull_number(j);
		} else if (!strcmp(key.bytes, RAY_PROFILE_HEAD_KEY)) {
			ray_profile_head_read(j, f->p);
			f->is_ours = true;
		} else {
			ray_pull_skip(j);
		}
	}
	if (!f->has_nodes)
		ray_pull_fail(j, "there are no nodes in it");
}

bool ray_is_cpuprofile(const char *bytes, size_t size)
{
	return ray_reading_is_json(bytes, size, "\"callFrame\"", false) &&
	       ray_reading_is_json(bytes, size, "\"nodes\"", false) &&
	       !ray_reading_is_json(bytes, size, "\"traceEvents\"", false);
}

struct ray_error *ray_read_cpuprofile(const char *bytes, size_t size, struct ray_profile **ret)
{
	ray_auto(ray_profile, p) = ray_profile_create();
	ray_auto(ray_cpu_tree, tree) = p ? ray_cpu_tree_create(p) : NULL;
	struct cpu_file f = { .p = p, .tree = tree };
	struct ray_cpu_times times = { .thread = { .tid = 1, .name = "main" } };
	ray_auto_pull j = { 0 };
	struct ray_error *err;

	if (!tree)
		return &ray_enomem;
	ray_pull_init(&j, bytes, size);
	read_top(&f, &j);
	err = ray_pull_error(&j);
	if (err)
		return err;
	times.is_ours = f.is_ours;
	times.end_us = f.end_us > f.start_us ? f.end_us - f.start_us : 0;
	if (!f.is_ours) {
		p->unit = RAY_UNIT_NS;
		p->has_times = true;
		p->duration_ns = (uint64_t)ray_reading_weight(times.end_us * 1000);
		p->event = "on-CPU, by V8's profiler";
	}
	err = ray_cpu_tree_finish(tree, &times);
	if (err)
		return err;
	if (p->has_times)
		ray_reading_order(p);
	*ret = ray_take(p);
	return NULL;
}
