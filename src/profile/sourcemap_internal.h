/* sourcemap_internal.h - what the files of source maps share; for sourcemap*.c only. SPDX-License-Identifier: MIT
 *
 *   sourcemap.c        the file
 *   sourcemap_find.c   its mappings: decoded, and asked */
#ifndef RAY_PROFILE_SOURCEMAP_INTERNAL_H
#define RAY_PROFILE_SOURCEMAP_INTERNAL_H

#include "base/arena.h"
#include "base/vec.h"
#include "profile/sourcemap.h"

enum { RAY_SOURCE_MOST = INT32_MAX / 2 }; /* of a line or a column */

/* Where decoding stands: numbers are told as differences. All count from 0. */
struct ray_source_state {
	size_t at;	       /* in the text of mappings */
	uint32_t line, column; /* of the generated code */
	int64_t source, source_line, source_column, name;
};

/* One part: a map of its own. Most files have one. */
struct ray_source_part {
	uint32_t line, column; /* where its generated code begins in that of the whole */
	const char *root;
	const char **sources, **names;
	size_t source_count, name_count;
	char *mappings;
	size_t length;
	RAY_VEC(struct ray_source_state) marks; /* the state before every so many mappings */
	size_t count;
};

struct ray_source_map {
	struct ray_arena *arena;
	RAY_VEC(struct ray_source_part) parts; /* by place */
};

/* Goes through the mappings once: what is wrong is found now, and told; NULL: nothing is. Marks are set. */
const char *ray_source_part_index(struct ray_source_part *p);

#endif
