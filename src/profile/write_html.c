/* write_html.c - the report: one HTML file that holds the profile and everything that shows it. SPDX-License-Identifier: MIT
 *
 * The page is src/profile/report; the Makefile joins its scripts, and knows their hashes, so that the page's policy lets nothing else run and
 * nothing be fetched. Of the profile only the title stands in the file as text; the rest is packed (pack.h). */
#include "profile/formats.h"

#include <string.h>

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

static struct ray_error *put_report(const char *name, const struct ray_text *packed, FILE *out)
{
	ray_auto_text title = { 0 };

	ray_markup_add(&title, *name ? name : "profile");
	ray_markup_add(&title, " - noderay");
	if (title.failed)
		return &ray_enomem;
	put_page(ray_text_get(&title), packed, out);
	return NULL;
}

struct ray_error *ray_write_html(const struct ray_profile *p, FILE *out)
{
	ray_auto_text packed = { 0 };
	struct ray_error *err = ray_profile_pack(p, &packed);

	return err ? err : put_report(p->title, &packed, out);
}

struct ray_error *ray_write_html_diff(const struct ray_profile_diff *d, FILE *out)
{
	ray_auto_text packed = { 0 };
	struct ray_error *err = ray_profile_diff_pack(d, &packed);

	return err ? err : put_report(d->sides[RAY_DIFF_AFTER].title, &packed, out);
}
