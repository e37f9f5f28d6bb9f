/* maps.c - the memory map for people. See maps.h. SPDX-License-Identifier: MIT */
#include "view/maps.h"

#include <inttypes.h>
#include <string.h>

#include "base/search.h"
#include "view/table.h"

/* Number columns that are left out where the target cannot tell them. */
struct numbers {
	bool dumped, usage, swap;
};

enum known { KNOWN, UNKNOWN, NOT_TOLD };

enum { MAX_COLUMNS = 8 };

static const struct ray_column column_address = { "ADDRESS", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 };
static const struct ray_column column_group = { "", RAY_ALIGN_LEFT, RAY_CUT_NEVER, 0 };
static const struct ray_column column_size = { "SIZE", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 };
static const struct ray_column column_dumped = { "DUMPED", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 };
static const struct ray_column column_rss = { "RSS", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 };
static const struct ray_column column_dirty = { "DIRTY", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 };
static const struct ray_column column_swap = { "SWAP", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 };
static const struct ray_column column_mode = { "MODE", RAY_ALIGN_LEFT, RAY_CUT_NEVER, 0 };
static const struct ray_column column_what = { "WHAT", RAY_ALIGN_LEFT, RAY_CUT_END, 8 };
static const struct ray_column column_count = { "COUNT", RAY_ALIGN_RIGHT, RAY_CUT_NEVER, 0 };

static struct numbers numbers_of(const struct ray_regions *r, const struct ray_maps_style *style)
{
	struct ray_maps_totals totals;

	ray_maps_add_up(r, &totals);
	return (struct numbers){ .dumped = style->is_core,
				 .usage = ray_regions_has_usage(r),
				 .swap = totals.all.swap > 0 };
}

static size_t number_columns(const struct numbers *n, struct ray_column *columns)
{
	size_t count = 0;

	columns[count++] = column_size;
	if (n->dumped)
		columns[count++] = column_dumped;
	if (n->usage) {
		columns[count++] = column_rss;
		columns[count++] = column_dirty;
	}
	if (n->swap)
		columns[count++] = column_swap;
	return count;
}

static void add_size(struct ray_table *t, uint64_t bytes)
{
	char text[8];

	ray_table_add(t, bytes ? ray_format_size(bytes, text) : "-");
}

static void add_known(struct ray_table *t, uint64_t bytes, enum known known)
{
	if (known == KNOWN)
		add_size(t, bytes);
	else
		ray_table_add(t, known == UNKNOWN ? "?" : "");
}

static void add_numbers(struct ray_table *t, const struct numbers *n, const struct ray_maps_sum *sum, enum known known)
{
	add_size(t, sum->size);
	if (n->dumped)
		add_known(t, sum->dumped, known == NOT_TOLD ? NOT_TOLD : KNOWN);
	if (n->usage) {
		add_known(t, sum->rss, known);
		add_known(t, sum->dirty, known);
	}
	if (n->swap)
		add_known(t, sum->swap, known);
}

/* ---- every mapping ---- */

static void add_row(struct ray_table *t, const struct numbers *n, uint64_t address, const struct ray_maps_sum *sum,
		    enum known known, const char *mode, const char *what)
{
	ray_table_printf(t, "%" PRIx64, address);
	add_numbers(t, n, sum, known);
	ray_table_add(t, mode);
	ray_table_add(t, what);
}

static size_t first_page(const struct ray_v8_page *pages, size_t count, uint64_t address)
{
	return ray_search(pages, count, one, one->address < address);
}

static void add_pages(const struct ray_regions *r, struct ray_table *t, const struct numbers *n,
		      const struct ray_region *region)
{
	static const char *const halves[] = { "", ", from", ", to" };
	const struct ray_v8_page *pages;
	size_t count, i;

	pages = ray_v8_heap_pages(ray_regions_heap(r), &count);
	for (i = first_page(pages, count, region->map->start); i < count && pages[i].address < region->map->end; i++) {
		const struct ray_v8_page *p = &pages[i];
		struct ray_maps_sum sum = { .size = p->size };
		ray_auto_text text = { 0 };
		char size[8];

		ray_text_printf(&text, "  page: %s%s%s", ray_v8_space_name(p->space), halves[p->half],
				p->damaged ? ", damaged" : "");
		/* V8 does not count page by page what lies in the new space. */
		if (!p->half && !p->damaged)
			ray_text_printf(&text, ", %s allocated", ray_format_size(p->allocated, size));
		add_row(t, n, p->address, &sum, NOT_TOLD, "", ray_text_get(&text));
	}
}

static void add_parts(const struct ray_regions *r, struct ray_table *t, const struct numbers *n,
		      const struct ray_region *region)
{
	for (size_t i = 0; region->part_count > 1 && i < region->part_count; i++) {
		const struct ray_part *p = &region->parts[i];
		struct ray_maps_sum sum = {
			p->end - p->start, p->usage.rss, p->usage.dirty, p->usage.swap, p->dumped, 0
		};
		ray_auto_text text = { 0 };

		ray_text_add(&text, "  ");
		ray_maps_part_label(r, region, p, &text);
		add_row(t, n, p->start, &sum, region->usage.known ? KNOWN : UNKNOWN, "", ray_text_get(&text));
	}
}

bool ray_maps_print_table(const struct ray_regions *r, const struct ray_maps_style *style, FILE *out)
{
	struct numbers n = numbers_of(r, style);
	struct ray_column columns[MAX_COLUMNS] = { column_address };
	size_t columns_used = 1 + number_columns(&n, columns + 1), count;
	const struct ray_region *list = ray_regions_list(r, &count);

	columns[columns_used++] = column_mode;
	columns[columns_used++] = column_what;

	ray_auto(ray_table, t) = ray_table_create(columns, columns_used);
	if (!t)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct ray_usage *u = &list[i].usage;
		struct ray_maps_sum sum = {
			list[i].map->end - list[i].map->start, u->rss, u->dirty, u->swap, list[i].map->dumped, 0
		};
		ray_auto_text what = { 0 };
		char mode[5];

		ray_maps_label(r, &list[i], &what);
		add_row(t, &n, list[i].map->start, &sum, u->known ? KNOWN : UNKNOWN, ray_maps_mode(list[i].map, mode),
			ray_text_get(&what));
		if (style->verbose) {
			add_parts(r, t, &n, &list[i]);
			add_pages(r, t, &n, &list[i]);
		}
	}
	return ray_table_print(t, &(struct ray_table_print){ .width = style->width }, out);
}

/* ---- the summary ---- */

static void add_summary_row(struct ray_table *t, const struct numbers *n, const char *name,
			    const struct ray_maps_sum *sum)
{
	ray_table_add(t, name);
	add_numbers(t, n, sum, KNOWN);
	if (sum->count)
		ray_table_printf(t, "%zu", sum->count);
	else
		ray_table_add(t, "");
}

static void add_spaces(const struct ray_regions *r, struct ray_table *t, const struct numbers *n,
		       const struct ray_maps_totals *totals)
{
	const struct ray_owner *owners;
	size_t count, owned = 0;

	for (int i = 0; i < RAY_V8_SPACE_COUNT; i++) {
		char name[64];

		if (!totals->spaces[i].size)
			continue;
		snprintf(name, sizeof(name), "  %s%s", ray_v8_space_name(i), ray_v8_space_is_code(i) ? " (JIT)" : "");
		for (char *c = name; *c; c++)
			*c = *c == '_' ? ' ' : *c;
		add_summary_row(t, n, name, &totals->spaces[i]);
	}
	owners = ray_regions_owners(r, &count);
	for (size_t i = 0; i < count; i++)
		owned += owners[i].heap != 0;
	for (size_t i = 0; owned > 1 && i < count; i++) {
		struct ray_maps_sum sum;
		char name[64];

		ray_maps_add_up_heap(r, owners[i].heap, &sum);
		snprintf(name, sizeof(name), "  thereof %s", owners[i].text);
		add_summary_row(t, n, name, &sum);
	}
}

static void add_group(const struct ray_regions *r, struct ray_table *t, const struct numbers *n,
		      const struct ray_maps_totals *totals, enum ray_region_group group)
{
	if (!totals->groups[group].size)
		return;
	add_summary_row(t, n, ray_region_group_text(group), &totals->groups[group]);
	if (group == RAY_GROUP_V8) {
		add_spaces(r, t, n, totals);
		return;
	}
	for (int i = 0; i < RAY_REGION_KIND_COUNT; i++) {
		char name[64];

		if (ray_region_group(i) != group || !totals->kinds[i].size)
			continue;
		snprintf(name, sizeof(name), "  %s", ray_region_kind_text(i));
		add_summary_row(t, n, name, &totals->kinds[i]);
	}
}

static bool is_file_backed(enum ray_region_kind kind)
{
	return kind == RAY_REGION_TEXT || kind == RAY_REGION_BUILTINS || kind == RAY_REGION_LIBRARY_TEXT ||
	       ray_region_group(kind) == RAY_GROUP_FILES;
}

static void print_left_out(const struct ray_maps_totals *totals, FILE *out)
{
	static const char *const what[] = { "of files", "of other memory", "that is only reserved" };
	uint64_t missing[RAY_COUNT(what)] = { 0 };
	const char *separator = "Left out: ";
	char size[8], whole[8];

	for (int i = 0; i < RAY_REGION_KIND_COUNT; i++) {
		const struct ray_maps_sum *sum = &totals->kinds[i];
		size_t column = is_file_backed(i) ? 0 : ray_region_group(i) == RAY_GROUP_RESERVED ? 2 : 1;

		missing[column] += sum->size > sum->dumped ? sum->size - sum->dumped : 0;
	}
	fprintf(out, "The core holds %s of %s.\n", ray_format_size(totals->all.dumped, size),
		ray_format_size(totals->all.size, whole));
	for (size_t i = 0; i < RAY_COUNT(what); i++) {
		if (!missing[i])
			continue;
		fprintf(out, "%s%s %s", separator, ray_format_size(missing[i], size), what[i]);
		separator = ", ";
	}
	if (*separator == ',')
		fprintf(out, ".\n");
}

bool ray_maps_print_summary(const struct ray_regions *r, const struct ray_maps_style *style, FILE *out)
{
	struct numbers n = numbers_of(r, style);
	struct ray_column columns[MAX_COLUMNS] = { column_group };
	size_t columns_used = 1 + number_columns(&n, columns + 1);
	struct ray_maps_totals totals;
	bool ok;

	columns[columns_used++] = column_count;

	ray_auto(ray_table, t) = ray_table_create(columns, columns_used);
	if (!t)
		return false;
	ray_maps_add_up(r, &totals);
	for (int group = 0; group < RAY_GROUP_COUNT; group++)
		add_group(r, t, &n, &totals, group);
	add_summary_row(t, &n, "total", &totals.all);
	ok = ray_table_print(t, &(struct ray_table_print){ .width = style->width }, out);
	if (style->is_core)
		print_left_out(&totals, out);
	return ok;
}
