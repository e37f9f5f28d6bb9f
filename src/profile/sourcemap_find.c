/* sourcemap_find.c - the mappings of a source map: decoded, and asked. See sourcemap.h. SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/search.h"
#include "profile/sourcemap_internal.h"

enum { STRIDE = 64 }; /* mappings between two marks */

/* ---- mappings ---- */

static const int8_t *digits(void)
{
	static int8_t table[256];
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	if (!table['A' + 1]) {
		memset(table, -1, sizeof(table));
		for (int8_t i = 0; i < 64; i++)
			table[(uint8_t)alphabet[i]] = i;
	}
	return table;
}

/* One number of variable length: five bits a digit, the lowest first, the lowest of all is the sign. */
static bool take_number(const struct ray_source_part *p, size_t *at, int64_t *ret)
{
	const int8_t *table = digits();
	uint64_t value = 0;

	for (int shift = 0; shift <= 30; shift += 5) {
		int digit = *at < p->length ? table[(uint8_t)p->mappings[*at]] : -1;

		if (digit < 0)
			return false;
		++*at;
		value |= (uint64_t)(digit & 31) << shift;
		if (!(digit & 32)) {
			*ret = value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
			return true;
		}
	}
	return false;
}

static bool is_end(const struct ray_source_part *p, size_t at)
{
	return at >= p->length || p->mappings[at] == ',' || p->mappings[at] == ';';
}

/* How many numbers a mapping has: 1 (no source), 4, or 5 (with a name). */
struct mapping {
	int numbers;
};

static bool in_range(int64_t value, int64_t most)
{
	return value >= 0 && value <= most;
}

/* The mapping at s->at; then s stands behind it. What is wrong is *why. */
static bool take_mapping(const struct ray_source_part *p, struct ray_source_state *s, struct mapping *ret,
			 const char **why)
{
	int64_t n[5] = { 0 };

	ret->numbers = 0;
	while (!is_end(p, s->at)) {
		if (ret->numbers == 5 || !take_number(p, &s->at, &n[ret->numbers])) {
			*why = "a mapping that is no list of numbers";
			return false;
		}
		ret->numbers++;
	}
	if (ret->numbers != 1 && ret->numbers != 4 && ret->numbers != 5) {
		*why = "a mapping of too few numbers";
		return false;
	}
	if (n[0] < 0 && s->column) {
		*why = "columns that go back";
		return false;
	}
	n[0] += s->column;
	s->source += n[1];
	s->source_line += n[2];
	s->source_column += n[3];
	s->name += n[4];
	if (!in_range(n[0], RAY_SOURCE_MOST) || !in_range(s->source_line, RAY_SOURCE_MOST) ||
	    !in_range(s->source_column, RAY_SOURCE_MOST) || !in_range(s->source, RAY_SOURCE_MOST) ||
	    !in_range(s->name, RAY_SOURCE_MOST)) {
		*why = "a mapping to a place that cannot be";
		return false;
	}
	s->column = (uint32_t)n[0];
	return true;
}

/* To the next mapping, over what separates them. False: there is none. */
static bool skip_separators(const struct ray_source_part *p, struct ray_source_state *s)
{
	for (; s->at < p->length; s->at++) {
		if (p->mappings[s->at] == ';') {
			s->line++;
			s->column = 0;
		} else if (p->mappings[s->at] != ',') {
			return true;
		}
	}
	return false;
}

const char *ray_source_part_index(struct ray_source_part *p)
{
	struct ray_source_state s = { 0 };
	struct mapping mapping;
	const char *why = NULL;

	while (skip_separators(p, &s)) {
		if (s.line > RAY_SOURCE_MOST)
			return "too many lines";
		if (p->count % STRIDE == 0 && !ray_vec_push(&p->marks, s))
			return "no memory";
		if (!take_mapping(p, &s, &mapping, &why))
			return why;
		/* Sources and names may stand behind the mappings in the file: they are looked at when they are needed. */
		p->count++;
	}
	return NULL;
}

/* ---- asking ---- */

static bool is_before(uint32_t line, uint32_t column, uint32_t other_line, uint32_t other_column)
{
	return line < other_line || (line == other_line && column < other_column);
}

/* The part that the place lies in; NULL: before the first. */
static const struct ray_source_part *find_part(const struct ray_source_map *m, uint32_t line, uint32_t column)
{
	size_t up_to = ray_search(m->parts.at, m->parts.n, one, !is_before(line, column, one->line, one->column));

	return up_to ? &m->parts.at[up_to - 1] : NULL;
}

/* The last mark from which a mapping at the place, or before, can be reached. The mapping behind a mark may already be past the place. */
static size_t find_mark(const struct ray_source_part *p, uint32_t line, uint32_t column)
{
	size_t up_to = ray_search(p->marks.at, p->marks.n, one, !is_before(line, column, one->line, one->column));

	return up_to ? up_to - 1 : 0;
}

static void set_place(const struct ray_source_part *p, const struct ray_source_state *s, const struct mapping *mapping,
		      struct ray_source_place *ret)
{
	*ret = (struct ray_source_place){ .at_line = (int)(s->line + p->line) + 1,
					  .at_column = (int)(s->column + (s->line ? 0 : p->column)) + 1,
					  .root = p->root };
	if (mapping->numbers == 1 || (size_t)s->source >= p->source_count)
		return;
	ret->source = p->sources[s->source];
	ret->line = (int)s->source_line + 1;
	ret->column = (int)s->source_column + 1;
	if (mapping->numbers == 5 && (size_t)s->name < p->name_count)
		ret->name = p->names[s->name];
}

/* Decodes from a mark on, up to the place; gives the mappings of the line in their order. */
static void walk(const struct ray_source_part *p, size_t mark, uint32_t line, uint32_t column,
		 void (*each)(void *arg, const struct ray_source_state *s, const struct mapping *m), void *arg)
{
	struct ray_source_state s = p->marks.at[mark];
	struct mapping mapping;
	const char *why;

	while (skip_separators(p, &s) && take_mapping(p, &s, &mapping, &why)) {
		if (is_before(line, column, s.line, s.column))
			return;
		if (s.line == line)
			each(arg, &s, &mapping);
	}
}

struct found {
	bool is_found;
	struct ray_source_state state;
	struct mapping mapping;
};

static void keep_last(void *arg, const struct ray_source_state *s, const struct mapping *m)
{
	*(struct found *)arg = (struct found){ true, *s, *m };
}

/* The place as the part counts it. */
static const struct ray_source_part *enter_part(const struct ray_source_map *m, int line, int column,
						uint32_t *line_ret, uint32_t *column_ret)
{
	const struct ray_source_part *p;

	if (line < 1 || column < 1)
		return NULL;
	p = find_part(m, (uint32_t)line - 1, (uint32_t)column - 1);
	if (!p)
		return NULL;
	*line_ret = (uint32_t)line - 1 - p->line;
	*column_ret = (uint32_t)column - 1 - (*line_ret ? 0 : p->column);
	return p;
}

bool ray_source_map_find(const struct ray_source_map *m, int line, int column, struct ray_source_place *ret)
{
	struct found found = { 0 };
	uint32_t in_line, in_column;
	const struct ray_source_part *p = enter_part(m, line, column, &in_line, &in_column);

	if (!p)
		return false;
	walk(p, find_mark(p, in_line, in_column), in_line, in_column, keep_last, &found);
	/* The mark's own state may have been that of the mapping before. */
	if (!found.is_found && find_mark(p, in_line, in_column))
		walk(p, find_mark(p, in_line, in_column) - 1, in_line, in_column, keep_last, &found);
	if (!found.is_found)
		return false;
	set_place(p, &found.state, &found.mapping, ret);
	return true;
}

struct gathered {
	RAY_VEC(struct found) list;
	uint32_t from;
};

static void gather(void *arg, const struct ray_source_state *s, const struct mapping *m)
{
	struct gathered *g = arg;

	if (s->column >= g->from)
		(void)ray_vec_push(&g->list, (struct found){ true, *s, *m });
}

void ray_source_map_each_back(const struct ray_source_map *m, int line, int from, int to,
			      bool (*each)(void *arg, const struct ray_source_place *place), void *arg)
{
	struct gathered g = { 0 };
	uint32_t in_line, in_column;
	const struct ray_source_part *p = enter_part(m, line, to, &in_line, &in_column);
	struct ray_source_place place;
	size_t mark;

	if (!p || from > to)
		return;
	g.from = in_column > (uint32_t)(to - from) ? in_column - (uint32_t)(to - from) : 0;
	mark = find_mark(p, in_line, g.from);
	walk(p, mark ? mark - 1 : 0, in_line, in_column, gather, &g);
	for (size_t i = g.list.n; i-- > 0;) {
		set_place(p, &g.list.at[i].state, &g.list.at[i].mapping, &place);
		if (!each(arg, &place))
			break;
	}
	ray_vec_free(&g.list);
}
