/* svg.c - see svg.h. SPDX-License-Identifier: MIT */
#include "profile/svg.h"

#include <inttypes.h>
#include <string.h>

#include "profile/markup.h"

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

static const double LETTER = 7.3;

/* ---- texts ---- */

void ray_svg_put_text(const char *text, FILE *out)
{
	ray_auto_text safe = { 0 };

	ray_markup_add(&safe, text);
	fputs(ray_text_get(&safe), out);
}

void ray_svg_put_weight(enum ray_profile_unit unit, int64_t weight, FILE *out)
{
	static const char *const words[] = { "samples", "ms", "bytes", "events" };

	if (unit == RAY_UNIT_NS)
		fprintf(out, "%.3f %s", (double)weight / 1e6, words[unit]);
	else
		fprintf(out, "%" PRId64 " %s", weight, words[unit]);
}

void ray_svg_put_losses(const struct ray_profile *p, FILE *out)
{
	if (p->lost_samples)
		fprintf(out, "%" PRIu64 " samples lost ", p->lost_samples);
	if (p->cut_stacks)
		fprintf(out, "%" PRIu64 " stacks cut ", p->cut_stacks);
	if (p->unnamed_frames)
		fprintf(out, "%" PRIu64 " frames without a name ", p->unnamed_frames);
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
	ray_svg_put_text(ray_text_get(&cut), out);
	if (!fits)
		fputs("…", out);
}

/* ---- boxes ---- */

static void put_title(FILE *out, const struct ray_svg *s, uint32_t node, const struct ray_profile_function *f)
{
	fputs("<title>", out);
	ray_svg_put_text(node ? f->name : "all", out);
	fputs("\n", out);
	ray_svg_put_text(f->file, out);
	if (*f->file && f->line)
		fprintf(out, ":%d", f->line);
	fputs("\n", out);
	s->put_weights(s->arg, node, out);
	fputs("</title>", out);
}

/* What has no width here is drawn when the script shows the other weight. */
static void put_group(FILE *out, const struct ray_svg *s, const struct ray_flame_box *box)
{
	const struct ray_flame_place *other = &box->at[RAY_FLAME_OTHER];

	fputs("<g class=\"f\"", out);
	if (s->flame->total[RAY_FLAME_OTHER])
		fprintf(out, " data-other=\"%.3f %.3f\"", other->x, other->width);
	fputs(box->at[RAY_FLAME_SHOWN].width > 0 ? ">" : " style=\"display: none\">", out);
}

static void put_box(FILE *out, const struct ray_svg *s, const struct ray_flame_box *box)
{
	const struct ray_profile *p = s->flame->tree;
	const struct ray_profile_function *f = &p->functions.at[p->frames.at[p->nodes.at[box->node].frame].function];
	const struct ray_flame_place *at = &box->at[RAY_FLAME_SHOWN];
	double y = HEAD + (double)(s->flame->depth - box->depth) * ROW;
	char color[8];

	put_group(out, s, box);
	put_title(out, s, box->node, f);
	fprintf(out, "<rect x=\"%.3f\" y=\"%.0f\" width=\"%.3f\" height=\"%d\" rx=\"1\" fill=\"%s\"/>", at->x, y,
		at->width, ROW - 1, box->node ? s->color(s->arg, box->node, color) : "#e2e5ea");
	if (at->width >= 3 * LETTER + 6) {
		fprintf(out, "<text x=\"%.3f\" y=\"%.0f\">", at->x + 3, y + 12);
		put_label(out, box->node ? f->name : "all", at->width);
		fputs("</text>", out);
	}
	fputs("</g>\n", out);
}

/* ---- what is around them ---- */

static void put_head(FILE *out, const struct ray_svg *s)
{
	double height = HEAD + (double)(s->flame->depth + 1) * ROW + FOOT;

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" height=\"%.0f\" "
		"viewBox=\"0 0 %d %.0f\" data-width=\"%d\" data-margin=\"%d\">\n<title>",
		WIDTH, height, WIDTH, height, WIDTH, MARGIN);
	ray_svg_put_text(s->title, out);
	fputs("</title>\n<style>\n", out);
	fputs(ray_svg_style, out);
	fputs("</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n", out);
	fprintf(out, "<text class=\"head\" x=\"%d\" y=\"26\">", MARGIN);
	put_label(out, s->title, WIDTH - (s->sides[RAY_FLAME_OTHER] ? 400 : 200));
	fprintf(out, "</text>\n<text class=\"faint\" x=\"%d\" y=\"46\">", MARGIN);
	s->put_facts(s->arg, out);
	fputs("</text>\n<metadata><profile type=\"application/x-noderay-profile\">\n", out);
	fputs(ray_text_get(s->packed), out);
	fputs("</profile></metadata>\n", out);
}

static void put_narrow(FILE *out, size_t count)
{
	if (count)
		fprintf(out, "%zu calls too narrow to draw", count);
}

/* What was lost on the way here is said in the picture too. */
static void put_notes(FILE *out, const struct ray_svg *s)
{
	fprintf(out, "<text class=\"faint\" x=\"%d\" y=\"46\" text-anchor=\"end\">", WIDTH - MARGIN);
	if (s->flame->total[RAY_FLAME_OTHER]) {
		fputs("<tspan id=\"narrow\" data-other=\"", out);
		put_narrow(out, s->flame->narrow[RAY_FLAME_OTHER]);
		fputs("\">", out);
		put_narrow(out, s->flame->narrow[RAY_FLAME_SHOWN]);
		fputs("</tspan>", out);
		s->put_notes(s->arg, out);
	} else {
		s->put_notes(s->arg, out);
		put_narrow(out, s->flame->narrow[RAY_FLAME_SHOWN]);
	}
	fputs("</text>\n", out);
}

static void put_button(FILE *out, const char *id, bool is_on, int from_right)
{
	fprintf(out,
		"<text id=\"%s\" class=\"button%s\" role=\"button\" tabindex=\"0\" x=\"%d\" y=\"22\" text-anchor=\"end\"",
		id, is_on ? " on" : "", WIDTH - MARGIN - from_right);
}

static void put_buttons(FILE *out, const struct ray_svg *s)
{
	put_button(out, "reset", false, 70);
	fputs(">Reset zoom</text>\n", out);
	put_button(out, "search", true, 0);
	fputs(">Search</text>\n", out);
	if (!s->sides[RAY_FLAME_OTHER])
		return;
	put_button(out, "side", true, 170);
	fprintf(out, " data-other=\"Widths: %s\">Widths: %s</text>\n", s->sides[RAY_FLAME_OTHER],
		s->sides[RAY_FLAME_SHOWN]);
}

static void put_all(FILE *out, const struct ray_svg *s)
{
	double foot = HEAD + (double)(s->flame->depth + 1) * ROW + 19;

	put_head(out, s);
	put_notes(out, s);
	put_buttons(out, s);
	for (size_t i = 0; i < s->flame->boxes.n; i++)
		put_box(out, s, &s->flame->boxes.at[i]);
	fprintf(out, "<text id=\"details\" x=\"%d\" y=\"%.0f\"></text>\n", MARGIN, foot);
	fprintf(out, "<text id=\"matched\" x=\"%d\" y=\"%.0f\" text-anchor=\"end\"></text>\n", WIDTH - MARGIN, foot);
	fprintf(out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", ray_svg_script);
}

struct ray_error *ray_svg_write(const struct ray_svg *s, FILE *out)
{
	if (!ray_flame_layout(s->flame, MARGIN, WIDTH - 2 * MARGIN))
		return &ray_enomem;
	put_all(out, s);
	return NULL;
}
