/* aggregate.c - aggregations: read from the kernel, cleared, truncated.
 * SPDX-License-Identifier: MIT
 *
 * The kernel has one hash per aggregation with an element per key and CPU; a snapshot reads all of them, in batches. clear()
 * and trunc() change nothing there: they remember what the snapshot has and subtract it from then on, so that counts which
 * arrive between a printa() and the clear() or trunc() after it appear in the next printa(). For min and max, and to free
 * the memory of removed keys, elements are replaced by new ones: aggregate_epoch.c. Keys that read the same (stacks through
 * different addresses, probes of equal names) are one key for the user: they are merged into groups. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "engine/consume.h"

enum { BATCH_BYTES = 4 << 20, BATCH_MIN = 256, BATCH_MAX = 4096, NAME_EVERY_NS = 1000000000 };

/* The value of one key on one CPU; the key without CPU and owner. */
static bool take_value(struct ray_consumer *c, struct ray_agg *a, const uint8_t *key, uint32_t cpu,
		       const int64_t *value)
{
	struct ray_agg_raw *r = ray_agg_key(c, a, key);
	size_t lane = cpu < a->lanes ? cpu : a->lanes - 1;

	if (!r)
		return false;
	if (!r->is_seen)
		ray_agg_reset_lanes(a, r->words);
	r->is_seen = true;
	if (!ray_agg_is_extreme(a->plan->aggregation) || value[0])
		ray_agg_merge(a->plan, r->words + lane * a->plan->words, value + 1);
	return true;
}

struct batch {
	uint8_t *keys, *whole; /* whole: room for one key, whose end is zeros if it is a short one */
	int64_t *values;
	uint32_t room;
	int fd;
	uint32_t key_size;
	uint32_t owner; /* of the elements that are read */
	bool is_over;	/* their epoch: they are deleted when they were read */
};

/* A map may hold the keys of several aggregations. Aggregations that share the element may be the only ones that hold
 * something. */
static bool is_own(const struct ray_agg *a, const struct batch *b, const uint8_t *key, const int64_t *value)
{
	uint32_t owner;

	memcpy(&owner, key + 4, sizeof(owner));
	return owner == b->owner && (!a->plan->has_mates || value[0]);
}

static uint32_t cpu_of(const uint8_t *key)
{
	uint32_t cpu;

	memcpy(&cpu, key, sizeof(cpu));
	return cpu;
}

/* Reads count elements and moves the *own_ret own keys to the front of b->keys. */
static bool read_batch(struct ray_consumer *c, struct ray_agg *a, const struct batch *b, uint32_t count,
		       uint32_t *own_ret)
{
	uint32_t own = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *key = b->keys + (size_t)i * b->key_size;
		const int64_t *value = b->values + ((size_t)i * a->plan->element_size + a->plan->value_at) / 8;

		if (!is_own(a, b, key, value))
			continue;
		memcpy(b->whole + 8, key + 8, b->key_size - 8);
		if (!take_value(c, a, b->whole, cpu_of(key), value))
			return false;
		if (own != i)
			memcpy(b->keys + (size_t)own * b->key_size, key, b->key_size);
		own++;
	}
	*own_ret = own;
	return true;
}

/* A key whose deletion fails is skipped: the number of its epoch is not used again before RAY_AGG_EPOCHS others. */
static void delete_keys(const struct batch *b, uint32_t count)
{
	for (uint32_t at = 0, n; at < count; at += n + 1) {
		n = count - at;
		if (bpf_map_delete_batch(b->fd, b->keys + (size_t)at * b->key_size, &n, NULL) == 0)
			return;
	}
}

static struct ray_error *read_batches(struct ray_consumer *c, struct ray_agg *a, const struct batch *b)
{
	uint32_t count, own, at = 0;
	bool is_first = true;
	int failed;

	do {
		count = b->room;
		failed = bpf_map_lookup_batch(b->fd, is_first ? NULL : &at, &at, b->keys, b->values, &count, NULL);
		if (failed && errno != ENOENT)
			return ray_error_errno(RAY_FAILED, errno, "cannot read the aggregation @%s",
					       a->plan->aggregation->name);
		is_first = false;
		if (!read_batch(c, a, b, count, &own))
			return &ray_enomem;
		if (b->is_over)
			delete_keys(b, own);
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
	memcpy(whole + 8, near->key, 8 * (size_t)a->plan->near_words);
	return take_value(c, a, whole, cpu, value);
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

static struct ray_error *read_maps(struct ray_consumer *c, struct ray_agg *a, uint32_t epoch, bool is_over)
{
	size_t room = BATCH_BYTES / a->plan->element_size;
	struct ray_error *err = &ray_enomem;
	struct batch b = {
		.fd = a->fd, .key_size = a->plan->key.size, .owner = ray_agg_owner(a->plan, epoch), .is_over = is_over
	};

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

struct ray_error *ray_agg_read(struct ray_consumer *c, struct ray_agg *a, uint32_t epoch, bool is_over)
{
	for (size_t i = 0; i < a->raw.n; i++)
		a->raw.at[i].is_seen = false;
	return read_maps(c, a, epoch, is_over);
}

/* ---- snapshots ---- */

/* One raw key on one lane: what was counted since the last clear() or trunc(). */
static void add_counted(const struct ray_agg *a, const struct ray_agg_raw *r, uint32_t lane, int64_t *scratch,
			struct ray_agg_group *g)
{
	size_t at = (size_t)lane * a->plan->words;
	int64_t *words = r->words + at;

	if (r->base) {
		memcpy(scratch, words, a->plan->words * sizeof(*words));
		ray_agg_subtract(a->plan, scratch, r->base + at);
		words = scratch;
	}
	ray_agg_merge(a->plan, g->words + at, words);
	if (g->is_hidden)
		g->is_hidden = ray_agg_is_reset(a->plan, words);
}

static struct ray_error *merge_groups(struct ray_agg *a)
{
	ray_auto_memory int64_t *scratch = malloc(a->plan->words * sizeof(*scratch));

	if (!scratch)
		return &ray_enomem;
	for (size_t i = 0; i < a->groups.n; i++) {
		struct ray_agg_group *g = &a->groups.at[i];

		if (g->settled)
			memcpy(g->words, g->settled, ray_agg_lane_words(a) * sizeof(*g->words));
		else
			ray_agg_reset_lanes(a, g->words);
	}
	for (size_t i = 0; i < a->raw.n; i++)
		for (uint32_t l = 0; a->raw.at[i].is_seen && l < a->lanes; l++)
			add_counted(a, &a->raw.at[i], l, scratch, &a->groups.at[a->raw.at[i].group]);
	a->hidden = 0;
	for (size_t i = 0; i < a->groups.n; i++)
		a->hidden += a->groups.at[i].is_hidden;
	return NULL;
}

/* A record that was in the ring already when the snapshot was taken needs no newer one: all that was counted before the
 * record is in it. So what one clause prints is just what another one of the same probe clears. */
static bool is_fresh(const struct ray_consumer *c, const struct ray_agg *a)
{
	if (!a->taken_ns)
		return false;
	if (c->ring.at < a->taken_at)
		return true;
	return c->t->options.aggrate_ns && ray_clock_ns() - a->taken_ns < c->t->options.aggrate_ns && !c->t->is_stopped;
}

struct ray_error *ray_agg_snapshot(struct ray_consumer *c, struct ray_agg *a)
{
	struct ray_error *err = NULL;
	unsigned long ring_end;

	if (a->fd < 0 || is_fresh(c, a))
		return NULL;
	if (a->must_end)
		err = ray_aggs_end_epochs(c);
	ring_end = ray_ring_end(&c->ring);
	if (!err)
		err = ray_agg_read(c, a, a->epoch, false);
	if (!err)
		err = merge_groups(a);
	if (err)
		return err;
	a->taken_at = ring_end;
	a->taken_ns = ray_clock_ns();
	return NULL;
}

struct ray_error *ray_aggs_name(struct ray_consumer *c)
{
	uint64_t now = ray_clock_ns();
	struct ray_error *err = NULL;

	if (now - c->named_ns < NAME_EVERY_NS)
		return NULL;
	c->named_ns = now;
	for (size_t i = 0; i < c->agg_count && !err; i++)
		if (c->aggs[i].is_fleeting)
			err = ray_agg_snapshot(c, &c->aggs[i]);
	return err;
}

/* ---- clear and trunc ---- */

/* From now on, what the snapshot has of the key does not count. */
static bool set_base(const struct ray_agg *a, struct ray_agg_raw *r)
{
	if (!ray_agg_reset_room(a, &r->base))
		return false;
	if (r->is_seen)
		memcpy(r->base, r->words, ray_agg_lane_words(a) * sizeof(*r->base));
	return true;
}

static void reset_group(const struct ray_agg *a, struct ray_agg_group *g)
{
	ray_agg_reset_lanes(a, g->words);
	if (g->settled)
		ray_agg_reset_lanes(a, g->settled);
}

struct ray_error *ray_agg_clear(struct ray_consumer *c, struct ray_agg *a)
{
	struct ray_error *err = ray_agg_snapshot(c, a);

	if (err)
		return err;
	for (size_t i = 0; i < a->raw.n; i++)
		if (!set_base(a, &a->raw.at[i]))
			return &ray_enomem;
	for (size_t i = 0; i < a->groups.n; i++)
		reset_group(a, &a->groups.at[i]);
	ray_agg_plan_end(a);
	return NULL;
}

static struct ray_error *hide(struct ray_agg *a, struct ray_agg_group *const *removed, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		removed[i]->is_hidden = true;
		reset_group(a, removed[i]);
	}
	a->hidden += count;
	for (size_t i = 0; i < a->raw.n; i++)
		if (a->groups.at[a->raw.at[i].group].is_hidden && !set_base(a, &a->raw.at[i]))
			return &ray_enomem;
	ray_agg_plan_end(a);
	return NULL;
}

struct ray_error *ray_agg_trunc(struct ray_consumer *c, struct ray_agg *a, int64_t n)
{
	struct ray_error *err = ray_agg_snapshot(c, a);
	size_t keep = n < 0 ? 0 - (size_t)n : (size_t)n, count; /* -INT64_MIN would overflow */
	ray_auto_memory struct ray_agg_group **sorted = NULL;

	if (err)
		return err;
	if (!ray_agg_shown(a, &sorted, &count))
		return &ray_enomem;
	if (keep >= count)
		return NULL;
	ray_agg_weigh(a);
	ray_agg_sort_descending(sorted, count);
	return hide(a, n < 0 ? sorted : sorted + keep, count - keep);
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
		a->has_map = a->has_texts || p->has_epochs;
		a->capacity = a->fd >= 0 ? ray_map_capacity(a->fd) : 0;
	}
	return NULL;
}

void ray_aggs_free(struct ray_consumer *c)
{
	for (size_t i = 0; i < c->agg_count; i++)
		ray_agg_keys_free(&c->aggs[i]);
	free(c->aggs);
}
