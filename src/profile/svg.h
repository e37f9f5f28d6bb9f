/* svg.h - a flame graph as an SVG, which answers to a pointer and to searches where scripts run. SPDX-License-Identifier: MIT
 *
 * The root is at the bottom. What the picture looks like and what it answers is src/profile/svg; who calls says what stands in it. What it was made from
 * goes into the file's metadata (markup.h), so that nothing is lost. */
#ifndef RAY_PROFILE_SVG_H
#define RAY_PROFILE_SVG_H

#include <stdio.h>

#include "base/text.h"
#include "profile/flame_layout.h"

struct ray_svg {
	struct ray_flame *flame; /* laid out by ray_svg_write() */
	const char *title;
	const struct ray_text *packed; /* what the file carries */
	/* Of the flame's second weight, if it has one: what the two are called. */
	const char *sides[RAY_FLAME_SIDES];

	const void *arg;
	void (*put_facts)(const void *arg, FILE *out); /* below the title: what was recorded */
	void (*put_notes)(const void *arg, FILE *out); /* beside it: what is missing */
	/* Of one box, below its name and file: what it weighs. */
	void (*put_weights)(const void *arg, uint32_t node, FILE *out);
	/* "#ffcc66"; returns ret. Not asked for the root. */
	const char *(*color)(const void *arg, uint32_t node, char ret[8]);
};

RAY_MUST_USE struct ray_error *ray_svg_write(const struct ray_svg *s, FILE *out);

void ray_svg_put_text(const char *text, FILE *out);				/* as text, never as markup */
void ray_svg_put_weight(enum ray_profile_unit unit, int64_t weight, FILE *out); /* "1.250 ms" */
/* Losses of the profile, each with a blank behind it. */
void ray_svg_put_losses(const struct ray_profile *p, FILE *out);

#endif
