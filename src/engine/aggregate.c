/* aggregate.c - aggregations: read from the kernel, cleared, cut.
 * SPDX-License-Identifier: MIT
 *
 * The kernel has one hash per aggregation with an element per key and CPU; a snapshot reads it whole, in batches.
 * What it adds up is never written by us: clear() remembers what was there and subtracts it from then on, so that
 * nothing counted meanwhile is lost. Only min and max are set back in the kernel. Keys that read the same (stacks
 * through different addresses, probes of equal names) are one key for the user: they are merged into groups. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "engine/consume.h"

enum { BATCH_BYTES = 4 << 20, BATCH_MIN = 256, BATCH_MAX = 4096, NAME_EVERY_NS = 1000000000 };

/* The value of one key on one CPU. */
static bool take_value(struct ray_consumer *c, struct ray_agg *a, uint8_t *key, const int64_t *value)
{
	uint32_t cpu = ray_agg_key_cpu(key);
	struct ray_agg_raw *r;
	size_t lane;

	ray_agg_key_set_cpu(key, 0);
	r = ray_agg_key(c, a, key);
	if (!r)
		return false;
	if (!r->is_seen)
		ray_agg_reset_lanes(a, r->words);
	r->is_seen = true;
	r->cpus |= 1ULL << (cpu < RAY_AGG_LAST_CPU ? cpu : RAY_AGG_LAST_CPU);
	lane = cpu < a->lanes ? cpu : a->lanes - 1;
	if (!ray_agg_is_extreme(a->plan) || value[0])
		ray_agg_merge(a->plan, r->words + lane * a->plan->words, value + 1);
	return true;
}

static void merge_groups(struct ray_agg *a)
{
	for (size_t i = 0; i < a->groups.n; i++)
		ray_agg_reset_lanes(a, a->groups.at[i].words);
	for (size_t i = 0; i < a->raw.n; i++) {
		struct ray_agg_raw *r = &a->raw.at[i];
		int64_t *into = a->groups.at[r->group].words;

		for (uint32_t l = 0; r->is_seen && l < a->lanes; l++) {
			size_t at = (size_t)l * a->plan->words;

			ray_agg_merge(a->plan, into + at, r->words + at);
			if (r->baseline)
				ray_agg_subtract(a->plan, into + at, r->baseline + at);
		}
	}
}

/* A map may hold the keys of several aggregations. */
static bool is_own(const struct ray_agg *a, const uint8_t *key)
{
	uint32_t id;

	memcpy(&id, key + 4, sizeof(id));
	return !a->plan->is_shared || id == a->plan->aggregation->id;
}

struct batch {
	uint8_t *keys, *whole; /* whole: room for one key, whose end is zeros if it is a short one */
	int64_t *values;
	uint32_t room;
	int fd;
	uint32_t key_size;
};

/* Others that share the element may be the only ones that hold something. */
static bool is_there(const struct ray_agg *a, const uint8_t *key, const int64_t *value)
{
	return is_own(a, key) && (!a->plan->has_mates || value[0]);
}

static struct ray_error *read_batches(struct ray_consumer *c, struct ray_agg *a, const struct batch *b)
{
	uint32_t count, at = 0;
	bool is_first = true;
	int failed;

	do {
		count = b->room;
		failed = bpf_map_lookup_batch(b->fd, is_first ? NULL : &at, &at, b->keys, b->values, &count, NULL);
		if (failed && errno != ENOENT)
			return ray_error_errno(RAY_FAILED, errno, "cannot read the aggregation @%s",
					       a->plan->aggregation->name);
		is_first = false;
		for (uint32_t i = 0; i < count; i++) {
			const uint8_t *key = b->keys + (size_t)i * b->key_size;
			const int64_t *value = b->values + ((size_t)i * a->plan->element_size + a->plan->value_at) / 8;

			if (!is_there(a, key, value))
				continue;
			memcpy(b->whole, key, b->key_size);
			if (!take_value(c, a, b->whole, value))
				return &ray_enomem;
		}
	} while (!failed);
	return NULL;
}

/* whole: room for a key, zeros behind what is at hand of it. */
static bool take_near(struct ray_consumer *c, struct ray_agg *a, uint32_t cpu, const struct ray_agg_place *near,
		      uint8_t *whole)
{
	const int64_t *value = (const int64_t *)near + (ray_agg_place_head(a->plan) + a->plan->value_at) / 8;

	if (near->state != RAY_AGG_PLACE_TAKEN || (a->plan->has_mates && !value[0]))
		return true;
	ray_agg_key_set_cpu(whole, cpu);
	memcpy(whole + 8, near->key, 8 * (size_t)a->plan->near_words);
	return take_value(c, a, whole, value);
}

/* Elements in the array: place by place, CPU by CPU. */
static struct ray_error *read_near(struct ray_consumer *c, struct ray_agg *a)
{
	uint32_t room = (uint32_t)libbpf_num_possible_cpus() << a->plan->near_bits, count = room, at;
	ray_auto_memory uint8_t *places = malloc((size_t)room * a->plan->near_size);
	ray_auto_memory uint32_t *numbers = malloc(room * sizeof(*numbers));
	ray_auto_memory uint8_t *whole = calloc(1, a->plan->key.size);

	if (!places || !numbers || !whole)
		return &ray_enomem;
	if (bpf_map_lookup_batch(a->near_fd, NULL, &at, numbers, places, &count, NULL) && errno != ENOENT)
		return ray_error_errno(RAY_FAILED, errno, "cannot read the aggregation @%s",
				       a->plan->aggregation->name);
	for (uint32_t i = 0; i < count; i++)
		if (!take_near(c, a, numbers[i] >> a->plan->near_bits,
			       (const void *)(places + (size_t)i * a->plan->near_size), whole))
			return &ray_enomem;
	return NULL;
}

static struct ray_error *read_all(struct ray_consumer *c, struct ray_agg *a)
{
	size_t room = BATCH_BYTES / a->plan->element_size;
	struct ray_error *err = &ray_enomem;
	struct batch b = { .fd = a->fd, .key_size = a->plan->key.size };

	/* One bucket of the kernel's hash must fit in. */
	b.room = room < BATCH_MIN ? BATCH_MIN : room > BATCH_MAX ? BATCH_MAX : (uint32_t)room;
	b.keys = malloc((size_t)b.room * a->plan->key.size);
	b.whole = calloc(1, a->plan->key.size);
	b.values = malloc((size_t)b.room * a->plan->element_size);
	if (b.keys && b.whole && b.values)
		err = read_batches(c, a, &b);
	if (!err && a->near_fd >= 0)
		err = read_near(c, a);
	if (!err && a->short_fd >= 0) {
		b.fd = a->short_fd;
		b.key_size = a->plan->short_size;
		memset(b.whole, 0, a->plan->key.size);
		err = read_batches(c, a, &b);
	}
	free(b.keys);
	free(b.whole);
	free(b.values);
	return err;
}

/* aggrate is for printing: who clears or cuts must know what is there. */
static bool is_fresh(const struct ray_consumer *c, const struct ray_agg *a, bool may_be_old)
{
	if (a->snapshot == c->round && a->taken_ns)
		return true;
	return may_be_old && c->t->options.aggrate_ns && a->taken_ns &&
	       ray_clock_ns() - a->taken_ns < c->t->options.aggrate_ns && !c->t->is_stopped;
}

static struct ray_error *take_snapshot(struct ray_consumer *c, struct ray_agg *a, bool may_be_old)
{
	struct ray_error *err;

	if (a->fd < 0 || is_fresh(c, a, may_be_old))
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

struct ray_error *ray_agg_snapshot(struct ray_consumer *c, struct ray_agg *a)
{
	return take_snapshot(c, a, true);
}

struct ray_error *ray_aggs_name(struct ray_consumer *c)
{
	uint64_t now = ray_clock_ns();
	struct ray_error *err = NULL;

	if (now - c->named_ns < NAME_EVERY_NS)
		return NULL;
	c->named_ns = now;
	c->round++;
	for (size_t i = 0; i < c->agg_count && !err; i++)
		if (c->aggs[i].is_fleeting)
			err = ray_agg_snapshot(c, &c->aggs[i]);
	return err;
}

/* ---- clear and trunc ---- */

struct zeros {
	struct ray_agg *agg;
	void *value;
	struct ray_error *err;
};

static void set_back(void *arg, int fd, const uint8_t *key)
{
	struct zeros *z = arg;

	if (!z->err && bpf_map_update_elem(fd, key, z->value, BPF_EXIST) && errno != ENOENT)
		z->err = ray_error_errno(RAY_FAILED, errno, "cannot clear the aggregation @%s",
					 z->agg->plan->aggregation->name);
}

static struct ray_error *clear_extremes(struct ray_agg *a)
{
	struct zeros z = { .agg = a, .value = calloc(1, a->plan->element_size) };

	if (!z.value)
		return &ray_enomem;
	for (size_t i = 0; i < a->raw.n; i++) {
		ray_agg_key_each(a, &a->raw.at[i], set_back, &z);
		ray_agg_reset_lanes(a, a->raw.at[i].words);
	}
	free(z.value);
	return z.err;
}

struct ray_error *ray_agg_clear(struct ray_consumer *c, struct ray_agg *a)
{
	size_t size = ray_agg_lane_words(a) * sizeof(int64_t);
	struct ray_error *err = take_snapshot(c, a, false);

	if (!err && ray_agg_is_extreme(a->plan))
		err = clear_extremes(a);
	if (err)
		return err;
	for (size_t i = 0; i < a->raw.n && !ray_agg_is_extreme(a->plan); i++) {
		struct ray_agg_raw *r = &a->raw.at[i];

		if (!r->baseline)
			r->baseline = malloc(size);
		if (!r->baseline)
			return &ray_enomem;
		memcpy(r->baseline, r->words, size);
	}
	for (size_t i = 0; i < a->groups.n; i++)
		ray_agg_reset_lanes(a, a->groups.at[i].words);
	return NULL;
}

struct ray_error *ray_agg_trunc(struct ray_consumer *c, struct ray_agg *a, int64_t n)
{
	struct ray_error *err = take_snapshot(c, a, false);
	size_t count = a->groups.n, keep = n < 0 ? (size_t)-n : (size_t)n;
	struct ray_agg_group **sorted;

	if (err || keep >= count)
		return err;
	sorted = malloc(count * sizeof(*sorted));
	if (!sorted)
		return &ray_enomem;
	for (size_t i = 0; i < count; i++)
		sorted[i] = &a->groups.at[i];
	ray_agg_weigh(a);
	ray_agg_sort_descending(sorted, count);
	for (size_t i = keep; i < count; i++)
		sorted[n < 0 ? count - 1 - i : i]->is_removed = true;
	free(sorted);
	return ray_agg_remove(a) ? NULL : &ray_enomem;
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
		a->near_fd = a->fd >= 0 && p->near_size ? c->t->own_maps[p->near_map - RAY_MAP_OWN] : -1;
		a->short_fd = a->fd >= 0 && p->short_size ? c->t->own_maps[p->short_map - RAY_MAP_OWN] : -1;
		a->lanes = c->t->options.aggpercpu ? (uint32_t)libbpf_num_possible_cpus() : 1;
		for (size_t f = 0; f < p->key.field_count; f++) {
			a->has_texts |= ray_field_is_named(&p->key.fields[f]);
			a->is_fleeting |= ray_field_is_fleeting(&p->key.fields[f]);
		}
	}
	return NULL;
}

void ray_aggs_free(struct ray_consumer *c)
{
	for (size_t i = 0; i < c->agg_count; i++)
		ray_agg_keys_free(&c->aggs[i]);
	free(c->aggs);
}
