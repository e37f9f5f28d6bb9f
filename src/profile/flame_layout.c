/* flame_layout.c - see flame_layout.h. SPDX-License-Identifier: MIT */
#include "profile/flame_layout.h"

#include <stdlib.h>
#include <string.h>

struct layout {
	struct ray_flame *flame;
	uint32_t *first, *children; /* of node i: children[first[i]] to children[first[i + 1] - 1] */
	double scale[RAY_FLAME_SIDES];
};

static const char *name_of(const struct ray_profile *p, uint32_t node)
{
	return p->functions.at[p->frames.at[p->nodes.at[node].frame].function].name;
}

/* Heaviest first; the same picture whenever weights are equal: by name. */
static int by_weight(const void *a, const void *b, void *arg)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct ray_flame *f = arg;
	int order;

	for (int side = 0; side < RAY_FLAME_SIDES && f->total[side]; side++)
		if (f->total[side][x] != f->total[side][y])
			return f->total[side][x] < f->total[side][y] ? 1 : -1;
	order = strcmp(name_of(f->tree, x), name_of(f->tree, y));
	return order ? order : (x > y) - (x < y);
}

static bool link_children(struct layout *l)
{
	const struct ray_profile *tree = l->flame->tree;
	size_t n = tree->nodes.n;

	l->first = calloc(n + 2, sizeof(*l->first));
	l->children = calloc(n, sizeof(*l->children));
	if (!l->first || !l->children)
		return false;
	for (size_t i = 1; i < n; i++)
		l->first[tree->nodes.at[i].parent + 2]++;
	for (size_t i = 2; i < n + 2; i++)
		l->first[i] += l->first[i - 1];
	for (size_t i = 1; i < n; i++)
		l->children[l->first[tree->nodes.at[i].parent + 1]++] = (uint32_t)i;
	for (size_t i = 0; i < n; i++)
		qsort_r(l->children + l->first[i], l->first[i + 1] - l->first[i], sizeof(*l->children), by_weight,
			l->flame);
	return true;
}

static bool place_children(struct layout *l, const struct ray_flame_box *box)
{
	struct ray_flame *f = l->flame;
	double x[] = { box->at[RAY_FLAME_SHOWN].x, box->at[RAY_FLAME_OTHER].x };

	for (uint32_t i = l->first[box->node]; i < l->first[box->node + 1]; i++) {
		struct ray_flame_box child = { .node = l->children[i], .depth = box->depth + 1 };
		bool is_drawn = false;

		for (int side = 0; side < RAY_FLAME_SIDES && f->total[side]; side++) {
			double width = (double)f->total[side][child.node] * l->scale[side];
			bool fits = width >= RAY_FLAME_LEAST;

			child.at[side] = (struct ray_flame_place){ x[side], fits ? width : 0 };
			x[side] += width > 0 ? width : 0;
			is_drawn |= fits;
		}
		if (is_drawn && !ray_vec_push(&f->boxes, child))
			return false;
	}
	return true;
}

/* Boxes are their own list of what is still to be looked at. */
static bool place_all(struct layout *l, double left, double room)
{
	struct ray_flame *f = l->flame;
	const struct ray_flame_place all = { left, room };

	if (!ray_vec_push(&f->boxes, (struct ray_flame_box){ .at = { all, all } }))
		return false;
	for (size_t i = 0; i < f->boxes.n; i++) {
		struct ray_flame_box box = f->boxes.at[i];

		if (!place_children(l, &box))
			return false;
		if (box.depth > f->depth)
			f->depth = box.depth;
	}
	return true;
}

static void count_narrow(struct ray_flame *f)
{
	for (int side = 0; side < RAY_FLAME_SIDES && f->total[side]; side++) {
		for (size_t i = 1; i < f->tree->nodes.n; i++)
			f->narrow[side] += f->total[side][i] > 0;
		for (size_t i = 1; i < f->boxes.n; i++)
			f->narrow[side] -= f->boxes.at[i].at[side].width > 0;
	}
}

bool ray_flame_layout(struct ray_flame *f, double left, double room)
{
	struct layout l = { .flame = f };
	bool ok;

	for (int side = 0; side < RAY_FLAME_SIDES && f->total[side]; side++)
		l.scale[side] = f->total[side][0] > 0 ? room / (double)f->total[side][0] : 0;
	ok = link_children(&l) && place_all(&l, left, room);
	if (ok)
		count_narrow(f);
	free(l.first);
	free(l.children);
	return ok;
}

void ray_flame_deinit(struct ray_flame *f)
{
	ray_vec_free(&f->boxes);
}
