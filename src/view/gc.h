/* gc.h - collections of garbage: a line for each, and what they add up to.
 * SPDX-License-Identifier: MIT
 *
 * Takes the facts of scripts/gc.d. Pure, but that it writes to the stream it was given (JSON: to stdout). */
#ifndef RAY_VIEW_GC_H
#define RAY_VIEW_GC_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "view/fact.h"

struct ray_gc_options {
	bool is_json;
	bool only_summary;   /* no lines */
	const char *columns; /* -o; NULL: the usual ones */
	size_t width;	     /* of lines; 0: no limit */
};

struct ray_gc_view;

/* Refuses columns that there are none of: RAY_USAGE. */
RAY_MUST_USE struct ray_error *ray_gc_view_create(const struct ray_gc_options *options, FILE *out,
						  struct ray_gc_view **ret);
void ray_gc_view_free(struct ray_gc_view *v);
RAY_DEFINE_AUTO(ray_gc_view, ray_gc_view_free)
void ray_gc_view_take(struct ray_gc_view *v, const struct ray_fact *fact);
/* The summary, of a run that took so long. */
void ray_gc_view_finish(struct ray_gc_view *v, uint64_t duration_ns);

#endif
