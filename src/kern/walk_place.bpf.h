/* walk_place.bpf.h - how to leave a place in code. SPDX-License-Identifier: MIT
 *
 * Searched for in what user space told of the process: its ranges, and the rows of their files. What was found is remembered (walk_memory.bpf.h). */
#ifndef RAY_KERN_WALK_PLACE_BPF_H
#define RAY_KERN_WALK_PLACE_BPF_H

#include "kern/walk_memory.bpf.h"

enum { RAY_RANGE_STEPS = 14, RAY_ROW_STEPS = 13 /* a page has no more rows than bytes */ };

/* Is it in one of the process's ranges? Then w->range is that one; else it is in w's gap. */
RAY_WALK_PART int ray_walk_range(struct ray_walker *w, __u64 pc)
{
	__u64 below = 0, above = -1ULL;
	__u32 low = 0, high, key;
	struct ray_unwind_range *r;

	if (!w)
		return 0;
	high = w->process.range_count;
	if (pc >= w->range.start && pc < w->range.end)
		return 1;
	for (int i = 0; i < RAY_RANGE_STEPS && low < high; i++) {
		__u32 middle = low + (high - low) / 2;

		key = w->process.first_range + middle;
		r = bpf_map_lookup_elem(RAY_MAP(UNWIND_RANGES), &key);
		if (!r)
			return 0;
		if (pc < r->start) {
			high = middle;
			above = r->start;
		} else if (pc >= r->end) {
			low = middle + 1;
			below = r->end;
		} else {
			w->range = *r;
			return 1;
		}
	}
	w->gap_start = below;
	w->gap_end = above;
	return 0;
}

static __always_inline struct ray_unwind_row *ray_walk_row_at(__u32 index)
{
	return bpf_map_lookup_elem(RAY_MAP(UNWIND_ROWS), &index);
}

/* Finds the row of w->range that covers pc, into w->leave. */
RAY_WALK_PART int ray_walk_row(struct ray_walker *w, __u64 pc)
{
	struct ray_unwind_row *row;
	__u32 start, page, low, high, at;
	int is_known;

	if (!w)
		return 0;
	start = (__u32)(pc + w->range.delta);
	page = start >> RAY_PAGE_SHIFT;
	if (page >= w->range.page_count)
		return 0;
	row = ray_walk_row_at(w->range.first_page + page);
	if (!row)
		return 0;
	low = row->start;
	row = ray_walk_row_at(w->range.first_page + page + 1);
	if (!row)
		return 0;
	high = row->start;
	for (int i = 0; i < RAY_ROW_STEPS && low < high; i++) {
		__u32 middle = low + (high - low) / 2;

		row = ray_walk_row_at(w->range.first_row + middle);
		if (!row)
			return 0;
		if (row->start <= start)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || low > w->range.row_count)
		return 0;
	row = ray_walk_row_at(w->range.first_row + low - 1);
	if (!row)
		return 0;
	w->leave.cfa = row->cfa;
	w->leave.kind = row->kind;
	w->leave.saved = row->saved;
	at = pc & (RAY_LINE - 1);
	w->leave.first = at - (start - row->start < at ? start - row->start : at);
	is_known = row->kind != RAY_ROW_NONE;
	row = low < w->range.row_count ? ray_walk_row_at(w->range.first_row + low) : 0;
	if (row)
		w->leave.last = row->start - start < RAY_LINE - at ? at + (row->start - start) - 1 : RAY_LINE - 1;
	return is_known;
}

/* Is pc, in w->range, in a call of the builtin that replaces frames? What is said of such a place, or beside one, is said of that byte alone. */
static __always_inline __u32 ray_walk_replaces(struct ray_walker *w, __u64 pc)
{
	__u32 start = (__u32)(pc + w->range.delta), flags = 0;

	for (int i = 0; i < 2 * RAY_DEOPTS; i++) {
		if (start >> RAY_LINE_SHIFT != w->process.deopt_calls[i] >> RAY_LINE_SHIFT)
			continue;
		w->leave.first = w->leave.last = pc & (RAY_LINE - 1);
		if (start == w->process.deopt_calls[i])
			flags = RAY_PLACE_REPLACES;
	}
	return flags;
}

/* Looks up how to leave the place pc, and remembers it: into w->leave. */
RAY_WALK_PART int ray_walk_learn(struct ray_walker *w, struct ray_known_place *place, __u64 pc)
{
	__u32 flags = 0;

	if (!w || !place)
		return 0;
	w->leave.first = w->leave.last = pc & (RAY_LINE - 1);
	if (ray_walk_range(w, pc)) {
		flags = RAY_PLACE_IS_KNOWN;
		if (ray_walk_row(w, pc))
			flags |= RAY_PLACE_HAS_ROW;
		else if (w->range.is_v8)
			flags |= RAY_PLACE_IS_V8 | ray_walk_replaces(w, pc);
	}
	w->leave.flags = flags;
	place->check = (pc >> RAY_LINE_SHIFT) ^ w->tag;
	place->leave = w->leave;
	return 1;
}

/* How to leave the place pc; for places that were met before without a search. */
static __always_inline struct ray_leave ray_walk_leave(struct ray_walker *w, __u64 pc)
{
	__u64 line = pc >> RAY_LINE_SHIFT, at = pc & (RAY_LINE - 1);
	struct ray_known_place *place;

	if (pc >= w->gap_start && pc < w->gap_end)
		return (struct ray_leave){ 0 };
	place = &w->places[(line ^ line >> 11) & (RAY_PLACES - 1)];
	if (place->check == (line ^ w->tag) && at >= place->leave.first && at <= place->leave.last)
		return place->leave;
	ray_walk_learn(w, place, pc);
	return w->leave;
}

#endif
