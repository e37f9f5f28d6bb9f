/* page.c - see page.h. SPDX-License-Identifier: MIT */
#include "view/page.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Colours by number (the sixteen that every terminal has): they follow the user's own theme, dark or light. */
static const char *const colors[RAY_STYLE_COUNT] = {
	[RAY_STYLE_STRONG] = "1",
	[RAY_STYLE_FAINT] = "90",
	[RAY_STYLE_HEADING] = "7",
	[RAY_STYLE_SELECTED] = "1;7",
	[RAY_STYLE_GOOD] = "32",
	[RAY_STYLE_WARN] = "33",
	[RAY_STYLE_BAD] = "1;31",
	[RAY_STYLE_KIND + RAY_KIND_JS] = "1;32",
	[RAY_STYLE_KIND + RAY_KIND_PACKAGE] = "36",
	[RAY_STYLE_KIND + RAY_KIND_NODE] = "32",
	[RAY_STYLE_KIND + RAY_KIND_WASM] = "1;35",
	[RAY_STYLE_KIND + RAY_KIND_BUILTIN] = "35",
	[RAY_STYLE_KIND + RAY_KIND_NATIVE] = "33",
	[RAY_STYLE_KIND + RAY_KIND_GC] = "31",
	[RAY_STYLE_KIND + RAY_KIND_COMPILER] = "34",
	[RAY_STYLE_KIND + RAY_KIND_KERNEL] = "94",
	[RAY_STYLE_KIND + RAY_KIND_IDLE] = "90",
	[RAY_STYLE_KIND + RAY_KIND_UNKNOWN] = "90",
	[RAY_STYLE_BOX + RAY_KIND_JS] = "30;102",
	[RAY_STYLE_BOX + RAY_KIND_PACKAGE] = "30;46",
	[RAY_STYLE_BOX + RAY_KIND_NODE] = "30;42",
	[RAY_STYLE_BOX + RAY_KIND_WASM] = "30;105",
	[RAY_STYLE_BOX + RAY_KIND_BUILTIN] = "30;45",
	[RAY_STYLE_BOX + RAY_KIND_NATIVE] = "30;43",
	[RAY_STYLE_BOX + RAY_KIND_GC] = "30;41",
	[RAY_STYLE_BOX + RAY_KIND_COMPILER] = "97;44",
	[RAY_STYLE_BOX + RAY_KIND_KERNEL] = "30;104",
	[RAY_STYLE_BOX + RAY_KIND_IDLE] = "30;47",
	[RAY_STYLE_BOX + RAY_KIND_UNKNOWN] = "30;47",
};

/* Without colours. */
static const char *const letters[RAY_STYLE_COUNT] = {
	[RAY_STYLE_STRONG] = "1", [RAY_STYLE_HEADING] = "7", [RAY_STYLE_SELECTED] = "7",
	[RAY_STYLE_BAD] = "1",	  [RAY_STYLE_WARN] = "1",    [RAY_STYLE_KIND + RAY_KIND_JS] = "1",
};

static const char *code_of(const struct ray_page *p, int style)
{
	if (p->looks == RAY_LOOKS_PLAIN || style < 0 || style >= RAY_STYLE_COUNT)
		return NULL;
	return p->looks == RAY_LOOKS_COLOR ? colors[style] : letters[style];
}

void ray_page_deinit(struct ray_page *p)
{
	for (size_t i = 0; i < p->height; i++)
		ray_text_deinit(&p->lines[i]);
	free(p->lines);
	*p = (struct ray_page){ 0 };
}

bool ray_page_start(struct ray_page *p, size_t width, size_t height, enum ray_page_looks looks)
{
	if (height != p->height) {
		ray_page_deinit(p);
		p->lines = calloc(height ? height : 1, sizeof(*p->lines));
		if (!p->lines)
			return false;
		p->height = height;
	}
	for (size_t i = 0; i < height; i++)
		ray_text_clear(&p->lines[i]);
	p->width = width;
	p->looks = looks;
	p->line = p->column = 0;
	p->style = RAY_STYLE_NONE;
	p->failed = false;
	return true;
}

size_t ray_page_lines_left(const struct ray_page *p)
{
	return p->height - p->line;
}

size_t ray_page_columns_left(const struct ray_page *p)
{
	return p->line < p->height && p->column < p->width ? p->width - p->column : 0;
}

static void set_style(struct ray_page *p, int style)
{
	struct ray_text *line = &p->lines[p->line];
	const char *code = code_of(p, style), *before = code_of(p, p->style);

	if (code != before && (before || code))
		ray_text_printf(line, "\033[%s%s%sm", before ? "0" : "", before && code ? ";" : "", code ? code : "");
	p->style = style;
}

/* Safe text that is known to fit. */
static void append(struct ray_page *p, int style, const char *text)
{
	set_style(p, style);
	ray_text_add(&p->lines[p->line], text);
	p->column += ray_text_width(text);
}

static void blanks(struct ray_page *p, int style, size_t count)
{
	size_t left = ray_page_columns_left(p);

	if (count > left)
		count = left;
	if (!count)
		return;
	set_style(p, style);
	p->column += count;
	while (count--)
		ray_text_add(&p->lines[p->line], " ");
}

void ray_page_cell(struct ray_page *p, int style, const char *text, size_t width, enum ray_align align,
		   enum ray_cut cut)
{
	ray_auto_text safe = { 0 }, fitting = { 0 };
	size_t left = ray_page_columns_left(p), used;

	if (width > left)
		width = left;
	if (!width)
		return;
	ray_text_add_safe(&safe, text, strlen(text));
	ray_view_cut(&fitting, ray_text_get(&safe), width, cut == RAY_CUT_NEVER ? RAY_CUT_END : cut);
	used = ray_text_width(ray_text_get(&fitting));
	if (align == RAY_ALIGN_RIGHT)
		blanks(p, style, width - used);
	append(p, style, ray_text_get(&fitting));
	if (align == RAY_ALIGN_LEFT)
		blanks(p, style, width - used);
	if (safe.failed || fitting.failed)
		p->failed = true;
}

void ray_page_put(struct ray_page *p, int style, const char *text)
{
	ray_auto_text safe = { 0 };
	size_t width;

	ray_text_add_safe(&safe, text, strlen(text));
	width = ray_text_width(ray_text_get(&safe));
	if (width)
		ray_page_cell(p, style, text, width, RAY_ALIGN_LEFT, RAY_CUT_END);
}

void ray_page_printf(struct ray_page *p, int style, const char *fmt, ...)
{
	ray_auto_memory char *text = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0) {
		text = NULL;
		p->failed = true;
	}
	va_end(args);
	if (text)
		ray_page_put(p, style, text);
}

void ray_page_fill(struct ray_page *p, int style, size_t column)
{
	if (column > p->column)
		blanks(p, style, column - p->column);
}

void ray_page_end_line(struct ray_page *p)
{
	if (p->line >= p->height)
		return;
	set_style(p, RAY_STYLE_NONE);
	/* What stood there before goes. Not from the last column: the cursor stands on it, not behind it. */
	if (p->looks != RAY_LOOKS_PLAIN && p->column < p->width)
		ray_text_add(&p->lines[p->line], "\033[K");
	p->failed = p->failed || p->lines[p->line].failed;
	p->line++;
	p->column = 0;
}

void ray_page_end_filled(struct ray_page *p, int style)
{
	ray_page_fill(p, style, p->width);
	ray_page_end_line(p);
}
