/* aggregate_words.c - the numbers behind an aggregating function: added up, taken apart, worked out.
 * SPDX-License-Identifier: MIT
 *
 * Knows no keys and no kernel. How many words there are and what they hold: struct ray_agg_plan. */
#include <string.h>

#include "engine/consume.h"

void ray_agg_reset(const struct ray_agg_plan *plan, int64_t *words)
{
	memset(words, 0, plan->words * sizeof(*words));
	if (plan->aggregation->function == RAY_AGG_MIN)
		words[0] = INT64_MAX;
	else if (plan->aggregation->function == RAY_AGG_MAX)
		words[0] = INT64_MIN;
}

static __int128 square_sum(const int64_t *words)
{
	return (__int128)(((unsigned __int128)(uint64_t)words[3] << 64) | (uint64_t)words[2]);
}

static void set_square_sum(int64_t *words, __int128 n)
{
	words[2] = (int64_t)(uint64_t)n;
	words[3] = (int64_t)(uint64_t)((unsigned __int128)n >> 64);
}

static int64_t add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

void ray_agg_merge(const struct ray_agg_plan *plan, int64_t *into, const int64_t *from)
{
	switch (plan->aggregation->function) {
	case RAY_AGG_MIN:
		if (from[0] < into[0])
			into[0] = from[0];
		return;
	case RAY_AGG_MAX:
		if (from[0] > into[0])
			into[0] = from[0];
		return;
	case RAY_AGG_STDDEV:
		into[0] = add(into[0], from[0]);
		into[1] = add(into[1], from[1]);
		set_square_sum(into, square_sum(into) + square_sum(from));
		return;
	default:
		for (uint32_t i = 0; i < plan->words; i++)
			into[i] = add(into[i], from[i]);
	}
}

bool ray_agg_is_reset(const struct ray_agg_plan *plan, const int64_t *words)
{
	switch (plan->aggregation->function) {
	case RAY_AGG_MIN:
		return words[0] == INT64_MAX;
	case RAY_AGG_MAX:
		return words[0] == INT64_MIN;
	default:
		for (uint32_t i = 0; i < plan->words; i++)
			if (words[i])
				return false;
		return true;
	}
}

void ray_agg_subtract(const struct ray_agg_plan *plan, int64_t *from, const int64_t *what)
{
	if (ray_agg_is_extreme(plan->aggregation)) {
		if (from[0] == what[0])
			ray_agg_reset(plan, from);
		return;
	}
	if (plan->aggregation->function == RAY_AGG_STDDEV) {
		from[0] -= what[0];
		from[1] = add(from[1], -what[1]);
		set_square_sum(from, square_sum(from) - square_sum(what));
		return;
	}
	for (uint32_t i = 0; i < plan->words; i++)
		from[i] = (int64_t)((uint64_t)from[i] - (uint64_t)what[i]);
}

static uint64_t root(unsigned __int128 n)
{
	uint64_t r = 0;

	for (int bit = 63; bit >= 0; bit--) {
		uint64_t try = r | 1ULL << bit;

		if ((unsigned __int128)try * try <= n)
			r = try;
	}
	return r;
}

/* INT64_MIN / -1 is no number. */
static int64_t divide(int64_t a, int64_t b)
{
	return b == -1 ? (int64_t) - (uint64_t)a : a / b;
}

/* The root of the average of squares less the square of the average. */
static int64_t deviation(const int64_t *words, int64_t normal)
{
	unsigned __int128 squares;
	__int128 average, difference;

	if (!words[0] || !normal)
		return 0;
	squares = (unsigned __int128)square_sum(words) / (uint64_t)normal / (uint64_t)words[0];
	average = divide(divide(words[1], normal), words[0]);
	difference = (__int128)squares - average * average;
	return difference > 0 ? (int64_t)root((unsigned __int128)difference) : 0;
}

int64_t ray_agg_number(const struct ray_agg_plan *plan, const int64_t *words, int64_t normal)
{
	switch (plan->aggregation->function) {
	case RAY_AGG_AVG:
		return words[0] ? divide(divide(words[1], normal), words[0]) : 0;
	case RAY_AGG_STDDEV:
		return deviation(words, normal);
	case RAY_AGG_COUNT:
		return (int64_t)((uint64_t)words[0] / (uint64_t)normal);
	default:
		return divide(words[0], normal);
	}
}
