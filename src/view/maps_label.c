/* maps_label.c - what a mapping is, in words, and sums over them. SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/mman.h>

#include "view/maps.h"

enum { MAX_PIECES = 16, SHOWN_PIECES = 4 };

const char *ray_maps_mode(const struct ray_map *map, char out[5])
{
	out[0] = map->prot & PROT_READ ? 'r' : '-';
	out[1] = map->prot & PROT_WRITE ? 'w' : '-';
	out[2] = map->prot & PROT_EXEC ? 'x' : '-';
	out[3] = map->shared ? 's' : 'p';
	out[4] = 0;
	return out;
}

static bool has_many_isolates(const struct ray_regions *r)
{
	size_t count, owned = 0;
	const struct ray_owner *owners = ray_regions_owners(r, &count);

	for (size_t i = 0; i < count; i++)
		owned += owners[i].heap != 0;
	return owned > 1;
}

static void add_page_label(const struct ray_regions *r, const struct ray_part *p, struct ray_text *out)
{
	const char *name = ray_v8_space_name(p->space);

	if (p->space == RAY_V8_SPACE_UNKNOWN)
		ray_text_add(out, "V8 page, damaged");
	else if (p->space == RAY_V8_SPACE_UNUSED)
		ray_text_add(out, "V8 page, not in use");
	else {
		ray_text_add(out, "V8 ");
		for (; *name; name++)
			ray_text_printf(out, "%c", *name == '_' ? ' ' : *name);
		ray_text_add(out, " space");
	}
	if (p->count > 1)
		ray_text_printf(out, " (%zu pages)", p->count);
	if (p->heap && has_many_isolates(r))
		ray_text_printf(out, ", %s", ray_regions_owner_text(r, p->heap));
}

static void add_path(const struct ray_region *region, bool whole, struct ray_text *out)
{
	const char *path = region->map->path, *slash = strrchr(path, '/');

	if (!whole && slash)
		path = slash + 1;
	ray_text_add_safe(out, path, strlen(path));
}

static void add_plural(struct ray_text *out, const struct ray_part *p, const char *one, const char *many)
{
	if (p->count > 1)
		ray_text_printf(out, "%zu %s", p->count, many);
	else
		ray_text_add(out, one);
}

static void add_stack_label(const struct ray_regions *r, const struct ray_part *p, struct ray_text *out)
{
	const char *role = ray_regions_thread_text(r, p->tid);

	ray_text_printf(out, "%s of %d", ray_region_kind_text(p->kind), p->tid);
	if (p->kind == RAY_REGION_STACK && *role)
		ray_text_printf(out, ", %s", role);
}

void ray_maps_part_label(const struct ray_regions *r, const struct ray_region *region, const struct ray_part *p,
			 struct ray_text *out)
{
	switch (p->kind) {
	case RAY_REGION_V8_PAGE:
		add_page_label(r, p, out);
		break;
	case RAY_REGION_STACK:
	case RAY_REGION_STACK_GUARD:
		add_stack_label(r, p, out);
		break;
	case RAY_REGION_EXTERNAL:
		add_plural(out, p, "array buffer or external string", "array buffers or external strings");
		break;
	case RAY_REGION_BLOCK:
		add_plural(out, p, "large malloc block", "large malloc blocks");
		break;
	case RAY_REGION_FILE:
		add_path(region, true, out);
		break;
	case RAY_REGION_TEXT:
	case RAY_REGION_NODE_DATA:
	case RAY_REGION_LIBRARY_TEXT:
	case RAY_REGION_LIBRARY_DATA:
	case RAY_REGION_KERNEL:
	case RAY_REGION_SHARED:
	case RAY_REGION_ANONYMOUS:
		ray_text_add(out, ray_region_kind_text(p->kind));
		if (*region->map->path) {
			ray_text_add(out, ": ");
			add_path(region, false, out);
		}
		break;
	default:
		ray_text_add(out, ray_region_kind_text(p->kind));
	}
}

/* Parts that read the same are told once, in the order in which they come. */
static size_t gather(const struct ray_region *region, struct ray_part *pieces)
{
	size_t n = 0;

	for (size_t i = 0; i < region->part_count; i++) {
		const struct ray_part *p = &region->parts[i];
		size_t k;

		for (k = 0; k < n; k++)
			if (pieces[k].kind == p->kind && pieces[k].space == p->space && pieces[k].heap == p->heap &&
			    pieces[k].tid == p->tid)
				break;
		if (k == MAX_PIECES)
			continue;
		if (k == n) {
			pieces[n] = *p;
			pieces[n++].end = p->start;
			pieces[k].count = 0;
		}
		pieces[k].end += p->end - p->start;
		pieces[k].count += p->count;
	}
	return n;
}

void ray_maps_label(const struct ray_regions *r, const struct ray_region *region, struct ray_text *out)
{
	struct ray_part pieces[MAX_PIECES];
	size_t n = gather(region, pieces);

	for (size_t i = 0; i < n && i < SHOWN_PIECES; i++) {
		char size[8];

		if (i)
			ray_text_add(out, "; ");
		ray_maps_part_label(r, region, &pieces[i], out);
		if (n > 1)
			ray_text_printf(out, " %s", ray_format_size(pieces[i].end - pieces[i].start, size));
	}
	if (n > SHOWN_PIECES)
		ray_text_printf(out, "; %s%zu more", n == MAX_PIECES ? "at least " : "", n - SHOWN_PIECES);
}

static void add(struct ray_maps_sum *sum, const struct ray_part *p)
{
	sum->size += p->end - p->start;
	sum->rss += p->usage.rss;
	sum->dirty += p->usage.dirty;
	sum->swap += p->usage.swap;
	sum->dumped += p->dumped;
	/* A page or block that goes on in the next mapping is counted where it begins. */
	sum->count += p->kind == RAY_REGION_V8_PAGE ? p->count : p->count ? p->count : 1;
}

void ray_maps_add_up(const struct ray_regions *r, struct ray_maps_totals *ret)
{
	const struct ray_region *list;
	size_t count;

	memset(ret, 0, sizeof(*ret));
	list = ray_regions_list(r, &count);
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < list[i].part_count; k++) {
			const struct ray_part *p = &list[i].parts[k];

			add(&ret->all, p);
			add(&ret->groups[ray_region_group(p->kind)], p);
			add(&ret->kinds[p->kind], p);
			if (p->kind == RAY_REGION_V8_PAGE)
				add(&ret->spaces[p->space], p);
		}
	}
	ret->all.count = count;
}

void ray_maps_add_up_heap(const struct ray_regions *r, uint64_t heap, struct ray_maps_sum *ret)
{
	const struct ray_region *list;
	size_t count;

	memset(ret, 0, sizeof(*ret));
	list = ray_regions_list(r, &count);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < list[i].part_count; k++)
			if (list[i].parts[k].kind == RAY_REGION_V8_PAGE && list[i].parts[k].heap == heap)
				add(ret, &list[i].parts[k]);
}
