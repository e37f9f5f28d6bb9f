/* diff_format.h - differences of profiles as files. SPDX-License-Identifier: MIT
 *
 * One row per format in diff_format.c. */
#ifndef RAY_PROFILE_DIFF_FORMAT_H
#define RAY_PROFILE_DIFF_FORMAT_H

#include <stdio.h>

#include "profile/diff.h"

struct ray_diff_format {
	const char *name, *suffix, *about;
	struct ray_error *(*write)(const struct ray_profile_diff *d, FILE *out);
};

const struct ray_diff_format *ray_diff_format_at(size_t index); /* NULL past the last */
/* name: of -f, or NULL; then the end of file's name decides, and the first of the table if that tells nothing. RAY_USAGE lists what there is. */
RAY_MUST_USE struct ray_error *ray_diff_format_find(const char *name, const char *file,
						    const struct ray_diff_format **ret);
/* As ray_profile_write(). */
RAY_MUST_USE struct ray_error *ray_profile_diff_write(const struct ray_profile_diff *d,
						      const struct ray_diff_format *format, const char *path);

RAY_MUST_USE struct ray_error *ray_diff_write_text(const struct ray_profile_diff *d, FILE *out);
RAY_MUST_USE struct ray_error *ray_diff_write_folded(const struct ray_profile_diff *d, FILE *out);

#endif
