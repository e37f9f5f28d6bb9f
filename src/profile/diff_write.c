/* diff_write.c - differences as text: a table, and folded stacks with two numbers. SPDX-License-Identifier: MIT
 *
 * The second is what difffolded.pl writes and flamegraph.pl draws in red and blue. */
#include <inttypes.h>
#include <math.h>

#include "profile/cell.h"
#include "profile/diff_format.h"
#include "profile/formats.h"

enum { TOP = 40, WIDTH = 80, BEFORE_NAME = 35 };

/* ---- table ---- */

static void print_side(const char *word, const struct ray_profile_side *s, FILE *out)
{
	ray_auto_text title = { 0 };
	char text[24];

	ray_cell_cut(&title, *s->title ? s->title : "a profile", WIDTH - 30);
	fprintf(out, "%-7s %s: %s %s\n", word, ray_text_get(&title), ray_cell_value(s->unit, s->weight, text),
		s->unit == RAY_UNIT_SAMPLES ? "samples" :
		s->unit == RAY_UNIT_COUNT   ? "events" :
					      "in all");
}

static double change(const struct ray_profile_diff_row *r)
{
	return r->self[RAY_DIFF_AFTER] - r->self[RAY_DIFF_BEFORE];
}

struct ray_error *ray_diff_write_text(const struct ray_profile_diff *d, FILE *out)
{
	ray_auto_memory struct ray_profile_diff_row *rows = NULL;
	size_t count, shown = 0;

	if (!ray_profile_diff_rank(d, &rows, &count))
		return &ray_enomem;
	print_side("before:", &d->sides[RAY_DIFF_BEFORE], out);
	print_side("after:", &d->sides[RAY_DIFF_AFTER], out);
	fprintf(out, "\n%7s %7s %7s  %-8s  %s\n", "BEFORE", "AFTER", "CHANGE", "KIND", "FUNCTION, BY ITS OWN SHARE");
	/* What changed by less than can be printed is no news. */
	for (size_t i = 0; i < count && shown < TOP && fabs(change(&rows[i])) >= 0.0005; i++, shown++) {
		const struct ray_profile_function *f = &d->tree->functions.at[rows[i].function];
		ray_auto_text text = { 0 };

		ray_cell_function(&text, f, WIDTH - BEFORE_NAME);
		fprintf(out, "%6.1f%% %6.1f%% %+6.1f%%  %-8s  %s\n", 100 * rows[i].self[RAY_DIFF_BEFORE],
			100 * rows[i].self[RAY_DIFF_AFTER], 100 * change(&rows[i]), ray_profile_kind_word(f->kind),
			ray_text_get(&text));
	}
	if (!shown)
		fputs("no function's share changed\n", out);
	else if (shown < count)
		fprintf(out, "%zu functions more changed less, or not at all\n", count - shown);
	return NULL;
}

/* ---- folded ---- */

struct ray_error *ray_diff_write_folded(const struct ray_profile_diff *d, FILE *out)
{
	const struct ray_profile *tree = d->tree;
	RAY_VEC(uint32_t) path = { 0 };
	bool ok = true;

	for (uint32_t i = 0; ok && i < tree->nodes.n; i++) {
		int64_t before = d->sides[RAY_DIFF_BEFORE].self[i], after = d->sides[RAY_DIFF_AFTER].self[i];

		if (!before && !after)
			continue;
		path.n = 0;
		for (uint32_t at = i; at && ok; at = tree->nodes.at[at].parent)
			ok = ray_vec_push(&path, tree->frames.at[tree->nodes.at[at].frame].function);
		if (!path.n)
			fputs("(no stack)", out);
		for (size_t k = path.n; k-- > 0;) {
			ray_auto_text text = { 0 };

			ray_folded_frame(&tree->functions.at[path.at[k]], &text);
			fprintf(out, "%s%s", ray_text_get(&text), k ? ";" : "");
		}
		fprintf(out, " %" PRId64 " %" PRId64 "\n", before, after);
	}
	ray_vec_free(&path);
	return ok ? NULL : &ray_enomem;
}
