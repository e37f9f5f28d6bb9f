/* summary.h - one page about a node, and what to look at next.
 * SPDX-License-Identifier: MIT
 *
 * Takes the facts of scripts/summary.d, and what its caller knows of the process itself. Pure, but that it writes to the stream it was given. */
#ifndef RAY_VIEW_SUMMARY_H
#define RAY_VIEW_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "view/fact.h"

enum { RAY_SUMMARY_KINDS = 8 };

/* What is not a matter of time. */
struct ray_summary_about {
	int pid;
	const char *version, *script; /* of node; what it runs; "" where not known */
	uint64_t rss;
	struct {
		const char *name;
		uint64_t rss;
	} memory[RAY_SUMMARY_KINDS]; /* largest first; name NULL ends it */
	size_t files;
	uint64_t file_limit; /* 0: not known */
	size_t threads;
};

struct ray_summary;

struct ray_summary *ray_summary_create(FILE *out, bool is_json, size_t width); /* NULL: no memory */
void ray_summary_free(struct ray_summary *s);
RAY_DEFINE_AUTO(ray_summary, ray_summary_free)
void ray_summary_take(struct ray_summary *s, const struct ray_fact *fact);
void ray_summary_print(struct ray_summary *s, const struct ray_summary_about *about, uint64_t duration_ns);

#endif
