/* tally.c - see tally.h. SPDX-License-Identifier: MIT */
#include "view/tally.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hashmap.h"
#include "base/vec.h"

struct ray_tally {
	struct ray_arena *arena;
	RAY_VEC(struct ray_tally_row *) rows;
	RAY_HASHMAP(struct ray_tally_row *) by_name;
	bool failed;
};

struct ray_tally *ray_tally_create(void)
{
	struct ray_tally *t = calloc(1, sizeof(*t));

	if (t)
		t->arena = ray_arena_create();
	if (t && t->arena)
		return t;
	free(t);
	return NULL;
}

void ray_tally_free(struct ray_tally *t)
{
	if (!t)
		return;
	ray_arena_free(t->arena);
	ray_vec_free(&t->rows);
	ray_hashmap_free(&t->by_name);
	free(t);
}

void ray_tally_clear(struct ray_tally *t)
{
	struct ray_arena *arena = ray_arena_create();

	if (!arena) {
		t->failed = true;
		return;
	}
	ray_arena_free(t->arena);
	t->arena = arena;
	t->rows.n = 0;
	ray_hashmap_clear(&t->by_name);
}

bool ray_tally_failed(const struct ray_tally *t)
{
	return t->failed;
}

/* ---- rows ---- */

static bool add_row(struct ray_tally *t, uint64_t hash, struct ray_tally_row *row)
{
	return row->name && row->kind && ray_vec_push(&t->rows, row) && ray_hashmap_add(&t->by_name, hash, row);
}

struct ray_tally_row *ray_tally_row(struct ray_tally *t, const char *kind, const char *name)
{
	uint64_t hash = ray_hash_text(ray_hash_text(0, kind), name);
	struct ray_tally_row **known =
		ray_hashmap_find(&t->by_name, hash, one, !strcmp((*one)->name, name) && !strcmp((*one)->kind, kind));
	struct ray_tally_row *row;

	if (known)
		return *known;
	row = ray_arena_alloc(t->arena, sizeof(*row));
	if (row) {
		row->name = ray_arena_strdup(t->arena, name);
		row->kind = ray_arena_strdup(t->arena, kind);
		if (add_row(t, hash, row))
			return row;
	}
	t->failed = true;
	return NULL;
}

static void add(struct ray_tally *t, struct ray_histogram *to, const struct ray_histogram *h)
{
	int64_t *bins;

	if (!to->count) {
		bins = ray_arena_alloc(t->arena, h->count * sizeof(*bins));
		if (!bins) {
			t->failed = true;
			return;
		}
		*to = *h;
		to->bins = memcpy(bins, h->bins, h->count * sizeof(*bins));
		return;
	}
	bins = (int64_t *)to->bins; /* ours */
	for (size_t i = 0; i < to->count && i < h->count; i++)
		bins[i] += h->bins[i];
}

void ray_tally_add(struct ray_tally *t, struct ray_tally_row *row, const struct ray_histogram *h)
{
	if (!row || !h)
		return;
	add(t, &row->histogram, h);
	row->count += ray_histogram_count(h);
}

void ray_tally_add_second(struct ray_tally *t, struct ray_tally_row *row, const struct ray_histogram *h)
{
	if (row && h)
		add(t, &row->second, h);
}

/* ---- order ---- */

static uint64_t weight(const struct ray_tally_row *row, enum ray_tally_order order)
{
	switch (order) {
	case RAY_TALLY_BY_TOTAL:
		return row->total;
	case RAY_TALLY_BY_LONGEST:
		return row->longest;
	case RAY_TALLY_BY_ERRORS:
		return row->errors + row->cut;
	default:
		return row->count + row->cut;
	}
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct ray_tally_row *left = *(struct ray_tally_row *const *)a,
				   *right = *(struct ray_tally_row *const *)b;
	enum ray_tally_order order = *(enum ray_tally_order *)arg;
	uint64_t l = weight(left, order), r = weight(right, order);
	int names;

	if (l != r)
		return l > r ? -1 : 1;
	names = strcmp(left->name, right->name);
	return names ? names : strcmp(left->kind, right->kind);
}

struct ray_tally_row *const *ray_tally_sorted(struct ray_tally *t, enum ray_tally_order order, size_t *count_ret)
{
	*count_ret = t->rows.n;
	if (t->rows.n)
		qsort_r(t->rows.at, t->rows.n, sizeof(*t->rows.at), compare, &order);
	return t->rows.at;
}

/* ---- JSON ---- */

json_t *ray_json_ms(uint64_t ns)
{
	return json_real((double)ns / 1e6);
}

json_t *ray_tally_json(const struct ray_histogram *h, uint64_t longest)
{
	return json_pack("{sIsosososo}", "count", (json_int_t)ray_histogram_count(h), "p50",
			 ray_json_ms(ray_histogram_percentile(h, 50, longest)), "p90",
			 ray_json_ms(ray_histogram_percentile(h, 90, longest)), "p99",
			 ray_json_ms(ray_histogram_percentile(h, 99, longest)), "max", ray_json_ms(longest));
}

/* ---- folding ---- */

static bool is_uuid(const char *word, size_t length)
{
	if (length != 36)
		return false;
	for (size_t i = 0; i < length; i++)
		if (i == 8 || i == 13 || i == 18 || i == 23 ? word[i] != '-' : !isxdigit((unsigned char)word[i]))
			return false;
	return true;
}

/* What stands for a part of a path that is another one each time; NULL: it is a word of its own. */
static const char *stand_in(const char *word, size_t length)
{
	size_t digits = 0, hex = 0;

	for (size_t i = 0; i < length; i++) {
		digits += !!isdigit((unsigned char)word[i]);
		hex += !!isxdigit((unsigned char)word[i]);
	}
	if (!length)
		return NULL;
	if (digits == length)
		return ":n";
	if (is_uuid(word, length))
		return ":uuid";
	return hex == length && length >= 12 && digits ? ":hex" : NULL;
}

void ray_view_fold(const char *url, bool folds, bool keeps_query, struct ray_text *out)
{
	size_t end = strcspn(url, "?");

	for (size_t at = 0; folds && at < end;) {
		size_t length = strcspn(url + at, "/?");
		const char *other = stand_in(url + at, length);

		if (other)
			ray_text_add(out, other);
		else
			ray_text_add_bytes(out, url + at, length);
		at += length;
		if (url[at] == '/')
			ray_text_add(out, "/");
		at += url[at] == '/';
	}
	if (!folds)
		ray_text_add_bytes(out, url, end);
	if (keeps_query)
		ray_text_add(out, url + end);
}
