/* write_svg.c - the flame graph of a profile as an SVG, in the colours of what functions are. SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "profile/color.h"
#include "profile/formats.h"
#include "profile/merge.h"
#include "profile/pack.h"
#include "profile/svg.h"

struct drawing {
	const struct ray_profile *p, *merged;
	int64_t *self, *total;
};

static void put_facts(const void *arg, FILE *out)
{
	const struct drawing *d = arg;

	ray_svg_put_text(d->p->event, out);
	fputs(*d->p->event ? ", " : "", out);
	ray_svg_put_weight(d->p->unit, d->total[0], out);
}

static void put_notes(const void *arg, FILE *out)
{
	ray_svg_put_losses(((const struct drawing *)arg)->p, out);
}

static void put_weights(const void *arg, uint32_t node, FILE *out)
{
	const struct drawing *d = arg;
	const int64_t all = d->total[0];

	fputs("total ", out);
	ray_svg_put_weight(d->p->unit, d->total[node], out);
	fprintf(out, ", %.2f%%; self ", all ? 100.0 * (double)d->total[node] / (double)all : 0.0);
	ray_svg_put_weight(d->p->unit, d->self[node], out);
}

static const char *color(const void *arg, uint32_t node, char ret[8])
{
	const struct ray_profile *p = ((const struct drawing *)arg)->merged;

	return ray_color_of(&p->functions.at[p->frames.at[p->nodes.at[node].frame].function], ret);
}

struct ray_error *ray_write_svg(const struct ray_profile *p, FILE *out)
{
	ray_auto(ray_profile, merged) = ray_profile_merge(p);
	ray_auto_memory int64_t *self = NULL, *total = NULL;
	ray_auto_text packed = { 0 };
	struct ray_error *err = ray_profile_pack(p, &packed);
	struct ray_flame flame = { .tree = merged };

	if (err)
		return err;
	if (!merged || !ray_profile_sum(merged, UINT32_MAX, &self, &total))
		return &ray_enomem;
	flame.total[RAY_FLAME_SHOWN] = total;
	err = ray_svg_write(&(struct ray_svg){ .flame = &flame,
					       .title = *p->title ? p->title : "profile",
					       .packed = &packed,
					       .arg = &(struct drawing){ p, merged, self, total },
					       .put_facts = put_facts,
					       .put_notes = put_notes,
					       .put_weights = put_weights,
					       .color = color },
			    out);
	ray_flame_deinit(&flame);
	return err;
}
