/* fact.c - see fact.h. SPDX-License-Identifier: MIT */
#include "view/fact.h"

#include <string.h>

bool ray_fact_is(const struct ray_fact *f, const char *name)
{
	return strcmp(f->name, name) == 0;
}

const struct ray_fact_field *ray_fact_find(const struct ray_fact *f, const char *name)
{
	uint8_t *guess = f->guesses ? &f->guesses[(uint32_t)((uintptr_t)name * 0x9e3779b1u) >> 24] : NULL;

	if (guess && *guess < f->count && strcmp(f->fields[*guess].name, name) == 0)
		return &f->fields[*guess];
	for (size_t i = 0; i < f->count; i++) {
		if (strcmp(f->fields[i].name, name) != 0)
			continue;
		if (guess)
			*guess = (uint8_t)i;
		return &f->fields[i];
	}
	return NULL;
}

int64_t ray_fact_number(const struct ray_fact *f, const char *name)
{
	const struct ray_fact_field *field = ray_fact_find(f, name);

	return field && field->value.kind == RAY_VALUE_INTEGER ? (int64_t)field->value.integer : 0;
}

bool ray_fact_average(const struct ray_fact *f, const char *name, int64_t *count_ret, int64_t *sum_ret)
{
	const struct ray_fact_field *field = ray_fact_find(f, name);

	*count_ret = field ? field->count : 0;
	*sum_ret = field ? field->sum : 0;
	return *count_ret > 0;
}

static bool is_named(const struct ray_value *v)
{
	return v->kind == RAY_VALUE_STACK || v->kind == RAY_VALUE_USTACK || v->kind == RAY_VALUE_JSTACK ||
	       v->kind == RAY_VALUE_SYMBOL;
}

const char *ray_fact_text(const struct ray_fact *f, const char *name)
{
	const struct ray_fact_field *field = ray_fact_find(f, name);

	if (!field || !field->value.bytes)
		return "";
	if (is_named(&field->value))
		return field->value.bytes;
	/* Ends within its room, or the record is damaged. */
	if (field->value.kind == RAY_VALUE_STRING && field->value.length < field->value.size)
		return field->value.bytes;
	return "";
}

const void *ray_fact_bytes(const struct ray_fact *f, const char *name, size_t *length_ret)
{
	const struct ray_fact_field *field = ray_fact_find(f, name);

	*length_ret = 0;
	if (!field || field->value.kind != RAY_VALUE_BYTES)
		return NULL;
	*length_ret = field->value.size;
	return field->value.bytes;
}

const struct ray_fact_stack *ray_fact_stack(const struct ray_fact *f, const char *name)
{
	const struct ray_fact_field *field = ray_fact_find(f, name);

	return field && is_named(&field->value) ? field->value.stack : NULL;
}

const struct ray_histogram *ray_fact_histogram(const struct ray_fact *f, const char *name)
{
	const struct ray_fact_field *field = ray_fact_find(f, name);

	return field ? field->histogram : NULL;
}
