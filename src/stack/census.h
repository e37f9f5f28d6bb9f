/* census.h - every node on the machine, with what can be told of each without stopping it.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_STACK_CENSUS_H
#define RAY_STACK_CENSUS_H

#include "base/arena.h"
#include "base/vec.h"
#include "target/about.h"
#include "target/node.h"
#include "target/script.h"

struct ray_census_row {
	struct ray_about about;
	struct ray_node node; /* without its module */
	struct ray_script script;
	bool has_workers; /* their number is known */
	size_t workers;
	const char *note; /* why less is known of it; NULL if all is */
};

struct ray_census {
	RAY_VEC(struct ray_census_row) rows; /* by pid */
	struct ray_arena *arena;	     /* what the rows point to */
	size_t unreadable;		     /* processes that might be nodes */
};

RAY_MUST_USE struct ray_error *ray_census_take(struct ray_census **ret);
void ray_census_free(struct ray_census *census);
RAY_DEFINE_AUTO(ray_census, ray_census_free)

#endif
