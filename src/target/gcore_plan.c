/* gcore_plan.c - see gcore_plan.h. SPDX-License-Identifier: MIT */
#include "target/gcore_plan.h"

#include <string.h>
#include <sys/mman.h>

#include "target/smaps.h"

/* Runs of a file's pages that are nearer than this become one: a page costs less than a segment. In
 * memory that nobody may read it is not done, since reading a page that does not exist makes one. */
#define NEAR (4 * (uint64_t)RAY_PAGE)
/* No hole in the file is larger: file systems bound the size of a file, sparse or not. */
#define LARGE (64ull << 30)

struct builder {
	struct ray_gcore_plan *plan;
	const struct ray_page_runs *pages;
	size_t next; /* first run that may touch the mapping at hand */
	bool failed;
};

static bool starts_with(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool ends_with(const char *text, const char *with)
{
	size_t n = strlen(text), m = strlen(with);

	return n >= m && !strcmp(text + n - m, with);
}

static bool is_device(const char *path)
{
	return (starts_with(path, "/dev/") && !starts_with(path, "/dev/shm/") && !starts_with(path, "/dev/zero")) ||
	       starts_with(path, "anon_inode:");
}

/* Nothing on disk has its bytes: an unlinked file, a memfd, shared anonymous memory. */
static bool is_gone(const char *path)
{
	return ends_with(path, " (deleted)");
}

/* What does not exist is zeros, although there is a path. */
static bool is_memory(const struct ray_map *map)
{
	return map->path[0] != '/' || (is_gone(map->path) && map->shared) ||
	       (!map->shared && (starts_with(map->path, "/dev/zero") || starts_with(map->path, "/anon_hugepage")));
}

enum ray_gcore_content ray_gcore_content(const struct ray_gcore_map *m, bool full)
{
	const struct ray_map *map = m->map;

	if (m->flags & (RAY_SMAP_IO | RAY_SMAP_PFNMAP) || starts_with(map->path, "[vvar") || is_device(map->path))
		return RAY_GCORE_NOTHING;
	if ((m->flags & RAY_SMAP_DONTDUMP) && !full)
		return RAY_GCORE_NOTHING;
	if (!strcmp(map->path, "[vdso]"))
		return RAY_GCORE_ALL;
	if (is_memory(map))
		return map->prot || map->shared ? RAY_GCORE_MEMORY : RAY_GCORE_TOUCHED;
	if (!map->prot)
		return RAY_GCORE_TOUCHED;
	if (full || is_gone(map->path))
		return RAY_GCORE_ALL;
	if (map->shared)
		return map->prot & PROT_WRITE ? RAY_GCORE_TOUCHED : RAY_GCORE_NOTHING;
	return RAY_GCORE_CHANGED;
}

static void add_segment(struct builder *b, const struct ray_map *map, uint64_t start, uint64_t end, bool stored)
{
	struct ray_segment s = {
		.start = start, .size = end - start, .stored = stored ? end - start : 0, .prot = map->prot
	};

	if (start < end && !ray_vec_push(&b->plan->segments, s))
		b->failed = true;
}

static void add_extent(struct builder *b, const struct ray_map *map, uint64_t start, uint64_t end)
{
	struct ray_extent e = { .start = start, .size = end - start, .unreadable = !(map->prot & PROT_READ) };

	if (!ray_vec_push(&b->plan->extents, e))
		b->failed = true;
	b->plan->copied += e.size;
}

/* The next run of pages in [*at, end) that is wanted; joins neighbours and moves *at behind it. */
static bool next_run(struct builder *b, uint64_t *at, uint64_t end, bool files_too, struct ray_page_run *ret)
{
	const struct ray_page_run *runs = b->pages->runs.at;
	bool found = false;

	for (; b->next < b->pages->runs.n && runs[b->next].start < end; b->next++) {
		uint64_t from = runs[b->next].start > *at ? runs[b->next].start : *at;
		uint64_t to = runs[b->next].end < end ? runs[b->next].end : end;

		if (from < to && runs[b->next].file && !files_too) {
			b->plan->left_out += to - from;
		} else if (from < to) {
			if (found && from > ret->end)
				break;
			if (!found)
				*ret = (struct ray_page_run){ .start = from };
			found = true;
			*at = ret->end = to;
		}
		if (runs[b->next].end > end)
			break;
	}
	return found;
}

/* Missing pages are zeros: one segment, holes between the extents. */
static void add_memory(struct builder *b, const struct ray_map *map)
{
	struct ray_page_run run;
	uint64_t at = map->start;

	add_segment(b, map, map->start, map->end, true);
	while (next_run(b, &at, map->end, true, &run))
		add_extent(b, map, run.start, run.end);
}

/* Missing pages are somebody else's: segments with and without bytes in turn. */
static void add_runs(struct builder *b, const struct ray_gcore_map *m, bool files_too)
{
	uint64_t near = m->map->path[0] == '/' && (m->map->prot & PROT_READ) ? NEAR : 0;
	struct ray_page_run run, open = { 0 };
	uint64_t at = m->map->start, done = m->map->start;
	/* The build-id lies in the first page: whatever becomes of the file, it can be recognised. */
	bool any = m->is_elf && m->map->offset == 0 && (m->map->prot & PROT_READ);

	if (any)
		open = (struct ray_page_run){ .start = at, .end = at + RAY_PAGE };
	while (next_run(b, &at, m->map->end, files_too, &run)) {
		if (any && run.start <= open.end + near) {
			open.end = run.end > open.end ? run.end : open.end;
			continue;
		}
		if (any) {
			add_segment(b, m->map, done, open.start, false);
			add_segment(b, m->map, open.start, open.end, true);
			add_extent(b, m->map, open.start, open.end);
			done = open.end;
		}
		open = run;
		any = true;
	}
	if (any) {
		add_segment(b, m->map, done, open.start, false);
		add_segment(b, m->map, open.start, open.end, true);
		add_extent(b, m->map, open.start, open.end);
		done = open.end;
	}
	add_segment(b, m->map, done, m->map->end, false);
}

static void count_left_out(struct builder *b, const struct ray_map *map)
{
	struct ray_page_run run;
	uint64_t at = map->start;

	while (next_run(b, &at, map->end, true, &run))
		b->plan->left_out += run.end - run.start;
}

static void add_map(struct builder *b, const struct ray_gcore_map *m, bool full)
{
	enum ray_gcore_content content = ray_gcore_content(m, full);
	const struct ray_map *map = m->map;

	while (b->next < b->pages->runs.n && b->pages->runs.at[b->next].end <= map->start)
		b->next++;
	if (content == RAY_GCORE_MEMORY && map->end - map->start > LARGE)
		content = RAY_GCORE_TOUCHED;
	switch (content) {
	case RAY_GCORE_NOTHING:
		add_segment(b, map, map->start, map->end, false);
		count_left_out(b, map);
		break;
	case RAY_GCORE_MEMORY:
		add_memory(b, map);
		break;
	case RAY_GCORE_CHANGED:
	case RAY_GCORE_TOUCHED:
		add_runs(b, m, content == RAY_GCORE_TOUCHED);
		break;
	case RAY_GCORE_ALL:
		add_segment(b, map, map->start, map->end, true);
		add_extent(b, map, map->start, map->end);
		break;
	}
}

struct ray_error *ray_gcore_plan_make(const struct ray_gcore_map *maps, size_t count, const struct ray_page_runs *pages,
				      bool full, struct ray_gcore_plan *ret)
{
	struct builder b = { .plan = ret, .pages = pages };

	ret->segments.n = ret->extents.n = 0;
	ret->copied = ret->left_out = ret->size = 0;
	for (size_t i = 0; i < count && !b.failed; i++)
		add_map(&b, &maps[i], full);
	return b.failed ? &ray_enomem : NULL;
}

void ray_gcore_plan_place(struct ray_gcore_plan *plan, uint64_t head)
{
	uint64_t at = (head + RAY_PAGE - 1) & ~(uint64_t)(RAY_PAGE - 1);
	size_t e = 0;

	for (size_t i = 0; i < plan->segments.n; i++) {
		struct ray_segment *s = &plan->segments.at[i];

		s->offset = at;
		for (; s->stored && e < plan->extents.n && plan->extents.at[e].start < s->start + s->size; e++)
			plan->extents.at[e].offset = at + (plan->extents.at[e].start - s->start);
		at += s->stored;
	}
	plan->size = at;
}

void ray_gcore_plan_deinit(struct ray_gcore_plan *plan)
{
	ray_vec_free(&plan->segments);
	ray_vec_free(&plan->extents);
}
