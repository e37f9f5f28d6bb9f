/* tracefs.h - the kernel's own list of tracepoints and what their records look like.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_PROBE_TRACEFS_H
#define RAY_PROBE_TRACEFS_H

#include "base/arena.h"
#include "base/error.h"
#include <stdint.h>

#include "base/vec.h"

/* Its directory, from where it is mounted, or from a mount of our own that nobody else sees and that ends with the file
 * descriptor. Writes nothing. */
RAY_MUST_USE struct ray_error *ray_tracefs_open(int *ret);
/* A whole small file below it, with a NUL; freed by the caller. */
RAY_MUST_USE struct ray_error *ray_tracefs_read(int tracefs, const char *path, char **ret);

/* ---- the file `format` of a tracepoint ---- */

enum ray_tracefs_field_kind {
	RAY_FIELD_NUMBER, /* size bytes at offset */
	RAY_FIELD_ARRAY,  /* in the record itself */
	RAY_FIELD_DATA,	  /* __data_loc: offset holds where in the record, and how long */
	RAY_FIELD_REL,	  /* __rel_loc: likewise, counted from the end of the field */
};

struct ray_tracefs_field {
	enum ray_tracefs_field_kind kind;
	const char *type; /* in C; of an array: of one element */
	const char *name;
	uint32_t offset, size;
	bool is_signed;
};

struct ray_tracefs_format {
	struct ray_tracefs_field *at;
	size_t count; /* without the common_ fields */
};

/* Fields that make no sense (outside of any record, without a name) are left out. */
RAY_MUST_USE struct ray_error *ray_tracefs_format_parse(struct ray_arena *arena, const char *text,
							struct ray_tracefs_format *ret);

#endif
