/* remap.h - a profile told by the sources that its scripts were made of: TypeScript, modules in a bundle. SPDX-License-Identifier: MIT
 *
 * Finds the source map of each script (its sourceMappingURL, or FILE.map beside it), lazily and once. Functions get the file, place and name
 * that they have in their source, and are of the kind and package that this file is of; places that ran move along. What no map tells stays as it was.
 * Files are read by whoever asks: pure but for that. */
#ifndef RAY_PROFILE_REMAP_H
#define RAY_PROFILE_REMAP_H

#include "profile/profile.h"

struct ray_remap;

struct ray_remap_options {
	/* The whole file at path, as the processes of the profile see it: *bytes_ret is malloc'ed. False: it cannot be had. */
	bool (*read)(void *arg, const char *path, char **bytes_ret, size_t *size_ret);
	void *arg;
};

struct ray_remap_report {
	size_t scripts;		/* that were looked at */
	size_t maps;		/* that were found and used */
	size_t broken;		/* scripts that name a map which cannot be read */
	const char *why_broken; /* of the first of them; "" if there is none */
	uint64_t mapped;	/* functions and places that were told by their source */
	uint64_t unmapped;	/* that lie in a script with a map, which does not tell them */
};

struct ray_remap *ray_remap_create(const struct ray_remap_options *options); /* NULL without memory */
void ray_remap_free(struct ray_remap *r);
RAY_DEFINE_AUTO(ray_remap, ray_remap_free)

/* What V8 has for the sourceMappingURL of a script, which may be in no file: it counts from then on, unless the script was asked for before. "": it has none. */
void ray_remap_tell_url(struct ray_remap *r, const char *file, const char *url);
/* What f is in its source; false: no map tells. Texts are the remap's. */
bool ray_remap_function(struct ray_remap *r, const struct ray_profile_function *f, struct ray_profile_function *ret);
/* The same profile told by sources. p stays as it is. */
RAY_MUST_USE struct ray_error *ray_remap_profile(struct ray_remap *r, const struct ray_profile *p,
						 struct ray_profile **ret);
struct ray_remap_report ray_remap_report(const struct ray_remap *r);

#endif
