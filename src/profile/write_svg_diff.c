/* write_svg_diff.c - a difference as an SVG flame graph: as wide as calls are after, red where they grew, blue where they shrank. SPDX-License-Identifier: MIT
 *
 * What is gone has no width after: where scripts run, the same picture by the widths of before is one press away. */
#include <math.h>
#include <stdlib.h>

#include "profile/color.h"
#include "profile/formats.h"
#include "profile/pack.h"
#include "profile/svg.h"

struct drawing {
	const struct ray_profile_diff *d;
	double most; /* the change that gets the full colour */
};

static void put_facts(const void *arg, FILE *out)
{
	const struct ray_profile_side *before = &((const struct drawing *)arg)->d->sides[RAY_DIFF_BEFORE];
	const struct ray_profile_side *after = &((const struct drawing *)arg)->d->sides[RAY_DIFF_AFTER];

	ray_svg_put_text(after->event, out);
	fputs(*after->event ? ", " : "", out);
	ray_svg_put_weight(before->unit, before->total[0], out);
	fputs(" → ", out);
	ray_svg_put_weight(after->unit, after->total[0], out);
	fputs(", compared as shares", out);
}

/* Of 100. What lies below a call that is gone is gone too. */
static double share_gone(const struct ray_profile_diff *d)
{
	const struct ray_profile_side *before = &d->sides[RAY_DIFF_BEFORE];
	int64_t gone = 0;

	for (size_t i = 1; i < d->tree->nodes.n; i++)
		if (!d->sides[RAY_DIFF_AFTER].total[i])
			gone += before->self[i];
	return 100.0 * (double)gone / (double)before->weight;
}

static void put_notes(const void *arg, FILE *out)
{
	const struct drawing *drawing = arg;
	double gone = share_gone(drawing->d);
	char color[8];

	fputs(" ", out);
	ray_svg_put_losses(drawing->d->tree, out);
	if (gone >= 0.05)
		fprintf(out, "gone: %.1f%% of before ", gone);
	fprintf(out, "<tspan fill=\"%s\">■</tspan> shrunk ", ray_color_of_change(-1, 1, color));
	fprintf(out, "<tspan fill=\"%s\">■</tspan> grown", ray_color_of_change(1, 1, color));
}

static void put_change(double before, double after, FILE *out)
{
	fprintf(out, "%.2f%% → %.2f%%", 100 * before, 100 * after);
	if (fabs(after - before) >= 0.00005)
		fprintf(out, " (%s%.2f%%)", after < before ? "−" : "+", 100 * fabs(after - before));
}

static double share(const struct ray_profile_side *side, const int64_t *weights, uint32_t node)
{
	return (double)weights[node] / (double)side->weight;
}

static void put_weights(const void *arg, uint32_t node, FILE *out)
{
	const struct ray_profile_side *before = &((const struct drawing *)arg)->d->sides[RAY_DIFF_BEFORE];
	const struct ray_profile_side *after = &((const struct drawing *)arg)->d->sides[RAY_DIFF_AFTER];

	fputs("total ", out);
	put_change(share(before, before->total, node), share(after, after->total, node), out);
	fputs("; self ", out);
	put_change(share(before, before->self, node), share(after, after->self, node), out);
}

static const char *color(const void *arg, uint32_t node, char ret[8])
{
	const struct drawing *drawing = arg;

	return ray_color_of_change(ray_profile_diff_total(drawing->d, node), drawing->most, ret);
}

/* As the report does: the function whose own share changed most, and never less than a hundredth. */
static bool find_most(const struct ray_profile_diff *d, double *ret)
{
	ray_auto_memory struct ray_profile_diff_row *rows = NULL;
	size_t count;

	if (!ray_profile_diff_rank(d, &rows, &count))
		return false;
	*ret = 0.01;
	if (count)
		*ret = fmax(*ret, fabs(rows[0].self[RAY_DIFF_AFTER] - rows[0].self[RAY_DIFF_BEFORE]));
	return true;
}

struct ray_error *ray_write_svg_diff(const struct ray_profile_diff *d, FILE *out)
{
	const struct ray_profile_side *before = &d->sides[RAY_DIFF_BEFORE], *after = &d->sides[RAY_DIFF_AFTER];
	struct ray_flame flame = { .tree = d->tree, .total = { after->total, before->total } };
	ray_auto_text packed = { 0 }, title = { 0 };
	struct drawing drawing = { .d = d };
	struct ray_error *err = ray_profile_diff_pack(d, &packed);

	if (err)
		return err;
	ray_text_printf(&title, "%s → %s", *before->title ? before->title : "before",
			*after->title ? after->title : "after");
	if (title.failed || !find_most(d, &drawing.most))
		return &ray_enomem;
	err = ray_svg_write(&(struct ray_svg){ .flame = &flame,
					       .title = ray_text_get(&title),
					       .packed = &packed,
					       .sides = { "after", "before" },
					       .arg = &drawing,
					       .put_facts = put_facts,
					       .put_notes = put_notes,
					       .put_weights = put_weights,
					       .color = color },
			    out);
	ray_flame_deinit(&flame);
	return err;
}
