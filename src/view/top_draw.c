/* top_draw.c - the screen of `noderay top`: its heading, its list, its last line. See top_screen.h. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/duration.h"
#include "view/top_screen.h"

/* Pages as low as this leave parts of the heading out. */
enum { LOW = 12, MIDDLE = 16, NARROW = 60, VERY_NARROW = 48, LINES_PER_GROUP = 4 };

/* ---- words ---- */

const char *ray_top_percent(const struct ray_top_screen *s, const struct ray_top_answer *a, int64_t weight,
			    char out[16])
{
	double whole = (double)a->weight;

	if (s->in_cpus && s->period_ns)
		whole = (double)a->length_ns / (double)s->period_ns;
	snprintf(out, 16, "%.1f%%", whole > 0 ? 100 * (double)weight / whole : 0);
	return out;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

void ray_top_place(const struct ray_profile_function *f, struct ray_text *out)
{
	bool is_js = f->kind == RAY_KIND_JS || f->kind == RAY_KIND_PACKAGE || f->kind == RAY_KIND_NODE;

	if (!*f->file)
		return;
	ray_text_add(out, is_js ? f->file : base_name(f->file));
	if (f->line > 0)
		ray_text_printf(out, ":%d", f->line);
}

static int by_limit(double value, double warn, double bad)
{
	if (value >= bad)
		return RAY_STYLE_BAD;
	return value >= warn ? RAY_STYLE_WARN : RAY_STYLE_NONE;
}

/* ---- heading ---- */

/* What is at the right end of the first line. */
static void state_text(const struct ray_top_screen *s, const struct ray_top_answer *a, struct ray_text *out)
{
	char age[24];

	if (s->is_paused)
		ray_text_add(out, "PAUSED  ");
	if (s->is_batch)
		ray_text_add(out, ray_duration_format(a->length_ns, age));
	else if (s->is_cumulative)
		ray_text_printf(out, "all of %s", ray_format_age(a->length_ns / 1000000000, age));
	else
		ray_text_printf(out, "last %s", ray_format_age(ray_top_windows[s->window] / 1000000000, age));
	if (*s->source)
		ray_text_printf(out, ", %s", s->source);
}

static void draw_title(const struct ray_top_screen *s, const struct ray_top_answer *a, struct ray_page *page)
{
	const struct ray_top_figures *f = &a->figures;
	ray_auto_text left = { 0 }, right = { 0 };
	char age[16];
	size_t room, width = ray_page_columns_left(page);

	ray_text_printf(&left, "%u %s", f->process.pid, f->title);
	if (f->processes > 1)
		ray_text_printf(&left, " + %zu", f->processes - 1);
	if (*f->version)
		ray_text_printf(&left, "  node %s", f->version);
	if (f->process.uptime_s)
		ray_text_printf(&left, "  up %s", ray_format_age(f->process.uptime_s, age));
	state_text(s, a, &right);
	room = ray_text_width(ray_text_get(&right)) + 2;
	room = width > 2 * room ? width - room : width;
	ray_page_cell(page, RAY_STYLE_STRONG, ray_text_get(&left), room, RAY_ALIGN_LEFT, RAY_CUT_END);
	ray_page_put(page, s->is_paused ? RAY_STYLE_WARN : RAY_STYLE_NONE, "  ");
	ray_page_put(page, s->is_paused ? RAY_STYLE_WARN : RAY_STYLE_NONE, ray_text_get(&right));
	ray_page_end_line(page);
}

static int heap_style(const struct ray_top_figures *f)
{
	double limit = (double)f->process.heap_limit;

	return limit > 0 && f->processes == 1 ? by_limit((double)f->heap, 0.8 * limit, 0.9 * limit) : RAY_STYLE_NONE;
}

static void draw_usage(const struct ray_top_answer *a, struct ray_page *page)
{
	const struct ray_top_figures *f = &a->figures;
	char size[8];

	ray_page_printf(page, RAY_STYLE_STRONG, "CPU %.1f%%", 100 * f->cpu);
	ray_page_printf(page, RAY_STYLE_NONE, "  RSS %s", ray_format_size(f->rss, size));
	if (f->heap)
		ray_page_printf(page, heap_style(f), "  heap %s", ray_format_size(f->heap, size));
	if (f->heap && f->process.heap_limit && f->processes == 1)
		ray_page_printf(page, RAY_STYLE_NONE, " of %s", ray_format_size(f->process.heap_limit, size));
	ray_page_printf(page, RAY_STYLE_NONE, "  threads %zu", f->threads);
	if (f->has_requests)
		ray_page_printf(page, RAY_STYLE_NONE, "  requests %.0f/s", f->requests);
	if (a->lost_samples)
		ray_page_printf(page, RAY_STYLE_WARN, "  lost %" PRIu64, a->lost_samples);
	ray_page_end_line(page);
}

static void draw_lag(const struct ray_top_loop *l, struct ray_page *page)
{
	char text[24];

	if (l->iterations) {
		ray_page_printf(page, RAY_STYLE_NONE, " p50 %s", ray_duration_format(l->p50, text));
		ray_page_printf(page, by_limit((double)l->p99, 20e6, 100e6), " p99 %s",
				ray_duration_format(l->p99, text));
	}
	ray_page_printf(page, by_limit((double)l->max, 100e6, 1e9), " max %s", ray_duration_format(l->max, text));
}

static void draw_events(const struct ray_top_answer *a, struct ray_page *page)
{
	const struct ray_top_figures *f = &a->figures;
	char text[24];

	if (f->loop.is_known) {
		ray_page_printf(page, by_limit(f->loop.utilization, 0.7, 0.9), "loop %.0f%%",
				100 * f->loop.utilization);
		ray_page_put(page, RAY_STYLE_NONE, " busy, lag");
		draw_lag(&f->loop, page);
	} else {
		ray_page_put(page, RAY_STYLE_FAINT, "loop -");
	}
	ray_page_put(page, RAY_STYLE_NONE, "  ");
	if (!f->has_gc) {
		ray_page_put(page, RAY_STYLE_FAINT, "GC -");
	} else {
		ray_page_printf(page, by_limit(f->gc_share, 0.1, 0.2), "GC %.1f%%", 100 * f->gc_share);
		if (f->gc_count)
			ray_page_printf(page, RAY_STYLE_NONE, ", %" PRIu64 ", max %s", f->gc_count,
					ray_duration_format(f->gc_longest, text));
	}
	ray_page_end_line(page);
}

/* Kinds are shown together as the keys 1 to 6 take them. */
static const struct {
	const char *label;
	enum ray_profile_kind kind, other; /* the same kind twice: only one */
} shares[] = {
	{ "js", RAY_KIND_JS, RAY_KIND_JS },
	{ "packages", RAY_KIND_PACKAGE, RAY_KIND_PACKAGE },
	{ "node", RAY_KIND_NODE, RAY_KIND_NODE },
	{ "builtins", RAY_KIND_BUILTIN, RAY_KIND_WASM },
	{ "native", RAY_KIND_NATIVE, RAY_KIND_UNKNOWN },
	{ "gc+compiler", RAY_KIND_GC, RAY_KIND_COMPILER },
	{ "kernel", RAY_KIND_KERNEL, RAY_KIND_KERNEL },
};

static void draw_kinds(const struct ray_top_screen *s, const struct ray_top_answer *a, struct ray_page *page)
{
	int64_t all = 0;

	for (size_t i = 0; i < RAY_KIND_COUNT; i++)
		all += i == RAY_KIND_IDLE ? 0 : a->kinds[i];
	for (size_t i = 0; i < RAY_COUNT(shares); i++) {
		int64_t weight = a->kinds[shares[i].kind];
		bool is_hidden = s->hidden & 1u << shares[i].kind;

		if (shares[i].other != shares[i].kind)
			weight += a->kinds[shares[i].other];
		if (i)
			ray_page_put(page, RAY_STYLE_NONE, " ");
		ray_page_printf(page, is_hidden ? RAY_STYLE_FAINT : RAY_STYLE_KIND + (int)shares[i].kind,
				is_hidden ? "(%s %.0f%%)" : "%s %.0f%%", shares[i].label,
				all ? 100 * (double)weight / (double)all : 0);
	}
	ray_page_end_line(page);
}

static void draw_group(const struct ray_top_screen *s, const struct ray_top_group *g, struct ray_page *page)
{
	bool is_chosen = s->group == g->id;
	int style = is_chosen ? RAY_STYLE_STRONG : RAY_STYLE_NONE;
	size_t bar = (size_t)(g->cpu * 20 + 0.5);
	char text[32];

	ray_page_put(page, style, is_chosen ? ">" : " ");
	ray_page_cell(page, style, g->label, 24, RAY_ALIGN_LEFT, RAY_CUT_END);
	snprintf(text, sizeof(text), "%.1f%%", 100 * g->cpu);
	ray_page_cell(page, style, text, 8, RAY_ALIGN_RIGHT, RAY_CUT_NEVER);
	ray_page_put(page, style, " ");
	if (g->loop.is_known) {
		ray_page_printf(page, by_limit(g->loop.utilization, 0.7, 0.9), "loop %3.0f%%",
				100 * g->loop.utilization);
		draw_lag(&g->loop, page);
	} else {
		ray_page_printf(page, RAY_STYLE_FAINT, "%.*s", bar > 20 ? 20 : (int)bar, "####################");
	}
	ray_page_end_line(page);
}

static void draw_more_groups(const struct ray_top_figures *f, size_t from, struct ray_page *page)
{
	size_t threads = 0;
	double cpu = 0;

	for (size_t i = from; i < f->group_count; i++) {
		cpu += f->groups[i].cpu;
		threads += f->groups[i].threads;
	}
	ray_page_printf(page, RAY_STYLE_FAINT, " %-24s%7.1f%%", "others", 100 * cpu);
	ray_page_printf(page, RAY_STYLE_FAINT, " %zu thread%s", threads, threads == 1 ? "" : "s");
	ray_page_end_line(page);
}

/* One line each, the last for all that are left; the chosen one is always among them. */
static void draw_groups(const struct ray_top_screen *s, const struct ray_top_answer *a, struct ray_page *page,
			size_t lines)
{
	const struct ray_top_figures *f = &a->figures;
	size_t alone = f->group_count <= lines ? f->group_count : lines - 1, chosen = 0;

	for (size_t i = 0; i < f->group_count; i++)
		if (f->groups[i].id == s->group)
			chosen = i;
	for (size_t i = 0; i < alone; i++)
		draw_group(s, &f->groups[i + 1 == alone && chosen > i ? chosen : i], page);
	if (alone < f->group_count)
		draw_more_groups(f, alone, page);
}

void ray_top_draw_all_head(struct ray_top_screen *s, const struct ray_top_answer *a, struct ray_page *page)
{
	draw_title(s, a, page);
	draw_usage(a, page);
	draw_events(a, page);
	draw_kinds(s, a, page);
	draw_groups(s, a, page, a->figures.group_count);
}

void ray_top_draw_head(struct ray_top_screen *s, const struct ray_top_answer *a, struct ray_page *page)
{
	size_t lines = page->height / LINES_PER_GROUP - 2;

	draw_title(s, a, page);
	draw_usage(a, page);
	draw_events(a, page);
	if (page->height >= LOW)
		draw_kinds(s, a, page);
	if (page->height >= MIDDLE)
		draw_groups(s, a, page, lines);
}

/* ---- functions ---- */

struct columns {
	size_t kind, name, place;
};

static struct columns columns_of(size_t width)
{
	struct columns c = { .kind = width >= NARROW ? 9 : 0 };
	size_t rest = width > 15 + c.kind ? width - 15 - c.kind : 1;

	c.place = width >= VERY_NARROW ? rest * 2 / 5 : rest / 3;
	c.name = rest > c.place + 1 ? rest - c.place - 1 : rest;
	return c;
}

static void draw_list_heading(const struct ray_top_screen *s, struct ray_page *page)
{
	struct columns c = columns_of(page->width);
	const char *of = s->in_cpus ? " of a CPU" : "";
	ray_auto_text name = { 0 };

	ray_text_printf(&name, "FUNCTION%s", s->order == RAY_TOP_BY_NAME ? "*" : "");
	if (*s->pattern)
		ray_text_printf(&name, " /%s/", s->pattern);
	if (*of)
		ray_text_printf(&name, " (%%%s)", of);
	ray_page_cell(page, RAY_STYLE_HEADING, s->order == RAY_TOP_BY_SELF ? "SELF*" : "SELF", 6, RAY_ALIGN_RIGHT,
		      RAY_CUT_NEVER);
	ray_page_cell(page, RAY_STYLE_HEADING, s->order == RAY_TOP_BY_TOTAL ? "TOTAL*" : "TOTAL", 7, RAY_ALIGN_RIGHT,
		      RAY_CUT_NEVER);
	ray_page_put(page, RAY_STYLE_HEADING, "  ");
	if (c.kind)
		ray_page_cell(page, RAY_STYLE_HEADING, "KIND", c.kind, RAY_ALIGN_LEFT, RAY_CUT_NEVER);
	ray_page_cell(page, RAY_STYLE_HEADING, ray_text_get(&name), c.name, RAY_ALIGN_LEFT, RAY_CUT_END);
	ray_page_put(page, RAY_STYLE_HEADING, " ");
	ray_page_cell(page, RAY_STYLE_HEADING, "PLACE", c.place, RAY_ALIGN_LEFT, RAY_CUT_END);
	ray_page_end_filled(page, RAY_STYLE_HEADING);
}

void ray_top_draw_function(struct ray_top_screen *s, const struct ray_top_answer *a, struct ray_page *page,
			   const struct ray_profile_row *row, bool is_selected)
{
	const struct ray_profile_function *f = &a->profile->functions.at[row->function];
	int style = is_selected ? RAY_STYLE_SELECTED : RAY_STYLE_NONE;
	int kind = is_selected ? RAY_STYLE_SELECTED : RAY_STYLE_KIND + (int)f->kind;
	struct columns c = columns_of(page->width);
	ray_auto_text place = { 0 };
	char text[16];

	ray_top_place(f, &place);
	ray_page_cell(page, style, row->self < 0 ? "" : ray_top_percent(s, a, row->self, text), 6, RAY_ALIGN_RIGHT,
		      RAY_CUT_NEVER);
	ray_page_cell(page, style, ray_top_percent(s, a, row->total, text), 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER);
	ray_page_put(page, style, "  ");
	if (c.kind)
		ray_page_cell(page, kind, ray_profile_kind_word(f->kind), c.kind, RAY_ALIGN_LEFT, RAY_CUT_NEVER);
	/* Of C++ the end says more than the namespaces. */
	ray_page_cell(page, kind, f->name, c.name, RAY_ALIGN_LEFT, strstr(f->name, "::") ? RAY_CUT_START : RAY_CUT_END);
	ray_page_put(page, style, " ");
	ray_page_cell(page, is_selected ? style : RAY_STYLE_FAINT, ray_text_get(&place), c.place, RAY_ALIGN_LEFT,
		      RAY_CUT_START);
	ray_page_end_line(page);
}

static const char *why_empty(const struct ray_top_screen *s, const struct ray_top_answer *a)
{
	if (*s->pattern && a->row_count)
		return "no function matches; Esc takes the filter back";
	if (a->weight)
		return "all that ran is hidden; 0 shows it";
	if (s->group)
		return "this thread did not run; Tab chooses another";
	return a->length_ns ? "nothing ran: the process waits" : "collecting...";
}

void ray_top_draw_list(struct ray_top_screen *s, const struct ray_top_answer *a, struct ray_page *page, size_t lines)
{
	if (!lines)
		return;
	draw_list_heading(s, page);
	s->rows = lines - 1;
	if (s->cursor < s->first)
		s->first = s->cursor;
	if (s->rows && s->cursor >= s->first + s->rows)
		s->first = s->cursor - s->rows + 1;
	if (s->first + s->rows > s->list.n)
		s->first = s->list.n > s->rows ? s->list.n - s->rows : 0;
	for (size_t i = s->first; i < s->list.n && i < s->first + s->rows; i++)
		ray_top_draw_function(s, a, page, &a->rows[s->list.at[i]], i == s->cursor);
	if (!s->list.n) {
		ray_page_printf(page, RAY_STYLE_FAINT, "  %s", why_empty(s, a));
		ray_page_end_line(page);
	}
}

/* ---- all of it ---- */

static const char *const hints[] = {
	[RAY_TOP_LIST] = "q quit  ? help  / filter  f flame  Enter callers  s t n sort  Space pause  Tab thread",
	[RAY_TOP_DETAIL] = "Esc list  Enter go there  Backspace back  f flame  Space pause  ? help  q quit",
	[RAY_TOP_FLAME] = "arrows move  Enter zoom  Backspace out  / mark  f list  Space pause  ? help  q quit",
	[RAY_TOP_HELP] = "any key goes back",
};

static void draw_foot(const struct ray_top_screen *s, const struct ray_top_answer *a, struct ray_page *page)
{
	while (ray_page_lines_left(page) > 1)
		ray_page_end_line(page);
	if (s->is_typing) {
		ray_page_printf(page, RAY_STYLE_STRONG, "/%s", s->pattern);
		ray_page_put(page, RAY_STYLE_SELECTED, " ");
	} else if (*s->message) {
		ray_page_put(page, RAY_STYLE_WARN, s->message);
	} else if (s->is_cumulative && a->dropped) {
		ray_page_printf(page, RAY_STYLE_WARN, "%.1f%% of all samples have stacks too rare to be kept",
				100 * (double)a->dropped / (double)(a->dropped + a->weight));
	} else {
		ray_page_put(page, RAY_STYLE_FAINT, hints[s->view]);
	}
	ray_page_end_line(page);
}

void ray_top_screen_draw(struct ray_top_screen *s, const struct ray_top_answer *a, struct ray_page *page)
{
	size_t lines;

	s->width = page->width;
	if (s->view == RAY_TOP_HELP) {
		ray_top_draw_help(s, page, page->height ? page->height - 1 : 0);
		draw_foot(s, a, page);
		return;
	}
	ray_top_draw_head(s, a, page);
	lines = ray_page_lines_left(page) > 1 ? ray_page_lines_left(page) - 1 : 0;
	if (s->view == RAY_TOP_LIST)
		ray_top_draw_list(s, a, page, lines);
	else if (s->view == RAY_TOP_DETAIL)
		ray_top_draw_detail(s, a, page, lines);
	else
		ray_top_draw_flame(s, a, page, lines);
	draw_foot(s, a, page);
}
