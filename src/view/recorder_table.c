/* recorder_table.c - see recorder_internal.h. SPDX-License-Identifier: MIT
 *
 * Open addressing, never more than half full. */
#include <stdlib.h>
#include <string.h>

#include "view/recorder_internal.h"

enum { FIRST_ROOM = 256 };

static size_t hash_key(const uint64_t key[4])
{
	uint64_t hash = 0;

	for (int i = 0; i < 4; i++) {
		hash = (hash ^ key[i]) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 31;
	}
	return (size_t)hash;
}

static struct ray_recorder_row *slot_of(struct ray_recorder_row *rows, size_t room, const uint64_t key[4])
{
	size_t at = hash_key(key) & (room - 1);

	while (rows[at].is_used && memcmp(rows[at].key, key, sizeof(rows[at].key)) != 0)
		at = (at + 1) & (room - 1);
	return &rows[at];
}

static bool grow(struct ray_recorder_table *t)
{
	size_t room = t->room ? t->room * 2 : FIRST_ROOM;
	struct ray_recorder_row *rows = calloc(room, sizeof(*rows));

	if (!rows)
		return false;
	for (size_t i = 0; i < t->room; i++)
		if (t->rows[i].is_used)
			*slot_of(rows, room, t->rows[i].key) = t->rows[i];
	free(t->rows);
	t->rows = rows;
	t->room = room;
	return true;
}

struct ray_recorder_row *ray_recorder_table_get(struct ray_recorder_table *t, const uint64_t key[4])
{
	struct ray_recorder_row *row;

	if (t->used * 2 >= t->room && !grow(t))
		return NULL;
	row = slot_of(t->rows, t->room, key);
	if (!row->is_used) {
		memcpy(row->key, key, sizeof(row->key));
		row->value = 0;
		row->is_used = true;
		t->used++;
	}
	return row;
}

void ray_recorder_table_clear(struct ray_recorder_table *t)
{
	if (t->used)
		memset(t->rows, 0, t->room * sizeof(*t->rows));
	t->used = 0;
}

void ray_recorder_table_deinit(struct ray_recorder_table *t)
{
	free(t->rows);
	*t = (struct ray_recorder_table){ 0 };
}
