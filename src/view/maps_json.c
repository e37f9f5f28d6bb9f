/* maps_json.c - the memory map for programs: one object a line. See maps.h.
 * SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "view/maps.h"

static void set_usage(json_t *o, const struct ray_usage *u)
{
	json_object_set_new(o, "rss", u->known ? json_integer((json_int_t)u->rss) : json_null());
	json_object_set_new(o, "dirty", u->known ? json_integer((json_int_t)u->dirty) : json_null());
	json_object_set_new(o, "swap", u->known ? json_integer((json_int_t)u->swap) : json_null());
}

static void set_number(json_t *o, const char *key, uint64_t value)
{
	json_object_set_new(o, key, json_integer((json_int_t)value));
}

/* What every line begins with. */
static json_t *line_object(const struct ray_maps_style *style, const char *type)
{
	json_t *o = json_object();

	json_object_set_new(o, "pid", json_integer(style->pid));
	json_object_set_new(o, "type", json_string(type));
	return o;
}

static json_t *part_object(const struct ray_regions *r, const struct ray_part *p, bool is_core)
{
	json_t *o = json_object();

	json_object_set_new(o, "start", ray_json_hex(p->start));
	set_number(o, "size", p->end - p->start);
	json_object_set_new(o, "kind", json_string(ray_region_kind_name(p->kind)));
	json_object_set_new(o, "group", json_string(ray_region_group_name(ray_region_group(p->kind))));
	if (p->kind == RAY_REGION_V8_PAGE) {
		json_object_set_new(o, "space", json_string(ray_v8_space_name(p->space)));
		json_object_set_new(o, "isolate", ray_json_text(ray_regions_owner_text(r, p->heap)));
	}
	if (p->kind == RAY_REGION_STACK || p->kind == RAY_REGION_STACK_GUARD)
		json_object_set_new(o, "tid", json_integer(p->tid));
	if (p->count)
		set_number(o, "count", p->count);
	set_usage(o, &p->usage);
	if (is_core)
		set_number(o, "dumped", p->dumped);
	return o;
}

static void print_mapping(const struct ray_regions *r, const struct ray_region *region,
			  const struct ray_maps_style *style)
{
	json_t *o = line_object(style, "mapping"), *parts = json_array();
	ray_auto_text what = { 0 };
	char mode[5];

	json_object_set_new(o, "start", ray_json_hex(region->map->start));
	json_object_set_new(o, "end", ray_json_hex(region->map->end));
	set_number(o, "size", region->map->end - region->map->start);
	set_usage(o, &region->usage);
	if (style->is_core)
		set_number(o, "dumped", region->map->dumped);
	json_object_set_new(o, "mode", json_string(ray_maps_mode(region->map, mode)));
	set_number(o, "offset", region->map->offset);
	json_object_set_new(o, "path", ray_json_text(region->map->path));
	ray_maps_label(r, region, &what);
	json_object_set_new(o, "what", ray_json_text(ray_text_get(&what)));
	for (size_t i = 0; i < region->part_count; i++)
		json_array_append_new(parts, part_object(r, &region->parts[i], style->is_core));
	json_object_set_new(o, "parts", parts);
	ray_json_print(o);
}

static void print_page(const struct ray_regions *r, const struct ray_v8_page *p, const struct ray_maps_style *style)
{
	static const char *const halves[] = { NULL, "from", "to" };
	json_t *o = line_object(style, "page");

	json_object_set_new(o, "address", ray_json_hex(p->address));
	set_number(o, "size", p->size);
	json_object_set_new(o, "space", json_string(ray_v8_space_name(p->space)));
	if (halves[p->half])
		json_object_set_new(o, "half", json_string(halves[p->half]));
	json_object_set_new(o, "isolate", ray_json_text(ray_regions_owner_text(r, p->heap)));
	json_object_set_new(o, "area_start", ray_json_hex(p->area_start));
	json_object_set_new(o, "area_end", ray_json_hex(p->area_end));
	set_number(o, "allocated", p->allocated);
	json_object_set_new(o, "flags", ray_json_hex(p->flags));
	json_object_set_new(o, "damaged", json_boolean(p->damaged));
	ray_json_print(o);
}

void ray_maps_json_table(const struct ray_regions *r, const struct ray_maps_style *style)
{
	const struct ray_region *list;
	const struct ray_v8_page *pages;
	size_t count;

	list = ray_regions_list(r, &count);
	for (size_t i = 0; i < count; i++)
		print_mapping(r, &list[i], style);
	pages = ray_v8_heap_pages(ray_regions_heap(r), &count);
	for (size_t i = 0; style->verbose && i < count; i++)
		print_page(r, &pages[i], style);
}

static json_t *sum_object(const struct ray_regions *r, const struct ray_maps_sum *sum, bool is_core)
{
	json_t *o = json_object();
	struct ray_usage u = { sum->rss, sum->dirty, sum->swap, ray_regions_has_usage(r) };

	set_number(o, "size", sum->size);
	set_usage(o, &u);
	if (is_core)
		set_number(o, "dumped", sum->dumped);
	set_number(o, "count", sum->count);
	return o;
}

static void print_isolate(const struct ray_owner *owner, const struct ray_v8_isolate *isolate,
			  const struct ray_maps_style *style)
{
	json_t *o = line_object(style, "isolate"), *spaces = json_object();

	json_object_set_new(o, "isolate", ray_json_text(owner->text));
	json_object_set_new(o, "heap", ray_json_hex(owner->heap));
	json_object_set_new(o, "tid", owner->tid ? json_integer(owner->tid) : json_null());
	json_object_set_new(o, "worker", owner->worker >= 0 ? json_integer(owner->worker) : json_null());
	for (int i = 0; i < RAY_V8_SPACE_COUNT; i++) {
		const struct ray_v8_space_sum *sum = &isolate->spaces[i];
		json_t *space;

		if (!sum->pages && !sum->has_claim)
			continue;
		space = json_object();
		set_number(space, "pages", sum->pages);
		set_number(space, "size", sum->bytes);
		set_number(space, "allocated", sum->allocated);
		json_object_set_new(space, "counted_by_v8",
				    sum->has_claim ? json_integer((json_int_t)sum->claimed) : json_null());
		json_object_set_new(spaces, ray_v8_space_name(i), space);
	}
	json_object_set_new(o, "spaces", spaces);
	ray_json_print(o);
}

void ray_maps_json_summary(const struct ray_regions *r, const struct ray_maps_style *style)
{
	json_t *o = line_object(style, "summary"), *groups = json_object(), *kinds = json_object();
	const struct ray_v8_isolate *isolates;
	const struct ray_owner *owners;
	struct ray_maps_totals totals;
	size_t count, owner_count;

	owners = ray_regions_owners(r, &owner_count);
	isolates = ray_v8_heap_isolates(ray_regions_heap(r), &count);
	for (size_t i = 0; i < count && i < owner_count; i++)
		print_isolate(&owners[i], &isolates[i], style);
	ray_maps_add_up(r, &totals);
	for (int i = 0; i < RAY_GROUP_COUNT; i++)
		json_object_set_new(groups, ray_region_group_name(i), sum_object(r, &totals.groups[i], style->is_core));
	for (int i = 0; i < RAY_REGION_KIND_COUNT; i++)
		if (totals.kinds[i].size)
			json_object_set_new(kinds, ray_region_kind_name(i),
					    sum_object(r, &totals.kinds[i], style->is_core));
	json_object_set_new(o, "total", sum_object(r, &totals.all, style->is_core));
	json_object_set_new(o, "groups", groups);
	json_object_set_new(o, "kinds", kinds);
	json_object_set_new(o, "damaged_pages", json_integer((json_int_t)ray_v8_heap_damaged(ray_regions_heap(r))));
	ray_json_print(o);
}
