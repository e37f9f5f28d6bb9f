/* top_detail.c - one function: its hottest lines, who calls it, what it calls. See top_screen.h. SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "view/keys.h"
#include "view/top_screen.h"

enum { MOST_LINES = 5 /* of code */ };

static uint32_t function_of(const struct ray_profile *p, uint32_t node)
{
	return p->frames.at[p->nodes.at[node].frame].function;
}

static void relate(struct ray_top_screen *s, struct ray_top_relation r)
{
	for (size_t i = 0; i < s->relations.n; i++) {
		struct ray_top_relation *known = &s->relations.at[i];

		if (known->what != r.what || known->function != r.function || known->line != r.line)
			continue;
		known->self += r.what == RAY_TOP_CALLER ? 0 : r.self;
		known->total += r.total;
		return;
	}
	if (!ray_vec_push(&s->relations, r))
		s->failed = true;
}

/* Does a node above this one have the function, and (unless 0) has that one called `callee`? Then all of this was counted there. */
static bool is_counted(const struct ray_profile *p, uint32_t node, uint32_t function, uint32_t callee)
{
	uint32_t below = node;

	for (uint32_t at = p->nodes.at[node].parent; at; below = at, at = p->nodes.at[at].parent)
		if (function_of(p, at) == function && (!callee || (below != node && function_of(p, below) == callee)))
			return true;
	return false;
}

static void take_node(struct ray_top_screen *s, const struct ray_top_answer *a, uint32_t node, uint32_t function)
{
	const struct ray_profile *p = a->profile;
	uint32_t parent = p->nodes.at[node].parent, here = function_of(p, node);
	int line = p->frames.at[p->nodes.at[node].frame].line;

	if (here == function) {
		bool is_first = !is_counted(p, node, function, 0);

		if (line > 0)
			relate(s, (struct ray_top_relation){ RAY_TOP_LINE, function, line, a->self[node],
							     is_first ? a->total[node] : 0 });
		if (is_first)
			relate(s, (struct ray_top_relation){ RAY_TOP_CALLER, parent ? function_of(p, parent) : 0, 0, -1,
							     a->total[node] });
	}
	if (parent && function_of(p, parent) == function && !is_counted(p, node, function, here))
		relate(s, (struct ray_top_relation){ RAY_TOP_CALLEE, here, 0, a->self[node], a->total[node] });
}

static int by_weight(const void *x, const void *y)
{
	const struct ray_top_relation *a = x, *b = y;

	if (a->what != b->what)
		return a->what < b->what ? -1 : 1;
	if (a->what == RAY_TOP_LINE && a->self != b->self)
		return a->self < b->self ? 1 : -1;
	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

static bool is_place(const struct ray_top_relation *r)
{
	return r->what != RAY_TOP_LINE && r->function;
}

/* Only so many lines of code: the rest of the room is for functions. */
static void drop_lines(struct ray_top_screen *s)
{
	size_t lines = 0, drop;

	while (lines < s->relations.n && s->relations.at[lines].what == RAY_TOP_LINE)
		lines++;
	if (lines <= MOST_LINES)
		return;
	drop = lines - MOST_LINES;
	memmove(s->relations.at + MOST_LINES, s->relations.at + lines,
		(s->relations.n - lines) * sizeof(*s->relations.at));
	s->relations.n -= drop;
}

void ray_top_detail_update(struct ray_top_screen *s, const struct ray_top_answer *a)
{
	uint32_t function = s->trail.n ? ray_top_function_find(a, s->trail.at[s->trail.n - 1]) : 0;

	s->relations.n = 0;
	for (uint32_t i = 1; function && i < a->profile->nodes.n; i++)
		if (a->total[i])
			take_node(s, a, i, function);
	if (s->relations.n)
		qsort(s->relations.at, s->relations.n, sizeof(*s->relations.at), by_weight);
	drop_lines(s);
}

/* ---- keys ---- */

/* The cursor counts functions alone: callers, then callees. */
static size_t place_count(const struct ray_top_screen *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->relations.n; i++)
		n += is_place(&s->relations.at[i]);
	return n;
}

static const struct ray_top_relation *place_at(const struct ray_top_screen *s, size_t at)
{
	for (size_t i = 0; i < s->relations.n; i++)
		if (is_place(&s->relations.at[i]) && !at--)
			return &s->relations.at[i];
	return NULL;
}

static void go(struct ray_top_screen *s, const struct ray_top_answer *a)
{
	const struct ray_top_relation *r = place_at(s, s->place);

	if (r && ray_vec_push(&s->trail, ray_top_function_id(&a->profile->functions.at[r->function])))
		s->place = 0;
}

static void back(struct ray_top_screen *s)
{
	s->place = 0;
	if (s->trail.n)
		s->trail.n--;
	if (!s->trail.n)
		s->view = RAY_TOP_LIST;
}

bool ray_top_detail_key(struct ray_top_screen *s, const struct ray_top_answer *a, uint32_t key)
{
	size_t count = place_count(s);

	switch (key) {
	case RAY_KEY_UP:
	case 'k':
		s->place -= s->place > 0;
		return true;
	case RAY_KEY_DOWN:
	case 'j':
		s->place += s->place + 1 < count;
		return true;
	case RAY_KEY_HOME:
		s->place = 0;
		return true;
	case RAY_KEY_END:
		s->place = count ? count - 1 : 0;
		return true;
	case RAY_KEY_ENTER:
	case RAY_KEY_RIGHT:
		go(s, a);
		return true;
	case RAY_KEY_BACKSPACE:
	case RAY_KEY_LEFT:
		back(s);
		return true;
	default:
		return false;
	}
}

/* ---- drawing ---- */

static const char *const titles[] = {
	[RAY_TOP_LINE] = "LINES", [RAY_TOP_CALLER] = "CALLED BY", [RAY_TOP_CALLEE] = "CALLS"
};

static const struct ray_profile_row *row_of(const struct ray_top_answer *a, uint32_t function)
{
	for (size_t i = 0; i < a->row_count; i++)
		if (a->rows[i].function == function)
			return &a->rows[i];
	return NULL;
}

static void draw_title(struct ray_top_screen *s, const struct ray_top_answer *a, uint32_t function,
		       struct ray_page *page)
{
	const struct ray_profile_function *f = &a->profile->functions.at[function];
	const struct ray_profile_row *row = row_of(a, function);
	ray_auto_text place = { 0 };
	char text[16];

	ray_page_printf(page, RAY_STYLE_HEADING, "%s  self ", f->name);
	ray_page_put(page, RAY_STYLE_HEADING, ray_top_percent(s, a, row ? row->self : 0, text));
	ray_page_put(page, RAY_STYLE_HEADING, "  total ");
	ray_page_put(page, RAY_STYLE_HEADING, ray_top_percent(s, a, row ? row->total : 0, text));
	ray_page_end_filled(page, RAY_STYLE_HEADING);
	ray_top_place(f, &place);
	ray_page_printf(page, RAY_STYLE_KIND + (int)f->kind, "%s  ", ray_profile_kind_word(f->kind));
	ray_page_cell(page, RAY_STYLE_NONE, ray_text_get(&place), ray_page_columns_left(page), RAY_ALIGN_LEFT,
		      RAY_CUT_START);
	ray_page_end_line(page);
}

static void draw_code_line(struct ray_top_screen *s, const struct ray_top_answer *a, const struct ray_top_relation *r,
			   struct ray_page *page)
{
	char text[16];

	ray_page_cell(page, RAY_STYLE_NONE, ray_top_percent(s, a, r->self, text), 6, RAY_ALIGN_RIGHT, RAY_CUT_NEVER);
	ray_page_cell(page, RAY_STYLE_NONE, ray_top_percent(s, a, r->total, text), 7, RAY_ALIGN_RIGHT, RAY_CUT_NEVER);
	ray_page_printf(page, RAY_STYLE_NONE, "  line %d", r->line);
	ray_page_end_line(page);
}

static void draw_relation(struct ray_top_screen *s, const struct ray_top_answer *a, const struct ray_top_relation *r,
			  bool is_selected, struct ray_page *page)
{
	struct ray_profile_row row = { .function = r->function, .self = r->self, .total = r->total };
	char text[16];

	if (r->what == RAY_TOP_LINE) {
		draw_code_line(s, a, r, page);
	} else if (!r->function) {
		ray_page_cell(page, RAY_STYLE_NONE, ray_top_percent(s, a, r->total, text), 13, RAY_ALIGN_RIGHT,
			      RAY_CUT_NEVER);
		ray_page_put(page, RAY_STYLE_FAINT, "  nobody: threads begin here, or callers are hidden");
		ray_page_end_line(page);
	} else {
		ray_top_draw_function(s, a, page, &row, is_selected);
	}
}

/* Lines as they would be drawn: a title before the first of each sort. */
static void draw_relations(struct ray_top_screen *s, const struct ray_top_answer *a, struct ray_page *page,
			   size_t lines)
{
	size_t at = 0, chosen = 0, skip, line = 0, place = 0;

	for (size_t i = 0; i < s->relations.n; i++) { /* where the chosen one is */
		at += 1 + (!i || s->relations.at[i].what != s->relations.at[i - 1].what);
		if (is_place(&s->relations.at[i]) && place++ == s->place)
			chosen = at - 1;
	}
	skip = chosen >= lines ? chosen - lines + 1 : 0;
	place = 0;
	for (size_t i = 0; i < s->relations.n; i++) {
		const struct ray_top_relation *r = &s->relations.at[i];
		bool is_chosen = is_place(r) && place++ == s->place;

		if (!i || r->what != s->relations.at[i - 1].what) {
			if (line >= skip && line < skip + lines) {
				ray_page_put(page, RAY_STYLE_STRONG, titles[r->what]);
				ray_page_end_line(page);
			}
			line++;
		}
		if (line >= skip && line < skip + lines)
			draw_relation(s, a, r, is_chosen, page);
		line++;
	}
}

void ray_top_draw_detail(struct ray_top_screen *s, const struct ray_top_answer *a, struct ray_page *page, size_t lines)
{
	uint32_t function = s->trail.n ? ray_top_function_find(a, s->trail.at[s->trail.n - 1]) : 0;

	if (!lines)
		return;
	if (!function) {
		ray_page_put(page, RAY_STYLE_FAINT, "  it did not run in this time; Esc goes back");
		ray_page_end_line(page);
		return;
	}
	draw_title(s, a, function, page);
	if (lines > 2)
		draw_relations(s, a, page, lines - 2);
}
