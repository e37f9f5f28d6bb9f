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

#define NO_MAPPING SIZE_MAX

struct build {
	struct ray_target *t;
	const struct ray_smaps *note; /* noderay's own; NULL if there is none */
	size_t next;		      /* first of the file mappings that is not passed yet */
	size_t last_mapping;	      /* that the last map came from */
	size_t last_file;	      /* whose image this is */
	bool has_image;
	struct ray_image image;
};

/* The brk heap starts behind the program's data, by at most this (the kernel's randomisation). */
static const uint64_t heap_gap = 1ull << 30;

/* A writer may split one mapping into what is dumped and what is not. The kernel, gdb and noderay have
 * one entry in NT_FILE for each mapping, and noderay's note has a row. */
static bool is_continued(const struct build *b, const struct ray_map *last, const struct ray_map *map, size_t mapping)
{
	const struct ray_smap *row;

	if (last->end != map->start || last->prot != map->prot || b->last_mapping != mapping)
		return false;
	if (mapping != NO_MAPPING)
		return true;
	row = b->note ? ray_smaps_find(b->note, map->start) : NULL;
	return row && row->start <= last->start;
}

static bool add_map(struct build *b, const struct ray_map *map, size_t mapping)
{
	struct ray_target *t = b->t;
	struct ray_map *last = t->maps.n ? &t->maps.at[t->maps.n - 1] : NULL;
	bool is_more = last && is_continued(b, last, map, mapping);

	b->last_mapping = mapping;
	if (!is_more)
		return ray_vec_push(&t->maps, *map);
	last->end = map->end;
	last->dumped += map->dumped;
	return true;
}

/* How many bytes of [start, end) the core holds. */
static uint64_t dumped_in(const struct core_segment *s, uint64_t start, uint64_t end)
{
	uint64_t dumped_end = s->start + s->dumped;

	return dumped_end <= start ? 0 : core_min(dumped_end, end) - start;
}

bool core_dumped_runs(struct ray_target *t, uint64_t start, uint64_t end, ray_run_fn *each, void *arg)
{
	const struct core *c = core_of(t);

	for (size_t i = core_segment_from(c, start); i < c->segments.n && c->segments.at[i].start < end; i++) {
		const struct core_segment *s = &c->segments.at[i];
		uint64_t from = s->start > start ? s->start : start, size = dumped_in(s, from, core_min(s->end, end));

		if (size && !each(from, from + size, arg))
			return false;
	}
	return true;
}

/* Cuts a segment where file mappings begin and end in it. */
static bool add_segment(struct build *b, const struct core_segment *s)
{
	struct core *c = core_of(b->t);
	uint64_t at = s->start;

	while (b->next < c->mappings.n && c->mappings.at[b->next].end <= at)
		b->next++;
	while (at < s->end) {
		const struct core_mapping *m = b->next < c->mappings.n ? &c->mappings.at[b->next] : NULL;
		struct ray_map map = { .start = at, .end = s->end, .prot = s->prot, .path = "" };
		bool is_file = m && m->start <= at;

		if (is_file) {
			map.end = core_min(m->end, s->end);
			map.offset = m->offset + (at - m->start);
			map.path = c->files.at[m->file].path;
		} else if (m) {
			map.end = core_min(m->start, s->end);
		}
		map.dumped = dumped_in(s, map.start, map.end);
		if (!add_map(b, &map, is_file ? b->next : NO_MAPPING))
			return false;
		at = map.end;
		if (m && m->end <= at)
			b->next++;
	}
	return true;
}

/* The mappings of a file mostly follow each other. */
static int prot_of(struct build *b, size_t file, uint64_t offset)
{
	int prot;

	if (b->last_file != file) {
		b->has_image = core_find_image(b->t, file, &b->image);
		b->last_file = file;
	}
	prot = b->has_image ? ray_image_prot(&b->image, offset) : -1;
	return prot < 0 ? PROT_READ : prot;
}

/* gdb leaves mappings out that it does not dump; NT_FILE still names them. */
static bool add_gap(struct build *b, uint64_t start, uint64_t end)
{
	struct core *c = core_of(b->t);

	for (; b->next < c->mappings.n && c->mappings.at[b->next].start < end; b->next++) {
		const struct core_mapping *m = &c->mappings.at[b->next];
		uint64_t from = m->start > start ? m->start : start;
		struct ray_map map = { .start = from, .end = core_min(m->end, end), .path = c->files.at[m->file].path };

		map.offset = m->offset + (from - m->start);
		map.prot = prot_of(b, m->file, map.offset);
		if (map.end > map.start && !add_map(b, &map, b->next))
			return false;
		if (m->end > end)
			break;
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

/* The kernel's data for the vdso lies right below it. */
static void name_vdso(struct ray_target *t, uint64_t address)
{
	struct ray_map *vdso = map_at(t, address), *below;

	if (!vdso || vdso->path[0])
		return;
	vdso->path = "[vdso]";
	for (below = vdso; below > t->maps.at; below--) {
		if (below[-1].path[0] || below[-1].end != below->start || below[-1].prot != PROT_READ)
			return;
		below[-1].path = "[vvar]";
	}
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
			if (!map->path[0] && map->prot == (PROT_READ | PROT_WRITE) &&
			    map->start - last->end < heap_gap && begins_like_heap(t, map))
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
		name = row->name[0] && !map->path[0] ? ray_arena_strdup(t->arena, row->name) : NULL;
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
	name_vdso(t, core_auxv(c, AT_SYSINFO_EHDR));
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
	struct build b = { .t = t, .note = note, .last_mapping = NO_MAPPING, .last_file = SIZE_MAX };
	uint64_t end = 0;

	for (size_t i = 0; i < c->segments.n; i++) {
		const struct core_segment *s = &c->segments.at[i];

		if (!add_gap(&b, end, s->start) || !add_segment(&b, s))
			return &ray_enomem;
		end = s->end;
	}
	if (!add_gap(&b, end, UINT64_MAX))
		return &ray_enomem;
	name_maps(t, note);
	return NULL;
}
