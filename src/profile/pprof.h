/* pprof.h - the tables of a pprof file, as they were read. SPDX-License-Identifier: MIT
 *
 * For read_pprof.c alone, which makes a profile of them. Numbers in it are the file's: none has been checked. */
#ifndef RAY_PROFILE_PPROF_H
#define RAY_PROFILE_PPROF_H

#include "profile/profile.h"
#include "profile/proto.h"

struct ray_pprof_value_type {
	uint64_t type, unit;
};

struct ray_pprof_function {
	uint64_t id, name, file, line;
};

struct ray_pprof_mapping {
	uint64_t id, file;
};

struct ray_pprof_line {
	uint64_t function, line, column;
};

struct ray_pprof_location {
	uint64_t id, mapping, address;
	size_t first, count; /* of lines, innermost first */
	bool made;	     /* its lines have become frames */
};

struct ray_pprof {
	struct ray_profile *p;
	struct ray_proto_span all;
	RAY_VEC(struct ray_proto_span) strings;
	RAY_VEC(struct ray_pprof_value_type) types;
	RAY_VEC(struct ray_pprof_function) functions;
	RAY_VEC(struct ray_pprof_mapping) mappings;
	RAY_VEC(struct ray_pprof_line) lines;
	RAY_VEC(uint32_t) frames; /* by line; the last ones are of locations without any */
	RAY_VEC(struct ray_pprof_location) locations;
	RAY_VEC(uint64_t) comments;
	uint64_t preferred; /* string of the type that counts */
	size_t chosen;	    /* which of the values */
	double scale;
	bool is_ours, no_memory;
	const char *wrong;
};

/* The first thing that is wrong is kept; then nothing more is read. */
void ray_pprof_wrong(struct ray_pprof *r, const char *what);

/* Every field of a message is given to the function. */
typedef void ray_pprof_field_fn(struct ray_pprof *r, const struct ray_proto_field *f, void *arg);
void ray_pprof_each(struct ray_pprof *r, struct ray_proto_span s, ray_pprof_field_fn *fn, void *arg);
/* Repeated numbers come one by one or as a block. */
void ray_pprof_numbers(struct ray_pprof *r, const struct ray_proto_field *f,
		       void (*fn)(struct ray_pprof *, uint64_t, void *), void *arg);

const char *ray_pprof_string(struct ray_pprof *r, uint64_t number); /* safe */
bool ray_pprof_is(struct ray_pprof *r, uint64_t number, const char *text);

/* All of the tables; then they can be searched. */
void ray_pprof_tables(struct ray_pprof *r);
const struct ray_pprof_mapping *ray_pprof_mapping(const struct ray_pprof *r,
						  uint64_t id); /* NULL if there is none, as the others */
const struct ray_pprof_function *ray_pprof_function(const struct ray_pprof *r, uint64_t id);
struct ray_pprof_location *ray_pprof_location(struct ray_pprof *r, uint64_t id);
void ray_pprof_deinit(struct ray_pprof *r);

#endif
