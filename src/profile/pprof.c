/* pprof.c - see pprof.h. SPDX-License-Identifier: MIT */
#include "profile/pprof.h"

#include <stdlib.h>
#include <string.h>

#include "profile/reading.h"

void ray_pprof_wrong(struct ray_pprof *r, const char *what)
{
	if (!r->wrong)
		r->wrong = what;
}

void ray_pprof_each(struct ray_pprof *r, struct ray_proto_span s, ray_pprof_field_fn *fn, void *arg)
{
	struct ray_proto_field f;
	int more;

	while (!r->wrong && (more = ray_proto_next(&s, &f)) != 0) {
		if (more < 0)
			ray_pprof_wrong(r, "a message is broken");
		else
			fn(r, &f, arg);
	}
}

static struct ray_proto_span raw_string(struct ray_pprof *r, uint64_t number)
{
	static const uint8_t nothing[1];

	if (number < r->strings.n)
		return r->strings.at[number];
	ray_pprof_wrong(r, "a text that is not in the table");
	return (struct ray_proto_span){ nothing, nothing };
}

const char *ray_pprof_string(struct ray_pprof *r, uint64_t number)
{
	struct ray_proto_span s = raw_string(r, number);

	return ray_reading_text(r->p, (const char *)s.at, (size_t)(s.end - s.at));
}

bool ray_pprof_is(struct ray_pprof *r, uint64_t number, const char *text)
{
	struct ray_proto_span s = raw_string(r, number);

	return (size_t)(s.end - s.at) == strlen(text) && !memcmp(s.at, text, strlen(text));
}

/* ---- tables ---- */

static void value_type_field(struct ray_pprof *r, const struct ray_proto_field *f, void *arg)
{
	struct ray_pprof_value_type *t = arg;

	(void)r;
	if (f->number == 1)
		t->type = f->value;
	else if (f->number == 2)
		t->unit = f->value;
}

static void function_field(struct ray_pprof *r, const struct ray_proto_field *f, void *arg)
{
	struct ray_pprof_function *fn = arg;

	(void)r;
	if (f->number == 1)
		fn->id = f->value;
	else if (f->number == 2)
		fn->name = f->value;
	else if (f->number == 4)
		fn->file = f->value;
	else if (f->number == 5)
		fn->line = f->value;
}

static void mapping_field(struct ray_pprof *r, const struct ray_proto_field *f, void *arg)
{
	struct ray_pprof_mapping *m = arg;

	(void)r;
	if (f->number == 1)
		m->id = f->value;
	else if (f->number == 5)
		m->file = f->value;
}

static void line_field(struct ray_pprof *r, const struct ray_proto_field *f, void *arg)
{
	struct ray_pprof_line *l = arg;

	(void)r;
	if (f->number == 1)
		l->function = f->value;
	else if (f->number == 2)
		l->line = f->value;
	else if (f->number == 3)
		l->column = f->value;
}

static void location_field(struct ray_pprof *r, const struct ray_proto_field *f, void *arg)
{
	struct ray_pprof_location *l = arg;
	struct ray_pprof_line line = { 0 };

	if (f->number == 1)
		l->id = f->value;
	else if (f->number == 2)
		l->mapping = f->value;
	else if (f->number == 3)
		l->address = f->value;
	else if (f->number == 4 && f->span.at) {
		ray_pprof_each(r, f->span, line_field, &line);
		if (!ray_vec_push(&r->lines, line))
			r->no_memory = true;
		l->count++;
	}
}

/* Repeated numbers come one by one or as a block. */
void ray_pprof_numbers(struct ray_pprof *r, const struct ray_proto_field *f,
		       void (*fn)(struct ray_pprof *, uint64_t, void *), void *arg)
{
	struct ray_proto_span s = f->span;
	uint64_t value;

	if (!s.at) {
		fn(r, f->value, arg);
		return;
	}
	while (!r->wrong && s.at < s.end) {
		if (ray_proto_varint(&s, &value))
			fn(r, value, arg);
		else
			ray_pprof_wrong(r, "a list of numbers is broken");
	}
}

static void add_comment(struct ray_pprof *r, uint64_t value, void *arg)
{
	(void)arg;
	if (!ray_vec_push(&r->comments, value))
		r->no_memory = true;
}

#define PUSH(list, type, reader)                           \
	do {                                               \
		type item = { 0 };                         \
		ray_pprof_each(r, f->span, reader, &item); \
		if (!ray_vec_push(list, item))             \
			r->no_memory = true;               \
	} while (0)

static void table_field(struct ray_pprof *r, const struct ray_proto_field *f, void *arg)
{
	struct ray_pprof_location location = { .first = r->lines.n };

	(void)arg;
	if (f->number == 1 && f->span.at)
		PUSH(&r->types, struct ray_pprof_value_type, value_type_field);
	else if (f->number == 3 && f->span.at)
		PUSH(&r->mappings, struct ray_pprof_mapping, mapping_field);
	else if (f->number == 5 && f->span.at)
		PUSH(&r->functions, struct ray_pprof_function, function_field);
	else if (f->number == 4 && f->span.at) {
		ray_pprof_each(r, f->span, location_field, &location);
		if (!ray_vec_push(&r->locations, location))
			r->no_memory = true;
	} else if (f->number == 6 && f->span.at) {
		if (!ray_vec_push(&r->strings, f->span))
			r->no_memory = true;
	} else if (f->number == 9)
		r->p->start_ns = f->value;
	else if (f->number == 10)
		r->p->duration_ns = f->value;
	else if (f->number == 12)
		r->p->period_ns = f->value;
	else if (f->number == 13)
		ray_pprof_numbers(r, f, add_comment, NULL);
	else if (f->number == 14)
		r->preferred = f->value;
}

/* Things are known by ids, of any size: sorted, then searched. The id is the first member of each. */
static int by_id(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

#define SORT(list) ((list)->n ? qsort((list)->at, (list)->n, sizeof(*(list)->at), by_id) : (void)0)
#define FIND(list, id) \
	((list)->n ? bsearch(&(uint64_t){ id }, (list)->at, (list)->n, sizeof(*(list)->at), by_id) : NULL)

void ray_pprof_tables(struct ray_pprof *r)
{
	ray_pprof_each(r, r->all, table_field, NULL);
	SORT(&r->functions);
	SORT(&r->mappings);
	SORT(&r->locations);
	for (size_t i = 0; i < r->lines.n && !r->no_memory; i++)
		if (!ray_vec_push(&r->frames, 0))
			r->no_memory = true;
}

const struct ray_pprof_mapping *ray_pprof_mapping(const struct ray_pprof *r, uint64_t id)
{
	return FIND(&r->mappings, id);
}

const struct ray_pprof_function *ray_pprof_function(const struct ray_pprof *r, uint64_t id)
{
	return FIND(&r->functions, id);
}

struct ray_pprof_location *ray_pprof_location(struct ray_pprof *r, uint64_t id)
{
	return FIND(&r->locations, id);
}

void ray_pprof_deinit(struct ray_pprof *r)
{
	ray_vec_free(&r->strings);
	ray_vec_free(&r->types);
	ray_vec_free(&r->functions);
	ray_vec_free(&r->mappings);
	ray_vec_free(&r->lines);
	ray_vec_free(&r->frames);
	ray_vec_free(&r->locations);
	ray_vec_free(&r->comments);
}
