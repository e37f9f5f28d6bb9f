/* top_flame.c - the flame graph of the window, callers above, in letters; and the way through it by keys. See top_screen.h. SPDX-License-Identifier: MIT
 *
 * A box is as wide as what it weighs. Boxes of one caller stand in the order of their names: they keep their places when numbers change a little. */
#include <stdlib.h>
#include <string.h>

#include "view/keys.h"
#include "view/top_screen.h"

enum { DEEPEST = 512 /* stacks are cut there */ };

/* ---- boxes ---- */

static const char *name_of(const struct ray_top_answer *a, uint32_t function)
{
	return function ? a->profile->functions.at[function].name : "all";
}

/* The child for this function, in its place among the others, made if it is new; 0 without memory. */
static uint32_t child_get(struct ray_top_screen *s, const struct ray_top_answer *a, uint32_t parent, uint32_t function)
{
	struct ray_top_box new = { .function = function, .parent = parent };
	uint32_t before = 0, at = s->boxes.at[parent].first;
	int order;

	for (; at; before = at, at = s->boxes.at[at].next) {
		if (s->boxes.at[at].function == function)
			return at;
		order = strcmp(name_of(a, s->boxes.at[at].function), name_of(a, function));
		if (order > 0 || (!order && s->boxes.at[at].function > function))
			break;
	}
	new.next = at;
	if (!ray_vec_push(&s->boxes, new)) {
		s->failed = true;
		return 0;
	}
	at = (uint32_t)s->boxes.n - 1;
	if (before)
		s->boxes.at[before].next = at;
	else
		s->boxes.at[parent].first = at;
	return at;
}

/* Nodes that differ only in lines become one box. */
static bool make_boxes(struct ray_top_screen *s, const struct ray_top_answer *a)
{
	const struct ray_profile *p = a->profile;
	ray_auto_memory uint32_t *box_of = calloc(p->nodes.n, sizeof(*box_of));

	s->boxes.n = 0;
	if (!box_of || !ray_vec_push(&s->boxes, (struct ray_top_box){ .total = a->total[0], .self = a->self[0] }))
		return false;
	for (uint32_t i = 1; i < p->nodes.n; i++) {
		uint32_t parent = box_of[p->nodes.at[i].parent], box;

		if (!a->total[i])
			continue;
		box = child_get(s, a, parent, p->frames.at[p->nodes.at[i].frame].function);
		if (!box)
			return false;
		s->boxes.at[box].self += a->self[i];
		s->boxes.at[box].total += a->total[i];
		box_of[i] = box;
	}
	return true;
}

static uint32_t child_find(const struct ray_top_screen *s, const struct ray_top_answer *a, uint32_t parent, uint64_t id)
{
	uint32_t at = s->boxes.at[parent].first;

	while (at && ray_top_function_id(&a->profile->functions.at[s->boxes.at[at].function]) != id)
		at = s->boxes.at[at].next;
	return at;
}

/* As far along the path as it still exists. */
static void find_path(struct ray_top_screen *s, const struct ray_top_answer *a)
{
	uint32_t at = 0, next;
	size_t i;

	s->zoom_box = 0;
	for (i = 0; i < s->path.n && (next = child_find(s, a, at, s->path.at[i])); i++) {
		at = next;
		if (i + 1 == s->zoom)
			s->zoom_box = at;
	}
	s->box = at;
	if (i < s->zoom)
		s->zoom_box = at;
}

void ray_top_flame_update(struct ray_top_screen *s, const struct ray_top_answer *a)
{
	if (make_boxes(s, a)) {
		find_path(s, a);
		return;
	}
	s->failed = true;
	s->boxes.n = 0;
	s->box = s->zoom_box = 0;
}

/* ---- where they stand ---- */

struct piece {
	uint32_t box;
	double start;	 /* before it was rounded */
	size_t from, to; /* columns */
};

typedef RAY_VEC(struct piece) pieces_t;

static void first_row(const struct ray_top_screen *s, size_t width, pieces_t *row)
{
	row->n = 0;
	if (s->boxes.n && s->boxes.at[s->zoom_box].total && width)
		(void)ray_vec_push(row, (struct piece){ s->zoom_box, 0, 0, width });
}

/* What the boxes of a row call, as far as it is wide enough to be seen, from the left to the right. */
static void next_row(const struct ray_top_screen *s, size_t width, pieces_t *row)
{
	double scale = row->n ? (double)width / (double)s->boxes.at[s->zoom_box].total : 0;
	pieces_t next = { 0 };

	for (size_t i = 0; i < row->n; i++) {
		double at = row->at[i].start;

		for (uint32_t box = s->boxes.at[row->at[i].box].first; box; box = s->boxes.at[box].next) {
			double end = at + (double)s->boxes.at[box].total * scale;
			struct piece piece = { box, at, (size_t)(at + 0.5), (size_t)(end + 0.5) };

			if (piece.to > piece.from && !ray_vec_push(&next, piece))
				break;
			at = end;
		}
	}
	ray_vec_free(row);
	*row = next;
}

static size_t depth_of(const struct ray_top_screen *s, uint32_t box)
{
	size_t depth = 0;

	for (; box && box != s->zoom_box; box = s->boxes.at[box].parent)
		depth++;
	return depth;
}

/* ---- keys ---- */

/* The path to a box, as it is remembered. */
static void choose(struct ray_top_screen *s, const struct ray_top_answer *a, uint32_t box)
{
	size_t n = 0;

	for (uint32_t at = box; at; at = s->boxes.at[at].parent)
		n++;
	s->path.n = 0;
	for (size_t i = 0; i < n && i < DEEPEST; i++)
		if (!ray_vec_push(&s->path, 0))
			return;
	for (uint32_t at = box; at; at = s->boxes.at[at].parent)
		if (--n < s->path.n)
			s->path.at[n] = ray_top_function_id(&a->profile->functions.at[s->boxes.at[at].function]);
	s->box = box;
}

static uint32_t heaviest_child(const struct ray_top_screen *s, uint32_t box)
{
	uint32_t best = 0;

	for (uint32_t at = s->boxes.at[box].first; at; at = s->boxes.at[at].next)
		if (!best || s->boxes.at[at].total > s->boxes.at[best].total)
			best = at;
	return best;
}

/* The neighbour in the same row, whoever called it. */
static uint32_t neighbour(const struct ray_top_screen *s, bool is_left)
{
	pieces_t row = { 0 };
	uint32_t found = s->box;

	first_row(s, s->width, &row);
	for (size_t depth = depth_of(s, s->box); depth; depth--)
		next_row(s, s->width, &row);
	for (size_t i = 0; i < row.n; i++) {
		if (row.at[i].box != s->box)
			continue;
		if (is_left && i)
			found = row.at[i - 1].box;
		else if (!is_left && i + 1 < row.n)
			found = row.at[i + 1].box;
	}
	ray_vec_free(&row);
	return found;
}

static void zoom_out(struct ray_top_screen *s, const struct ray_top_answer *a)
{
	uint32_t zoomed = s->zoom_box;

	s->zoom -= s->zoom > 0;
	choose(s, a, zoomed);
}

bool ray_top_flame_key(struct ray_top_screen *s, const struct ray_top_answer *a, uint32_t key)
{
	uint32_t child;

	if (!s->boxes.n)
		return false;
	switch (key) {
	case RAY_KEY_UP:
	case 'k':
		if (s->box != s->zoom_box)
			choose(s, a, s->boxes.at[s->box].parent);
		else if (s->zoom)
			zoom_out(s, a);
		return true;
	case RAY_KEY_DOWN:
	case 'j':
		child = heaviest_child(s, s->box);
		if (child)
			choose(s, a, child);
		return true;
	case RAY_KEY_LEFT:
	case RAY_KEY_RIGHT:
		choose(s, a, neighbour(s, key == RAY_KEY_LEFT));
		return true;
	case RAY_KEY_ENTER:
		s->zoom = s->path.n;
		return true;
	case RAY_KEY_BACKSPACE:
		zoom_out(s, a);
		return true;
	case RAY_KEY_HOME:
		s->zoom = 0;
		choose(s, a, 0);
		return true;
	default:
		return false;
	}
}

/* ---- drawing ---- */

static void draw_piece(const struct ray_top_screen *s, const struct ray_top_answer *a, const struct piece *piece,
		       struct ray_page *page)
{
	uint32_t function = s->boxes.at[piece->box].function;
	const struct ray_profile_function *f = &a->profile->functions.at[function];
	int style = function ? RAY_STYLE_BOX + (int)f->kind : RAY_STYLE_HEADING;

	if (piece->box == s->box)
		style = RAY_STYLE_SELECTED;
	else if (function && *s->pattern)
		style = ray_top_screen_matches(s, f) ? RAY_STYLE_BOX + (int)f->kind : RAY_STYLE_FAINT;
	ray_page_fill(page, RAY_STYLE_NONE, piece->from);
	/* A line where it begins tells it from its neighbour, without colours too. */
	ray_page_put(page, style, piece->box == s->box && page->looks == RAY_LOOKS_PLAIN ? ">" : "|");
	if (piece->to > piece->from + 1)
		ray_page_cell(page, style, name_of(a, function), piece->to - piece->from - 1, RAY_ALIGN_LEFT,
			      RAY_CUT_END);
}

static void draw_chosen(struct ray_top_screen *s, const struct ray_top_answer *a, struct ray_page *page)
{
	const struct ray_top_box *box = &s->boxes.at[s->box];
	ray_auto_text place = { 0 };
	char text[16];

	ray_page_printf(page, RAY_STYLE_STRONG, "%s", name_of(a, box->function));
	ray_page_printf(page, RAY_STYLE_NONE, "  total %s", ray_top_percent(s, a, box->total, text));
	ray_page_printf(page, RAY_STYLE_NONE, "  self %s", ray_top_percent(s, a, box->self, text));
	if (box->function) {
		ray_top_place(&a->profile->functions.at[box->function], &place);
		ray_page_put(page, RAY_STYLE_NONE, "  ");
		ray_page_cell(page, RAY_STYLE_FAINT, ray_text_get(&place), ray_page_columns_left(page), RAY_ALIGN_LEFT,
			      RAY_CUT_START);
	}
	ray_page_end_line(page);
}

void ray_top_draw_flame(struct ray_top_screen *s, const struct ray_top_answer *a, struct ray_page *page, size_t lines)
{
	size_t first, chosen, rows = lines ? lines - 1 : 0;
	pieces_t row = { 0 };

	if (!lines || !s->boxes.n)
		return;
	draw_chosen(s, a, page);
	/* The chosen box stays in sight, and so does what it calls. */
	chosen = depth_of(s, s->box);
	first = rows > 2 && chosen + 2 > rows ? chosen + 2 - rows : 0;
	first_row(s, page->width, &row);
	for (size_t i = 0; i < first + rows && row.n; next_row(s, page->width, &row), i++) {
		if (i < first)
			continue;
		for (size_t k = 0; k < row.n; k++)
			draw_piece(s, a, &row.at[k], page);
		ray_page_end_line(page);
	}
	ray_vec_free(&row);
}
