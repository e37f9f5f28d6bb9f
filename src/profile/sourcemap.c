/* sourcemap.c - see sourcemap.h. SPDX-License-Identifier: MIT */
#include "profile/sourcemap.h"

#include <string.h>

#include "profile/pull.h"
#include "profile/sourcemap_internal.h"

enum {
	MOST_TEXTS = 4 << 20, /* sources, or names, of one map */
	MOST_SECTIONS = 1 << 16,
	DEPTH = 8, /* sections may hold sections */
};

struct reader {
	struct ray_pull *j;
	struct ray_source_map *map;
	int sections;
};

static const char **take_texts(struct reader *r, size_t *count_ret)
{
	RAY_VEC(const char *) list = { 0 };
	const char **kept = NULL;

	for (ray_pull_array(r->j); ray_pull_item(r->j);) {
		struct ray_pull_text text = ray_pull_text(r->j);
		const char *copy = ray_arena_copy(r->map->arena, text.bytes, text.length);

		if (!copy || list.n >= MOST_TEXTS || !ray_vec_push(&list, copy)) {
			ray_pull_fail(r->j, "too many texts");
			break;
		}
	}
	kept = ray_arena_alloc(r->map->arena, (list.n + 1) * sizeof(*kept));
	if (kept && list.n)
		memcpy(kept, list.at, list.n * sizeof(*kept));
	*count_ret = kept ? list.n : 0;
	ray_vec_free(&list);
	return kept;
}

static void take_mappings(struct reader *r, struct ray_source_part *p)
{
	struct ray_pull_text text = ray_pull_text(r->j);
	const char *why;

	free(p->mappings);
	p->mappings = malloc(text.length + 1);
	if (!p->mappings) {
		ray_pull_fail(r->j, "no memory");
		return;
	}
	memcpy(p->mappings, text.bytes, text.length);
	p->length = text.length;
	p->marks.n = p->count = 0;
	why = ray_source_part_index(p);
	if (why)
		ray_pull_fail(r->j, why);
}

static void take_map(struct reader *r, uint32_t line, uint32_t column, int depth);

/* { "offset": { "line": 1, "column": 2 }, "map": { ... } } */
static void take_section(struct reader *r, uint32_t line, uint32_t column, int depth)
{
	int64_t at_line = 0, at_column = 0;
	struct ray_pull_text key;

	for (ray_pull_object(r->j); ray_pull_key(r->j, &key);) {
		if (!strcmp(key.bytes, "offset")) {
			for (ray_pull_object(r->j); ray_pull_key(r->j, &key);) {
				bool is_line = !strcmp(key.bytes, "line"), is_column = !strcmp(key.bytes, "column");
				int64_t number = is_line || is_column ? ray_pull_integer(r->j) : 0;

				if (is_line)
					at_line = number;
				else if (is_column)
					at_column = number;
				else
					ray_pull_skip(r->j);
			}
			if (at_line < 0 || at_line > RAY_SOURCE_MOST - line || at_column < 0 ||
			    at_column > RAY_SOURCE_MOST - column)
				ray_pull_fail(r->j, "a section at a place that cannot be");
		} else if (!strcmp(key.bytes, "map")) {
			/* A column counts only in the first line of what it is an offset to. */
			take_map(r, line + (uint32_t)at_line, (at_line ? 0 : column) + (uint32_t)at_column, depth);
		} else {
			ray_pull_skip(r->j);
		}
	}
}

static void take_sections(struct reader *r, uint32_t line, uint32_t column, int depth)
{
	for (ray_pull_array(r->j); ray_pull_item(r->j);) {
		if (depth >= DEPTH || ++r->sections > MOST_SECTIONS) {
			ray_pull_fail(r->j, "too many sections");
			return;
		}
		take_section(r, line, column, depth + 1);
	}
}

static void take_field(struct reader *r, struct ray_source_part *p, const char *key, int depth)
{
	if (!strcmp(key, "version")) {
		if (ray_pull_integer(r->j) != 3)
			ray_pull_fail(r->j, "not version 3 of the format");
	} else if (!strcmp(key, "sourceRoot")) {
		struct ray_pull_text text = ray_pull_text(r->j);

		p->root = ray_arena_copy(r->map->arena, text.bytes, text.length);
	} else if (!strcmp(key, "sources")) {
		p->sources = take_texts(r, &p->source_count);
	} else if (!strcmp(key, "names")) {
		p->names = take_texts(r, &p->name_count);
	} else if (!strcmp(key, "mappings")) {
		take_mappings(r, p);
	} else if (!strcmp(key, "sections")) {
		take_sections(r, p->line, p->column, depth);
	} else {
		ray_pull_skip(r->j);
	}
}

static void free_part(struct ray_source_part *p)
{
	free(p->mappings);
	ray_vec_free(&p->marks);
}

static void take_map(struct reader *r, uint32_t line, uint32_t column, int depth)
{
	struct ray_source_part p = { .line = line, .column = column, .root = "" };
	struct ray_pull_text key;

	for (ray_pull_object(r->j); ray_pull_key(r->j, &key);)
		take_field(r, &p, key.bytes, depth);
	if (!p.count || !p.root) {
		free_part(&p);
	} else if (!ray_vec_push(&r->map->parts, p)) {
		free_part(&p);
		ray_pull_fail(r->j, "no memory");
	}
}

static int by_place(const void *a, const void *b)
{
	const struct ray_source_part *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->column > y->column) - (x->column < y->column);
}

/* Servers put ")]}'" in front, so that no page can run it. */
static void skip_guard(const char **bytes, size_t *size)
{
	const char *end;

	if (*size < 3 || memcmp(*bytes, ")]}", 3))
		return;
	end = memchr(*bytes, '\n', *size);
	*size -= end ? (size_t)(end + 1 - *bytes) : *size;
	*bytes = end ? end + 1 : *bytes;
}

struct ray_error *ray_source_map_parse(const char *bytes, size_t size, struct ray_source_map **ret)
{
	ray_auto(ray_source_map, m) = calloc(1, sizeof(*m));
	ray_auto_pull j = { 0 };
	struct reader r = { &j, m, 0 };
	struct ray_error *err;

	if (!m)
		return &ray_enomem;
	m->arena = ray_arena_create();
	if (!m->arena)
		return &ray_enomem;
	skip_guard(&bytes, &size);
	ray_pull_init(&j, bytes, size);
	take_map(&r, 0, 0, 0);
	err = ray_pull_error(&j);
	if (err)
		return err;
	if (m->parts.n)
		qsort(m->parts.at, m->parts.n, sizeof(*m->parts.at), by_place);
	*ret = ray_take(m);
	return NULL;
}

void ray_source_map_free(struct ray_source_map *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->parts.n; i++)
		free_part(&m->parts.at[i]);
	ray_vec_free(&m->parts);
	ray_arena_free(m->arena);
	free(m);
}

size_t ray_source_map_count(const struct ray_source_map *m)
{
	size_t count = 0;

	for (size_t i = 0; i < m->parts.n; i++)
		count += m->parts.at[i].count;
	return count;
}
