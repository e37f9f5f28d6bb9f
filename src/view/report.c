/* report.c - see report.h. SPDX-License-Identifier: MIT */
#include "view/report.h"

#include <stdarg.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/text.h"
#include "base/vec.h"

enum { MARK_WIDTH = 6, LEAST_TEXT = 30 };

struct finding {
	const char *section, *name, *text, *fix;
	enum ray_mark mark;
};

struct ray_report {
	RAY_VEC(struct finding) findings;
	struct ray_arena *arena;
	bool failed;
};

static const char *const marks[] = { [RAY_MARK_OK] = "ok", [RAY_MARK_PART] = "part", [RAY_MARK_NO] = "no" };

struct ray_report *ray_report_create(void)
{
	ray_auto(ray_report, r) = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->arena = ray_arena_create();
	return r->arena ? ray_take(r) : NULL;
}

void ray_report_free(struct ray_report *r)
{
	if (!r)
		return;
	ray_vec_free(&r->findings);
	ray_arena_free(r->arena);
	free(r);
}

/* Findings quote paths and names that others chose. */
static const char *safe_copy(struct ray_report *r, const char *text)
{
	ray_auto_text safe = { 0 };
	const char *copy;

	ray_text_add_safe(&safe, text, strlen(text));
	copy = ray_arena_strdup(r->arena, ray_text_get(&safe));
	if (!copy || safe.failed)
		r->failed = true;
	return copy ? copy : "";
}

static const char *format(struct ray_report *r, const char *fmt, va_list args)
{
	ray_auto_memory char *text = NULL;

	if (vasprintf(&text, fmt, args) < 0) {
		text = NULL;
		r->failed = true;
		return "";
	}
	return safe_copy(r, text);
}

void ray_report_add(struct ray_report *r, const char *section, const char *name, enum ray_mark mark, const char *fmt,
		    ...)
{
	struct finding f = { .section = section, .name = safe_copy(r, name), .mark = mark };
	va_list args;

	va_start(args, fmt);
	f.text = format(r, fmt, args);
	va_end(args);
	if (!ray_vec_push(&r->findings, f))
		r->failed = true;
}

void ray_report_fix(struct ray_report *r, const char *fmt, ...)
{
	va_list args;

	if (!r->findings.n)
		return;
	va_start(args, fmt);
	r->findings.at[r->findings.n - 1].fix = format(r, fmt, args);
	va_end(args);
}

size_t ray_report_count(const struct ray_report *r, enum ray_mark mark)
{
	size_t n = 0;

	for (size_t i = 0; i < r->findings.n; i++)
		n += r->findings.at[i].mark == mark;
	return n;
}

/* Adds words until the line is full; those that follow go below the first. A word is never broken. */
static void wrap(struct ray_text *out, const char *text, size_t indent, size_t width)
{
	size_t column = indent, n, w;
	ray_auto_text word = { 0 };

	for (text += strspn(text, " "); *text; text += n, text += strspn(text, " ")) {
		n = strcspn(text, " ");
		ray_text_clear(&word);
		ray_text_add_bytes(&word, text, n);
		w = ray_text_width(ray_text_get(&word));
		if (column > indent && column + 1 + w > width) {
			ray_text_printf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			ray_text_add(out, " ");
			column++;
		}
		ray_text_add(out, ray_text_get(&word));
		column += w;
	}
	ray_text_add(out, "\n");
}

static size_t name_width(const struct ray_report *r)
{
	size_t widest = 0, w;

	for (size_t i = 0; i < r->findings.n; i++) {
		w = ray_text_width(r->findings.at[i].name);
		if (w > widest)
			widest = w;
	}
	return widest;
}

static void add_finding(struct ray_text *out, const struct finding *f, size_t names, size_t width)
{
	size_t indent = 2 + MARK_WIDTH + names + 2, pad = names - ray_text_width(f->name) + 2;

	if (width < indent + LEAST_TEXT)
		width = indent + LEAST_TEXT;
	ray_text_printf(out, "  %-*s%s%*s", MARK_WIDTH, marks[f->mark], f->name, (int)pad, "");
	wrap(out, f->text, indent, width);
	if (f->fix && *f->fix) {
		/* Further left than the text: a command had better fit one line. */
		ray_text_printf(out, "%*sfix: ", 2 + MARK_WIDTH, "");
		wrap(out, f->fix, 2 + MARK_WIDTH + 5, width);
	}
}

bool ray_report_print(const struct ray_report *r, size_t width, FILE *out)
{
	size_t names = name_width(r);
	const char *section = NULL;
	ray_auto_text text = { 0 };

	for (size_t i = 0; i < r->findings.n; i++) {
		const struct finding *f = &r->findings.at[i];

		if (!section || strcmp(section, f->section) != 0)
			ray_text_printf(&text, "%s%s\n", section ? "\n" : "", f->section);
		section = f->section;
		add_finding(&text, f, names, width);
	}
	fputs(ray_text_get(&text), out);
	return !r->failed && !text.failed;
}

bool ray_report_print_json(const struct ray_report *r)
{
	for (size_t i = 0; i < r->findings.n; i++) {
		const struct finding *f = &r->findings.at[i];

		ray_json_print(json_pack("{s:o,s:o,s:s,s:o,s:o}", "section", ray_json_text(f->section), "name",
					 ray_json_text(f->name), "mark", marks[f->mark], "text", ray_json_text(f->text),
					 "fix", ray_json_text(f->fix)));
	}
	return !r->failed;
}
