/* test_profile_flame.c - where boxes of a flame graph stand, and what the SVG of a difference says of them. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "fake_profile.h"
#include "profile/color.h"
#include "profile/flame_layout.h"
#include "profile/formats.h"

static struct ray_profile_diff *difference(const char *before, const char *after)
{
	ray_auto(ray_profile, a) = NULL;
	ray_auto(ray_profile, b) = NULL;
	struct ray_profile_diff *d = NULL;

	assert_null(ray_profile_parse(before, strlen(before), &a));
	assert_null(ray_profile_parse(after, strlen(after), &b));
	assert_null(ray_profile_diff_create(a, b, &d));
	return d;
}

static char *drawn(const struct ray_profile_diff *d)
{
	char *bytes = NULL;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);

	assert_null(ray_write_svg_diff(d, out));
	fclose(out);
	return bytes;
}

/* The markup of the box with this name: up to the end of its group. */
static const char *box_of(const char *svg, const char *name, char ret[1000])
{
	ray_auto_text title = { 0 };
	const char *at, *start;

	ray_text_printf(&title, "<title>%s\n", name);
	at = strstr(svg, ray_text_get(&title));
	assert_non_null(at);
	for (start = at; strncmp(start, "<g ", 3);)
		start--;
	snprintf(ret, 1000, "%.*s", (int)(strstr(at, "</g>") - start), start);
	return ret;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in '%s'", part, text);
}

static void calls_stand_by_weight_and_then_by_name(void **state)
{
	ray_auto(ray_profile_diff, d) = difference("x 1\n", "a;c 10\na;b 10\na;d 30\ne 50\n");
	struct ray_flame f = { .tree = d->tree, .total = { d->sides[RAY_DIFF_AFTER].total } };
	static const struct {
		const char *name;
		double x, width;
	} expected[] = { { "a", 0, 50 }, { "e", 50, 50 }, { "d", 0, 30 }, { "b", 30, 10 }, { "c", 40, 10 } };

	(void)state;
	assert_true(ray_flame_layout(&f, 0, 100));
	assert_int_equal(f.boxes.n, RAY_COUNT(expected) + 1);
	for (size_t i = 0; i < RAY_COUNT(expected); i++) {
		const struct ray_flame_box *box = &f.boxes.at[i + 1];
		uint32_t frame = d->tree->nodes.at[box->node].frame;

		assert_string_equal(d->tree->functions.at[d->tree->frames.at[frame].function].name, expected[i].name);
		assert_true(fabs(box->at[0].x - expected[i].x) < 1e-9);
		assert_true(fabs(box->at[0].width - expected[i].width) < 1e-9);
	}
	assert_int_equal(f.depth, 2);
	ray_flame_deinit(&f);
}

static void what_is_too_narrow_is_counted_for_each_side(void **state)
{
	ray_auto(ray_profile_diff, d) = difference("a;b 100000\na;c;deep 1\n", "a;b 50000\na;c;deep 50000\nz;y 1\n");
	struct ray_flame f = { .tree = d->tree,
			       .total = { d->sides[RAY_DIFF_AFTER].total, d->sides[RAY_DIFF_BEFORE].total } };

	(void)state;
	assert_true(ray_flame_layout(&f, 10, 1180));
	/* all, a, b, c, deep: z and y have no room on either side, and c and deep none before. */
	assert_int_equal(f.boxes.n, 5);
	assert_int_equal(f.narrow[RAY_FLAME_SHOWN], 2);
	assert_int_equal(f.narrow[RAY_FLAME_OTHER], 2);
	for (size_t i = 0; i < f.boxes.n; i++)
		assert_true(f.boxes.at[i].at[RAY_FLAME_SHOWN].width > 0);
	assert_true(f.boxes.at[4].at[RAY_FLAME_OTHER].width == 0);
	ray_flame_deinit(&f);
}

static void a_difference_is_drawn_as_wide_as_after(void **state)
{
	ray_auto(ray_profile_diff, d) = difference("start;old 60\nstart;same 30\nstart;less 10\n",
						   "start;new 120\nstart;same 60\nstart;less 20\n");
	ray_auto_memory char *svg = drawn(d);
	char box[1000], color[8];

	(void)state;
	assert_has(box_of(svg, "new", box), "<rect x=\"10.000\"");
	assert_has(box, "width=\"708.000\"");
	assert_has(box, "total 0.00% → 60.00% (+60.00%); self 0.00% → 60.00% (+60.00%)");
	assert_has(box, ray_color_of_change(1, 1, color));
	assert_has(box, "data-other=\"10.000 0.000\"");
	assert_has(box_of(svg, "old", box), "style=\"display: none\"");
	assert_has(box, "total 60.00% → 0.00% (−60.00%)");
	assert_has(box, "data-other=\"482.000 708.000\"");
	assert_has(box, ray_color_of_change(-1, 1, color));
	assert_has(box_of(svg, "same", box), "total 30.00% → 30.00%; self 30.00% → 30.00%</title>");
	assert_has(box, ray_color_of_change(0, 1, color));
	assert_has(svg, "100 samples → 200 samples, compared as shares");
	assert_has(svg, "gone: 60.0% of before");
	assert_has(svg, "data-other=\"Widths: before\">Widths: after<");
}

/* As colors.js of the report computes them. */
static void grown_is_red_and_shrunk_is_blue(void **state)
{
	char color[8];

	(void)state;
	assert_string_equal(ray_color_of_change(0.5, 0.5, color), "#ee5f4f");
	assert_string_equal(ray_color_of_change(-2, 0.5, color), "#4f94ee");
	assert_string_equal(ray_color_of_change(0.0001, 0.5, color), "#e6e7ea");
}

static void names_are_never_markup_and_nothing_is_a_picture_too(void **state)
{
	ray_auto(ray_profile_diff, d) = difference("</title><script>x</script>&\" 1\n", "a 1\n");
	ray_auto(ray_profile, none) = ray_profile_create();
	ray_auto(ray_profile_diff, nothing) = NULL;
	ray_auto_memory char *svg = drawn(d), *empty = NULL;

	(void)state;
	assert_null(strstr(svg, "<script>x"));
	assert_has(svg, "&lt;script&gt;x");
	assert_null(ray_profile_diff_create(none, none, &nothing));
	empty = drawn(nothing);
	assert_has(empty, "<title>all\n\ntotal 0.00% → 0.00%; self 0.00% → 0.00%</title>");
	assert_has(empty, "before → after");
}

static void losses_of_both_are_said(void **state)
{
	ray_auto(ray_profile, a) = fake_profile();
	ray_auto(ray_profile_diff, d) = NULL;
	ray_auto_memory char *svg = NULL;

	(void)state;
	assert_null(ray_profile_diff_create(a, a, &d));
	svg = drawn(d);
	assert_has(svg, "6 samples lost 2 stacks cut ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_stand_by_weight_and_then_by_name),
		cmocka_unit_test(what_is_too_narrow_is_counted_for_each_side),
		cmocka_unit_test(a_difference_is_drawn_as_wide_as_after),
		cmocka_unit_test(grown_is_red_and_shrunk_is_blue),
		cmocka_unit_test(names_are_never_markup_and_nothing_is_a_picture_too),
		cmocka_unit_test(losses_of_both_are_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
