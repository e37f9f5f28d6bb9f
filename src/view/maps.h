/* maps.h - how a target's memory map looks: table, summary, JSON.
 * SPDX-License-Identifier: MIT
 *
 * Pure: regions in, bytes out. Knows no process. */
#ifndef RAY_VIEW_MAPS_H
#define RAY_VIEW_MAPS_H

#include <stdio.h>

#include "base/text.h"
#include "stack/regions.h"

struct ray_maps_style {
	int pid;      /* of the target */
	bool verbose; /* every part and every V8 page too */
	bool is_core; /* show what was dumped */
	size_t width; /* of a line; 0: no limit */
};

/* False when memory ran out and something is missing. */
bool ray_maps_print_table(const struct ray_regions *r, const struct ray_maps_style *style, FILE *out);
bool ray_maps_print_summary(const struct ray_regions *r, const struct ray_maps_style *style, FILE *out);
/* One object a line on stdout: mappings (with their parts), V8 pages when verbose. */
void ray_maps_json_table(const struct ray_regions *r, const struct ray_maps_style *style);
/* Isolates, then the summary. */
void ray_maps_json_summary(const struct ray_regions *r, const struct ray_maps_style *style);

/* What a mapping is, in words. */
void ray_maps_label(const struct ray_regions *r, const struct ray_region *region, struct ray_text *out);
void ray_maps_part_label(const struct ray_regions *r, const struct ray_region *region, const struct ray_part *part,
			 struct ray_text *out);
/* "rw-p". */
const char *ray_maps_mode(const struct ray_map *map, char out[5]);

/* Sums over parts. */
struct ray_maps_sum {
	uint64_t size, rss, dirty, swap, dumped;
	size_t count; /* mappings' parts; V8: pages */
};

struct ray_maps_totals {
	struct ray_maps_sum all, groups[RAY_GROUP_COUNT], kinds[RAY_REGION_KIND_COUNT], spaces[RAY_V8_SPACE_COUNT];
};

void ray_maps_add_up(const struct ray_regions *r, struct ray_maps_totals *ret);
/* The V8 pages of one isolate. */
void ray_maps_add_up_heap(const struct ray_regions *r, uint64_t heap, struct ray_maps_sum *ret);

#endif
