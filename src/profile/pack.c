/* pack.c - writes what pack.h describes. SPDX-License-Identifier: MIT */
#include "profile/pack.h"

#include <string.h>
#include <zlib.h>

#include "base/base64.h"
#include "base/hashmap.h"

struct text {
	const char *text;
	uint32_t number;
};

/* Texts get their numbers as they are met. The profile keeps each once, so a pointer says which it is; one that is there twice costs bytes, no more. */
struct texts {
	RAY_HASHMAP(struct text) map;
	RAY_VEC(const char *) list;
	bool failed;
};

static uint32_t number_of(struct texts *t, const char *text)
{
	uint64_t hash;
	struct text *known;

	if (!*text)
		text = ""; /* whoever's: one */
	hash = ray_hash_pointer(0, text);
	known = ray_hashmap_find(&t->map, hash, one, one->text == text);
	if (known)
		return known->number;
	if (!t->failed && ray_vec_push(&t->list, text) &&
	    ray_hashmap_add(&t->map, hash, (struct text){ text, (uint32_t)t->list.n - 1 }))
		return (uint32_t)t->list.n - 1;
	t->failed = true;
	return 0;
}

/* ---- numbers ---- */

static void put(struct ray_text *out, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	do {
		bytes[n++] = (uint8_t)((value & 127) | (value > 127 ? 128 : 0));
		value >>= 7;
	} while (value);
	ray_text_add_bytes(out, bytes, n);
}

static void put_signed(struct ray_text *out, int64_t value)
{
	put(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static void put_difference(struct ray_text *out, uint64_t value, uint64_t *last)
{
	put_signed(out, (int64_t)(value - *last));
	*last = value;
}

#define COLUMN(out, list, first, value)                 \
	for (size_t i = first; i < p->list.n; i++) {    \
		const __auto_type row = &p->list.at[i]; \
		put(out, (uint64_t)(value));            \
	}
#define DIFFERENCES(out, list, first, value)       \
	last = 0;                                  \
	for (size_t i = first; i < p->list.n; i++) \
		put_difference(out, p->list.at[i].value, &last);

/* ---- parts ---- */

static void put_head(struct ray_text *out, const struct ray_profile *p, struct texts *texts)
{
	const uint64_t head[RAY_PACK_HEAD_COUNT] = {
		[RAY_PACK_TITLE] = number_of(texts, p->title),
		[RAY_PACK_EVENT] = number_of(texts, p->event),
		[RAY_PACK_COMMAND] = number_of(texts, p->command),
		[RAY_PACK_HOST] = number_of(texts, p->host),
		[RAY_PACK_NODE_VERSION] = number_of(texts, p->node_version),
		[RAY_PACK_BEFORE_TITLE] = number_of(texts, p->before_title),
		[RAY_PACK_UNIT] = p->unit,
		[RAY_PACK_START] = p->start_ns,
		[RAY_PACK_DURATION] = p->duration_ns,
		[RAY_PACK_PERIOD] = p->period_ns,
		[RAY_PACK_HAS_TIMES] = p->has_times,
		[RAY_PACK_LOST] = p->lost_samples,
		[RAY_PACK_CUT] = p->cut_stacks,
		[RAY_PACK_UNNAMED] = p->unnamed_frames,
		[RAY_PACK_BEFORE_THREADS] = p->before_threads,
	};

	put(out, RAY_KIND_COUNT);
	for (int i = 0; i < RAY_KIND_COUNT; i++)
		put(out, number_of(texts, ray_profile_kind_word((enum ray_profile_kind)i)));
	put(out, RAY_PACK_HEAD_COUNT);
	for (int i = 0; i < RAY_PACK_HEAD_COUNT; i++)
		put(out, head[i]);
}

static void put_functions(struct ray_text *out, const struct ray_profile *p, struct texts *texts)
{
	put(out, p->functions.n - 1);
	COLUMN(out, functions, 1, row->kind)
	COLUMN(out, functions, 1, number_of(texts, row->name))
	COLUMN(out, functions, 1, number_of(texts, row->file))
	COLUMN(out, functions, 1, (uint32_t)row->line)
	COLUMN(out, functions, 1, (uint32_t)row->column)
	COLUMN(out, functions, 1, number_of(texts, row->package))
}

static void put_tree(struct ray_text *out, const struct ray_profile *p)
{
	uint64_t last;

	put(out, p->frames.n - 1);
	DIFFERENCES(out, frames, 1, function)
	COLUMN(out, frames, 1, (uint32_t)row->line)
	COLUMN(out, frames, 1, (uint32_t)row->column)
	COLUMN(out, frames, 1, row->is_inlined)
	put(out, p->nodes.n - 1);
	COLUMN(out, nodes, 1, i - row->parent)
	COLUMN(out, nodes, 1, row->frame)
}

static void put_samples(struct ray_text *out, const struct ray_profile *p, struct texts *texts)
{
	uint64_t last;

	put(out, p->threads.n);
	COLUMN(out, threads, 0, row->pid)
	COLUMN(out, threads, 0, row->tid)
	COLUMN(out, threads, 0, number_of(texts, row->name))
	COLUMN(out, threads, 0, number_of(texts, row->process))
	put(out, p->samples.n);
	DIFFERENCES(out, samples, 0, time_ns)
	DIFFERENCES(out, samples, 0, node)
	COLUMN(out, samples, 0, row->thread)
	for (size_t i = 0; i < p->samples.n; i++)
		put_signed(out, p->samples.at[i].weight);
	COLUMN(out, samples, 0, row->count)
}

static void put_texts(struct ray_text *out, const struct texts *texts)
{
	put(out, texts->list.n);
	for (size_t i = 0; i < texts->list.n; i++)
		put(out, strlen(texts->list.at[i]));
	for (size_t i = 0; i < texts->list.n; i++)
		ray_text_add(out, texts->list.at[i]);
}

/* What is written first names texts that are written last: two parts. */
static bool put_all(struct ray_text *out, const struct ray_profile *p)
{
	struct texts texts = { 0 };
	ray_auto_text columns = { 0 };
	bool is_done;

	put_head(&columns, p, &texts);
	put_functions(&columns, p, &texts);
	put_tree(&columns, p);
	put_samples(&columns, p, &texts);
	ray_text_add(out, RAY_PACK_MAGIC);
	put_texts(out, &texts);
	ray_text_add_bytes(out, columns.bytes, columns.length);
	is_done = !texts.failed && !columns.failed && !out->failed;
	ray_vec_free(&texts.list);
	ray_hashmap_free(&texts.map);
	return is_done;
}

struct ray_error *ray_profile_pack(const struct ray_profile *p, struct ray_text *ret)
{
	ray_auto_memory uint8_t *packed = NULL;
	ray_auto_text plain = { 0 };
	uLongf length;

	if (!put_all(&plain, p))
		return &ray_enomem;
	length = compressBound(plain.length);
	packed = malloc(length);
	/* Level 6 is the last that is quick; 9 saves 2 %. */
	if (!packed || compress2(packed, &length, (const Bytef *)plain.bytes, plain.length, 6) != Z_OK)
		return &ray_enomem;
	ray_base64_add(ret, packed, length);
	return ret->failed ? &ray_enomem : NULL;
}
