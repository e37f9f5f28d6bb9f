/* claims.h - who says what of which addresses, while regions are worked out.
 * SPDX-License-Identifier: MIT
 *
 * For src/stack only. A claim never overlaps another: the first to come keeps its addresses, so the
 * surest evidence is entered first. */
#ifndef RAY_STACK_CLAIMS_H
#define RAY_STACK_CLAIMS_H

#include "base/arena.h"
#include "base/vec.h"
#include "stack/regions.h"
#include "stack/role.h"

struct ray_claims {
	RAY_VEC(struct ray_part) list; /* by address; usage and dumped are not set */
	bool failed;		       /* no memory: claims are missing */
};

/* Enters what of [start, end) nobody has claimed yet. count goes to the piece that begins at start. */
void ray_claims_add(struct ray_claims *c, const struct ray_part *claim);
/* Index of the first claim that ends after address. */
size_t ray_claims_from(const struct ray_claims *c, uint64_t address);
bool ray_claims_has(const struct ray_claims *c, uint64_t address);

/* What the finders share. */
struct ray_survey {
	struct ray_target *t;
	const struct ray_node *node; /* or NULL */
	struct ray_reader reader;
	const struct ray_map *maps;
	size_t map_count;
	const struct ray_usage *usage;
	struct ray_resident *resident; /* or NULL */
	struct ray_claims claims;
	bool *reserved;	  /* per mapping: addresses only, no memory */
	bool *code_range; /* per mapping: lies in V8's code range */
	struct ray_v8_heap *heap;
	RAY_VEC(struct ray_owner) owners;
	const struct ray_thread *threads;
	size_t thread_count;
	struct ray_role_info *roles; /* of each thread; empty when node is NULL */
	struct ray_arena *arena;
	RAY_VEC(const char *) notes;
};

void ray_survey_note(struct ray_survey *s, const char *fmt, ...) RAY_PRINTF(2, 3);
/* Index of the mapping that holds address; map_count if none. */
size_t ray_survey_map_at(const struct ray_survey *s, uint64_t address);
bool ray_map_is_anonymous(const struct ray_map *m); /* private, no file; a name in brackets is not one */
bool ray_map_is_node(const struct ray_survey *s, const struct ray_map *m);

/* Private memory without a file that is mapped exactly so, and not just reserved. */
bool ray_survey_is_plain(const struct ray_survey *s, size_t map, int prot);

/* Fills reserved; comes before the finders. */
void ray_survey_reserved(struct ray_survey *s);
/* The finders, surest first. */
RAY_MUST_USE struct ray_error *ray_survey_v8(struct ray_survey *s);
RAY_MUST_USE struct ray_error *ray_survey_owners(struct ray_survey *s);
RAY_MUST_USE struct ray_error *ray_survey_stacks(struct ray_survey *s);
void ray_survey_binary(struct ray_survey *s);
void ray_survey_malloc(struct ray_survey *s);
void ray_survey_reservations(struct ray_survey *s);
void ray_survey_external(struct ray_survey *s);

#endif
