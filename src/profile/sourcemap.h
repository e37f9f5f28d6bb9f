/* sourcemap.h - Source Map v3: from places in generated JavaScript to those in the sources it was made of. SPDX-License-Identifier: MIT
 *
 * Keeps the mappings as the file has them, with a mark at every so many, since a bundle has millions: one search decodes a few dozen. Texts of sources that a
 * map carries along are skipped. Trusts nothing in the file: whatever is wrong with it is an error that says so. Pure: bytes in, places out. */
#ifndef RAY_PROFILE_SOURCEMAP_H
#define RAY_PROFILE_SOURCEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct ray_source_map;

/* RAY_UNREADABLE says what is wrong and where. bytes need not stay. */
RAY_MUST_USE struct ray_error *ray_source_map_parse(const char *bytes, size_t size, struct ray_source_map **ret);
void ray_source_map_free(struct ray_source_map *m);
RAY_DEFINE_AUTO(ray_source_map, ray_source_map_free)

/* All numbers count from 1. Texts are the map's. */
struct ray_source_place {
	int at_line, at_column; /* where in the generated code it begins */
	const char *root;	/* sourceRoot; "" if there is none */
	const char *source;	/* as the map has it; NULL: this code comes from no source */
	int line, column;
	const char *name; /* of what stands there in the source; NULL: the map does not say */
};

/* The last mapping of the line that begins at column or before. False: there is none. */
bool ray_source_map_find(const struct ray_source_map *m, int line, int column, struct ray_source_place *ret);
/* The mappings of the line that begin in [from, to], the last first, until each() says false. */
void ray_source_map_each_back(const struct ray_source_map *m, int line, int from, int to,
			      bool (*each)(void *arg, const struct ray_source_place *place), void *arg);
size_t ray_source_map_count(const struct ray_source_map *m); /* of mappings */

#endif
