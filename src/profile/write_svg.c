/* write_svg.c - a flame graph as an SVG, which answers to a pointer and to searches where scripts run. SPDX-License-Identifier: MIT
 *
 * The root is at the bottom, the heaviest call to the left. What is narrower than a tenth of a pixel is not drawn, and counted. The profile itself is
 * in the file's metadata (markup.h), so that nothing is lost. What it looks like and what it answers is src/profile/svg. */
#include <inttypes.h>
#include <string.h>

#include "profile/color.h"
#include "profile/formats.h"
#include "profile/markup.h"
#include "profile/merge.h"
#include "profile/pack.h"

#define EMBED(name, file)                    \
	extern const char ray_svg_##name[];  \
	__asm__(".pushsection .rodata\n"     \
		".globl ray_svg_" #name "\n" \
		"ray_svg_" #name ":\n"       \
		".incbin \"" file "\"\n"     \
		".byte 0\n"                  \
		".popsection\n");
EMBED(style, "src/profile/svg/flame.css")
EMBED(script, "src/profile/svg/flame.js")

enum { WIDTH = 1200, MARGIN = 10, ROW = 17, HEAD = 62, FOOT = 30 };

static const double LEAST = 0.1, LETTER = 7.3;

struct box {
	uint32_t node;
	uint32_t depth;
	double x, width;
};

struct drawing {
	const struct ray_profile *p; /* merged */
	int64_t *self, *total;
	uint32_t *first, *children; /* of node i: children[first[i]] to children[first[i + 1] - 1] */
	RAY_VEC(struct box) boxes;
	uint32_t depth;
	size_t narrow;
	bool failed;
};

/* ---- layout ---- */

/* Heaviest first; the same picture whenever weights are equal: by name. */
static int by_weight(const void *a, const void *b, void *arg)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct drawing *d = arg;
	const struct ray_profile *p = d->p;
	int order;

	if (d->total[x] != d->total[y])
		return d->total[x] < d->total[y] ? 1 : -1;
	order = strcmp(p->functions.at[p->frames.at[p->nodes.at[x].frame].function].name,
		       p->functions.at[p->frames.at[p->nodes.at[y].frame].function].name);
	return order ? order : (x > y) - (x < y);
}

static bool link_children(struct drawing *d)
{
	size_t n = d->p->nodes.n;

	d->first = calloc(n + 2, sizeof(*d->first));
	d->children = calloc(n, sizeof(*d->children));
	if (!d->first || !d->children)
		return false;
	for (size_t i = 1; i < n; i++)
		d->first[d->p->nodes.at[i].parent + 2]++;
	for (size_t i = 2; i < n + 2; i++)
		d->first[i] += d->first[i - 1];
	for (size_t i = 1; i < n; i++)
		d->children[d->first[d->p->nodes.at[i].parent + 1]++] = (uint32_t)i;
	for (size_t i = 0; i < n; i++)
		qsort_r(d->children + d->first[i], d->first[i + 1] - d->first[i], sizeof(*d->children), by_weight, d);
	return true;
}

/* All calls below what is too narrow are too. */
static size_t count_below(const struct drawing *d, uint32_t node)
{
	RAY_VEC(uint32_t) todo = { 0 };
	size_t count = 0;

	if (!ray_vec_push(&todo, node))
		return 1;
	while (todo.n) {
		uint32_t at = todo.at[--todo.n];

		count++;
		for (uint32_t i = d->first[at]; i < d->first[at + 1]; i++)
			if (d->total[d->children[i]] > 0 && !ray_vec_push(&todo, d->children[i]))
				break;
	}
	ray_vec_free(&todo);
	return count;
}

static void place_children(struct drawing *d, const struct box *box, double scale)
{
	double x = box->x;

	for (uint32_t i = d->first[box->node]; i < d->first[box->node + 1]; i++) {
		struct box child = { d->children[i], box->depth + 1, x, (double)d->total[d->children[i]] * scale };

		if (child.width <= 0)
			continue;
		x += child.width;
		if (child.width < LEAST)
			d->narrow += count_below(d, child.node);
		else if (!ray_vec_push(&d->boxes, child))
			d->failed = true;
	}
}

/* Boxes are their own list of what is still to be looked at. */
static void place_all(struct drawing *d)
{
	double scale = d->total[0] > 0 ? (double)(WIDTH - 2 * MARGIN) / (double)d->total[0] : 0;

	if (!ray_vec_push(&d->boxes, (struct box){ 0, 0, MARGIN, WIDTH - 2 * MARGIN }))
		d->failed = true;
	for (size_t i = 0; i < d->boxes.n && !d->failed; i++) {
		struct box box = d->boxes.at[i];

		place_children(d, &box, scale);
		if (box.depth > d->depth)
			d->depth = box.depth;
	}
}

/* ---- output ---- */

static void put_text(FILE *out, const char *text)
{
	ray_auto_text safe = { 0 };

	ray_markup_add(&safe, text);
	fputs(ray_text_get(&safe), out);
}

/* As much as fits, whole characters only; wide ones count twice. */
static void put_label(FILE *out, const char *name, double room)
{
	size_t columns = (size_t)((room - 6) / LETTER), used = 0, end = 0;
	bool fits = ray_text_width(name) <= columns;
	ray_auto_text cut = { 0 };

	while (name[end] && !fits) {
		char one[5] = { 0 };
		size_t length = 1;

		while (length < 4 && ((unsigned char)name[end + length] & 0xc0) == 0x80)
			length++;
		memcpy(one, name + end, length);
		used += ray_text_width(one);
		if (used + 1 > columns)
			break;
		end += length;
	}
	ray_text_add_bytes(&cut, name, fits ? strlen(name) : end);
	put_text(out, ray_text_get(&cut));
	if (!fits)
		fputs("…", out);
}

static void put_weight(FILE *out, const struct ray_profile *p, int64_t weight)
{
	static const char *const words[] = { "samples", "ms", "bytes", "events" };

	if (p->unit == RAY_UNIT_NS)
		fprintf(out, "%.3f %s", (double)weight / 1e6, words[p->unit]);
	else
		fprintf(out, "%" PRId64 " %s", weight, words[p->unit]);
}

static void put_title(FILE *out, const struct drawing *d, const struct box *box, const struct ray_profile_function *f)
{
	const int64_t all = d->total[0];

	fputs("<title>", out);
	put_text(out, box->node ? f->name : "all");
	fputs("\n", out);
	put_text(out, f->file);
	if (*f->file && f->line)
		fprintf(out, ":%d", f->line);
	fputs("\ntotal ", out);
	put_weight(out, d->p, d->total[box->node]);
	fprintf(out, ", %.2f%%; self ", all ? 100.0 * (double)d->total[box->node] / (double)all : 0.0);
	put_weight(out, d->p, d->self[box->node]);
	fputs("</title>", out);
}

static void put_box(FILE *out, const struct drawing *d, const struct box *box)
{
	const struct ray_profile *p = d->p;
	const struct ray_profile_function *f = &p->functions.at[p->frames.at[p->nodes.at[box->node].frame].function];
	double y = HEAD + (double)(d->depth - box->depth) * ROW;
	char color[8];

	fputs("<g class=\"f\">", out);
	put_title(out, d, box, f);
	fprintf(out, "<rect x=\"%.3f\" y=\"%.0f\" width=\"%.3f\" height=\"%d\" rx=\"1\" fill=\"%s\"/>", box->x, y,
		box->width, ROW - 1, box->node ? ray_color_of(f, color) : "#e2e5ea");
	if (box->width >= 3 * LETTER + 6) {
		fprintf(out, "<text x=\"%.3f\" y=\"%.0f\">", box->x + 3, y + 12);
		put_label(out, box->node ? f->name : "all", box->width);
		fputs("</text>", out);
	}
	fputs("</g>\n", out);
}

static void put_head(FILE *out, const struct drawing *d, const struct ray_profile *p, const char *packed)
{
	double height = HEAD + (double)(d->depth + 1) * ROW + FOOT;

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" height=\"%.0f\" "
		"viewBox=\"0 0 %d %.0f\" data-width=\"%d\" data-margin=\"%d\">\n<title>",
		WIDTH, height, WIDTH, height, WIDTH, MARGIN);
	put_text(out, *p->title ? p->title : "profile");
	fputs("</title>\n<style>\n", out);
	fputs(ray_svg_style, out);
	fputs("</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n", out);
	fprintf(out, "<text class=\"head\" x=\"%d\" y=\"26\">", MARGIN);
	put_label(out, *p->title ? p->title : "profile", WIDTH - 200);
	fprintf(out, "</text>\n<text class=\"faint\" x=\"%d\" y=\"46\">", MARGIN);
	put_text(out, p->event);
	fputs(*p->event ? ", " : "", out);
	put_weight(out, p, d->total[0]);
	fputs("</text>\n<metadata><profile type=\"application/x-noderay-profile\">\n", out);
	fputs(packed, out);
	fputs("</profile></metadata>\n", out);
}

/* What was lost on the way here is said in the picture too. */
static void put_notes(FILE *out, const struct drawing *d, const struct ray_profile *p)
{
	fprintf(out, "<text class=\"faint\" x=\"%d\" y=\"46\" text-anchor=\"end\">", WIDTH - MARGIN);
	if (p->lost_samples)
		fprintf(out, "%" PRIu64 " samples lost ", p->lost_samples);
	if (p->cut_stacks)
		fprintf(out, "%" PRIu64 " stacks cut ", p->cut_stacks);
	if (p->unnamed_frames)
		fprintf(out, "%" PRIu64 " frames without a name ", p->unnamed_frames);
	if (d->narrow)
		fprintf(out, "%zu calls too narrow to draw", d->narrow);
	fputs("</text>\n", out);
}

static void put_all(FILE *out, const struct drawing *d, const struct ray_profile *p, const char *packed)
{
	double foot = HEAD + (double)(d->depth + 1) * ROW + 19;

	put_head(out, d, p, packed);
	put_notes(out, d, p);
	fprintf(out,
		"<text id=\"reset\" class=\"button\" role=\"button\" tabindex=\"0\" x=\"%d\" y=\"22\" text-anchor=\"end\">Reset "
		"zoom</text>\n",
		WIDTH - MARGIN - 70);
	fprintf(out,
		"<text id=\"search\" class=\"button on\" role=\"button\" tabindex=\"0\" x=\"%d\" y=\"22\" "
		"text-anchor=\"end\">Search</text>\n",
		WIDTH - MARGIN);
	for (size_t i = 0; i < d->boxes.n; i++)
		put_box(out, d, &d->boxes.at[i]);
	fprintf(out, "<text id=\"details\" x=\"%d\" y=\"%.0f\"></text>\n", MARGIN, foot);
	fprintf(out, "<text id=\"matched\" x=\"%d\" y=\"%.0f\" text-anchor=\"end\"></text>\n", WIDTH - MARGIN, foot);
	fprintf(out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", ray_svg_script);
}

struct ray_error *ray_write_svg(const struct ray_profile *p, FILE *out)
{
	ray_auto(ray_profile, merged) = ray_profile_merge(p);
	struct drawing d = { .p = merged };
	ray_auto_text packed = { 0 };
	struct ray_error *err = ray_profile_pack(p, &packed);

	if (!err && (!merged || !ray_profile_sum(merged, UINT32_MAX, &d.self, &d.total) || !link_children(&d)))
		err = &ray_enomem;
	if (!err) {
		place_all(&d);
		err = d.failed ? &ray_enomem : NULL;
	}
	if (!err)
		put_all(out, &d, p, ray_text_get(&packed));
	free(d.self);
	free(d.total);
	free(d.first);
	free(d.children);
	ray_vec_free(&d.boxes);
	return err;
}
