/* stacks_table.c - lines and stacks, each kept once. SPDX-License-Identifier: MIT
 *
 * Two hash tables with open addressing, never more than half full. */
#include <string.h>

#include "engine/stacks.h"

enum { FIRST_ROOM = 1024 };

bool ray_stack_table_init(struct ray_stack_table *t)
{
	memset(t, 0, sizeof(*t));
	t->arena = ray_arena_create();
	t->stack_room = t->line_room = FIRST_ROOM;
	t->stacks = calloc(t->stack_room, sizeof(*t->stacks));
	t->lines = calloc(t->line_room, sizeof(*t->lines));
	t->frame_room = FIRST_ROOM;
	t->frames = calloc(t->frame_room, sizeof(*t->frames));
	return t->arena && t->stacks && t->lines && t->frames;
}

void ray_stack_table_deinit(struct ray_stack_table *t)
{
	ray_arena_free(t->arena);
	free(t->stacks);
	free(t->lines);
	free(t->frames);
}

static uint32_t hash_text(const char *text, bool is_plumbing)
{
	uint32_t hash = is_plumbing ? 2166136261u : 84696351u;

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 16777619u;
	return hash;
}

static bool grow_lines(struct ray_stack_table *t)
{
	size_t room = t->line_room * 2;
	struct ray_stack_line **lines = calloc(room, sizeof(*lines));

	if (!lines)
		return false;
	for (size_t i = 0; i < t->line_room; i++) {
		size_t at;

		if (!t->lines[i])
			continue;
		for (at = t->lines[i]->hash & (room - 1); lines[at]; at = (at + 1) & (room - 1))
			;
		lines[at] = t->lines[i];
	}
	free(t->lines);
	t->lines = lines;
	t->line_room = room;
	return true;
}

struct ray_stack_line *ray_stack_table_line(struct ray_stack_table *t, const char *text, bool is_plumbing)
{
	uint32_t hash = hash_text(text, is_plumbing);
	struct ray_stack_line *line;
	size_t at, size = strlen(text) + 1;

	if (t->line_count * 2 >= t->line_room && !grow_lines(t))
		return NULL;
	for (at = hash & (t->line_room - 1); t->lines[at]; at = (at + 1) & (t->line_room - 1)) {
		if (t->lines[at]->hash == hash && t->lines[at]->is_plumbing == is_plumbing &&
		    !strcmp(t->lines[at]->text, text))
			return t->lines[at];
	}
	line = ray_arena_alloc(t->arena, sizeof(*line) + size);
	if (!line)
		return NULL;
	line->hash = hash;
	line->is_plumbing = is_plumbing;
	memcpy(line->text, text, size);
	t->lines[at] = line;
	t->line_count++;
	t->bytes += sizeof(*line) + size;
	return line;
}

const char *ray_stack_line_text(const struct ray_stack_line *line)
{
	return line->plain && line->plain->is_plain ? line->plain->text : line->text;
}

static struct ray_stack_entry *slot_of(struct ray_stack_entry *stacks, size_t room, uint64_t id)
{
	size_t at = (size_t)(id ^ id >> 32) & (room - 1);

	while (stacks[at].id && stacks[at].id != id)
		at = (at + 1) & (room - 1);
	return &stacks[at];
}

static bool grow_stacks(struct ray_stack_table *t)
{
	size_t room = t->stack_room * 2;
	struct ray_stack_entry *stacks = calloc(room, sizeof(*stacks));

	if (!stacks)
		return false;
	for (size_t i = 0; i < t->stack_room; i++) {
		if (t->stacks[i].id)
			*slot_of(stacks, room, t->stacks[i].id) = t->stacks[i];
	}
	free(t->stacks);
	t->stacks = stacks;
	t->stack_room = room;
	return true;
}

/* NULL without memory. */
static const void *copy_list(struct ray_stack_table *t, const void *list, size_t count)
{
	void *copy = ray_arena_alloc(t->arena, (count + 1) * sizeof(void *));

	if (copy && count)
		memcpy(copy, list, count * sizeof(void *));
	return copy;
}

bool ray_stack_table_add(struct ray_stack_table *t, const struct ray_fact_stack *stack,
			 const struct ray_stack_line *const *lines)
{
	struct ray_fact_stack *own = ray_arena_alloc(t->arena, sizeof(*own));
	const void *own_lines = lines ? copy_list(t, lines, stack->count) : NULL;
	struct ray_stack_entry *e;

	if (!own || (lines && !own_lines) || (t->stack_count * 2 >= t->stack_room && !grow_stacks(t)))
		return false;
	t->bytes += sizeof(*own) + stack->count * 2 * sizeof(void *);
	*own = *stack;
	own->generation = t->generation;
	own->frames = copy_list(t, stack->frames, stack->count);
	if (!own->frames)
		return false;
	e = slot_of(t->stacks, t->stack_room, stack->id);
	if (!e->id)
		t->stack_count++;
	*e = (struct ray_stack_entry){ stack->id, (uint32_t)stack->count, (const struct ray_stack_line **)own_lines,
				       own };
	return true;
}

const struct ray_stack_entry *ray_stack_table_find(const struct ray_stack_table *t, uint64_t id)
{
	const struct ray_stack_entry *e = slot_of(t->stacks, t->stack_room, id);

	return e->id ? e : NULL;
}
