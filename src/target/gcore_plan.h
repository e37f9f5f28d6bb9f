/* gcore_plan.h - what a core will hold, and where in the file.
 * SPDX-License-Identifier: MIT
 *
 * Pure: mappings and existing pages in, segments and extents out. A mapping whose missing bytes
 * are zeros becomes one segment, with a hole in the file where no page exists; one whose
 * missing bytes are those of a file on disk is cut into segments with and without bytes, so that a
 * debugger takes the rest from the file that NT_FILE names. */
#ifndef RAY_TARGET_GCORE_PLAN_H
#define RAY_TARGET_GCORE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "target/pages.h"
#include "target/target.h"

/* One PT_LOAD. */
struct ray_segment {
	uint64_t start, size;
	uint64_t stored; /* bytes in the file: size, or 0 */
	uint64_t offset; /* in the file */
	int prot;
};

/* A stretch of pages that is copied. */
struct ray_extent {
	uint64_t start, size;
	uint64_t offset;	   /* in the file */
	bool unreadable;	   /* by the target itself: has to be read by force */
	const unsigned char *copy; /* its bytes, if they were copied before; NULL if not */
};

struct ray_gcore_plan {
	RAY_VEC(struct ray_segment) segments;
	RAY_VEC(struct ray_extent) extents; /* by address and by offset */
	uint64_t copied;		    /* bytes in extents */
	uint64_t left_out; /* bytes of existing pages that are left to files on disk or were not wanted */
	uint64_t size;	   /* of the whole file; after ray_gcore_plan_place() */
};

struct ray_gcore_map {
	const struct ray_map *map;
	unsigned flags; /* RAY_SMAP_* */
	bool is_elf;	/* its first page is an ELF header */
};

enum ray_gcore_content {
	RAY_GCORE_NOTHING, /* no bytes */
	RAY_GCORE_MEMORY,  /* existing pages; what does not exist is zeros */
	RAY_GCORE_CHANGED, /* anonymous pages; the others are in the file */
	RAY_GCORE_TOUCHED, /* existing pages; the others are in the file */
	RAY_GCORE_ALL,	   /* every page, existing or not */
};

/* What becomes of a mapping; full: --full. */
enum ray_gcore_content ray_gcore_content(const struct ray_gcore_map *m, bool full);

RAY_MUST_USE struct ray_error *ray_gcore_plan_make(const struct ray_gcore_map *maps, size_t count,
						   const struct ray_page_runs *pages, bool full,
						   struct ray_gcore_plan *ret);
/* Gives every segment and extent its place, from head (the size of all that comes before) on. */
void ray_gcore_plan_place(struct ray_gcore_plan *plan, uint64_t head);
void ray_gcore_plan_deinit(struct ray_gcore_plan *plan);

#endif
