/* node_names.h - many functions of one file by their names, in one pass over its symbols.
 * SPDX-License-Identifier: MIT
 *
 * A binary of node has up to 160 000 symbols of a hundred letters each: what is exported is found through the hash table of .dynsym; for the
 * rest all symbols are looked at once, whatever the number of names. Knows files, not processes, and nothing of what the functions do. */
#ifndef RAY_PROBE_NODE_NAMES_H
#define RAY_PROBE_NODE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "elf/elf.h"

enum { RAY_NODE_BODIES = 4 };

/* One compiled body of a function. */
struct ray_node_body {
	const char *symbol; /* as the file spells it; owned by the ray_elf */
	uint64_t vaddr, size;
	/* A copy that the compiler made for some callers (.constprop.0, .isra.0): arguments may be missing or have moved. */
	bool is_clone;
};

struct ray_node_name {
	/* As mangled. One that ends in * stands for all names that begin so. */
	const char *name;
	/* Results. The plain body first, then clones; parts that are no function of their own (.cold, .part.0) are never among them. */
	struct ray_node_body bodies[RAY_NODE_BODIES];
	size_t count;
};

/* Fills in the bodies of every name. */
RAY_MUST_USE struct ray_error *ray_node_names_find(struct ray_elf *e, struct ray_node_name *names, size_t count);
/* Whether a symbol is that name, or a copy of it. For tests too. */
bool ray_node_name_is(const char *name, const char *symbol, bool *is_clone_ret);

#endif
