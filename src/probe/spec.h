/* spec.h - a probe description as a script writes it: provider:module:function:name, with globs.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_PROBE_SPEC_H
#define RAY_PROBE_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct ray_probe_spec {
	uint32_t id; /* not 0: by number, the rest is empty */
	/* "" matches everything. * ? [..] are globs; $target has been replaced by its number. */
	const char *provider, *module, *function, *name;
};

/* Shell-style: * ? [a-z] [!a]; an empty pattern matches everything. */
bool ray_glob_matches(const char *pattern, const char *text);
bool ray_glob_is_plain(const char *pattern); /* not empty, and without *, ? and [ */
void ray_probe_spec_print(const struct ray_probe_spec *spec, struct ray_text *out); /* "syscall::read:entry" */

#endif
