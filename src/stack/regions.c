/* regions.c - cuts mappings into parts by the claims made on them, and shares out their memory.
 * SPDX-License-Identifier: MIT */
#include "stack/regions.h"

#include <string.h>
#include <sys/mman.h>

#include "stack/claims.h"

struct ray_regions {
	struct ray_survey survey;
	struct ray_usage *usage;
	RAY_VEC(struct ray_part) parts;
	RAY_VEC(struct ray_region) list;
	bool has_usage;
};

/* ---- what nobody claimed ---- */

static enum ray_region_kind kind_of_file(struct ray_survey *s, const struct ray_map *m)
{
	const struct ray_module *module;

	if (ray_map_is_node(s, m))
		return m->prot & PROT_EXEC ? RAY_REGION_TEXT : RAY_REGION_NODE_DATA;
	if (!strncmp(m->path, "/dev/shm/", 9) || !strncmp(m->path, "/memfd:", 7) || !strncmp(m->path, "/SYSV", 5) ||
	    !strncmp(m->path, "/dev/zero", 9))
		return RAY_REGION_SHARED;
	module = ray_target_map_module(s->t, m);
	if ((module && module->elf) || strstr(m->path, ".so"))
		return m->prot & PROT_EXEC ? RAY_REGION_LIBRARY_TEXT : RAY_REGION_LIBRARY_DATA;
	return RAY_REGION_FILE;
}

static enum ray_region_kind kind_by_name(struct ray_survey *s, const struct ray_map *m)
{
	static const struct {
		const char *prefix;
		enum ray_region_kind kind;
	} names[] = {
		{ "[heap]", RAY_REGION_BRK },	      { "[stack]", RAY_REGION_STACK },
		{ "[vdso]", RAY_REGION_KERNEL },      { "[vvar", RAY_REGION_KERNEL },
		{ "[vsyscall]", RAY_REGION_KERNEL },  { "anon_inode:[io_uring]", RAY_REGION_IO_URING },
		{ "[anon_shmem", RAY_REGION_SHARED },
	};

	for (size_t i = 0; i < RAY_COUNT(names); i++)
		if (!strncmp(m->path, names[i].prefix, strlen(names[i].prefix)))
			return names[i].kind;
	return *m->path == '/' ? kind_of_file(s, m) : RAY_REGION_FILE;
}

/* The loader puts zeroed data right behind the file's own. */
static bool is_bss(struct ray_survey *s, size_t i, uint64_t start)
{
	const struct ray_map *m = &s->maps[i], *before = i ? &s->maps[i - 1] : NULL;

	return before && before->end == start && start == m->start && before->path[0] == '/' && !before->shared &&
	       (before->prot & PROT_WRITE) && m->prot == (PROT_READ | PROT_WRITE);
}

static enum ray_region_kind kind_of_rest(struct ray_survey *s, size_t i, uint64_t start)
{
	const struct ray_map *m = &s->maps[i];

	if (!ray_map_is_anonymous(m))
		return *m->path ? kind_by_name(s, m) : RAY_REGION_SHARED;
	if (s->reserved[i])
		return s->code_range[i] ? RAY_REGION_CODE_RESERVED : RAY_REGION_RESERVED;
	if (m->prot & PROT_EXEC)
		return s->code_range[i] ? RAY_REGION_CODE_RANGE : RAY_REGION_JIT;
	return is_bss(s, i, start) ? RAY_REGION_BSS : RAY_REGION_ANONYMOUS;
}

/* ---- cutting ---- */

static bool is_same(const struct ray_part *a, const struct ray_part *b)
{
	return a->end == b->start && a->kind == b->kind && a->space == b->space && a->heap == b->heap &&
	       a->tid == b->tid;
}

static bool add_part(struct ray_regions *r, size_t first, const struct ray_part *part)
{
	struct ray_part *last = r->parts.n > first ? &r->parts.at[r->parts.n - 1] : NULL;

	if (last && is_same(last, part)) {
		last->end = part->end;
		last->count += part->count;
		return true;
	}
	return ray_vec_push(&r->parts, *part);
}

static bool cut_map(struct ray_regions *r, size_t i)
{
	struct ray_survey *s = &r->survey;
	const struct ray_map *m = &s->maps[i];
	size_t first = r->parts.n, c = ray_claims_from(&s->claims, m->start);
	uint64_t at = m->start;

	while (at < m->end) {
		const struct ray_part *claim = c < s->claims.list.n ? &s->claims.list.at[c] : NULL;
		struct ray_part part;

		if (claim && claim->start <= at) {
			part = *claim;
			part.count = claim->start >= m->start ? claim->count : 0;
			part.start = at;
			part.end = claim->end < m->end ? claim->end : m->end;
			c++;
		} else {
			part = (struct ray_part){ .start = at, .kind = kind_of_rest(s, i, at) };
			part.end = claim && claim->start < m->end ? claim->start : m->end;
			if (part.kind == RAY_REGION_STACK)
				part.tid = ray_target_pid(s->t);
		}
		if (!add_part(r, first, &part))
			return false;
		at = part.end;
	}
	return ray_vec_push(&r->list,
			    ((struct ray_region){ .map = m, .usage = s->usage[i], .part_count = r->parts.n - first }));
}

/* ---- sharing out ---- */

enum { PAGE = 4096, MAX_LOOK = 1 << 30 };

/* In whole pages. */
static uint64_t share(uint64_t whole, uint64_t part, uint64_t of)
{
	return of ? (uint64_t)((unsigned __int128)whole * part / of) & ~(uint64_t)(PAGE - 1) : 0;
}

/* How much of a mapping's memory each of its parts has. */
struct weights {
	uint64_t *rss, *swap, *counted; /* per part */
	uint64_t rss_sum, swap_sum;
};

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

struct filled {
	struct ray_survey *survey;
	unsigned char *buffer; /* RAY_V8_PAGE_ALIGN bytes */
	uint64_t sum;
};

/* Adds the bytes of pages that hold anything but zeros. */
static bool add_filled(uint64_t start, uint64_t end, void *arg)
{
	static const unsigned char zeros[PAGE];
	struct filled *f = arg;
	const struct ray_reader *r = &f->survey->reader;

	for (uint64_t at = start; at < end; at += RAY_V8_PAGE_ALIGN) {
		size_t want = end - at < RAY_V8_PAGE_ALIGN ? (size_t)(end - at) : RAY_V8_PAGE_ALIGN;
		size_t n = r->read(r->arg, at, f->buffer, want);

		for (size_t i = 0; i + PAGE <= n; i += PAGE)
			f->sum += memcmp(f->buffer + i, zeros, PAGE) ? PAGE : 0;
	}
	return true;
}

/* A core does not tell which pages were there, but a page of zeros rarely was. */
static void weigh_by_content(struct ray_regions *r, const struct ray_region *region, const struct ray_part *parts,
			     struct weights *w)
{
	ray_auto_memory unsigned char *buffer = NULL;

	if (!region->usage.rss || !ray_map_is_anonymous(region->map) ||
	    region->map->end - region->map->start > MAX_LOOK)
		return;
	buffer = malloc(RAY_V8_PAGE_ALIGN);
	if (!buffer)
		return;
	w->rss_sum = 0;
	for (size_t i = 0; i < region->part_count; i++) {
		struct filled f = { &r->survey, buffer, 0 };

		ray_target_dumped_runs(r->survey.t, parts[i].start, parts[i].end, add_filled, &f);
		w->rss_sum += w->rss[i] = f.sum;
	}
}

static bool weigh_by_pages(struct ray_regions *r, const struct ray_region *region, const struct ray_part *parts,
			   struct weights *w)
{
	struct ray_pages pages, sum = { 0 };
	bool counted;

	for (size_t i = 0; i < region->part_count; i++) {
		if (!ray_resident_count(r->survey.resident, parts[i].start, parts[i].end, &pages))
			return false;
		sum.present += pages.present;
		sum.counted += pages.counted;
		sum.swapped += pages.swapped;
		w->rss[i] = pages.present;
		w->counted[i] = pages.counted;
		w->swap[i] = pages.swapped;
	}
	counted = distance(sum.counted, region->usage.rss) < distance(sum.present, region->usage.rss);
	if (counted)
		memcpy(w->rss, w->counted, region->part_count * sizeof(*w->rss));
	w->rss_sum = counted ? sum.counted : sum.present;
	w->swap_sum = sum.swapped;
	return true;
}

/* By the pages that are there, where that can be told; else by size. */
static void weigh(struct ray_regions *r, const struct ray_region *region, const struct ray_part *parts,
		  struct weights *w)
{
	if (r->survey.resident && region->usage.known && weigh_by_pages(r, region, parts, w))
		return;
	for (size_t i = 0; i < region->part_count; i++)
		w->rss[i] = w->swap[i] = parts[i].end - parts[i].start;
	w->rss_sum = w->swap_sum = region->map->end - region->map->start;
	if (ray_target_kind(r->survey.t) == RAY_TARGET_CORE && region->usage.known)
		weigh_by_content(r, region, parts, w);
}

/* What rounding leaves goes to the last part that has anything, so that the parts add up to the mapping. */
static void share_by(const struct ray_region *region, struct ray_part *parts, const struct weights *w)
{
	const struct ray_usage *whole = &region->usage;
	struct ray_usage left = *whole;
	size_t last = region->part_count - 1;

	while (last && !w->rss[last])
		last--;
	for (size_t i = 0; i < region->part_count; i++) {
		struct ray_usage *u = &parts[i].usage;

		*u = (struct ray_usage){ share(whole->rss, w->rss[i], w->rss_sum),
					 share(whole->dirty, w->rss[i], w->rss_sum),
					 share(whole->swap, w->swap[i], w->swap_sum), whole->known };
		left.rss -= u->rss;
		left.dirty -= u->dirty;
		left.swap -= u->swap;
	}
	parts[last].usage.rss += left.rss;
	parts[last].usage.dirty += left.dirty;
	parts[last].usage.swap += left.swap;
}

static bool share_out(struct ray_regions *r, struct ray_region *region, struct ray_part *parts)
{
	ray_auto_memory uint64_t *room = NULL;
	struct weights w = { 0 };

	if (region->part_count == 1) {
		parts[0].usage = region->usage;
		parts[0].dumped = region->map->dumped;
		return true;
	}
	room = calloc(region->part_count, 3 * sizeof(*room));
	if (!room)
		return false;
	w.rss = room;
	w.swap = room + region->part_count;
	w.counted = room + 2 * region->part_count;
	for (size_t i = 0; i < region->part_count; i++)
		parts[i].dumped = ray_target_dumped(r->survey.t, parts[i].start, parts[i].end);
	weigh(r, region, parts, &w);
	share_by(region, parts, &w);
	return true;
}

static struct ray_error *cut_all(struct ray_regions *r)
{
	struct ray_survey *s = &r->survey;
	size_t at = 0, unknown = 0;

	for (size_t i = 0; i < s->map_count; i++)
		if (!cut_map(r, i))
			return &ray_enomem;
	for (size_t i = 0; i < r->list.n; i++) {
		if (!share_out(r, &r->list.at[i], &r->parts.at[at]))
			return &ray_enomem;
		r->list.at[i].parts = &r->parts.at[at];
		at += r->list.at[i].part_count;
		r->has_usage |= r->list.at[i].usage.known;
		unknown += !r->list.at[i].usage.known;
	}
	if (r->has_usage && unknown)
		ray_survey_note(s, "%zu mapping%s changed while they were read: their memory is not counted", unknown,
				unknown == 1 ? "" : "s");
	return NULL;
}

static struct ray_error *survey(struct ray_regions *r)
{
	struct ray_survey *s = &r->survey;
	struct ray_error *err;

	s->maps = ray_target_maps(s->t, &s->map_count);
	s->code_range = calloc(s->map_count ? s->map_count : 1, sizeof(*s->code_range));
	s->arena = ray_arena_create();
	s->threads = ray_target_threads(s->t, &s->thread_count);
	s->roles = calloc(s->thread_count ? s->thread_count : 1, sizeof(*s->roles));
	s->reserved = calloc(s->map_count ? s->map_count : 1, sizeof(*s->reserved));
	if (!s->code_range || !s->reserved || !s->arena || !s->roles)
		return &ray_enomem;
	ray_survey_reserved(s);
	err = s->node ? ray_role_find(s->t, s->node, NULL, s->roles) : NULL;
	if (!err)
		err = ray_survey_v8(s);
	if (!err)
		err = ray_survey_owners(s);
	if (!err)
		err = ray_survey_stacks(s);
	if (err)
		return err;
	ray_survey_binary(s);
	ray_survey_malloc(s);
	ray_survey_reservations(s);
	ray_survey_external(s);
	if (s->claims.failed)
		return &ray_enomem;
	return cut_all(r);
}

struct ray_error *ray_regions_create(struct ray_target *t, const struct ray_node *node, struct ray_regions **ret)
{
	ray_auto(ray_regions, r) = calloc(1, sizeof(*r));
	struct ray_error *err;

	if (!r)
		return &ray_enomem;
	r->survey.t = t;
	r->survey.node = node;
	r->survey.reader = ray_target_reader(t);
	err = ray_usage_read(t, &r->usage);
	if (err)
		return err;
	r->survey.usage = r->usage;
	r->survey.resident = ray_resident_open(t);
	err = survey(r);
	if (!err && !ray_vec_push(&r->survey.notes, NULL))
		err = &ray_enomem;
	if (err)
		return err;
	*ret = ray_take(r);
	return NULL;
}

void ray_regions_free(struct ray_regions *r)
{
	if (!r)
		return;
	ray_vec_free(&r->survey.claims.list);
	ray_vec_free(&r->survey.owners);
	ray_vec_free(&r->survey.notes);
	ray_vec_free(&r->parts);
	ray_vec_free(&r->list);
	ray_v8_heap_free(r->survey.heap);
	ray_resident_close(r->survey.resident);
	ray_arena_free(r->survey.arena);
	free(r->survey.code_range);
	free(r->survey.reserved);
	free(r->survey.roles);
	free(r->usage);
	free(r);
}

const struct ray_region *ray_regions_list(const struct ray_regions *r, size_t *count_ret)
{
	*count_ret = r->list.n;
	return r->list.at;
}

const struct ray_v8_heap *ray_regions_heap(const struct ray_regions *r)
{
	return r->survey.heap;
}

const struct ray_owner *ray_regions_owners(const struct ray_regions *r, size_t *count_ret)
{
	*count_ret = r->survey.owners.n;
	return r->survey.owners.at;
}

const char *ray_regions_thread_text(const struct ray_regions *r, int tid)
{
	for (size_t i = 0; i < r->survey.thread_count; i++)
		if (r->survey.threads[i].tid == tid)
			return r->survey.roles[i].text;
	return "";
}

const char *ray_regions_owner_text(const struct ray_regions *r, uint64_t heap)
{
	for (size_t i = 0; i < r->survey.owners.n; i++)
		if (r->survey.owners.at[i].heap == heap)
			return r->survey.owners.at[i].text;
	return "";
}

bool ray_regions_has_usage(const struct ray_regions *r)
{
	return r->has_usage;
}

const char *const *ray_regions_notes(const struct ray_regions *r)
{
	return r->survey.notes.at;
}
