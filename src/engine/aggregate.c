/* aggregate.c - aggregations: read from the kernel, merged, cleared, cut.
 * SPDX-License-Identifier: MIT
 *
 * The kernel has one hash per aggregation with a value per CPU; a snapshot reads it whole, in batches. What it adds up is never written
 * by us: clear() remembers what was there and subtracts it from then on, so that nothing counted meanwhile is lost. Only min and max are set back in the kernel.
 * Keys that read the same (stacks through different addresses, probes of equal names) are one key for the user: they are merged into groups. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "engine/consume.h"

enum { BATCH_BYTES = 4 << 20, BATCH_MIN = 256, BATCH_MAX = 4096 };

/* ---- words ---- */

static bool is_extreme(const struct ray_agg_plan *plan)
{
	return plan->aggregation->function == RAY_AGG_MIN || plan->aggregation->function == RAY_AGG_MAX;
}

void ray_agg_reset(const struct ray_agg_plan *plan, int64_t *words)
{
	memset(words, 0, plan->words * sizeof(*words));
	if (plan->aggregation->function == RAY_AGG_MIN)
		words[0] = INT64_MAX;
	else if (plan->aggregation->function == RAY_AGG_MAX)
		words[0] = INT64_MIN;
}

static __int128 square_sum(const int64_t *words)
{
	return (__int128)(((unsigned __int128)(uint64_t)words[3] << 64) | (uint64_t)words[2]);
}

static void set_square_sum(int64_t *words, __int128 n)
{
	words[2] = (int64_t)(uint64_t)n;
	words[3] = (int64_t)(uint64_t)((unsigned __int128)n >> 64);
}

static int64_t add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

void ray_agg_merge(const struct ray_agg_plan *plan, int64_t *into, const int64_t *from)
{
	switch (plan->aggregation->function) {
	case RAY_AGG_MIN:
		if (from[0] < into[0])
			into[0] = from[0];
		return;
	case RAY_AGG_MAX:
		if (from[0] > into[0])
			into[0] = from[0];
		return;
	case RAY_AGG_STDDEV:
		into[0] = add(into[0], from[0]);
		into[1] = add(into[1], from[1]);
		set_square_sum(into, square_sum(into) + square_sum(from));
		return;
	default:
		for (uint32_t i = 0; i < plan->words; i++)
			into[i] = add(into[i], from[i]);
	}
}

static void subtract(const struct ray_agg_plan *plan, int64_t *from, const int64_t *what)
{
	if (plan->aggregation->function == RAY_AGG_STDDEV) {
		from[0] -= what[0];
		from[1] = add(from[1], -what[1]);
		set_square_sum(from, square_sum(from) - square_sum(what));
		return;
	}
	for (uint32_t i = 0; i < plan->words; i++)
		from[i] = (int64_t)((uint64_t)from[i] - (uint64_t)what[i]);
}

static uint64_t root(unsigned __int128 n)
{
	uint64_t r = 0;

	for (int bit = 63; bit >= 0; bit--) {
		uint64_t try = r | 1ULL << bit;

		if ((unsigned __int128)try * try <= n)
			r = try;
	}
	return r;
}

/* The root of the average of squares less the square of the average. */
static int64_t deviation(const int64_t *words, int64_t normal)
{
	unsigned __int128 squares;
	__int128 average, difference;

	if (!words[0] || !normal)
		return 0;
	squares = (unsigned __int128)square_sum(words) / (uint64_t)normal / (uint64_t)words[0];
	average = words[1] / normal / words[0];
	difference = (__int128)squares - average * average;
	return difference > 0 ? (int64_t)root((unsigned __int128)difference) : 0;
}

int64_t ray_agg_number(const struct ray_agg_plan *plan, const int64_t *words, int64_t normal)
{
	switch (plan->aggregation->function) {
	case RAY_AGG_AVG:
		return words[0] ? words[1] / normal / words[0] : 0;
	case RAY_AGG_STDDEV:
		return deviation(words, normal);
	case RAY_AGG_COUNT:
		return (int64_t)((uint64_t)words[0] / (uint64_t)normal);
	default:
		return words[0] / normal;
	}
}

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

static bool table_grow(uint32_t **table, size_t *room, size_t count, uint64_t (*hash)(const struct ray_agg *, size_t),
		       const struct ray_agg *a)
{
	size_t want = *room ? *room * 2 : 64;
	uint32_t *grown;

	if ((count + 1) * 2 <= *room)
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

static size_t lane_words(const struct ray_agg *a)
{
	return (size_t)a->lanes * a->plan->words;
}

static void reset_lanes(const struct ray_agg *a, int64_t *words)
{
	for (uint32_t i = 0; i < a->lanes; i++)
		ray_agg_reset(a->plan, words + (size_t)i * a->plan->words);
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
	char **texts = calloc(k->field_count, sizeof(*texts));

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
	g.words = malloc(lane_words(a) * sizeof(*g.words));
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

	if (!a->has_texts) /* every key is its own */
		return add_group(a, g, 0, ret);
	if (!table_grow(&a->group_table, &a->group_room, a->groups.n, group_hash, a))
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
	struct ray_agg_raw r = { .hash = hash, .key = malloc(size), .words = malloc(lane_words(a) * sizeof(*r.words)) };

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

static struct ray_agg_raw *find_raw(struct ray_consumer *c, struct ray_agg *a, const void *key)
{
	uint64_t hash = hash_bytes(key, a->plan->key.size, 0);
	size_t at;

	if (!table_grow(&a->raw_table, &a->raw_room, a->raw.n, raw_hash, a))
		return NULL;
	for (at = hash & (a->raw_room - 1); a->raw_table[at]; at = (at + 1) & (a->raw_room - 1)) {
		struct ray_agg_raw *r = &a->raw.at[a->raw_table[at] - 1];

		if (r->hash == hash && memcmp(r->key, key, a->plan->key.size) == 0)
			return r;
	}
	return add_raw(c, a, key, hash, at);
}

/* The value of one key, all CPUs. */
static bool take_value(struct ray_consumer *c, struct ray_agg *a, const void *key, const uint8_t *value, int cpus)
{
	size_t stride = (a->plan->value_size + 7U) & ~7U;
	struct ray_agg_raw *r = find_raw(c, a, key);

	if (!r)
		return false;
	reset_lanes(a, r->words);
	for (int cpu = 0; cpu < cpus; cpu++) {
		const int64_t *words = (const int64_t *)(value + (size_t)cpu * stride);
		int64_t *lane = r->words + (a->lanes > 1 ? (size_t)cpu * a->plan->words : 0);

		if (is_extreme(a->plan) && !words[0])
			continue;
		ray_agg_merge(a->plan, lane, words + 1);
	}
	r->is_seen = true;
	return true;
}

static void merge_groups(struct ray_agg *a)
{
	for (size_t i = 0; i < a->groups.n; i++)
		reset_lanes(a, a->groups.at[i].words);
	for (size_t i = 0; i < a->raw.n; i++) {
		struct ray_agg_raw *r = &a->raw.at[i];
		int64_t *into = a->groups.at[r->group].words;

		for (uint32_t l = 0; r->is_seen && l < a->lanes; l++) {
			size_t at = (size_t)l * a->plan->words;

			ray_agg_merge(a->plan, into + at, r->words + at);
			if (r->baseline)
				subtract(a->plan, into + at, r->baseline + at);
		}
	}
}

struct batch {
	uint8_t *keys, *values;
	size_t value_size; /* of all CPUs */
	uint32_t room;
	int cpus;
};

static struct ray_error *read_batches(struct ray_consumer *c, struct ray_agg *a, const struct batch *b)
{
	uint32_t count, at = 0;
	bool is_first = true;
	int failed;

	do {
		count = b->room;
		failed = bpf_map_lookup_batch(a->fd, is_first ? NULL : &at, &at, b->keys, b->values, &count, NULL);
		if (failed && errno != ENOENT)
			return ray_error_errno(RAY_FAILED, errno, "cannot read the aggregation @%s",
					       a->plan->aggregation->name);
		is_first = false;
		for (uint32_t i = 0; i < count; i++)
			if (!take_value(c, a, b->keys + (size_t)i * a->plan->key.size, b->values + i * b->value_size,
					b->cpus))
				return &ray_enomem;
	} while (!failed);
	return NULL;
}

static struct ray_error *read_all(struct ray_consumer *c, struct ray_agg *a)
{
	struct batch b = { .cpus = libbpf_num_possible_cpus() };
	struct ray_error *err = &ray_enomem;
	size_t room;

	b.value_size = ((a->plan->value_size + 7U) & ~7U) * (size_t)b.cpus;
	/* One bucket of the kernel's hash must fit in. */
	room = BATCH_BYTES / b.value_size;
	b.room = room < BATCH_MIN ? BATCH_MIN : room > BATCH_MAX ? BATCH_MAX : (uint32_t)room;
	b.keys = malloc((size_t)b.room * a->plan->key.size);
	b.values = malloc(b.room * b.value_size);
	if (b.keys && b.values)
		err = read_batches(c, a, &b);
	free(b.keys);
	free(b.values);
	return err;
}

static bool is_fresh(const struct ray_consumer *c, const struct ray_agg *a)
{
	if (a->snapshot == c->round && a->taken_ns)
		return true;
	return c->t->options.aggrate_ns && a->taken_ns && ray_clock_ns() - a->taken_ns < c->t->options.aggrate_ns &&
	       !c->t->is_stopped;
}

struct ray_error *ray_agg_snapshot(struct ray_consumer *c, struct ray_agg *a)
{
	struct ray_error *err;

	if (a->fd < 0 || is_fresh(c, a))
		return NULL;
	for (size_t i = 0; i < a->raw.n; i++)
		a->raw.at[i].is_seen = false;
	err = read_all(c, a);
	if (err)
		return err;
	merge_groups(a);
	a->snapshot = c->round;
	a->taken_ns = ray_clock_ns();
	return NULL;
}

/* ---- clear and trunc ---- */

static struct ray_error *set_back(struct ray_agg *a, struct ray_agg_raw *r, const void *zeros)
{
	if (bpf_map_update_elem(a->fd, r->key, zeros, BPF_EXIST) && errno != ENOENT)
		return ray_error_errno(RAY_FAILED, errno, "cannot clear the aggregation @%s",
				       a->plan->aggregation->name);
	reset_lanes(a, r->words);
	return NULL;
}

static struct ray_error *clear_extremes(struct ray_agg *a)
{
	size_t stride = (a->plan->value_size + 7U) & ~7U;
	void *zeros = calloc((size_t)libbpf_num_possible_cpus(), stride);
	struct ray_error *err = zeros ? NULL : &ray_enomem;

	for (size_t i = 0; i < a->raw.n && !err; i++)
		err = set_back(a, &a->raw.at[i], zeros);
	free(zeros);
	return err;
}

struct ray_error *ray_agg_clear(struct ray_consumer *c, struct ray_agg *a)
{
	size_t size = lane_words(a) * sizeof(int64_t);
	struct ray_error *err = ray_agg_snapshot(c, a);

	if (!err && is_extreme(a->plan))
		err = clear_extremes(a);
	if (err)
		return err;
	for (size_t i = 0; i < a->raw.n && !is_extreme(a->plan); i++) {
		struct ray_agg_raw *r = &a->raw.at[i];

		if (!r->baseline)
			r->baseline = malloc(size);
		if (!r->baseline)
			return &ray_enomem;
		memcpy(r->baseline, r->words, size);
	}
	for (size_t i = 0; i < a->groups.n; i++)
		reset_lanes(a, a->groups.at[i].words);
	return NULL;
}

static void free_raw(struct ray_agg_raw *r)
{
	free(r->key);
	free(r->words);
	free(r->baseline);
}

static void free_group(const struct ray_agg *a, struct ray_agg_group *g)
{
	free_texts(a, g->texts);
	free(g->words);
}

/* Keys of groups that go, here and in the kernel; then the groups. The numbers of those that stay change. */
static void drop_removed(struct ray_agg *a, uint32_t *new_number)
{
	size_t raws = 0, groups = 0;

	for (size_t i = 0; i < a->groups.n; i++)
		new_number[i] = a->groups.at[i].is_removed ? UINT32_MAX : (uint32_t)groups++;
	for (size_t i = 0; i < a->raw.n; i++) {
		struct ray_agg_raw *r = &a->raw.at[i];

		if (new_number[r->group] == UINT32_MAX) {
			(void)bpf_map_delete_elem(a->fd, r->key); /* gone already is as good */
			free_raw(r);
			continue;
		}
		r->group = new_number[r->group];
		a->raw.at[raws++] = *r;
	}
	for (size_t i = 0; i < a->groups.n; i++) {
		if (a->groups.at[i].is_removed)
			free_group(a, &a->groups.at[i]);
		else
			a->groups.at[new_number[i]] = a->groups.at[i];
	}
	a->raw.n = raws;
	a->groups.n = groups;
}

/* From scratch: the tables know no removal. */
static bool rebuild_tables(struct ray_agg *a)
{
	free(a->raw_table);
	free(a->group_table);
	a->raw_table = a->group_table = NULL;
	a->raw_room = a->group_room = 0;
	while (a->raw_room < (a->raw.n + 1) * 2)
		if (!table_grow(&a->raw_table, &a->raw_room, a->raw.n, raw_hash, a))
			return false;
	while (a->has_texts && a->group_room < (a->groups.n + 1) * 2)
		if (!table_grow(&a->group_table, &a->group_room, a->groups.n, group_hash, a))
			return false;
	return true;
}

struct ray_error *ray_agg_trunc(struct ray_consumer *c, struct ray_agg *a, int64_t n)
{
	struct ray_error *err = ray_agg_snapshot(c, a);
	size_t count = a->groups.n, keep = n < 0 ? (size_t)-n : (size_t)n;
	struct ray_agg_group **sorted;
	uint32_t *numbers;

	if (err || keep >= count)
		return err;
	sorted = malloc(count * sizeof(*sorted));
	numbers = malloc(count * sizeof(*numbers));
	if (sorted && numbers) {
		for (size_t i = 0; i < count; i++)
			sorted[i] = &a->groups.at[i];
		ray_agg_weigh(a);
		ray_agg_sort_descending(sorted, count);
		for (size_t i = keep; i < count; i++)
			sorted[n < 0 ? count - 1 - i : i]->is_removed = true;
		drop_removed(a, numbers);
		err = rebuild_tables(a) ? NULL : &ray_enomem;
	} else {
		err = &ray_enomem;
	}
	free(sorted);
	free(numbers);
	return err;
}

/* ---- life ---- */

struct ray_error *ray_aggs_create(struct ray_consumer *c)
{
	const struct ray_plan *plan = c->t->plan;
	size_t count = plan->program->aggregations.n;

	c->aggs = calloc(count + 1, sizeof(*c->aggs));
	if (!c->aggs)
		return &ray_enomem;
	c->agg_count = count;
	for (size_t i = 0; i < count; i++) {
		const struct ray_agg_plan *p = &plan->aggregations[i];
		struct ray_agg *a = &c->aggs[i];

		a->plan = p;
		a->normal = 1;
		a->fd = p->value_size && p->map >= RAY_MAP_OWN ? c->t->own_maps[p->map - RAY_MAP_OWN] : -1;
		a->lanes = c->t->options.aggpercpu ? (uint32_t)libbpf_num_possible_cpus() : 1;
		for (size_t f = 0; f < p->key.field_count; f++)
			a->has_texts |= ray_field_is_named(&p->key.fields[f]);
	}
	return NULL;
}

void ray_aggs_free(struct ray_consumer *c)
{
	for (size_t i = 0; i < c->agg_count; i++) {
		struct ray_agg *a = &c->aggs[i];

		for (size_t r = 0; r < a->raw.n; r++)
			free_raw(&a->raw.at[r]);
		for (size_t g = 0; g < a->groups.n; g++)
			free_group(a, &a->groups.at[g]);
		ray_vec_free(&a->raw);
		ray_vec_free(&a->groups);
		free(a->raw_table);
		free(a->group_table);
	}
	free(c->aggs);
}
