/* region_native.c - thread stacks and the C library's memory among the mappings.
 * SPDX-License-Identifier: MIT
 *
 * glibc marks what it takes from the kernel: an arena begins at a multiple of 64 MiB with a header
 * that points into itself; a large block begins with its own size and a flag; a thread's descriptor
 * lies at the top of its stack. Each mark is checked before it is believed; another C library's
 * memory stays anonymous. */
#include <string.h>
#include <sys/mman.h>

#include "stack/claims.h"
#include "target/tls.h"

enum {
	PAGE = 4096,
	DESCRIPTOR = 0x900, /* glibc's struct pthread: the stack ends behind it */
	MAX_GUARD = 1 << 20,
	MAX_ARENA_HEADER = 0x100,
	MAX_BLOCKS = 1 << 20, /* in one mapping */
	FLAG_MMAPPED = 2,
	FLAG_BITS = 7,
	BLOCK_HEADER = 16,
};
static const uint64_t arena_size = 64ull << 20;

static uint64_t page_up(uint64_t value)
{
	return (value + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

static bool is_plain(const struct ray_survey *s, size_t i)
{
	return ray_survey_is_plain(s, i, PROT_READ | PROT_WRITE);
}

/* ---- stacks ---- */

static void claim_guard(struct ray_survey *s, size_t stack, int tid)
{
	const struct ray_map *m;

	if (!stack)
		return;
	m = &s->maps[stack - 1];
	if (m->end == s->maps[stack].start && s->reserved[stack - 1] && m->end - m->start <= MAX_GUARD)
		ray_claims_add(&s->claims,
			       &(struct ray_part){
				       .start = m->start, .end = m->end, .kind = RAY_REGION_STACK_GUARD, .tid = tid });
}

static void claim_stack(struct ray_survey *s, const struct ray_thread *thread, uint64_t pointer, bool is_main)
{
	size_t i = s->map_count;
	uint64_t end;

	if (thread->has_registers)
		i = ray_survey_map_at(s, thread->registers.rsp);
	else if (is_main) {
		for (i = 0; i < s->map_count && strcmp(s->maps[i].path, "[stack]"); i++)
			;
	} else if (pointer)
		i = ray_survey_map_at(s, pointer);
	if (i >= s->map_count || !(s->maps[i].prot & PROT_WRITE) || *s->maps[i].path == '/')
		return;
	end = s->maps[i].end;
	/* A neighbour above may have been merged into the mapping; below there is always a guard. */
	if (!is_main && pointer >= s->maps[i].start && pointer < end && page_up(pointer + DESCRIPTOR) < end)
		end = page_up(pointer + DESCRIPTOR);
	ray_claims_add(&s->claims,
		       &(struct ray_part){
			       .start = s->maps[i].start, .end = end, .kind = RAY_REGION_STACK, .tid = thread->tid });
	claim_guard(s, i, thread->tid);
}

struct ray_error *ray_survey_stacks(struct ray_survey *s)
{
	ray_auto_memory struct ray_tls_thread *pointers = NULL;
	struct ray_error *err;
	size_t n, missing = 0;

	err = ray_tls_threads(s->t, &pointers, &n);
	if (err)
		return err;
	for (size_t i = 0; i < s->thread_count && i < n; i++) {
		bool is_main = s->threads[i].tid == ray_target_pid(s->t);

		claim_stack(s, &s->threads[i], pointers[i].pointer, is_main);
		missing += !is_main && !s->threads[i].is_kernel && !s->threads[i].has_registers && !pointers[i].pointer;
	}
	if (missing)
		ray_survey_note(s, "%zu of %zu thread stacks could not be told from other memory", missing,
				s->thread_count);
	return NULL;
}

/* ---- arenas ---- */

/* heap_info: the arena, the previous heap, the size in use, the size that is accessible. */
static bool is_arena(struct ray_survey *s, uint64_t start, uint64_t *accessible_ret)
{
	uint64_t w[4], offset;

	if (!ray_read(&s->reader, start, w, sizeof(w)))
		return false;
	offset = w[0] % arena_size;
	if (offset < 0x20 || offset > MAX_ARENA_HEADER || offset % 8)
		return false;
	if (w[1] ? w[1] % arena_size != 0 || w[0] - offset == start : w[0] - offset != start)
		return false;
	*accessible_ret = w[3];
	return w[2] && w[2] <= w[3] && w[3] <= arena_size && w[3] % PAGE == 0;
}

/* Of a mapping, or of the part of it that a core holds. */
static bool claim_arenas(uint64_t start, uint64_t end, void *arg)
{
	uint64_t at = (start + arena_size - 1) & ~(arena_size - 1), accessible;
	struct ray_survey *s = arg;

	for (; at < end && at >= start; at += arena_size) {
		if (ray_claims_has(&s->claims, at) || !is_arena(s, at, &accessible))
			continue;
		ray_claims_add(&s->claims,
			       &(struct ray_part){
				       .start = at, .end = at + accessible, .kind = RAY_REGION_ARENA, .count = 1 });
		ray_claims_add(&s->claims, &(struct ray_part){ .start = at + accessible,
							       .end = at + arena_size,
							       .kind = RAY_REGION_ARENA_RESERVED });
	}
	return true;
}

/* ---- large blocks ---- */

static bool is_block(struct ray_survey *s, uint64_t at, uint64_t end, uint64_t *size_ret)
{
	uint64_t w[2], size;

	if (!ray_read(&s->reader, at, w, sizeof(w)))
		return false;
	size = w[1] & ~(uint64_t)FLAG_BITS;
	if (w[0] || (w[1] & FLAG_BITS) != FLAG_MMAPPED || !size || size % PAGE || size > end - at)
		return false;
	*size_ret = size;
	return true;
}

/* Blocks lie back to back when the kernel merged them; they begin where a mapping does, or where
 * something else in it ends. */
static void claim_blocks(struct ray_survey *s, const struct ray_map *m)
{
	uint64_t at = m->start, size;

	for (int i = 0; i < MAX_BLOCKS && at < m->end; i++) {
		size_t c = ray_claims_from(&s->claims, at);
		uint64_t next = c < s->claims.list.n ? s->claims.list.at[c].start : UINT64_MAX;
		uint64_t end = next < m->end ? next : m->end;

		if (next <= at) {
			at = s->claims.list.at[c].end;
		} else if (is_block(s, at, end, &size)) {
			ray_claims_add(&s->claims,
				       &(struct ray_part){
					       .start = at, .end = at + size, .kind = RAY_REGION_BLOCK, .count = 1 });
			at += size;
		} else {
			at = end;
		}
	}
}

void ray_survey_malloc(struct ray_survey *s)
{
	for (size_t i = 0; i < s->map_count; i++)
		if (is_plain(s, i))
			ray_target_dumped_runs(s->t, s->maps[i].start, s->maps[i].end, claim_arenas, s);
	for (size_t i = 0; i < s->map_count; i++)
		if (is_plain(s, i) && (!s->usage[i].known || s->usage[i].rss + s->usage[i].swap))
			claim_blocks(s, &s->maps[i]);
}

/* ---- memory that JavaScript owns outside of V8's heap ---- */

enum { MAX_EXTERNAL_SCAN = 512 << 20 };

static struct ray_part *block_at(struct ray_survey *s, uint64_t start)
{
	size_t i = ray_claims_from(&s->claims, start);
	struct ray_part *p = i < s->claims.list.n ? &s->claims.list.at[i] : NULL;

	return p && p->start == start && p->kind == RAY_REGION_BLOCK ? p : NULL;
}

static void look_for_blocks(struct ray_survey *s, const uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct ray_part *block;

		/* malloc returns the address behind the header, and the block begins a page. */
		if ((words[i] & (PAGE - 1)) != BLOCK_HEADER || words[i] < PAGE)
			continue;
		block = block_at(s, words[i] - BLOCK_HEADER);
		if (block)
			block->kind = RAY_REGION_EXTERNAL;
	}
}

struct search {
	struct ray_survey *s;
	uint64_t *buffer; /* RAY_V8_PAGE_ALIGN bytes */
};

static bool search_run(uint64_t start, uint64_t end, void *arg)
{
	const struct search *search = arg;
	struct ray_survey *s = search->s;
	size_t n;

	n = s->reader.read(s->reader.arg, start, search->buffer, end - start);
	look_for_blocks(s, search->buffer, n / sizeof(*search->buffer));
	return true;
}

/* A JSArrayBuffer or an external string holds the bare address of its bytes, so a block whose
 * address stands in the old or new space is JavaScript's. */
void ray_survey_external(struct ray_survey *s)
{
	ray_auto_memory uint64_t *buffer = NULL;
	const struct ray_v8_page *pages;
	uint64_t left = MAX_EXTERNAL_SCAN;
	size_t count, blocks = 0, skipped = 0;

	for (size_t i = 0; i < s->claims.list.n; i++)
		blocks += s->claims.list.at[i].kind == RAY_REGION_BLOCK;
	pages = ray_v8_heap_pages(s->heap, &count);
	buffer = blocks ? malloc(RAY_V8_PAGE_ALIGN) : NULL;
	for (size_t i = 0; buffer && i < count; i++) {
		const struct ray_v8_page *p = &pages[i];
		struct search search = { s, buffer };

		if ((p->space != RAY_V8_SPACE_OLD && p->space != RAY_V8_SPACE_NEW) || p->size > RAY_V8_PAGE_ALIGN)
			continue;
		if (p->size > left) {
			skipped++;
			continue;
		}
		left -= p->size;
		/* Half of the new space is usually empty: see region_v8.c on untouched memory. */
		if (!s->resident ||
		    !ray_resident_runs(s->resident, p->address, p->address + p->size, search_run, &search))
			search_run(p->address, p->address + p->size, &search);
	}
	if (skipped)
		ray_survey_note(
			s, "the heap is large: %zu pages were not searched for array buffers, which count as native",
			skipped);
}
