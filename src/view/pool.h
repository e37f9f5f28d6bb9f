/* pool.h - libuv's thread pool, a page every second: what waits, what runs, by kind of work.
 * SPDX-License-Identifier: MIT
 *
 * Takes the facts of scripts/pool.d. Pure, but that it writes to the stream it was given; JSON goes to standard output. */
#ifndef RAY_VIEW_POOL_H
#define RAY_VIEW_POOL_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "view/fact.h"

struct ray_pool_options {
	bool is_json;
	size_t width;
	/* How many threads the pool of a process has; 0: not known. */
	unsigned int (*threads)(void *arg, uint32_t pid);
	void *arg;
};

struct ray_pool_view;

struct ray_pool_view *ray_pool_view_create(const struct ray_pool_options *options, FILE *out); /* NULL: no memory */
void ray_pool_view_free(struct ray_pool_view *v);
RAY_DEFINE_AUTO(ray_pool_view, ray_pool_view_free)
void ray_pool_view_take(struct ray_pool_view *v, const struct ray_fact *fact);
/* What has come since the last page, and who submitted it. */
void ray_pool_view_finish(struct ray_pool_view *v, uint64_t epoch_ns);

#endif
