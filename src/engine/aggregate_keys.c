/* aggregate_keys.c - the keys of an aggregation: as the kernel has them, and as they read.
 * SPDX-License-Identifier: MIT
 *
 * Two maps: raw keys by their bytes, and groups of those that a user cannot tell apart (stacks through different
 * addresses, probes of equal names). Where no field must be named and groups do not outlive their raw keys (epochs), each
 * key is a group of its own and the second map is not needed. */
#include <string.h>

#include "engine/consume.h"

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
			*hash = ray_hash_bytes(*hash, key + f->offset, f->size);
			continue;
		}
		ray_field_name(c, f, key + f->offset, &text);
		texts[i] = strdup(ray_text_get(&text));
		if (!texts[i]) {
			free_texts(a, texts);
			return NULL;
		}
		*hash = ray_hash_text(*hash, texts[i]);
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

static bool add_group(struct ray_agg *a, struct ray_agg_group g, uint32_t *ret)
{
	uint32_t number = (uint32_t)a->groups.n;

	g.words = malloc(ray_agg_lane_words(a) * sizeof(*g.words));
	if (g.words && ray_vec_push(&a->groups, g)) {
		*ret = number;
		if (!a->has_map || ray_hashmap_add(&a->group_map, g.hash, number))
			return true;
		a->groups.n--;
	}
	free(g.words);
	return false;
}

static bool find_group(struct ray_consumer *c, struct ray_agg *a, const uint8_t *key, uint64_t hash, uint32_t *ret)
{
	struct ray_agg_group g = { .agg = a, .key = key, .hash = hash };
	const uint32_t *known;

	if (!a->has_map)
		return add_group(a, g, ret);
	g.texts = name_key(c, a, key, &g.hash);
	if (!g.texts)
		return false;
	known = ray_hashmap_find(&a->group_map, g.hash, one, reads_same(a, &a->groups.at[*one], key, g.texts));
	if (known)
		*ret = *known;
	else if (add_group(a, g, ret))
		return true;
	free_texts(a, g.texts);
	return known != NULL;
}

/* ---- keys ---- */

static struct ray_agg_raw *add_raw(struct ray_consumer *c, struct ray_agg *a, const void *key, uint64_t hash)
{
	uint32_t size = a->plan->key.size;
	struct ray_agg_raw r = { .key = malloc(size), .words = malloc(ray_agg_lane_words(a) * sizeof(*r.words)) };

	if (r.key && r.words && ray_hashmap_reserve(&a->raw_map, a->raw.n + 1) && ray_vec_push(&a->raw, r)) {
		memcpy(r.key, key, size);
		if (find_group(c, a, r.key, hash, &a->raw.at[a->raw.n - 1].group)) {
			ray_hashmap_add(&a->raw_map, hash, (uint32_t)a->raw.n - 1);
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
	uint32_t size = a->plan->key.size;
	uint64_t hash = ray_hash_bytes(0, key, size);
	const uint32_t *known = ray_hashmap_find(&a->raw_map, hash, one, !memcmp(a->raw.at[*one].key, key, size));

	return known ? &a->raw.at[*known] : add_raw(c, a, key, hash);
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
	ray_hashmap_free(&a->raw_map);
}

/* Their numbers have changed. */
static bool number_groups(struct ray_agg *a)
{
	ray_hashmap_free(&a->group_map);
	for (size_t i = 0; i < a->groups.n; i++)
		if (!ray_hashmap_add(&a->group_map, a->groups.at[i].hash, (uint32_t)i))
			return false;
	return true;
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
	return number_groups(a);
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
	ray_hashmap_free(&a->group_map);
}
