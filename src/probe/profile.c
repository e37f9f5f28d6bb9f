/* profile.c - provider profile: profile-N[unit] on every CPU, tick-N[unit] on one.
 * SPDX-License-Identifier: MIT
 *
 * A probe exists as soon as its name is written; a pattern finds the customary ones. Without a unit N is a frequency. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "probe/provider.h"

#define SECOND 1000000000ULL

/* More often, and little else would run. DTrace's is 200 us for both; a sampler that does no more than walk a stack holds half of that. */
enum { SHORTEST_PROFILE_NS = 100000, SHORTEST_TICK_NS = 200000 };

static const char *const customary[] = {
	"profile-97", "profile-199", "profile-499", "profile-997", "profile-1999", "profile-4001", "profile-4999",
	"tick-1",     "tick-10",     "tick-100",    "tick-500",	   "tick-1000",	   "tick-5000",
};

static const struct {
	const char *name;
	uint64_t ns;
} units[] = {
	{ "ns", 1 },
	{ "nsec", 1 },
	{ "us", 1000 },
	{ "usec", 1000 },
	{ "ms", 1000000 },
	{ "msec", 1000000 },
	{ "s", SECOND },
	{ "sec", SECOND },
	{ "m", 60 * SECOND },
	{ "min", 60 * SECOND },
	{ "h", 3600 * SECOND },
	{ "hour", 3600 * SECOND },
	{ "d", 86400 * SECOND },
	{ "day", 86400 * SECOND },
};

/* "97", "10ms" -> nanoseconds; 0 if it is none, or too short, or more than a counter holds. */
static uint64_t period_parse(const char *text, uint64_t shortest_ns)
{
	uint64_t period = 0;
	uint64_t value;
	char *unit;

	if (!isdigit((unsigned char)*text))
		return 0;
	errno = 0;
	value = strtoull(text, &unit, 10);
	if (errno || !value)
		return 0;
	if (!*unit || !strcasecmp(unit, "hz"))
		period = SECOND / value;
	for (size_t i = 0; i < RAY_COUNT(units); i++)
		if (!strcasecmp(unit, units[i].name) && value <= INT64_MAX / units[i].ns)
			period = value * units[i].ns;
	return period < shortest_ns ? 0 : period;
}

static uint64_t name_parse(const char *name, enum ray_site_kind *kind)
{
	if (!strncmp(name, "profile-", 8)) {
		*kind = RAY_SITE_PROFILE;
		return period_parse(name + 8, SHORTEST_PROFILE_NS);
	}
	if (!strncmp(name, "tick-", 5)) {
		*kind = RAY_SITE_TICK;
		return period_parse(name + 5, SHORTEST_TICK_NS);
	}
	return 0;
}

static struct ray_error *add(struct ray_catalogue *c, const struct ray_provider *p, const char *name, uint32_t id,
			     const struct ray_probe_spec *spec, ray_probe_list *matches)
{
	struct ray_probe_names probe = { p->name, "", "", name, id };

	if (!ray_probe_spec_has(spec, &probe))
		return NULL;
	return ray_catalogue_add(c, p, &probe, matches, NULL);
}

static struct ray_error *profile_match(struct ray_catalogue *c, const struct ray_provider *p,
				       const struct ray_probe_spec *spec, ray_probe_list *matches)
{
	enum ray_site_kind kind;
	struct ray_error *err = NULL;
	bool is_customary = false;

	for (size_t i = 0; i < RAY_COUNT(customary) && !err; i++) {
		is_customary |= !strcmp(spec->name, customary[i]);
		err = add(c, p, customary[i], p->first_id + i, spec, matches);
	}
	if (!err && !is_customary && name_parse(spec->name, &kind))
		err = add(c, p, spec->name, 0, spec, matches);
	return err;
}

static struct ray_error *profile_sites(struct ray_catalogue *c, struct ray_probe *probe)
{
	struct ray_site *site = ray_probe_site_add(c, probe);

	if (!site)
		return &ray_enomem;
	site->period_ns = name_parse(probe->name, &site->kind);
	return NULL;
}

const struct ray_provider ray_provider_profile = {
	.name = "profile",
	.first_id = 4,
	.id_count = RAY_COUNT(customary),
	.stability = { { "Evolving", "Evolving", "Common" },
		       { "Unstable", "Unstable", "Unknown" },
		       { "Private", "Private", "Unknown" },
		       { "Evolving", "Evolving", "Common" },
		       { "Evolving", "Evolving", "Common" } },
	.match = profile_match,
	.sites = profile_sites,
};
