/* diff.c - see diff.h. SPDX-License-Identifier: MIT */
#include "profile/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ray_profile_diff_free(struct ray_profile_diff *d)
{
	if (!d)
		return;
	for (int i = 0; i < RAY_DIFF_SIDES; i++) {
		free(d->sides[i].self);
		free(d->sides[i].total);
	}
	ray_profile_free(d->tree);
	free(d);
}

/* ---- which functions are the same ---- */

static bool is_native(enum ray_profile_kind kind)
{
	return kind == RAY_KIND_NATIVE || kind == RAY_KIND_GC || kind == RAY_KIND_COMPILER || kind == RAY_KIND_BUILTIN;
}

static struct ray_profile_function plain(const struct ray_profile_function *f)
{
	struct ray_profile_function own = *f;

	if (is_native(f->kind)) {
		own.file = "";
		own.line = own.column = 0;
	} else if (!strncmp(f->file, "file:///", strlen("file:///"))) {
		/* V8's profiler has URLs where node has paths. */
		own.file = f->file + strlen("file://");
	}
	return own;
}

/* A function of one side, sorted so that those of one name in one file stand together. */
struct candidate {
	const struct ray_profile_function *f;
	uint32_t number;
	int side;
};

static int by_name(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	int order = strcmp(x->f->name, y->f->name);

	if (!order)
		order = strcmp(x->f->file, y->f->file);
	if (!order)
		order = (int)x->f->kind - (int)y->f->kind;
	if (!order)
		order = x->side - y->side;
	return order ? order : (x->number > y->number) - (x->number < y->number);
}

static bool same_name(const struct candidate *x, const struct candidate *y)
{
	return x->f->kind == y->f->kind && !strcmp(x->f->name, y->f->name) && !strcmp(x->f->file, y->f->file);
}

/* A name that is there once on each side, in the same file, is one function that moved: after's takes the place of before's. */
static void pair_moved(const struct candidate *list, size_t count, uint32_t *moved)
{
	for (size_t i = 0; i + 1 < count; i++) {
		bool alone = (!i || !same_name(&list[i - 1], &list[i])) &&
			     (i + 2 >= count || !same_name(&list[i + 1], &list[i + 2]));

		if (alone && same_name(&list[i], &list[i + 1]) && list[i].side != list[i + 1].side &&
		    strcmp(list[i].f->name, "(anonymous)"))
			moved[list[i + 1].number] = list[i].number;
	}
}

/* moved[number in after]: number of the same function in before; 0: none that moved. */
static bool find_moved(const struct ray_profile *before, const struct ray_profile *after, uint32_t **ret)
{
	const struct ray_profile *sides[] = { before, after };
	size_t room = before->functions.n + after->functions.n, count = 0;
	struct candidate *list = calloc(room, sizeof(*list));
	uint32_t *moved = calloc(after->functions.n, sizeof(*moved));

	if (!list || !moved) {
		free(list);
		free(moved);
		return false;
	}
	for (int side = 0; side < RAY_DIFF_SIDES; side++)
		for (size_t i = 1; i < sides[side]->functions.n; i++)
			if (!is_native(sides[side]->functions.at[i].kind))
				list[count++] = (struct candidate){ &sides[side]->functions.at[i], (uint32_t)i, side };
	qsort(list, count, sizeof(*list), by_name);
	pair_moved(list, count, moved);
	free(list);
	*ret = moved;
	return true;
}

/* ---- one tree ---- */

static const struct ray_profile_function *function_of(const struct ray_profile *p, size_t node)
{
	return &p->functions.at[p->frames.at[p->nodes.at[node].frame].function];
}

/* Adds the paths of p, and tells where its nodes are in the tree. */
static bool graft(struct ray_profile *tree, const struct ray_profile *p, const struct ray_profile *before,
		  const uint32_t *moved, uint32_t **ret)
{
	uint32_t *nodes = calloc(p->nodes.n, sizeof(*nodes));

	if (!nodes)
		return false;
	for (size_t i = 1; i < p->nodes.n; i++) {
		const struct ray_profile_function *f = function_of(p, i);
		size_t number = (size_t)(f - p->functions.at);
		struct ray_profile_function own =
			plain(moved && moved[number] ? &before->functions.at[moved[number]] : f);
		struct ray_profile_frame frame = { .function = ray_profile_function(tree, &own) };

		nodes[i] = ray_profile_node(tree, nodes[p->nodes.at[i].parent], ray_profile_frame(tree, &frame));
	}
	*ret = nodes;
	return !tree->failed;
}

static bool weigh(struct ray_profile_side *side, const struct ray_profile *tree, const struct ray_profile *p,
		  const uint32_t *nodes)
{
	side->self = calloc(tree->nodes.n, sizeof(*side->self));
	side->total = calloc(tree->nodes.n, sizeof(*side->total));
	if (!side->self || !side->total)
		return false;
	for (size_t i = 0; i < p->samples.n; i++)
		side->self[nodes[p->samples.at[i].node]] += p->samples.at[i].weight;
	for (size_t i = tree->nodes.n; i-- > 0;) {
		side->total[i] += side->self[i];
		if (i)
			side->total[tree->nodes.at[i].parent] += side->total[i];
	}
	side->weight = side->total[0] > 0 ? side->total[0] : 1;
	return true;
}

static bool join(struct ray_profile_diff *d, const struct ray_profile *before, const struct ray_profile *after)
{
	ray_auto_memory uint32_t *moved = NULL, *first = NULL, *second = NULL;

	return find_moved(before, after, &moved) && graft(d->tree, before, before, NULL, &first) &&
	       graft(d->tree, after, before, moved, &second) &&
	       weigh(&d->sides[RAY_DIFF_BEFORE], d->tree, before, first) &&
	       weigh(&d->sides[RAY_DIFF_AFTER], d->tree, after, second);
}

/* Samples stand for time; those of which nothing more is known may stand for anything. */
static bool are_comparable(const struct ray_profile *a, const struct ray_profile *b)
{
	const struct ray_profile *samples = a->unit == RAY_UNIT_SAMPLES ? a : b;
	const struct ray_profile *other = samples == a ? b : a;

	if (a->unit == b->unit)
		return true;
	return samples->unit == RAY_UNIT_SAMPLES && (!samples->period_ns || other->unit == RAY_UNIT_NS);
}

struct ray_error *ray_profile_diff_create(const struct ray_profile *before, const struct ray_profile *after,
					  struct ray_profile_diff **ret)
{
	const struct ray_profile *both[] = { before, after };
	ray_auto(ray_profile_diff, d) = NULL;

	if (!are_comparable(before, after))
		return ray_error_new(RAY_USAGE, "one is measured in %s, the other in %s",
				     ray_profile_unit_word(before->unit), ray_profile_unit_word(after->unit));
	d = calloc(1, sizeof(*d));
	if (!d)
		return &ray_enomem;
	d->tree = ray_profile_create();
	if (!d->tree || !join(d, before, after))
		return &ray_enomem;
	d->tree->unit = before->unit;
	for (int i = 0; i < RAY_DIFF_SIDES; i++) {
		d->sides[i].title = ray_profile_text(d->tree, both[i]->title);
		d->sides[i].event = ray_profile_text(d->tree, both[i]->event);
		d->sides[i].unit = both[i]->unit;
		d->tree->lost_samples += both[i]->lost_samples;
		d->tree->cut_stacks += both[i]->cut_stacks;
		d->tree->unnamed_frames += both[i]->unnamed_frames;
	}
	*ret = ray_take(d);
	return NULL;
}

/* ---- what changed ---- */

static double share(int64_t part, int64_t whole)
{
	return (double)part / (double)whole;
}

double ray_profile_diff_self(const struct ray_profile_diff *d, uint32_t node)
{
	const struct ray_profile_side *s = d->sides;

	return share(s[1].self[node], s[1].weight) - share(s[0].self[node], s[0].weight);
}

double ray_profile_diff_total(const struct ray_profile_diff *d, uint32_t node)
{
	const struct ray_profile_side *s = d->sides;

	return share(s[1].total[node], s[1].weight) - share(s[0].total[node], s[0].weight);
}

static double change(const struct ray_profile_diff_row *row, bool of_self)
{
	const double *side = of_self ? row->self : row->total;

	return fabs(side[RAY_DIFF_AFTER] - side[RAY_DIFF_BEFORE]);
}

static int by_change(const void *a, const void *b)
{
	const struct ray_profile_diff_row *x = a, *y = b;

	if (change(x, true) != change(y, true))
		return change(x, true) < change(y, true) ? 1 : -1;
	if (change(x, false) != change(y, false))
		return change(x, false) < change(y, false) ? 1 : -1;
	return x->function < y->function ? -1 : x->function > y->function;
}

bool ray_profile_diff_rank(const struct ray_profile_diff *d, struct ray_profile_diff_row **ret, size_t *count_ret)
{
	const struct ray_profile *tree = d->tree;
	struct ray_profile_diff_row *rows = calloc(tree->functions.n, sizeof(*rows));
	size_t count = 0;

	if (!rows)
		return false;
	for (size_t i = 1; i < tree->nodes.n; i++) {
		const struct ray_profile_function *f = function_of(tree, i);
		struct ray_profile_diff_row *row = &rows[f - tree->functions.at];
		bool repeated = false;

		for (size_t at = tree->nodes.at[i].parent; at && !repeated; at = tree->nodes.at[at].parent)
			repeated = function_of(tree, at) == f;
		for (int side = 0; side < RAY_DIFF_SIDES; side++) {
			row->self[side] += share(d->sides[side].self[i], d->sides[side].weight);
			if (!repeated)
				row->total[side] += share(d->sides[side].total[i], d->sides[side].weight);
		}
	}
	for (size_t i = 1; i < tree->functions.n; i++) {
		rows[i].function = (uint32_t)i;
		if (rows[i].total[RAY_DIFF_BEFORE] || rows[i].total[RAY_DIFF_AFTER])
			rows[count++] = rows[i];
	}
	qsort(rows, count, sizeof(*rows), by_change);
	*ret = rows;
	*count_ret = count;
	return true;
}
