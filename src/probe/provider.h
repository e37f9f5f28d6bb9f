/* provider.h - what a provider is: a row of functions. SPDX-License-Identifier: MIT */
#ifndef RAY_PROBE_PROVIDER_H
#define RAY_PROBE_PROVIDER_H

#include "base/arena.h"
#include "probe/catalogue.h"

/* Stability of -lv, per part: provider, module, function, name, arguments. */
struct ray_stability {
	const char *name, *data, *dependency; /* "Evolving", "Private", "ISA", "Common"... */
};

struct ray_provider {
	const char *name;     /* "syscall"; "pid" and "usdt" match by pattern, see handles */
	const char *prelude;  /* D text; NULL if none */
	struct ray_stability stability[5];
	/* Whether a provider field of a description can mean us ("pid123", "node*"); NULL: it must match name. */
	bool (*handles)(const struct ray_catalogue *c, const char *pattern);
	/* Adds all probes matching spec through ray_catalogue_add(). */
	struct ray_error *(*match)(struct ray_catalogue *c, const struct ray_provider *p,
				   const struct ray_probe_spec *spec);
	struct ray_error *(*args)(struct ray_catalogue *c, struct ray_probe *probe, struct ray_probe_args *ret); /* NULL: unknown */
	struct ray_error *(*sites)(struct ray_catalogue *c, struct ray_probe *probe);
};

extern const struct ray_provider *const ray_providers[]; /* NULL-ended, in the order of -l */

/* For providers. Finds the probe of these four names or makes it (strings are copied). */
RAY_MUST_USE struct ray_error *ray_catalogue_add(struct ray_catalogue *c, const struct ray_provider *owner,
						 const char *provider, const char *module, const char *function,
						 const char *name, struct ray_probe **ret);
struct ray_arena *ray_catalogue_arena(struct ray_catalogue *c);
const struct ray_catalogue_options *ray_catalogue_settings(const struct ray_catalogue *c);

#endif
