/* sum.c - what nodes and functions of a profile weigh. SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "profile/profile.h"

int64_t ray_profile_weight(const struct ray_profile *p)
{
	int64_t sum = 0;

	for (size_t i = 0; i < p->samples.n; i++)
		sum += p->samples.at[i].weight;
	return sum;
}

bool ray_profile_sum(const struct ray_profile *p, uint32_t thread, int64_t **self_ret, int64_t **total_ret)
{
	int64_t *self = calloc(p->nodes.n, sizeof(*self)), *total = calloc(p->nodes.n, sizeof(*total));

	if (!self || !total) {
		free(self);
		free(total);
		return false;
	}
	for (size_t i = 0; i < p->samples.n; i++)
		if (thread == UINT32_MAX || p->samples.at[i].thread == thread)
			self[p->samples.at[i].node] += p->samples.at[i].weight;
	/* A parent's number is smaller than its children's. */
	for (size_t i = p->nodes.n; i-- > 0;) {
		total[i] += self[i];
		if (i)
			total[p->nodes.at[i].parent] += total[i];
	}
	*self_ret = self;
	*total_ret = total;
	return true;
}

static int by_self(const void *a, const void *b)
{
	const struct ray_profile_row *x = a, *y = b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static uint32_t function_of(const struct ray_profile *p, size_t node)
{
	return p->frames.at[p->nodes.at[node].frame].function;
}

/* Is the function of this node already among its callers? Then it was counted there. */
static bool is_repeated(const struct ray_profile *p, size_t node)
{
	uint32_t function = function_of(p, node);

	for (size_t at = p->nodes.at[node].parent; at; at = p->nodes.at[at].parent)
		if (function_of(p, at) == function)
			return true;
	return false;
}

bool ray_profile_rank(const struct ray_profile *p, uint32_t thread, struct ray_profile_row **ret, size_t *count_ret)
{
	struct ray_profile_row *rows = calloc(p->functions.n, sizeof(*rows));
	int64_t *self = NULL, *total = NULL;
	size_t count = 0;

	if (!rows || !ray_profile_sum(p, thread, &self, &total)) {
		free(rows);
		return false;
	}
	for (size_t i = 1; i < p->nodes.n; i++) {
		rows[function_of(p, i)].self += self[i];
		if (total[i] && !is_repeated(p, i))
			rows[function_of(p, i)].total += total[i];
	}
	for (size_t i = 1; i < p->functions.n; i++) {
		rows[i].function = (uint32_t)i;
		if (rows[i].total)
			rows[count++] = rows[i];
	}
	qsort(rows, count, sizeof(*rows), by_self);
	free(self);
	free(total);
	*ret = rows;
	*count_ret = count;
	return true;
}
