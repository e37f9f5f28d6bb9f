/* top_help.c - the keys of `noderay top`, on its own screen. See top_screen.h. SPDX-License-Identifier: MIT */
#include "view/top_screen.h"

static const struct {
	const char *keys, *what;
} lines[] = {
	{ "Up Down PgUp PgDn Home End", "choose a function" },
	{ "Enter", "its hottest lines, its callers, what it calls; Enter goes on" },
	{ "f", "flame graph: arrows, Enter zooms, Backspace goes out again" },
	{ "s  t  n", "sort by self, total, name" },
	{ "/", "show functions whose name, file or kind matches" },
	{ "1 2 3 4 5 6", "hide packages, node, builtins, native, gc+compiler, kernel:" },
	{ "", "what hidden functions use counts for their callers; 0 shows all" },
	{ "Tab  Shift-Tab", "one thread, or group of threads, after the other" },
	{ "w  W", "a longer or shorter window of time" },
	{ "c", "everything since the start, or the window" },
	{ "%", "percent of the samples, or of one CPU" },
	{ "Space", "pause; samples are still taken" },
	{ "r", "reset: begin anew" },
	{ "Esc", "one step back" },
	{ "q", "quit" },
};

void ray_top_draw_help(const struct ray_top_screen *s, struct ray_page *page, size_t room)
{
	size_t column = page->width >= 70 ? 28 : 14;

	(void)s;
	if (room > RAY_COUNT(lines) + 4) {
		ray_page_put(page, RAY_STYLE_STRONG, "noderay top: where a running node spends its time");
		ray_page_end_line(page);
		ray_page_end_line(page);
	}
	for (size_t i = 0; i < RAY_COUNT(lines) && i < room; i++) {
		ray_page_cell(page, RAY_STYLE_STRONG, lines[i].keys, column, RAY_ALIGN_LEFT, RAY_CUT_END);
		ray_page_put(page, RAY_STYLE_NONE, lines[i].what);
		ray_page_end_line(page);
	}
	if (room > RAY_COUNT(lines) + 4) {
		ray_page_end_line(page);
		ray_page_put(page, RAY_STYLE_FAINT,
			     "self: in the function itself; total: with what it calls. lag: how long a");
		ray_page_end_line(page);
		ray_page_put(page, RAY_STYLE_FAINT, "round of the loop kept whatever came meanwhile waiting.");
		ray_page_end_line(page);
	}
}
