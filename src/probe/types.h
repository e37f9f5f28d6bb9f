/* types.h - types of traced programs' libraries, that arguments of probes have and scripts may name.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_PROBE_TYPES_H
#define RAY_PROBE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A structure, or another name for a type. */
struct ray_probe_type {
	const char *name; /* as typedef */
	const char *tag;  /* struct tag; NULL: it has none */
	const char *is;	  /* the type that `name` stands for; NULL: a structure */
	const char *base; /* structure that it begins like; NULL: none */
	uint32_t size;	  /* of the structure */
	/* "0 void *data;8 int type;16 string *path": the offset, then what C declares. Any order, they may overlap. A `string *` is a
	 * char * that scripts see as the string it points to. */
	const char *members;
	/* D: a structure, and a translator to it from a pointer to this one, for members that have to be calculated. NULL: none. */
	const char *view_tag, *view;
};

struct ray_probe_constant {
	const char *name;
	int64_t value;
};

/* Of whichever provider; NULL if there is none. */
const struct ray_probe_type *ray_probe_type_find(const char *name, bool is_tag);
bool ray_probe_constant_find(const char *name, int64_t *ret);

#endif
