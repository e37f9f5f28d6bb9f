/* aggregate_print.c - printa(), and what is printed at the end of a run.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "engine/consume.h"
#include "view/histogram.h"

/* ---- one key with its values ---- */

static void value_of(const struct ray_agg *a, const int64_t *words, struct ray_text *text, struct ray_value *ret)
{
	struct ray_histogram h;

	ray_text_clear(text);
	*ret = (struct ray_value){ .kind = RAY_VALUE_INTEGER, .size = 8 };
	if (ray_agg_histogram(a->plan, words, a->normal, &h)) {
		ray_histogram_print(&h, text);
		ret->kind = RAY_VALUE_AGGREGATION;
		ret->bytes = ray_text_get(text);
		ret->length = text->length;
		return;
	}
	ret->is_signed = a->plan->aggregation->function != RAY_AGG_COUNT;
	ret->integer = (uint64_t)ray_agg_number(a->plan, words, a->normal);
}

static void key_value(const struct ray_agg_group *g, size_t i, struct ray_value *ret)
{
	const struct ray_field *f = &g->agg->plan->key.fields[i];
	const char *text = g->texts ? g->texts[i] : NULL;

	ray_field_value(f, g->key + f->offset, text, text ? strlen(text) : 0, ret);
}

static void print_number(const struct ray_agg *a, const int64_t *words, struct ray_text *out)
{
	ray_auto_text text = { 0 };
	struct ray_value v;

	value_of(a, words, &text, &v);
	if (v.kind == RAY_VALUE_AGGREGATION)
		ray_text_add_bytes(out, v.bytes, v.length);
	else
		ray_text_printf(out, " %16lld", (long long)v.integer);
}

struct printer {
	struct ray_consumer *c;
	const struct ray_format *format; /* NULL: the default layout */
	const struct ray_agg_row *row;
	size_t columns;
	int64_t *words; /* room for the largest, in each column */
	size_t most_words;
	struct ray_text text;
};

static void print_default_row(struct printer *p)
{
	const struct ray_agg_group *key = p->row->key;
	struct ray_text *out = &p->c->out;

	for (size_t i = 0; i < key->agg->plan->key.field_count; i++) {
		struct ray_value v;

		key_value(key, i, &v);
		ray_print_key(p->c, &key->agg->plan->key.fields[i], &v, out);
	}
	for (size_t i = 0; i < p->columns; i++) {
		const struct ray_agg_group *g = p->row->at[i];
		const struct ray_agg *a = g->agg;

		ray_agg_total(a, g, p->words);
		print_number(a, p->words, out);
		for (uint32_t l = 0; a->lanes > 1 && l < a->lanes; l++) {
			ray_text_printf(out, "\n    [CPU %u]", l);
			print_number(a, g->words + (size_t)l * a->plan->words, out);
		}
	}
	ray_text_add(out, "\n");
}

static void name_address(struct printer *p, struct ray_value *v)
{
	ray_text_clear(&p->text);
	ray_stacker_symbol(p->c->t->stacker, 0, v->integer, 'a', &p->text);
	v->kind = RAY_VALUE_SYMBOL;
	v->bytes = ray_text_get(&p->text);
	v->length = p->text.length;
}

/* %@ takes the aggregations in their order, and the last one again and again; all others take the key's fields. */
static void print_formatted_row(struct printer *p)
{
	const struct ray_agg_group *key = p->row->key;
	size_t fields = key->agg->plan->key.field_count, field = 0, column = 0;

	for (size_t i = 0; i < p->format->count; i++) {
		const struct ray_conversion *v = &p->format->at[i];
		struct ray_value values[3];
		size_t n = 0,
		       dynamic = !!(v->flags & RAY_FORMAT_DYNAMIC_WIDTH) + !!(v->flags & RAY_FORMAT_DYNAMIC_PRECISION);

		for (; v->letter && v->letter != '%' && n < dynamic && field < fields; n++)
			key_value(key, field++, &values[n]);
		if (v->letter && v->flags & RAY_FORMAT_AGGREGATION) {
			const struct ray_agg_group *g = p->row->at[column];

			ray_agg_total(g->agg, g, p->words);
			value_of(g->agg, p->words, &p->text, &values[n++]);
			column += column + 1 < p->columns;
		} else if (v->letter && v->letter != '%' && field < fields) {
			key_value(key, field++, &values[n]);
			if (v->letter == 'a' && values[n].kind == RAY_VALUE_INTEGER)
				name_address(p, &values[n]);
			n++;
		}
		ray_conversion_print(v, values, n, &p->c->out);
	}
}

/* A value as data; the histogram lies in *bars. */
static void field_of(const struct ray_agg *a, const int64_t *words, struct printer *p, struct ray_histogram *bars,
		     struct ray_fact_field *ret)
{
	enum ray_aggregator function = a->plan->aggregation->function;

	*ret = (struct ray_fact_field){ 0 };
	if (ray_agg_histogram(a->plan, words, a->normal, bars)) {
		ret->histogram = bars;
		return;
	}
	value_of(a, words, &p->text, &ret->value);
	if (function == RAY_AGG_AVG || function == RAY_AGG_STDDEV) {
		ret->count = words[0];
		ret->sum = words[1];
	}
}

/* As data. No memory: the row is missing, and that is told. */
static void tell_row(struct printer *p)
{
	size_t keys = p->row->key->agg->plan->key.field_count;
	struct ray_value *values = calloc(keys + 1, sizeof(*values));
	struct ray_fact_field *fields = calloc(p->columns, sizeof(*fields));
	struct ray_histogram *bars = calloc(p->columns, sizeof(*bars));

	for (size_t i = 0; values && i < keys; i++) {
		const struct ray_agg_group *key = p->row->key;
		const struct ray_field *f = &key->agg->plan->key.fields[i];

		key_value(key, i, &values[i]);
		values[i].stack = ray_field_stack(p->c, f, key->key + f->offset);
	}
	for (size_t i = 0; fields && bars && i < p->columns; i++) {
		const struct ray_agg_group *g = p->row->at[i];
		int64_t *words = p->words + i * p->most_words;

		ray_agg_total(g->agg, g, words);
		field_of(g->agg, words, p, &bars[i], &fields[i]);
	}
	if (values && fields && bars)
		ray_fact_tell_row(p->c, p->format, &(struct ray_fact_row){ values, fields, keys, p->columns });
	else
		p->c->out.failed = 1;
	free(values);
	free(fields);
	free(bars);
}

static void print_row(struct printer *p, const struct ray_agg_row *row)
{
	p->row = row;
	if (p->format && p->c->t->settings.on_fact)
		tell_row(p);
	else if (p->format)
		print_formatted_row(p);
	else
		print_default_row(p);
}

/* ---- one aggregation ---- */

static struct ray_error *print_one(struct printer *p, struct ray_agg *a)
{
	struct ray_agg_order order = ray_agg_order_of(&p->c->t->options);
	ray_auto_memory struct ray_agg_group **sorted = NULL;
	size_t count;

	if (!ray_agg_shown(a, &sorted, &count))
		return &ray_enomem;
	ray_agg_weigh(a);
	ray_agg_sort(sorted, count, &order);
	for (size_t i = 0; i < count; i++) {
		const struct ray_agg_group *only = sorted[i];

		print_row(p, &(struct ray_agg_row){ .key = only, .at = &only });
	}
	return NULL;
}

/* ---- several at once ---- */

struct table {
	struct ray_agg **aggs;
	size_t columns;
	struct ray_agg_group *zeros; /* by column: where a key has no value */
	struct ray_agg_group **all;
	size_t all_count;
	struct ray_agg_row *rows;
	const struct ray_agg_group **cells; /* columns per row */
	size_t row_count;
};

static void free_table(struct table *t)
{
	for (size_t i = 0; t->zeros && i < t->columns; i++)
		free(t->zeros[i].words);
	free(t->zeros);
	free(t->all);
	free(t->rows);
	free(t->cells);
}

static bool fill_table(struct table *t)
{
	t->zeros = calloc(t->columns, sizeof(*t->zeros));
	for (size_t i = 0; t->zeros && i < t->columns; i++) {
		struct ray_agg *a = t->aggs[i];

		t->zeros[i].agg = a;
		t->zeros[i].words = calloc((size_t)a->lanes * a->plan->words + 1, sizeof(int64_t));
		if (!t->zeros[i].words)
			return false;
		t->all_count += a->groups.n;
	}
	t->all = malloc((t->all_count + 1) * sizeof(*t->all));
	t->rows = calloc(t->all_count + 1, sizeof(*t->rows));
	t->cells = calloc(t->all_count * t->columns + 1, sizeof(*t->cells));
	t->all_count = 0;
	for (size_t i = 0; t->zeros && t->all && i < t->columns; i++) {
		bool is_repeated = false;

		for (size_t j = 0; j < i; j++)
			is_repeated |= t->aggs[j] == t->aggs[i];
		ray_agg_weigh(t->aggs[i]);
		for (size_t g = 0; !is_repeated && g < t->aggs[i]->groups.n; g++)
			if (!t->aggs[i]->groups.at[g].is_hidden)
				t->all[t->all_count++] = &t->aggs[i]->groups.at[g];
	}
	return t->zeros && t->all && t->rows && t->cells;
}

static int compare_all(const void *a, const void *b)
{
	const struct ray_agg_group *ga = *(struct ray_agg_group *const *)a, *gb = *(struct ray_agg_group *const *)b;
	int n = ray_agg_compare_keys(ga, gb, 0);

	return n ? n : ga->agg < gb->agg ? -1 : ga->agg > gb->agg;
}

static void make_rows(struct table *t)
{
	qsort(t->all, t->all_count, sizeof(*t->all), compare_all);
	for (size_t i = 0; i < t->all_count; i++) {
		struct ray_agg_row *row = t->row_count ? &t->rows[t->row_count - 1] : NULL;

		if (!row || ray_agg_compare_keys(t->all[i], row->key, 0) != 0) {
			row = &t->rows[t->row_count];
			row->key = t->all[i];
			row->at = &t->cells[t->row_count++ * t->columns];
			for (size_t n = 0; n < t->columns; n++)
				row->at[n] = &t->zeros[n];
		}
		for (size_t n = 0; n < t->columns; n++)
			if (t->aggs[n] == t->all[i]->agg)
				row->at[n] = t->all[i];
	}
}

static struct ray_error *print_joined(struct printer *p, struct ray_agg **aggs, size_t columns)
{
	struct ray_agg_order order = ray_agg_order_of(&p->c->t->options);
	struct table t = { .aggs = aggs, .columns = columns };
	struct ray_error *err = NULL;

	if (fill_table(&t)) {
		make_rows(&t);
		ray_agg_sort_rows(t.rows, t.row_count, columns, (size_t)p->c->t->options.aggsortpos, &order);
		for (size_t i = 0; i < t.row_count; i++)
			print_row(p, &t.rows[i]);
	} else {
		err = &ray_enomem;
	}
	free_table(&t);
	return err;
}

/* ---- entry ---- */

static struct ray_error *print_aggs(struct ray_consumer *c, struct ray_agg **aggs, size_t count,
				    const struct ray_format *format)
{
	struct printer p = { .c = c, .format = format, .columns = count };
	struct ray_error *err = NULL;
	uint32_t words = 0;

	for (size_t i = 0; i < count && !err; i++) {
		err = ray_agg_snapshot(c, aggs[i]);
		if (aggs[i]->plan->words > words)
			words = aggs[i]->plan->words;
	}
	if (err)
		return err;
	p.most_words = words + 1;
	p.words = calloc(count, p.most_words * sizeof(*p.words));
	if (!p.words)
		err = &ray_enomem;
	else if (count == 1)
		err = print_one(&p, aggs[0]);
	else
		err = print_joined(&p, aggs, count);
	if (!err && format && c->t->settings.on_fact)
		ray_fact_tell_row(c, format, NULL);
	free(p.words);
	ray_text_deinit(&p.text);
	return err;
}

struct ray_error *ray_agg_printa(struct ray_consumer *c, const struct ray_statement *s)
{
	struct ray_agg **aggs = calloc(s->arg_count + 1, sizeof(*aggs));
	struct ray_error *err = aggs ? NULL : &ray_enomem;
	bool has_some = false;
	size_t count = 0;

	for (size_t i = 0; aggs && i < s->arg_count; i++)
		if (s->args[i]->aggregation && s->args[i]->aggregation->id < c->agg_count)
			aggs[count++] = &c->aggs[s->args[i]->aggregation->id];
	if (count && !s->format)
		ray_text_add(&c->out, "\n");
	if (count)
		err = print_aggs(c, aggs, count, s->format);
	for (size_t i = 0; i < count; i++)
		has_some |= aggs[i]->groups.n > aggs[i]->hidden;
	for (size_t i = 0; i < count; i++)
		aggs[i]->is_printed |= has_some;
	free(aggs);
	return err;
}

struct ray_error *ray_aggs_dump(struct ray_consumer *c)
{
	struct ray_error *err = NULL;

	for (size_t i = 0; i < c->agg_count && !err; i++) {
		struct ray_agg *a = &c->aggs[c->t->options.aggsortrev ? c->agg_count - 1 - i : i];

		if (!a->is_printed && a->fd >= 0)
			err = print_aggs(c, &a, 1, NULL);
	}
	return err;
}
