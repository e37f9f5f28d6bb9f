/* write_html.c - the report: one HTML file that holds the profile and everything that shows it. SPDX-License-Identifier: MIT
 *
 * The page is src/profile/report; the Makefile joins its scripts, and knows their hashes, so that the page's policy lets nothing else run and
 * nothing be fetched. Of the profile only the title stands in the file as text; the rest is packed (pack.h). */
#include "profile/formats.h"

#include <string.h>

#include "profile/diff.h"
#include "profile/markup.h"
#include "profile/pack.h"

#define EMBED(name, file)                       \
	extern const char ray_report_##name[];  \
	__asm__(".pushsection .rodata\n"        \
		".globl ray_report_" #name "\n" \
		"ray_report_" #name ":\n"       \
		".incbin \"" file "\"\n"        \
		".byte 0\n"                     \
		".popsection\n");
EMBED(page, "src/profile/report/report.html")
EMBED(style, "build/report.css")
EMBED(style_hash, "build/report.css.hash")
EMBED(script, "build/report.js")
EMBED(script_hash, "build/report.js.hash")

/* What a word between two @ in the page stands for. */
static bool put_part(const char *word, size_t length, const char *title, const struct ray_text *packed, FILE *out)
{
	const struct {
		const char *word, *text;
	} parts[] = {
		{ "TITLE", title },
		{ "STYLE", ray_report_style },
		{ "STYLE_HASH", ray_report_style_hash },
		{ "SCRIPT", ray_report_script },
		{ "SCRIPT_HASH", ray_report_script_hash },
		{ "PROFILE", ray_text_get(packed) },
	};

	for (size_t i = 0; i < RAY_COUNT(parts); i++) {
		if (strlen(parts[i].word) == length && !memcmp(parts[i].word, word, length)) {
			fputs(parts[i].text, out);
			return true;
		}
	}
	return false;
}

static void put_page(const char *title, const struct ray_text *packed, FILE *out)
{
	const char *at = ray_report_page;

	for (const char *mark; (mark = strchr(at, '@')); at = mark + 1) {
		const char *end = strchr(mark + 1, '@');

		fwrite(at, 1, (size_t)(mark - at), out);
		if (end && put_part(mark + 1, (size_t)(end - mark - 1), title, packed, out))
			mark = end;
		else
			fputc('@', out);
	}
	fputs(at, out);
}

struct ray_error *ray_write_html(const struct ray_profile *p, FILE *out)
{
	ray_auto_text packed = { 0 }, title = { 0 };
	struct ray_error *err = ray_profile_pack(p, &packed);

	if (err)
		return err;
	ray_markup_add(&title, *p->title ? p->title : "profile");
	ray_markup_add(&title, " - noderay");
	if (title.failed)
		return &ray_enomem;
	put_page(ray_text_get(&title), &packed, out);
	return NULL;
}

/* ---- differences ---- */

static bool put_side(struct ray_profile *p, const struct ray_profile_side *side)
{
	const struct ray_profile_thread thread = { .name = side->title, .process = "" };

	if (!ray_vec_push(&p->threads, thread))
		return false;
	for (size_t i = 0; i < p->nodes.n; i++) {
		struct ray_profile_sample s = {
			.node = (uint32_t)i, .thread = (uint32_t)p->threads.n - 1, .weight = side->self[i], .count = 1
		};

		if (side->self[i] && !ray_vec_push(&p->samples, s))
			return false;
	}
	return true;
}

/* One profile whose first thread is all that was before: before_threads says so to the page. The tree is the difference's own, and only borrowed. */
struct ray_error *ray_write_html_diff(const struct ray_profile_diff *d, FILE *out)
{
	struct ray_profile both = *d->tree;
	struct ray_error *err;

	memset(&both.threads, 0, sizeof(both.threads));
	memset(&both.samples, 0, sizeof(both.samples));
	both.before_title = d->sides[RAY_DIFF_BEFORE].title;
	both.title = d->sides[RAY_DIFF_AFTER].title;
	both.event = d->sides[RAY_DIFF_AFTER].event;
	both.unit = d->sides[RAY_DIFF_AFTER].unit;
	both.before_threads = 1;
	both.has_times = false;
	if (put_side(&both, &d->sides[RAY_DIFF_BEFORE]) && put_side(&both, &d->sides[RAY_DIFF_AFTER]))
		err = ray_write_html(&both, out);
	else
		err = &ray_enomem;
	ray_vec_free(&both.threads);
	ray_vec_free(&both.samples);
	return err;
}
