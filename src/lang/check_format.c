/* check_format.c - printf() formats against the types of their arguments.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "lang/check.h"

/* What of a type printing asks for. */
static struct ray_value example_of(const struct ray_type *type)
{
	const struct ray_type *r = ray_type_resolve(type);
	struct ray_value v = { .kind = RAY_VALUE_AGGREGATION, .size = (uint32_t)r->size };

	v.is_signed = ray_type_is_signed(r);
	if (ray_check_is_special(type, "stack"))
		v.kind = RAY_VALUE_STACK;
	else if (ray_check_is_special(type, "_symaddr") || ray_check_is_special(type, "_usymaddr"))
		v.kind = RAY_VALUE_SYMBOL;
	else if (ray_type_is_integer(r) || r->kind == RAY_TYPE_POINTER)
		v.kind = RAY_VALUE_INTEGER;
	else if (r->kind == RAY_TYPE_STRING)
		v.kind = RAY_VALUE_STRING;
	else if (r->kind == RAY_TYPE_FLOAT)
		v.kind = RAY_VALUE_FLOAT;
	else if (r->kind == RAY_TYPE_ARRAY || r->kind == RAY_TYPE_STRUCT || r->kind == RAY_TYPE_UNION)
		v.kind = RAY_VALUE_BYTES;
	v.is_pointer = r->kind == RAY_TYPE_POINTER;
	v.is_char = ray_type_is_stringish(r);
	return v;
}

struct walk {
	struct ray_check *c;
	const struct ray_statement *s;
	const struct ray_type *const *types;
	size_t count, next;
	const struct ray_aggregation *aggregation;
};

/* An argument by its expression, if there is one: an aggregation has no type. */
static const char *name_type(const struct walk *w, size_t i)
{
	return w->aggregation ? ray_check_type_name(w->c, w->types[i]) : ray_check_type_of(w->c, w->s->args[i]);
}

static bool check_star(struct walk *w, const char *star, const char *name, size_t number)
{
	const char *func = w->s->function->name;

	if (w->next >= w->count) {
		ray_check_fail(
			w->c, &w->s->where, "D_PRINTF_DYN_PROTO",
			"%s( ) prototype mismatch: conversion #%zu (%%%s) is missing a corresponding \"%s\" argument",
			func, number, name, star);
		return false;
	}
	if (!ray_type_is_integer(w->types[w->next])) {
		ray_check_fail(
			w->c, &w->s->where, "D_PRINTF_DYN_TYPE",
			"%s( ) argument #%zu is incompatible with conversion #%zu prototype:\n\tconversion: %% %s %s\n"
			"\t prototype: int\n\t  argument: %s",
			func, w->next + 2, number, star, name, name_type(w, w->next));
		return false;
	}
	w->next++;
	return true;
}

static bool check_conversion(struct walk *w, const struct ray_conversion *f, size_t number)
{
	const char *func = w->s->function->name, *why = "";
	char name[8], what[64];
	const struct ray_type *type;
	struct ray_value example;

	snprintf(name, sizeof(name), "%s%c", f->size, f->letter);
	if (((f->flags & RAY_FORMAT_DYNAMIC_WIDTH) && !check_star(w, "*", name, number)) ||
	    ((f->flags & RAY_FORMAT_DYNAMIC_PRECISION) && !check_star(w, ".*", name, number)))
		return false;
	if (f->flags & RAY_FORMAT_AGGREGATION) {
		if (!w->aggregation) {
			ray_check_fail(w->c, &w->s->where, "D_PRINTF_AGG_CONV",
				       "%%@ conversion requires an aggregation and is not for use with %s( )", func);
			return false;
		}
		type = ray_type_basic(w->c->types,
				      w->aggregation->function == RAY_AGG_COUNT ? RAY_BASIC_UINT64 : RAY_BASIC_INT64);
		snprintf(what, sizeof(what), "aggregating action");
	} else if (w->next >= w->count) {
		ray_check_fail(
			w->c, &w->s->where, "D_PRINTF_ARG_PROTO",
			"%s( ) prototype mismatch: conversion #%zu (%%%s) is missing a corresponding value argument",
			func, number, name);
		return false;
	} else {
		type = w->types[w->next++];
		snprintf(what, sizeof(what), "argument #%zu", w->next + 1);
	}
	example = example_of(type);
	if (ray_conversion_accepts(f, &example, &why))
		return true;
	ray_check_fail(
		w->c, &w->s->where, "D_PRINTF_ARG_TYPE",
		"%s( ) %s is incompatible with conversion #%zu prototype:\n\tconversion: %%%s\n\t prototype: %s\n"
		"\t  argument: %s",
		func, what, number, name, why,
		f->flags & RAY_FORMAT_AGGREGATION ? ray_check_type_name(w->c, type) : name_type(w, w->next - 1));
	return false;
}

bool ray_check_format(struct ray_check *c, struct ray_statement *s, const char *text, size_t length,
		      const struct ray_type *const *types, size_t count, const struct ray_aggregation *aggregation)
{
	struct walk w = { c, s, types, count, 0, aggregation };
	const char *tag = "D_SYNTAX";
	struct ray_error *err;

	if (!length) {
		ray_check_fail(c, &s->where, "D_PRINTF_FMT_EMPTY", "%s( ) format string is empty", s->function->name);
		return false;
	}
	err = ray_format_parse(c->arena, text, length, &s->format, &tag);
	if (err) {
		ray_check_fail(c, &s->where, tag, "%s", ray_error_text(err));
		ray_error_free(err);
		return false;
	}
	for (size_t i = 0; i < s->format->count; i++) {
		if (!s->format->at[i].letter || s->format->at[i].letter == '%')
			continue;
		if (!check_conversion(&w, &s->format->at[i], i + 1))
			return false;
	}
	if (aggregation || w.next >= count)
		return true;
	ray_check_fail(c, &s->where, "D_PRINTF_ARG_EXTRA",
		       "%s( ) prototype mismatch: only %zu arguments required by this format string", s->function->name,
		       w.next);
	return false;
}
