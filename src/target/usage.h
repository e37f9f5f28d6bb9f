/* usage.h - how much of each mapping is really in memory.
 * SPDX-License-Identifier: MIT
 *
 * A process has it in /proc/PID/smaps and, page by page, in /proc/PID/pagemap. A core has it only
 * if noderay wrote it down when it took the core. Knows nothing of what a mapping is for. */
#ifndef RAY_TARGET_USAGE_H
#define RAY_TARGET_USAGE_H

#include "target/target.h"

struct ray_usage {
	uint64_t rss, dirty, swap; /* bytes; dirty: written since it was mapped */
	bool known;
};

/* One for each of ray_target_maps(), in that order; *ret is the caller's to free. The mappings of a
 * process are read anew, so that both belong to the same moment; those that still changed in
 * between are not known. */
RAY_MUST_USE struct ray_error *ray_usage_read(struct ray_target *t, struct ray_usage **ret);

/* Joins counts to mappings with the same bounds; the others become unknown. */
struct ray_smaps;
void ray_usage_match(const struct ray_smaps *smaps, const struct ray_map *maps, size_t count, struct ray_usage *usage);

/* Which pages are resident, one by one. */
struct ray_resident;

/* NULL when that cannot be told: a core, or no rights. */
struct ray_resident *ray_resident_open(struct ray_target *t);
void ray_resident_close(struct ray_resident *r);
RAY_DEFINE_AUTO(ray_resident, ray_resident_close)

struct ray_pages {
	uint64_t present, swapped; /* bytes */
	uint64_t counted;	   /* of present, what is surely in the resident set: the page of zeros that stands for
			   * memory read but never written is not */
};
/* How much of [start, end) is there. False when it could not be read. */
bool ray_resident_count(struct ray_resident *r, uint64_t start, uint64_t end, struct ray_pages *ret);
/* Calls each() for every run of pages in [start, end) that are in memory or in swap, ascending;
 * stops when it returns false. False when pagemap could not be read or each() stopped it. */
bool ray_resident_runs(struct ray_resident *r, uint64_t start, uint64_t end, ray_run_fn *each, void *arg);

#endif
