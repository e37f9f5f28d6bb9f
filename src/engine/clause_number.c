/* clause_number.c - how messages and listings number clauses. SPDX-License-Identifier: MIT
 *
 * As in DTrace a clause counts once for each of its descriptions: after `BEGIN, END {}` comes number 2. */
#include "engine/internal.h"

static bool spec_matches(const struct ray_probe_spec *spec, const struct ray_probe *probe)
{
	if (spec->id)
		return spec->id == probe->id;
	return ray_glob_matches(spec->provider, probe->provider) && ray_glob_matches(spec->module, probe->module) &&
	       ray_glob_matches(spec->function, probe->function) && ray_glob_matches(spec->name, probe->name);
}

uint32_t ray_clause_number(const struct ray_program *program, uint32_t index, const struct ray_probe *probe)
{
	uint32_t number = 0;

	if (index >= program->clauses.n)
		return index;
	for (uint32_t i = 0; i < index; i++)
		number += program->clauses.at[i]->spec_count ? (uint32_t)program->clauses.at[i]->spec_count : 1;
	for (uint32_t i = 0; probe && i < program->clauses.at[index]->spec_count; i++)
		if (spec_matches(&program->clauses.at[index]->specs[i], probe))
			return number + i;
	return number;
}
