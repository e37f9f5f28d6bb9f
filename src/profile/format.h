/* format.h - profiles as files: which formats there are, by name and by the end of a file's name. SPDX-License-Identifier: MIT
 *
 * One row per format in format.c. A writer appends to a FILE; a reader takes the whole file in memory, trusts nothing in it, and says what is wrong
 * and where. Files that end in .gz are unpacked before their reader sees them. */
#ifndef RAY_PROFILE_FORMAT_H
#define RAY_PROFILE_FORMAT_H

#include <stdio.h>

#include "profile/profile.h"

struct ray_profile_format {
	const char *name;   /* -f: "html", "svg", "folded", "speedscope", "cpuprofile", "pprof", "chrome", "text" */
	const char *suffix; /* ".speedscope.json": the longest that fits decides */
	const char *about;  /* one line for --help */
	struct ray_error *(*write)(const struct ray_profile *p, FILE *out);
	/* Whether bytes begin like one; and the whole. NULL: it cannot be read back, because it does not hold enough. */
	bool (*looks_like)(const char *bytes, size_t size);
	struct ray_error *(*read)(const char *bytes, size_t size, struct ray_profile **ret);
};

const struct ray_profile_format *ray_profile_format_at(size_t index); /* NULL past the last */
/* name: of -f, or NULL; file: "-" and names without a known end are html. RAY_USAGE lists what there is. */
RAY_MUST_USE struct ray_error *ray_profile_format_find(const char *name, const char *file,
						       const struct ray_profile_format **ret);
/* Any file that one of the formats can read, by what is in it; path is for messages. RAY_UNREADABLE says why not. */
RAY_MUST_USE struct ray_error *ray_profile_read(const char *path, struct ray_profile **ret);
/* The same from memory, without path; bytes end in a NUL that size does not count. */
RAY_MUST_USE struct ray_error *ray_profile_parse(const char *bytes, size_t size, struct ray_profile **ret);
/* To path ("-": standard output), all or nothing: under another name first, which then takes its place. */
RAY_MUST_USE struct ray_error *ray_profile_write(const struct ray_profile *p, const struct ray_profile_format *format,
						 const char *path);
/* The same for whatever else is written from profiles. */
typedef struct ray_error *ray_profile_write_fn(const void *arg, FILE *out);
RAY_MUST_USE struct ray_error *ray_profile_write_with(ray_profile_write_fn *write, const void *arg, const char *path);
/* Would writing to out replace the file that in names? Reading is over by then, and yet it is hardly meant. */
bool ray_profile_is_same_file(const char *in, const char *out);
/* %p pid, %t time (20261115-142305), %h host name, %% itself. Others stay. */
char *ray_profile_expand(const char *pattern, uint32_t pid); /* NULL without memory; the caller frees it */

#endif
