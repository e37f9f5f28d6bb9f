/* catalogue_args.c - what the probes of a catalogue have: arguments, sites, and words about them. SPDX-License-Identifier: MIT */
#include <string.h>

#include "probe/provider.h"

enum { SLOTS = RAY_POINT_ARGS - RAY_POINT_NAMED };

struct ray_error *ray_probe_args(struct ray_catalogue *c, struct ray_probe *probe, struct ray_probe_args *ret)
{
	*ret = (struct ray_probe_args){ 0 };
	return probe->owner->args ? probe->owner->args(c, probe, ret) : NULL;
}

struct ray_error *ray_catalogue_each_args(struct ray_catalogue *c, const struct ray_probe_spec *spec,
					  bool (*take)(const struct ray_probe_args *args, void *arg), void *arg,
					  bool *is_known_ret)
{
	struct ray_error *err = NULL;

	*is_known_ret = false;
	for (const struct ray_provider *const *p = ray_providers; *p && !spec->id && !err; p++) {
		if ((*p)->each_args && ray_provider_is_meant(c, *p, spec)) {
			*is_known_ret = true;
			err = (*p)->each_args(c, spec, take, arg);
		}
	}
	return err;
}

int ray_catalogue_slot(struct ray_catalogue *c, const char *name)
{
	const char **slots = ray_catalogue_slots(c);

	for (int i = 0; i < SLOTS; i++) {
		if (!slots[i])
			slots[i] = ray_arena_strdup(ray_catalogue_arena(c), name);
		if (slots[i] && !strcmp(slots[i], name))
			return RAY_POINT_NAMED + i;
	}
	return -1;
}

const char *ray_catalogue_slot_name(struct ray_catalogue *c, int number)
{
	return number >= RAY_POINT_NAMED && number < RAY_POINT_ARGS ? ray_catalogue_slots(c)[number - RAY_POINT_NAMED] :
								      NULL;
}

struct ray_error *ray_probe_sites(struct ray_catalogue *c, struct ray_probe *probe)
{
	struct ray_error *err;

	if (probe->sites_known)
		return NULL;
	err = probe->owner->sites(c, probe);
	if (err)
		return ray_error_wrap(err, "probe %s:%s:%s:%s", probe->provider, probe->module, probe->function,
				      probe->name);
	probe->sites_known = true;
	return NULL;
}

void ray_probe_describe(const struct ray_probe *probe, struct ray_text *out)
{
	if (probe->owner->describe)
		probe->owner->describe(probe, out);
}
