/* tracefs_format.c - reads the file `format` of a tracepoint. Takes any bytes: what it does not understand it leaves out.
 * SPDX-License-Identifier: MIT
 *
 *	field:pid_t prev_pid;	offset:24;	size:4;	signed:1;
 *	field:__data_loc char[] filename;	offset:8;	size:4;	signed:0; */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "probe/params.h"
#include "probe/tracefs.h"

enum { MOST_OFFSET = 8192 /* PERF_MAX_TRACE_SIZE: no record is longer */ };

/* The number after `key`, in the line that ends at `end`. */
static bool number_after(const char *line, const char *end, const char *key, uint32_t *ret)
{
	const char *at = memmem(line, end - line, key, strlen(key));
	unsigned long value;

	if (!at || at + strlen(key) >= end || !isdigit((unsigned char)at[strlen(key)]))
		return false;
	value = strtoul(at + strlen(key), NULL, 10);
	if (value > MOST_OFFSET)
		return false;
	*ret = value;
	return true;
}

/* "__data_loc char[] name" and "char[] name": the element's type is what is left without the brackets. */
static bool type_tidy(struct ray_arena *arena, struct ray_tracefs_field *f)
{
	static const struct {
		const char *word;
		enum ray_tracefs_field_kind kind;
	} words[] = { { "__data_loc ", RAY_FIELD_DATA }, { "__rel_loc ", RAY_FIELD_REL } };
	char *type = ray_arena_strdup(arena, f->type);
	char *bracket;

	if (!type)
		return false;
	for (size_t i = 0; i < RAY_COUNT(words); i++)
		if (!strncmp(type, words[i].word, strlen(words[i].word))) {
			type += strlen(words[i].word);
			f->kind = words[i].kind;
		}
	bracket = strchr(type, '[');
	if (bracket) {
		while (bracket > type && isspace((unsigned char)bracket[-1]))
			bracket--;
		*bracket = '\0';
		if (f->kind == RAY_FIELD_NUMBER)
			f->kind = RAY_FIELD_ARRAY;
	}
	f->type = type;
	return *type != '\0';
}

static bool is_word(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* False: the line is no field that a program could be given. */
static bool field_parse(struct ray_arena *arena, const char *line, const char *end, struct ray_tracefs_field *f)
{
	const char *start = memmem(line, end - line, "field:", 6);
	const char *stop = start ? memchr(start, ';', end - start) : NULL;
	uint32_t is_signed = 0;

	*f = (struct ray_tracefs_field){ 0 };
	if (!stop || !number_after(stop, end, "offset:", &f->offset) || !number_after(stop, end, "size:", &f->size))
		return false;
	start += 6;
	if (!ray_param_split(arena, start, stop - start, &f->type, &f->name) || !type_tidy(arena, f))
		return false;
	number_after(stop, end, "signed:", &is_signed);
	f->is_signed = is_signed;
	/* A struct in the record is an array of one. */
	if (f->kind == RAY_FIELD_NUMBER && !is_word(f->size))
		f->kind = RAY_FIELD_ARRAY;
	return f->offset + f->size <= MOST_OFFSET && strncmp(f->name, "common_", 7) != 0;
}

struct ray_error *ray_tracefs_format_parse(struct ray_arena *arena, const char *text, struct ray_tracefs_format *ret)
{
	struct ray_tracefs_field *fields;
	size_t most = 1;
	size_t count = 0;

	for (const char *p = text; *p; p++)
		most += *p == '\n';
	fields = ray_arena_alloc(arena, most * sizeof(*fields));
	if (!fields)
		return &ray_enomem;
	for (const char *line = text; *line;) {
		const char *end = line + strcspn(line, "\n");

		if (!strncmp(line, "print fmt:", 10))
			break;
		count += field_parse(arena, line, end, &fields[count]);
		line = *end ? end + 1 : end;
	}
	*ret = (struct ray_tracefs_format){ fields, count };
	return NULL;
}
