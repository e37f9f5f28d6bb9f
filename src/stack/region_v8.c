/* region_v8.c - V8's pages and code range among the mappings, and whose they are.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/text.h"
#include "stack/claims.h"

enum {
	/* Heap is a member of Isolate; this is more than any version's distance between the two. */
	MAX_HEAP_OFFSET = 1 << 20,
	/* The largest code range V8 reserves on x86-64. */
	MAX_CODE_RANGE = 512 << 20,
};

typedef RAY_VEC(struct ray_v8_span) spans_t;

static bool add_span(uint64_t start, uint64_t end, void *arg)
{
	spans_t *spans = arg;

	return ray_vec_push(spans, ((struct ray_v8_span){ start, end }));
}

/* Memory that nobody ever touched holds no page header. Leaving it alone also spares the target
 * page tables that reading would make the kernel fill. */
static bool add_scannable(struct ray_survey *s, size_t i, spans_t *spans)
{
	const struct ray_map *m = &s->maps[i];
	const struct ray_usage *u = &s->usage[i];

	if (!ray_map_is_anonymous(m) || !(m->prot & PROT_READ) || s->reserved[i])
		return true;
	if (ray_target_kind(s->t) == RAY_TARGET_CORE)
		return ray_target_dumped_runs(s->t, m->start, m->end, add_span, spans);
	if (u->known && u->rss + u->swap == 0)
		return true;
	if (s->resident && (!u->known || u->rss < m->end - m->start)) {
		size_t before = spans->n;

		if (ray_resident_runs(s->resident, m->start, m->end, add_span, spans))
			return true;
		spans->n = before;
	}
	return add_span(m->start, m->end, spans);
}

static void claim_pages(struct ray_survey *s)
{
	const struct ray_v8_page *pages;
	size_t count;

	pages = ray_v8_heap_pages(s->heap, &count);
	for (size_t i = 0; i < count; i++)
		ray_claims_add(&s->claims, &(struct ray_part){ .start = pages[i].address,
							       .end = pages[i].address + pages[i].size,
							       .kind = RAY_REGION_V8_PAGE,
							       .space = pages[i].space,
							       .heap = pages[i].heap,
							       .count = 1 });
}

/* Could the mapping be a piece of the code range that begins or ends in its neighbour? */
static bool is_code_piece(const struct ray_survey *s, size_t i)
{
	const struct ray_map *m = &s->maps[i];
	const struct ray_v8_page *page;

	if (m->prot & PROT_EXEC)
		return ray_map_is_anonymous(m) || ray_map_is_node(s, m);
	page = ray_v8_heap_page_at(s->heap, m->start);
	if (page)
		return ray_v8_space_is_code(page->space);
	return s->reserved[i];
}

/* Code pages lie in one reservation: follow the mappings that touch, both ways. */
static void mark_code_range(struct ray_survey *s, uint64_t address)
{
	size_t low = ray_survey_map_at(s, address), high = low;
	const struct ray_map *maps = s->maps;

	if (low == s->map_count || s->code_range[low])
		return;
	while (high + 1 < s->map_count && maps[high + 1].start == maps[high].end && is_code_piece(s, high + 1) &&
	       maps[high + 1].end - maps[low].start <= MAX_CODE_RANGE)
		high++;
	while (low > 0 && maps[low - 1].end == maps[low].start && is_code_piece(s, low - 1) &&
	       maps[high].end - maps[low - 1].start <= MAX_CODE_RANGE)
		low--;
	for (size_t i = low; i <= high; i++)
		s->code_range[i] = true;
}

static void note_layout(struct ray_survey *s)
{
	size_t damaged = ray_v8_heap_damaged(s->heap);

	if (ray_v8_heap_note(s->heap))
		ray_survey_note(s, "%s", ray_v8_heap_note(s->heap));
	if (damaged)
		ray_survey_note(s, "%zu V8 page%s a damaged header: space or size may be wrong", damaged,
				damaged == 1 ? " has" : "s have");
}

struct ray_error *ray_survey_v8(struct ray_survey *s)
{
	spans_t scan = { 0 }, mapped = { 0 };
	struct ray_error *err = NULL;
	const struct ray_v8_page *pages;
	bool ok = true;
	size_t count;

	for (size_t i = 0; i < s->map_count && ok; i++)
		ok = add_span(s->maps[i].start, s->maps[i].end, &mapped) && add_scannable(s, i, &scan);
	if (ok)
		err = ray_v8_heap_scan(&(struct ray_v8_heap_input){ .reader = &s->reader,
								    .version = s->node ? s->node->v8 : 0,
								    .scan = scan.at,
								    .scan_count = scan.n,
								    .mapped = mapped.at,
								    .mapped_count = mapped.n },
				       &s->heap);
	ray_vec_free(&scan);
	ray_vec_free(&mapped);
	if (!ok || err)
		return ok ? err : &ray_enomem;
	claim_pages(s);
	pages = ray_v8_heap_pages(s->heap, &count);
	for (size_t i = 0; i < count; i++)
		if (ray_v8_space_is_code(pages[i].space))
			mark_code_range(s, pages[i].address);
	note_layout(s);
	return NULL;
}

/* ---- whose heap ---- */

/* The thread whose isolate holds the heap. */
static void name_owner(const struct ray_survey *s, struct ray_owner *o)
{
	uint64_t nearest = MAX_HEAP_OFFSET;
	const struct ray_role_info *role = NULL;

	for (size_t i = 0; i < s->thread_count; i++) {
		uint64_t isolate = s->roles[i].isolate;

		if (!isolate || o->heap < isolate || o->heap - isolate >= nearest)
			continue;
		nearest = o->heap - isolate;
		role = &s->roles[i];
		o->tid = s->threads[i].tid;
	}
	if (!role)
		return;
	o->worker = role->worker_id;
	if (role->role == RAY_ROLE_MAIN)
		snprintf(o->text, sizeof(o->text), "main");
	else if (role->worker_id >= 0)
		snprintf(o->text, sizeof(o->text), "worker %d", role->worker_id);
	else
		snprintf(o->text, sizeof(o->text), "thread %d", o->tid);
}

/* V8 counts what each space has: another sum of pages means that some are missing, or wrong. */
static void note_missing(struct ray_survey *s, const struct ray_owner *owner, const struct ray_v8_isolate *isolate)
{
	for (int space = 0; space < RAY_V8_SPACE_COUNT; space++) {
		const struct ray_v8_space_sum *sum = &isolate->spaces[space];
		bool less = sum->bytes < sum->claimed;
		char claimed[8], difference[8];

		if (!sum->has_claim || sum->claimed == sum->bytes)
			continue;
		ray_survey_note(
			s, "%s: V8 counts %s in %s space, %s %s was found", owner->text,
			ray_format_size(sum->claimed, claimed), ray_v8_space_name(space),
			ray_format_size(less ? sum->claimed - sum->bytes : sum->bytes - sum->claimed, difference),
			less ? "less" : "more");
	}
}

struct ray_error *ray_survey_owners(struct ray_survey *s)
{
	const struct ray_v8_isolate *heaps;
	size_t count, serial = 0;

	heaps = ray_v8_heap_isolates(s->heap, &count);
	for (size_t i = 0; i < count; i++) {
		struct ray_owner owner = { .heap = heaps[i].heap, .worker = -1 };

		if (owner.heap) {
			snprintf(owner.text, sizeof(owner.text), "isolate %zu", ++serial);
			name_owner(s, &owner);
		} else {
			snprintf(owner.text, sizeof(owner.text), "shared");
		}
		note_missing(s, &owner, &heaps[i]);
		if (!ray_vec_push(&s->owners, owner))
			return &ray_enomem;
	}
	return NULL;
}
