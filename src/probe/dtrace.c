/* dtrace.c - provider dtrace: BEGIN, END and ERROR, which the engine fires itself. SPDX-License-Identifier: MIT */
#include "probe/provider.h"

static const char *const names[] = { "BEGIN", "END", "ERROR" }; /* their numbers are 1, 2, 3 */

static struct ray_error *dtrace_match(struct ray_catalogue *c, const struct ray_provider *p,
				      const struct ray_probe_spec *spec, ray_probe_list *matches)
{
	for (size_t i = 0; i < RAY_COUNT(names); i++) {
		struct ray_probe_names probe = { p->name, "", "", names[i], p->first_id + i };
		struct ray_error *err = NULL;

		if (ray_probe_spec_has(spec, &probe))
			err = ray_catalogue_add(c, p, &probe, matches, NULL);
		if (err)
			return err;
	}
	return NULL;
}

static struct ray_error *dtrace_sites(struct ray_catalogue *c, struct ray_probe *probe)
{
	static const enum ray_site_kind kinds[] = { RAY_SITE_BEGIN, RAY_SITE_END, RAY_SITE_ERROR };
	struct ray_site *site = ray_probe_site_add(c, probe);

	if (!site)
		return &ray_enomem;
	site->kind = kinds[probe->id - probe->owner->first_id];
	return NULL;
}

const struct ray_provider ray_provider_dtrace = {
	.name = "dtrace",
	.first_id = 1,
	.id_count = RAY_COUNT(names),
	.stability = { { "Stable", "Stable", "Common" },
		       { "Private", "Private", "Unknown" },
		       { "Private", "Private", "Unknown" },
		       { "Stable", "Stable", "Common" },
		       { "Stable", "Stable", "Common" } },
	.match = dtrace_match,
	.sites = dtrace_sites,
};
