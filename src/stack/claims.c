/* claims.c - see claims.h. SPDX-License-Identifier: MIT */
#include "stack/claims.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/search.h"

size_t ray_claims_from(const struct ray_claims *c, uint64_t address)
{
	return ray_search(c->list.at, c->list.n, one, one->end <= address);
}

bool ray_claims_has(const struct ray_claims *c, uint64_t address)
{
	size_t i = ray_claims_from(c, address);

	return i < c->list.n && c->list.at[i].start <= address;
}

static void insert(struct ray_claims *c, size_t at, const struct ray_part *claim)
{
	if (!ray_vec_push(&c->list, *claim)) {
		c->failed = true;
		return;
	}
	if (at == c->list.n - 1)
		return;
	memmove(&c->list.at[at + 1], &c->list.at[at], (c->list.n - 1 - at) * sizeof(*claim));
	c->list.at[at] = *claim;
}

void ray_claims_add(struct ray_claims *c, const struct ray_part *claim)
{
	struct ray_part piece = *claim;

	while (piece.start < claim->end && !c->failed) {
		size_t i = ray_claims_from(c, piece.start);
		uint64_t next = i < c->list.n ? c->list.at[i].start : UINT64_MAX;

		if (next <= piece.start) {
			piece.start = c->list.at[i].end;
			continue;
		}
		piece.end = next < claim->end ? next : claim->end;
		piece.count = piece.start == claim->start ? claim->count : 0;
		insert(c, i, &piece);
		piece.start = piece.end;
	}
}

void ray_survey_note(struct ray_survey *s, const char *fmt, ...)
{
	char text[512];
	const char *kept;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	kept = ray_arena_strdup(s->arena, text);
	if (!kept || !ray_vec_push(&s->notes, kept))
		s->claims.failed = true;
}

size_t ray_survey_map_at(const struct ray_survey *s, uint64_t address)
{
	size_t i = ray_search(s->maps, s->map_count, one, one->end <= address);

	return i < s->map_count && s->maps[i].start <= address ? i : s->map_count;
}

bool ray_map_is_anonymous(const struct ray_map *m)
{
	/* "[anon:NAME]" is what prctl(PR_SET_VMA) gives; the other bracketed names are the kernel's. */
	return !m->shared && (!*m->path || !strncmp(m->path, "[anon:", 6));
}

bool ray_map_is_node(const struct ray_survey *s, const struct ray_map *m)
{
	if (*m->path != '/')
		return false;
	if (s->node && s->node->module && !strcmp(s->node->module->path, m->path))
		return true;
	return !strcmp(ray_target_exe(s->t), m->path);
}

bool ray_survey_is_plain(const struct ray_survey *s, size_t map, int prot)
{
	return ray_map_is_anonymous(&s->maps[map]) && !s->reserved[map] &&
	       (s->maps[map].prot & (PROT_READ | PROT_WRITE | PROT_EXEC)) == prot;
}

static bool is_zero(struct ray_survey *s, uint64_t address)
{
	uint64_t words[8], any = 0;

	if (!ray_read(&s->reader, address, words, sizeof(words)))
		return true;
	for (size_t i = 0; i < RAY_COUNT(words); i++)
		any |= words[i];
	return !any;
}

/* gdb writes into a core that everything was readable, and zeros for what was not. Memory that is
 * only readable and belongs to no file is rare, and not empty. */
void ray_survey_reserved(struct ray_survey *s)
{
	for (size_t i = 0; i < s->map_count; i++) {
		const struct ray_map *m = &s->maps[i];
		uint64_t size = m->end - m->start;

		if (!ray_map_is_anonymous(m))
			continue;
		s->reserved[i] = m->prot == PROT_NONE;
		if (ray_target_kind(s->t) == RAY_TARGET_CORE && m->prot == PROT_READ && size >= 4096)
			s->reserved[i] = is_zero(s, m->start) && is_zero(s, m->start + size / 2) &&
					 is_zero(s, m->end - 64);
	}
}
