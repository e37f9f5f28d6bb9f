/* recorder_table.c - see recorder_internal.h. SPDX-License-Identifier: MIT */
#include <string.h>

#include "view/recorder_internal.h"

struct ray_recorder_row *ray_recorder_table_get(struct ray_recorder_table *t, const uint64_t key[4])
{
	struct ray_recorder_row new = { .value = 0 }, *row;
	uint64_t hash = 0;

	for (int i = 0; i < 4; i++)
		hash = ray_hash_word(hash, key[i]);
	row = ray_hashmap_find(&t->rows, hash, one, !memcmp(one->key, key, sizeof(one->key)));
	if (row)
		return row;
	memcpy(new.key, key, sizeof(new.key));
	return ray_hashmap_add(&t->rows, hash, new);
}

void ray_recorder_table_clear(struct ray_recorder_table *t)
{
	ray_hashmap_clear(&t->rows);
}

void ray_recorder_table_deinit(struct ray_recorder_table *t)
{
	ray_hashmap_free(&t->rows);
}
