/* place.h - functions of a process as places for probes: their entry, their return, an instruction of them.
 * SPDX-License-Identifier: MIT
 *
 * What the providers have in common that put probes on functions. A probe may have several places: overloads, copies that the compiler made. */
#ifndef RAY_PROBE_PLACE_H
#define RAY_PROBE_PLACE_H

#include "elf/elf.h"
#include "probe/instruction.h"
#include "probe/process.h"

enum ray_place_where { RAY_PLACE_ENTRY, RAY_PLACE_RETURN, RAY_PLACE_OFFSET };

struct ray_function_place {
	const struct ray_code_module *module;
	uint64_t vaddr, size;
	uint64_t offset; /* of RAY_PLACE_OFFSET */
	enum ray_place_where where;
	int arguments; /* that it has in registers; RAY_REGISTER_ARGUMENTS: not known */
	struct ray_function_place *next;
};

/* Whether the symbol is a function with code of its own. */
bool ray_symbol_is_function(const struct ray_symbol *symbol);
/* Remembers the place in probe->data, unless it is there already. */
RAY_MUST_USE struct ray_error *ray_place_add(struct ray_catalogue *c, struct ray_probe *probe,
					     const struct ray_function_place *place);
/* A site for each of the probe's places. Entry and return move to the cheapest instruction that will do, both to the same. */
RAY_MUST_USE struct ray_error *ray_place_sites(struct ray_catalogue *c, struct ray_probe *probe);

#endif
