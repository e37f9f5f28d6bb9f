/* core_maps.c - the mappings of a core, and their names.
 * SPDX-License-Identifier: MIT
 *
 * A segment is a mapping of the process, and NT_FILE tells which file lies in it. Names that only
 * the living process had are worked out: [stack] and [vdso] from the auxiliary vector, [heap] from
 * where it lies and what malloc keeps at its start. In noderay's own cores a note has them all. */
#include <string.h>
#include <sys/mman.h>

#include "target/core.h"
#include "target/smaps.h"

static const char no_path[] = ""; /* one object, so that paths can be compared as pointers */

/* The brk heap starts behind the program's data, by at most this (the kernel's randomisation). */
static const uint64_t heap_gap = 1ull << 30;

/* A writer may split one mapping into what is dumped and what is not. */
static bool is_continued(const struct ray_smaps *note, const struct ray_map *last, const struct ray_map *map)
{
	const struct ray_smap *row;

	if (last->end != map->start || last->prot != map->prot || last->path != map->path)
		return false;
	if (map->path[0])
		return last->offset + (last->end - last->start) == map->offset;
	row = note ? ray_smaps_find(note, map->start) : NULL;
	return row && row->start <= last->start;
}

static bool add_map(struct ray_target *t, const struct ray_smaps *note, const struct ray_map *map)
{
	struct ray_map *last = t->maps.n ? &t->maps.at[t->maps.n - 1] : NULL;

	if (last && is_continued(note, last, map)) {
		last->end = map->end;
		last->dumped += map->dumped;
		return true;
	}
	return ray_vec_push(&t->maps, *map);
}

/* How many bytes of [start, end) the core holds. */
static uint64_t dumped_in(const struct core_segment *s, uint64_t start, uint64_t end)
{
	uint64_t dumped_end = s->start + s->dumped;

	return dumped_end <= start ? 0 : core_min(dumped_end, end) - start;
}

/* Cuts a segment where file mappings begin and end in it. */
static bool add_segment(struct ray_target *t, const struct ray_smaps *note, const struct core_segment *s, size_t *next)
{
	struct core *c = core_of(t);
	uint64_t at = s->start;

	while (*next < c->mappings.n && c->mappings.at[*next].end <= at)
		(*next)++;
	while (at < s->end) {
		const struct core_mapping *m = *next < c->mappings.n ? &c->mappings.at[*next] : NULL;
		struct ray_map map = { .start = at, .end = s->end, .prot = s->prot, .path = no_path };

		if (m && m->start <= at) {
			map.end = core_min(m->end, s->end);
			map.offset = m->offset + (at - m->start);
			map.path = c->files.at[m->file].path;
		} else if (m) {
			map.end = core_min(m->start, s->end);
		}
		map.dumped = dumped_in(s, map.start, map.end);
		if (!add_map(t, note, &map))
			return false;
		at = map.end;
		if (m && m->end <= at)
			(*next)++;
	}
	return true;
}

/* gdb leaves mappings out that it does not dump; NT_FILE still names them. */
static bool add_gap(struct ray_target *t, const struct ray_smaps *note, uint64_t start, uint64_t end, size_t *next)
{
	struct core *c = core_of(t);

	while (*next < c->mappings.n && c->mappings.at[*next].start < end) {
		const struct core_mapping *m = &c->mappings.at[*next];
		uint64_t from = m->start > start ? m->start : start;
		struct ray_map map = { .start = from, .end = core_min(m->end, end), .path = c->files.at[m->file].path };
		struct ray_image image;
		int prot = -1;

		map.offset = m->offset + (from - m->start);
		if (core_find_image(t, m->file, &image))
			prot = ray_image_prot(&image, map.offset);
		map.prot = prot < 0 ? PROT_READ : prot;
		if (map.end > map.start && !add_map(t, note, &map))
			return false;
		if (m->end > end)
			break;
		(*next)++;
	}
	return true;
}

static struct ray_map *map_at(struct ray_target *t, uint64_t address)
{
	for (size_t i = 0; address && i < t->maps.n; i++) {
		if (address >= t->maps.at[i].start && address < t->maps.at[i].end)
			return &t->maps.at[i];
	}
	return NULL;
}

static void name_map(struct ray_map *map, const char *name)
{
	if (map && !map->path[0])
		map->path = name;
}

/* malloc's first block: no block before it, and a size that fits with "the one before is in use" set. */
static bool begins_like_heap(struct ray_target *t, const struct ray_map *map)
{
	uint64_t words[2];

	return core_read(t, map->start, words, sizeof(words)) == sizeof(words) && !words[0] && (words[1] & 7) == 1 &&
	       words[1] > 16 && words[1] < map->end - map->start;
}

static void name_heap(struct ray_target *t)
{
	const struct ray_map *last = NULL;

	for (size_t i = 0; i < t->maps.n; i++) {
		struct ray_map *map = &t->maps.at[i];

		if (map->path[0] && !strcmp(map->path, t->exe) && (!last || map->start - last->end < heap_gap)) {
			last = map;
		} else if (last && !map->path[0] && map->start == last->end) {
			last = map; /* .bss */
		} else if (last) {
			if (!map->path[0] && map->prot == (PROT_READ | PROT_WRITE) && map->start - last->end < heap_gap &&
			    begins_like_heap(t, map))
				map->path = "[heap]";
			return;
		}
	}
}

/* What noderay noted of each mapping when the process was alive. */
static void apply_note(struct ray_target *t, const struct ray_smaps *note)
{
	for (size_t i = 0; i < t->maps.n; i++) {
		struct ray_map *map = &t->maps.at[i];
		const struct ray_smap *row = ray_smaps_find(note, map->start);
		const char *name;

		if (!row)
			continue;
		map->shared = row->mode[3] == 's';
		name = row->name[0] == '[' && !map->path[0] ? ray_arena_strdup(t->arena, row->name) : NULL;
		if (name)
			map->path = name;
	}
}

static void name_maps(struct ray_target *t, const struct ray_smaps *note)
{
	const struct core *c = core_of(t);

	if (note)
		apply_note(t, note);
	name_map(map_at(t, core_auxv(c, AT_RANDOM)), "[stack]");
	name_map(map_at(t, core_auxv(c, AT_SYSINFO_EHDR)), "[vdso]");
	name_map(map_at(t, 0xffffffffff600000), "[vsyscall]");
	if (!note)
		name_heap(t);
}

static struct ray_smaps *load_note(struct ray_target *t)
{
	const char *text = t->ops->note(t, "maps");
	struct ray_smaps *note = NULL;
	struct ray_error *err;

	err = text ? ray_smaps_from_json(text, &note) : NULL;
	if (err) {
		ray_target_warn(t, "noderay's note on mappings is not used: %s", ray_error_text(err));
		ray_error_free(err);
		return NULL;
	}
	return note;
}

struct ray_error *core_load_maps(struct ray_target *t)
{
	const struct core *c = core_of(t);
	ray_auto(ray_smaps, note) = load_note(t);
	uint64_t end = 0;
	size_t next = 0;

	for (size_t i = 0; i < c->segments.n; i++) {
		const struct core_segment *s = &c->segments.at[i];

		if (!add_gap(t, note, end, s->start, &next) || !add_segment(t, note, s, &next))
			return &ray_enomem;
		end = s->end;
	}
	if (!add_gap(t, note, end, UINT64_MAX, &next))
		return &ray_enomem;
	name_maps(t, note);
	return NULL;
}
