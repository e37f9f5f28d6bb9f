/* facts.c - printf() and printa() as named values, for a view. See view/fact.h.
 * SPDX-License-Identifier: MIT
 *
 * Names come out of the format, once per format: its first word is the fact's, and what stands before a conversion's '=' is
 * the value's. All statements of a clause make one fact: a format that ends with "data=" names what tracemem() or jstack() adds
 * after it. Knows no view and no script. */
#include <ctype.h>
#include <string.h>

#include "engine/consume.h"

static bool is_name_byte(char b)
{
	return isalnum((unsigned char)b) || b == '_';
}

/* "... url=" or "... url=\"": what stands before a conversion, or at the end of the format. */
static char *field_name(const struct ray_conversion *v)
{
	const char *end = v->literal + v->literal_length, *start;

	if (end > v->literal && (end[-1] == '"' || end[-1] == '\''))
		end--;
	if (end == v->literal || end[-1] != '=')
		return strdup("");
	start = --end;
	while (start > v->literal && is_name_byte(start[-1]))
		start--;
	return strndup(start, (size_t)(end - start));
}

static char *fact_name(const struct ray_format *format)
{
	const char *literal = format->count ? format->at[0].literal : "";
	size_t length = format->count ? format->at[0].literal_length : 0, n = 0;

	while (n < length && is_name_byte(literal[n]))
		n++;
	return strndup(literal, n < length && literal[n] == '=' ? 0 : n);
}

static void free_shape(struct ray_fact_shape *s)
{
	for (size_t i = 0; s->fields && i < s->field_count; i++)
		free(s->fields[i]);
	free(s->fields);
	free(s->guesses);
	free(s->name);
	free(s->next);
}

static bool takes_value(const struct ray_conversion *v)
{
	return v->letter && v->letter != '%';
}

static bool make_shape(const struct ray_format *format, struct ray_fact_shape *s)
{
	*s = (struct ray_fact_shape){ .format = format, .name = fact_name(format) };
	s->fields = calloc(format->count + 1, sizeof(*s->fields));
	s->guesses = calloc(RAY_FACT_GUESSES, sizeof(*s->guesses));
	if (!s->name || !s->fields || !s->guesses)
		return false;
	for (size_t i = 0; i < format->count; i++) {
		if (!takes_value(&format->at[i]))
			continue;
		s->fields[s->field_count++] = field_name(&format->at[i]);
		if (!s->fields[s->field_count - 1])
			return false;
	}
	s->next = format->count ? field_name(&format->at[format->count - 1]) : strdup("");
	return s->next != NULL;
}

/* NULL: no memory. Programs have few formats. */
static const struct ray_fact_shape *shape_of(struct ray_consumer *c, const struct ray_format *format)
{
	struct ray_fact_shape made;

	for (size_t i = 0; i < c->shapes.n; i++)
		if (c->shapes.at[i].format == format)
			return &c->shapes.at[i];
	if (make_shape(format, &made) && ray_vec_push(&c->shapes, made))
		return &c->shapes.at[c->shapes.n - 1];
	free_shape(&made);
	return NULL;
}

static bool add_field(struct ray_consumer *c, const char *name, const struct ray_value *value)
{
	struct ray_fact_field field = { .name = name };

	if (value)
		field.value = *value;
	return ray_vec_push(&c->fact_fields, field);
}

static void tell(struct ray_consumer *c, const struct ray_record *r, struct ray_fact *fact,
		 const struct ray_fact_field *fields, size_t count)
{
	fact->fields = fields;
	fact->count = count;
	if (r) {
		fact->time_ns = r->time + c->t->state->wall_offset;
		fact->pid = r->tgid;
		fact->tid = r->tid;
	}
	c->t->settings.on_fact(c->t->settings.arg, fact);
}

static void lack_memory(struct ray_consumer *c)
{
	c->out.failed = 1; /* told when it is flushed */
}

/* ---- records ---- */

void ray_fact_begin(struct ray_consumer *c)
{
	c->fact_fields.n = 0;
	c->fact_name = c->fact_next = NULL;
}

void ray_fact_add_printf(struct ray_consumer *c, const struct ray_format *format, const struct ray_value *values,
			 size_t count)
{
	const struct ray_fact_shape *shape = shape_of(c, format);
	size_t at = 0, field = 0;

	if (!shape) {
		lack_memory(c);
		return;
	}
	if (!c->fact_name) {
		c->fact_name = shape->name;
		c->fact_guesses = shape->guesses;
	}
	for (size_t i = 0; i < format->count; i++) {
		const struct ray_conversion *v = &format->at[i];

		if (!takes_value(v))
			continue;
		at += !!(v->flags & RAY_FORMAT_DYNAMIC_WIDTH) + !!(v->flags & RAY_FORMAT_DYNAMIC_PRECISION);
		if (!add_field(c, shape->fields[field++], at < count ? &values[at] : NULL))
			lack_memory(c);
		at++;
	}
	c->fact_next = shape->next;
}

void ray_fact_add_value(struct ray_consumer *c, const struct ray_value *value)
{
	if (c->fact_next && !add_field(c, c->fact_next, value))
		lack_memory(c);
	c->fact_next = NULL;
}

void ray_fact_end(struct ray_consumer *c, const struct ray_record *r)
{
	struct ray_fact fact = { .name = c->fact_name, .guesses = c->fact_guesses };

	if (c->fact_name)
		tell(c, r, &fact, c->fact_fields.at, c->fact_fields.n);
}

/* ---- rows ---- */

void ray_fact_tell_row(struct ray_consumer *c, const struct ray_format *format, const struct ray_fact_row *row)
{
	const struct ray_fact_shape *shape = shape_of(c, format);
	struct ray_fact fact = { .name = shape ? shape->name : "",
				 .is_row = true,
				 .is_end = !row,
				 .guesses = shape ? shape->guesses : NULL };
	size_t key = 0, value = 0, field = 0,
	       first = c->fact_fields.n; /* a printf() of the same clause may have some */
	bool is_whole = shape != NULL;

	for (size_t i = 0; row && i < format->count && is_whole; i++) {
		const struct ray_conversion *v = &format->at[i];

		if (!takes_value(v))
			continue;
		if (v->flags & RAY_FORMAT_AGGREGATION && value < row->value_count) {
			is_whole = ray_vec_push(&c->fact_fields, row->values[value]);
			if (is_whole)
				c->fact_fields.at[c->fact_fields.n - 1].name = shape->fields[field++];
			value += value + 1 < row->value_count; /* the last one again and again, as printing does */
		} else {
			is_whole = add_field(c, shape->fields[field++], key < row->key_count ? &row->keys[key] : NULL);
			key++;
		}
	}
	if (is_whole)
		tell(c, c->printing, &fact, c->fact_fields.at + first, c->fact_fields.n - first);
	else
		lack_memory(c);
	c->fact_fields.n = first;
}

void ray_facts_free(struct ray_consumer *c)
{
	for (size_t i = 0; i < c->shapes.n; i++)
		free_shape(&c->shapes.at[i]);
	ray_vec_free(&c->shapes);
	ray_vec_free(&c->fact_fields);
}
