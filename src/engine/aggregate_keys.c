/* aggregate_keys.c - the keys of an aggregation: as the kernel has them, and as they read.
 * SPDX-License-Identifier: MIT
 *
 * Two tables: raw keys by their bytes, and groups of those that a user cannot tell apart (stacks through different
 * addresses, probes of equal names). Where no field must be named and groups do not outlive their raw keys (epochs), each
 * key is a group of its own and the second table is not needed. */
#include <string.h>

#include "engine/consume.h"

/* ---- tables ---- */

static uint64_t hash_bytes(const void *bytes, size_t size, uint64_t h)
{
	const uint8_t *b = bytes;

	for (; size >= 8; size -= 8, b += 8) {
		uint64_t word;

		memcpy(&word, b, 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 29;
	}
	while (size--)
		h = (h ^ *b++) * 0x100000001b3ULL;
	return h ^ h >> 32;
}

/* Makes room for one more than count, which it holds at the most half full: a search ends at an empty place. */
static bool table_reserve(uint32_t **table, size_t *room, size_t count,
			  uint64_t (*hash)(const struct ray_agg *, size_t), const struct ray_agg *a)
{
	size_t want = *room ? *room : 64;
	uint32_t *grown;

	while (want < (count + 1) * 2)
		want *= 2;
	if (want == *room)
		return true;
	grown = calloc(want, sizeof(*grown));
	if (!grown)
		return false;
	for (size_t i = 0; i < count; i++) {
		size_t at = hash(a, i) & (want - 1);

		while (grown[at])
			at = (at + 1) & (want - 1);
		grown[at] = (uint32_t)i + 1;
	}
	free(*table);
	*table = grown;
	*room = want;
	return true;
}

static uint64_t raw_hash(const struct ray_agg *a, size_t i)
{
	return a->raw.at[i].hash;
}

static uint64_t group_hash(const struct ray_agg *a, size_t i)
{
	return a->groups.at[i].hash;
}

size_t ray_agg_lane_words(const struct ray_agg *a)
{
	return (size_t)a->lanes * a->plan->words;
}

void ray_agg_reset_lanes(const struct ray_agg *a, int64_t *words)
{
	for (uint32_t i = 0; i < a->lanes; i++)
		ray_agg_reset(a->plan, words + (size_t)i * a->plan->words);
}

bool ray_agg_reset_room(const struct ray_agg *a, int64_t **words)
{
	if (!*words)
		*words = malloc(ray_agg_lane_words(a) * sizeof(**words));
	if (*words)
		ray_agg_reset_lanes(a, *words);
	return *words != NULL;
}

/* ---- groups ---- */

static void free_texts(const struct ray_agg *a, char **texts)
{
	for (size_t i = 0; texts && i < a->plan->key.field_count; i++)
		free(texts[i]);
	free(texts);
}

/* The key as it reads: what is equal here is one key. NULL: no memory. */
static char **name_key(struct ray_consumer *c, const struct ray_agg *a, const uint8_t *key, uint64_t *hash)
{
	const struct ray_key_plan *k = &a->plan->key;
	char **texts = calloc(k->field_count + 1, sizeof(*texts));

	*hash = 0;
	for (size_t i = 0; texts && i < k->field_count; i++) {
		const struct ray_field *f = &k->fields[i];
		ray_auto_text text = { 0 };

		if (!ray_field_is_named(f)) {
			*hash = hash_bytes(key + f->offset, f->size, *hash);
			continue;
		}
		ray_field_name(c, f, key + f->offset, &text);
		texts[i] = strdup(ray_text_get(&text));
		if (!texts[i]) {
			free_texts(a, texts);
			return NULL;
		}
		*hash = hash_bytes(texts[i], strlen(texts[i]), *hash + 1);
	}
	return texts;
}

static bool reads_same(const struct ray_agg *a, const struct ray_agg_group *g, const uint8_t *key, char *const *texts)
{
	const struct ray_key_plan *k = &a->plan->key;

	for (size_t i = 0; i < k->field_count; i++) {
		const struct ray_field *f = &k->fields[i];

		if (texts[i] ? strcmp(texts[i], g->texts[i]) != 0 :
			       memcmp(key + f->offset, g->key + f->offset, f->size) != 0)
			return false;
	}
	return true;
}

static bool add_group(struct ray_agg *a, struct ray_agg_group g, size_t at, uint32_t *ret)
{
	g.words = malloc(ray_agg_lane_words(a) * sizeof(*g.words));
	if (!g.words || !ray_vec_push(&a->groups, g)) {
		free(g.words);
		return false;
	}
	*ret = (uint32_t)a->groups.n - 1;
	if (a->group_table)
		a->group_table[at] = *ret + 1;
	return true;
}

static bool find_group(struct ray_consumer *c, struct ray_agg *a, const uint8_t *key, uint64_t hash, uint32_t *ret)
{
	struct ray_agg_group g = { .agg = a, .key = key, .hash = hash };
	size_t at;

	if (!a->has_table)
		return add_group(a, g, 0, ret);
	if (!table_reserve(&a->group_table, &a->group_room, a->groups.n, group_hash, a))
		return false;
	g.texts = name_key(c, a, key, &g.hash);
	if (!g.texts)
		return false;
	for (at = g.hash & (a->group_room - 1); a->group_table[at]; at = (at + 1) & (a->group_room - 1)) {
		uint32_t i = a->group_table[at] - 1;

		if (a->groups.at[i].hash != g.hash || !reads_same(a, &a->groups.at[i], key, g.texts))
			continue;
		free_texts(a, g.texts);
		*ret = i;
		return true;
	}
	if (add_group(a, g, at, ret))
		return true;
	free_texts(a, g.texts);
	return false;
}

/* ---- keys ---- */

static struct ray_agg_raw *add_raw(struct ray_consumer *c, struct ray_agg *a, const void *key, uint64_t hash, size_t at)
{
	uint32_t size = a->plan->key.size;
	struct ray_agg_raw r = { .hash = hash,
				 .key = malloc(size),
				 .words = malloc(ray_agg_lane_words(a) * sizeof(*r.words)) };

	if (r.key && r.words && ray_vec_push(&a->raw, r)) {
		memcpy(r.key, key, size);
		if (find_group(c, a, r.key, hash, &a->raw.at[a->raw.n - 1].group)) {
			a->raw_table[at] = (uint32_t)a->raw.n;
			return &a->raw.at[a->raw.n - 1];
		}
		a->raw.n--;
	}
	free(r.words);
	free(r.key);
	return NULL;
}

struct ray_agg_raw *ray_agg_key(struct ray_consumer *c, struct ray_agg *a, const void *key)
{
	uint64_t hash = hash_bytes(key, a->plan->key.size, 0);
	size_t at;

	if (!table_reserve(&a->raw_table, &a->raw_room, a->raw.n, raw_hash, a))
		return NULL;
	for (at = hash & (a->raw_room - 1); a->raw_table[at]; at = (at + 1) & (a->raw_room - 1)) {
		struct ray_agg_raw *r = &a->raw.at[a->raw_table[at] - 1];

		if (r->hash == hash && memcmp(r->key, key, a->plan->key.size) == 0)
			return r;
	}
	return add_raw(c, a, key, hash, at);
}

/* ---- removing ---- */

static void free_group(const struct ray_agg *a, struct ray_agg_group *g)
{
	free_texts(a, g->texts);
	free(g->own_key);
	free(g->words);
	free(g->settled);
}

static void free_raws(struct ray_agg *a)
{
	for (size_t i = 0; i < a->raw.n; i++) {
		free(a->raw.at[i].key);
		free(a->raw.at[i].words);
		free(a->raw.at[i].base);
	}
	a->raw.n = 0;
}

bool ray_agg_forget(struct ray_agg *a)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->raw.n; i++) {
		struct ray_agg_raw *r = &a->raw.at[i];
		struct ray_agg_group *g = &a->groups.at[r->group];

		if (g->key == r->key) {
			g->own_key = r->key;
			r->key = NULL;
		}
	}
	free_raws(a);
	for (size_t i = 0; i < a->groups.n; i++) {
		if (a->groups.at[i].is_hidden)
			free_group(a, &a->groups.at[i]);
		else
			a->groups.at[kept++] = a->groups.at[i];
	}
	a->groups.n = kept;
	a->hidden = 0;
	/* The tables support no removal of single keys. */
	free(a->raw_table);
	free(a->group_table);
	a->raw_table = a->group_table = NULL;
	a->raw_room = a->group_room = 0;
	return table_reserve(&a->group_table, &a->group_room, a->groups.n, group_hash, a);
}

bool ray_agg_shown(struct ray_agg *a, struct ray_agg_group ***ret, size_t *count_ret)
{
	struct ray_agg_group **shown = malloc((a->groups.n + 1) * sizeof(*shown));
	size_t count = 0;

	for (size_t i = 0; shown && i < a->groups.n; i++)
		if (!a->groups.at[i].is_hidden)
			shown[count++] = &a->groups.at[i];
	*ret = shown;
	*count_ret = count;
	return shown != NULL;
}

void ray_agg_keys_free(struct ray_agg *a)
{
	free_raws(a);
	for (size_t i = 0; i < a->groups.n; i++)
		free_group(a, &a->groups.at[i]);
	ray_vec_free(&a->raw);
	ray_vec_free(&a->groups);
	free(a->raw_table);
	free(a->group_table);
}
