/* derived.h - probes that stand for kernel tracepoints and system calls under names and arguments of their own.
 * SPDX-License-Identifier: MIT
 *
 * A provider of such probes is a table. The tracepoints are raw ones: their arguments are kernel pointers, and neither tracefs nor root is needed. */
#ifndef RAY_PROBE_DERIVED_H
#define RAY_PROBE_DERIVED_H

#include "probe/provider.h"

enum { RAY_DERIVED_ARGS = 4, RAY_DERIVED_SITES = 4 };

struct ray_derived {
	const char *name;
	struct ray_probe_arg args[RAY_DERIVED_ARGS]; /* up to the first without a type */
	struct ray_site sites[RAY_DERIVED_SITES];    /* as many as there are */
	size_t site_count;
	/* The tracepoint of sites[0] is in newer kernels only: without it sites[1] stands in. */
	bool has_substitute;
};

/* For the provider's own functions: rows are in the order of the provider's numbers. */
RAY_MUST_USE struct ray_error *ray_derived_match(struct ray_catalogue *c, const struct ray_provider *p,
						 const struct ray_derived *rows, size_t count,
						 const struct ray_probe_spec *spec, ray_probe_list *matches);
RAY_MUST_USE struct ray_error *ray_derived_args(struct ray_catalogue *c, struct ray_probe *probe,
						struct ray_probe_args *ret);
RAY_MUST_USE struct ray_error *ray_derived_sites(struct ray_catalogue *c, struct ray_probe *probe);
/* Whether the running kernel has this raw tracepoint; types is its BTF file. */
bool ray_tracepoint_exists(const char *types, const char *name);

/* ---- for the tables ---- */

/* Arguments 18 and 19 are nobody's: what the conditions compare. */
enum { RAY_DERIVED_LEFT = RAY_ARGS - 2, RAY_DERIVED_RIGHT = RAY_ARGS - 1 };

#define RAY_DERIVED_TASK(type_, name_)                  \
	{                                               \
		type_, name_, 0, "struct task_struct *" \
	}
#define RAY_DERIVED_FETCH(...) .fetch = (const struct ray_fetch[]){ __VA_ARGS__ }, .fetch_count = RAY_ARGS
#define RAY_DERIVED_IF(...)                                          \
	.conditions = (const struct ray_condition[]){ __VA_ARGS__ }, \
	.condition_count = sizeof((const struct ray_condition[]){ __VA_ARGS__ }) / sizeof(struct ray_condition)
/* The size of the array is RAY_ARGS as its last element is given. */
#define RAY_DERIVED_LAST [RAY_DERIVED_RIGHT] = { .kind = RAY_FETCH_NONE }
#define RAY_DERIVED_RAW(n, size_)                                                \
	{                                                                        \
		.kind = RAY_FETCH_RAW, .value = (n), .size = (size_), .flags = 1 \
	}

#endif
