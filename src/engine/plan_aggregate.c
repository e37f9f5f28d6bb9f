/* plan_aggregate.c - keys and words of aggregations. SPDX-License-Identifier: MIT
 *
 * All uses of an aggregation share one key: each part is as wide as its widest use. */
#include "engine/plan_walk.h"

/* The kernel lets a program use 64 maps; with more aggregations than this they share. */
enum { MAPS_MAX = 32, SHORT_MAPS_MAX = 12 };
enum { AGGSIZE_USUAL = 4 << 20, LINE = 64 /* of the cache */ };
/* Of keys that are at hand: words of one, the least and the largest number of places, and bytes of all, for each CPU. */
enum { NEAR_WORDS = 10, NEAR_BITS_MIN = 4, NEAR_BITS_MAX = 6, NEAR_BYTES = 128 << 10 };

static uint32_t words_of(const struct ray_aggregation *a)
{
	const int64_t *p = a->parameters;

	switch (a->function) {
	case RAY_AGG_AVG:
		return 2;
	case RAY_AGG_STDDEV:
		return 4;
	case RAY_AGG_QUANTIZE:
		return 127;
	case RAY_AGG_LQUANTIZE:
		return p[2] > 0 && p[1] >= p[0] ? (p[1] - p[0]) / p[2] + 2 : 2;
	case RAY_AGG_LLQUANTIZE:
		return p[0] > 0 && p[2] >= p[1] ? (p[2] - p[1] + 1) * (p[3] - p[3] / p[0]) * 2 + 3 : 3;
	default:
		return 1;
	}
}

/* The parts of a probe's name, if all uses ask for the same one, need only the probe's ID. */
static void merge_use(const struct ray_plan *plan, struct ray_field *f, const struct ray_expr *use)
{
	struct ray_field other;

	ray_plan_field(plan, use, &other);
	if (!f->expr) {
		*f = other;
		return;
	}
	if (f->kind == RAY_VALUE_STRING && other.kind == RAY_VALUE_STRING && f->size != other.size &&
	    (f->size == 8 || other.size == 8))
		f->size = ray_plan_string_size(plan);
	else if (f->size == 8 && other.size == 8 && f->kind == RAY_VALUE_STRING &&
		 f->expr->variable->builtin != use->variable->builtin)
		f->size = ray_plan_string_size(plan);
	else if (f->size < other.size)
		f->size = other.size;
	if (f->frames < other.frames)
		f->frames = other.frames;
}

static void merge_uses(struct ray_plan *plan, const struct ray_aggregation *a, struct ray_field *fields)
{
	for (size_t i = 0; i < plan->program->clauses.n; i++) {
		const struct ray_clause *c = plan->program->clauses.at[i];

		for (size_t k = 0; k < c->statement_count; k++) {
			const struct ray_statement *s = &c->statements[k];

			if (s->kind != RAY_STATEMENT_AGGREGATE || s->aggregation != a)
				continue;
			for (size_t n = 0; n < s->key_count && n < a->key_count; n++)
				merge_use(plan, &fields[n], s->keys[n]);
		}
	}
}

/* The map of another one with keys and values of the same sizes, or a new one. */
static uint32_t shared_map(struct ray_plan *plan, const struct ray_agg_plan *a)
{
	for (const struct ray_agg_plan *other = plan->aggregations; other < a; other++)
		if (other->is_shared && other->key.size == a->key.size && other->value_size == a->value_size)
			return other->map;
	return RAY_MAP_OWN + plan->map_count++;
}

static struct ray_error *plan_aggregation(struct ray_plan *plan, const struct ray_aggregation *a,
					  struct ray_agg_plan *ret)
{
	struct ray_field *fields = ray_arena_alloc(plan->arena, (a->key_count + 1) * sizeof(*fields));

	if (!fields)
		return &ray_enomem;
	*ret = (struct ray_agg_plan){ .aggregation = a, .words = words_of(a) };
	ret->value_size = ret->element_size = 8 + 8 * ret->words;
	ret->key.fields = fields;
	ret->key.field_count = a->key_count;
	merge_uses(plan, a, fields);
	ret->is_shared = plan->program->aggregations.n > MAPS_MAX;
	ret->key.size = 8;
	for (size_t i = 0; i < a->key_count; i++) {
		fields[i].offset = ret->key.size;
		ret->key.size += ray_round8(fields[i].size);
	}
	if (a->function == RAY_AGG_NONE) /* only ever named: nothing to keep */
		ret->words = ret->value_size = ret->element_size = 0;
	return NULL;
}

/* The first of those that it shares elements with; itself if there is none before it. */
static struct ray_agg_plan *leader_of(struct ray_plan *plan, struct ray_agg_plan *a)
{
	for (struct ray_agg_plan *other = plan->aggregations; other < a; other++)
		if (!other->value_at && ray_plan_is_together(plan, other, a))
			return other;
	return a;
}

static bool has_short_keys(const struct ray_plan *plan, const struct ray_agg_plan *a)
{
	const struct ray_field *last = a->key.field_count ? &a->key.fields[a->key.field_count - 1] : NULL;

	return last && last->kind == RAY_VALUE_STRING && last->size >= 2 * RAY_SHORT_KEY &&
	       plan->program->aggregations.n <= SHORT_MAPS_MAX;
}

/* Words of keys that may be at hand: numbers, and a string behind them if it is short; 0: none may. */
static uint32_t words_near(const struct ray_agg_plan *a)
{
	uint32_t words = ((a->short_size ? a->short_size : a->key.size) - 8) / 8;

	for (size_t i = 0; i < a->key.field_count; i++)
		if (a->key.fields[i].size != 8 && !(a->short_size && i + 1 == a->key.field_count))
			return 0;
	return words <= NEAR_WORDS ? words : 0;
}

/* Who asks for little room wants to see where it ends. */
static bool may_be_near(const struct ray_plan *plan, const struct ray_agg_plan *a)
{
	return !a->is_shared && plan->program->aggregations.n <= SHORT_MAPS_MAX &&
	       plan->options->aggsize >= AGGSIZE_USUAL && !ray_plan_is_changed(plan->program, a->aggregation);
}

static void plan_maps(struct ray_plan *plan, struct ray_agg_plan *a)
{
	struct ray_agg_plan *leader = leader_of(plan, a);

	if (leader != a) {
		a->value_at = leader->element_size;
		leader->element_size += a->value_size;
		leader->has_mates = a->has_mates = true;
		a->map = leader->map;
		a->short_map = leader->short_map;
		a->short_size = leader->short_size;
		a->near_map = leader->near_map;
		a->near_words = leader->near_words;
		return;
	}
	a->map = a->is_shared ? shared_map(plan, a) : RAY_MAP_OWN + plan->map_count++;
	if (has_short_keys(plan, a)) {
		a->short_size = a->key.fields[a->key.field_count - 1].offset + RAY_SHORT_KEY;
		a->short_map = RAY_MAP_OWN + plan->map_count++;
	}
	if (may_be_near(plan, a))
		a->near_words = words_near(a);
	if (a->near_words)
		a->near_map = RAY_MAP_OWN + plan->map_count++;
	a->has_epochs = ray_plan_has_epochs(plan->program, a->aggregation);
	if (a->has_epochs) {
		if (!plan->epochs_size)
			plan->epochs_map = RAY_MAP_OWN + plan->map_count++;
		a->epoch_at = plan->epochs_size;
		plan->epochs_size += sizeof(uint32_t);
	}
	ray_grow(&plan->key_size, a->key.size);
}

/* All that share elements know how large those are. */
static void plan_sizes(struct ray_plan *plan, struct ray_agg_plan *a)
{
	for (struct ray_agg_plan *other = plan->aggregations; other < a && a->has_mates; other++)
		if (other->map == a->map && other->value_size && !other->value_at)
			a->element_size = other->element_size;
	ray_grow(&plan->zeros_size, a->element_size);
	if (!a->near_words)
		return;
	a->near_size = (ray_agg_place_head(a) + a->element_size + LINE - 1) / LINE * LINE;
	a->near_bits = NEAR_BITS_MAX;
	while (a->near_bits >= NEAR_BITS_MIN && a->near_size << a->near_bits > NEAR_BYTES)
		a->near_bits--;
	if (a->near_bits < NEAR_BITS_MIN)
		a->near_size = 0;
}

struct ray_error *ray_plan_aggregations(struct ray_plan *plan)
{
	size_t count = plan->program->aggregations.n;
	struct ray_error *err = NULL;

	plan->aggregations = ray_arena_alloc(plan->arena, (count + 1) * sizeof(*plan->aggregations));
	if (!plan->aggregations)
		return &ray_enomem;
	for (size_t i = 0; i < count && !err; i++)
		err = plan_aggregation(plan, plan->program->aggregations.at[i], &plan->aggregations[i]);
	for (size_t i = 0; i < count && !err; i++)
		if (plan->aggregations[i].value_size)
			plan_maps(plan, &plan->aggregations[i]);
	for (size_t i = 0; i < count && !err; i++)
		plan_sizes(plan, &plan->aggregations[i]);
	return err;
}
