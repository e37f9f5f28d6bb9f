/* plan_walk.h - what the parts of the plan share. SPDX-License-Identifier: MIT */
#ifndef RAY_ENGINE_PLAN_WALK_H
#define RAY_ENGINE_PLAN_WALK_H

#include "engine/plan.h"

enum { RAY_ALIGN = 8 };

static inline uint32_t ray_round8(uint64_t size)
{
	return (size + RAY_ALIGN - 1) / RAY_ALIGN * RAY_ALIGN;
}

static inline void ray_grow(uint32_t *to, uint64_t size)
{
	if (size > UINT32_MAX)
		size = UINT32_MAX;
	if (*to < size)
		*to = size;
}

/* Bytes of a string in a key, a record or a variable. */
static inline uint32_t ray_plan_string_size(const struct ray_plan *plan)
{
	return plan->options->strsize < 15 ? 16 : ray_round8(plan->options->strsize + 1);
}

static inline bool ray_plan_is_dynamic(const struct ray_variable *v)
{
	return v->is_assoc || v->scope == RAY_SCOPE_THREAD;
}

/* Calls visit for e and everything below it. */
typedef void ray_visit_fn(void *arg, const struct ray_expr *e);
void ray_plan_walk(const struct ray_expr *e, ray_visit_fn *visit, void *arg);

/* Kind, size and type of the field that holds e; its offset stays 0. */
void ray_plan_field(const struct ray_plan *plan, const struct ray_expr *e, struct ray_field *f);
/* The steps of one clause and the size of its record. */
RAY_MUST_USE struct ray_error *ray_plan_clause(struct ray_plan *plan, const struct ray_clause *clause,
					       struct ray_clause_plan *ret);
RAY_MUST_USE struct ray_error *ray_plan_aggregations(struct ray_plan *plan);
/* ---- plan_together.c ---- */
/* Whether e has no effects, and is the same when it is evaluated again in the same firing. */
bool ray_plan_is_steady(const struct ray_expr *e);
/* Two aggregations one after the other, with keys that are surely the same. */
bool ray_plan_has_same_key(const struct ray_statement *s, const struct ray_statement *next);
/* Whether clear() or trunc() is called for it. */
bool ray_plan_is_changed(const struct ray_program *program, const struct ray_aggregation *a);
/* Whether its elements are replaced at times (aggregate_epoch.c): after trunc(), and after clear() of min and max. */
bool ray_plan_has_epochs(const struct ray_program *program, const struct ray_aggregation *a);
/* Whether b can have a part in the elements of a. */
bool ray_plan_is_together(const struct ray_plan *plan, const struct ray_agg_plan *a, const struct ray_agg_plan *b);
/* How many temporaries e needs at most. */
uint32_t ray_plan_temps(const struct ray_expr *e);

#endif
