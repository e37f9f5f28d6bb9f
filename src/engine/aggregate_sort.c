/* aggregate_sort.c - the order in which aggregations are printed and cut.
 * SPDX-License-Identifier: MIT
 *
 * By value, then by key, or with aggsortkey by key; integers in keys compare unsigned, as wide as their type,
 * because the reference does so. Values that cost something to work out are weighed once before. */
#include <string.h>

#include "engine/consume.h"
#include "view/histogram.h"

struct ray_agg_order ray_agg_order_of(const struct ray_trace_options *o)
{
	return (struct ray_agg_order){ .by_key = o->aggsortkey,
				       .reverse = o->aggsortrev,
				       .key_position = (uint32_t)o->aggsortkeypos };
}

bool ray_agg_histogram(const struct ray_agg_plan *plan, const int64_t *words, int64_t normal, struct ray_histogram *ret)
{
	const int64_t *p = plan->aggregation->parameters;

	*ret = (struct ray_histogram){ .bins = words, .count = plan->words, .normal = (uint64_t)normal };
	switch (plan->aggregation->function) {
	case RAY_AGG_QUANTIZE:
		ret->kind = RAY_HISTOGRAM_POWERS;
		return true;
	case RAY_AGG_LQUANTIZE:
		ret->kind = RAY_HISTOGRAM_LINEAR;
		ret->low = p[0];
		ret->high = p[1];
		ret->step = p[2];
		return true;
	case RAY_AGG_LLQUANTIZE:
		ret->kind = RAY_HISTOGRAM_LOG_LINEAR;
		ret->factor = p[0];
		ret->low_power = p[1];
		ret->high_power = p[2];
		ret->steps = p[3];
		return true;
	default:
		return false;
	}
}

void ray_agg_total(const struct ray_agg *a, const struct ray_agg_group *g, int64_t *ret)
{
	ray_agg_reset(a->plan, ret);
	for (uint32_t l = 0; l < a->lanes; l++)
		ray_agg_merge(a->plan, ret, g->words + (size_t)l * a->plan->words);
}

void ray_agg_weigh(struct ray_agg *a)
{
	int64_t *total = malloc((a->plan->words + 1) * sizeof(*total));
	struct ray_histogram h;

	for (size_t i = 0; total && i < a->groups.n; i++) {
		struct ray_agg_group *g = &a->groups.at[i];

		ray_agg_total(a, g, total);
		g->at_zero = 0;
		if (ray_agg_histogram(a->plan, total, 1, &h)) {
			g->weight = ray_histogram_sum(&h);
			g->at_zero = ray_histogram_at_zero(&h);
		} else {
			g->weight = (long double)ray_agg_number(a->plan, total, 1);
		}
	}
	free(total);
}

/* ---- comparing ---- */

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static uint64_t integer_at(const struct ray_field *f, const uint8_t *key)
{
	const struct ray_type *type = f->type ? ray_type_resolve(f->type) : NULL;
	uint64_t word;

	memcpy(&word, key + f->offset, sizeof(word));
	return type && type->size && type->size < 8 ? word & ((1ULL << (8 * type->size)) - 1) : word;
}

static int compare_field(const struct ray_agg_group *a, const struct ray_agg_group *b, size_t i)
{
	const struct ray_field *fa = &a->agg->plan->key.fields[i], *fb = &b->agg->plan->key.fields[i];
	size_t size = fa->size < fb->size ? fa->size : fb->size;
	int order;

	if (fa->kind == RAY_VALUE_INTEGER && fb->kind == RAY_VALUE_INTEGER)
		return compare_u64(integer_at(fa, a->key), integer_at(fb, b->key));
	if (a->texts && b->texts && a->texts[i] && b->texts[i])
		return strcmp(a->texts[i], b->texts[i]);
	/* The same column of two aggregations may have room for strings of different lengths. */
	if (fa->kind == RAY_VALUE_STRING && fb->kind == RAY_VALUE_STRING) {
		const char *ta = a->texts && a->texts[i] ? a->texts[i] : (const char *)a->key + fa->offset;
		const char *tb = b->texts && b->texts[i] ? b->texts[i] : (const char *)b->key + fb->offset;
		size_t na = strnlen(ta, a->texts && a->texts[i] ? SIZE_MAX : fa->size);
		size_t nb = strnlen(tb, b->texts && b->texts[i] ? SIZE_MAX : fb->size);

		order = memcmp(ta, tb, na < nb ? na : nb);
		return order ? order : compare_u64(na, nb);
	}
	order = memcmp(a->key + fa->offset, b->key + fb->offset, size);
	return order ? order : compare_u64(fa->size, fb->size);
}

int ray_agg_compare_keys(const struct ray_agg_group *a, const struct ray_agg_group *b, uint32_t position)
{
	size_t count = a->agg->plan->key.field_count, other = b->agg->plan->key.field_count;
	size_t first = position < count ? position : 0;

	if (count != other)
		return compare_u64(count, other);
	for (size_t i = 0; i < count; i++) {
		int order = compare_field(a, b, (first + i) % count);

		if (order)
			return order;
	}
	return 0;
}

static int compare_values(const struct ray_agg_group *a, const struct ray_agg_group *b)
{
	if (a->weight != b->weight)
		return a->weight < b->weight ? -1 : 1;
	return a->at_zero < b->at_zero ? -1 : a->at_zero > b->at_zero;
}

static int compare_groups(const struct ray_agg_group *a, const struct ray_agg_group *b,
			  const struct ray_agg_order *order)
{
	int n = compare_u64(a->agg->plan->aggregation->id, b->agg->plan->aggregation->id);

	if (!n && !order->by_key)
		n = compare_values(a, b);
	if (!n)
		n = ray_agg_compare_keys(a, b, order->key_position);
	return order->reverse ? -n : n;
}

static int compare_for_sort(const void *a, const void *b, void *order)
{
	return compare_groups(*(struct ray_agg_group *const *)a, *(struct ray_agg_group *const *)b, order);
}

void ray_agg_sort(struct ray_agg_group **groups, size_t count, const struct ray_agg_order *order)
{
	qsort_r(groups, count, sizeof(*groups), compare_for_sort, (void *)order);
}

void ray_agg_sort_descending(struct ray_agg_group **groups, size_t count)
{
	const struct ray_agg_order order = { .reverse = true };

	ray_agg_sort(groups, count, &order);
}

/* ---- rows ---- */

struct row_order {
	size_t columns, position;
	const struct ray_agg_order *order;
};

static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const struct ray_agg_row *a = pa, *b = pb;
	const struct row_order *o = arg;
	int n = 0;

	if (o->order->by_key)
		n = ray_agg_compare_keys(a->key, b->key, o->order->key_position);
	for (size_t i = 0; i < o->columns && !n; i++) {
		size_t column = (o->position + i) % o->columns;

		n = compare_values(a->at[column], b->at[column]);
	}
	if (!n)
		n = ray_agg_compare_keys(a->key, b->key, o->order->key_position);
	return o->order->reverse ? -n : n;
}

void ray_agg_sort_rows(struct ray_agg_row *rows, size_t count, size_t columns, size_t position,
		       const struct ray_agg_order *order)
{
	struct row_order o = { columns, position < columns ? position : 0, order };

	qsort_r(rows, count, sizeof(*rows), compare_rows, &o);
}
