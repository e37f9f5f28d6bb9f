/* stacks_table.c - lines and stacks, each kept once. SPDX-License-Identifier: MIT */
#include <string.h>

#include "engine/stacks.h"

bool ray_stack_table_init(struct ray_stack_table *t)
{
	memset(t, 0, sizeof(*t));
	t->arena = ray_arena_create();
	return t->arena != NULL;
}

void ray_stack_table_deinit(struct ray_stack_table *t)
{
	ray_arena_free(t->arena);
	ray_hashmap_free(&t->stacks);
	ray_hashmap_free(&t->lines);
	ray_hashmap_free(&t->frames);
}

struct ray_stack_line *ray_stack_table_line(struct ray_stack_table *t, const char *text, bool is_plumbing)
{
	size_t size = strlen(text) + 1;
	uint64_t hash = ray_hash_bytes(is_plumbing, text, size);
	struct ray_stack_line **known, *line;

	known = ray_hashmap_find(&t->lines, hash, one,
				 (*one)->is_plumbing == is_plumbing && !strcmp((*one)->text, text));
	if (known)
		return *known;
	line = ray_arena_alloc(t->arena, sizeof(*line) + size);
	if (!line || !ray_hashmap_add(&t->lines, hash, line))
		return NULL;
	line->is_plumbing = is_plumbing;
	memcpy(line->text, text, size);
	t->bytes += sizeof(*line) + size;
	return line;
}

const char *ray_stack_line_text(const struct ray_stack_line *line)
{
	return line->plain && line->plain->is_plain ? line->plain->text : line->text;
}

static struct ray_stack_entry *find(const struct ray_stack_table *t, uint64_t id)
{
	return ray_hashmap_find(&t->stacks, ray_hash_word(0, id), one, one->id == id);
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
	struct ray_stack_entry *known = find(t, stack->id), new;

	if (!own || (lines && !own_lines))
		return false;
	t->bytes += sizeof(*own) + stack->count * 2 * sizeof(void *);
	*own = *stack;
	own->generation = t->generation;
	own->frames = copy_list(t, stack->frames, stack->count);
	if (!own->frames)
		return false;
	new = (struct ray_stack_entry){ stack->id, (uint32_t)stack->count, (const struct ray_stack_line **)own_lines,
					own };
	if (known)
		*known = new;
	return known || ray_hashmap_add(&t->stacks, ray_hash_word(0, stack->id), new);
}

const struct ray_stack_entry *ray_stack_table_find(const struct ray_stack_table *t, uint64_t id)
{
	return find(t, id);
}
