/* field_value.c - values out of records and keys.
 * SPDX-License-Identifier: MIT
 *
 * A field says what its bytes are; nothing here trusts that they are whole. */
#include <string.h>

#include "engine/consume.h"

static bool is_char_array(const struct ray_type *type)
{
	const struct ray_type *element;

	if (!type || type->kind != RAY_TYPE_ARRAY)
		return false;
	element = ray_type_resolve(type->target);
	return element->kind == RAY_TYPE_INTEGER && element->size == 1;
}

void ray_field_value(const struct ray_field *f, const void *bytes, const char *name, size_t name_length,
		     struct ray_value *ret)
{
	const struct ray_type *type = f->type ? ray_type_resolve(f->type) : NULL;

	*ret = (struct ray_value){ .kind = f->kind, .bytes = bytes, .size = f->size };
	if (name) {
		ret->bytes = name;
		ret->length = name_length;
		if (f->kind == RAY_VALUE_STRING) /* with its NUL, as strings of records have it */
			ret->size = (uint32_t)name_length + 1;
		return;
	}
	if (type && type->kind == RAY_TYPE_FLOAT) {
		ret->kind = RAY_VALUE_FLOAT;
		ret->size = (uint32_t)type->size;
	}
	switch (ret->kind) {
	case RAY_VALUE_INTEGER:
		memcpy(&ret->integer, bytes, sizeof(ret->integer));
		ret->size = type && type->size && type->size <= 8 ? (uint32_t)type->size : 8;
		ret->is_signed = type && ray_type_is_signed(type);
		ret->is_pointer = type && type->kind == RAY_TYPE_POINTER;
		ret->is_char = type && type->kind == RAY_TYPE_INTEGER && type->flags & RAY_TYPE_CHAR;
		break;
	case RAY_VALUE_STRING:
		ret->length = strnlen(bytes, f->size);
		break;
	case RAY_VALUE_BYTES:
		ret->is_char = is_char_array(type);
		ret->length = f->size;
		break;
	default:
		break;
	}
}

/* Memory of alloca() is nowhere: its address is shown as a distance, from 8 on, as DTrace does. */
static void show_scratch(const struct ray_plan *plan, struct ray_value *v)
{
	if (v->kind == RAY_VALUE_INTEGER && v->is_pointer && (v->integer & RAY_SCRATCH_MASK) == RAY_SCRATCH)
		v->integer = (uint32_t)v->integer - plan->scratch_at + 8;
}

static bool grow(struct ray_consumer *c, size_t count)
{
	while (c->values.n < count)
		if (!ray_vec_push(&c->values, (struct ray_value){ 0 }))
			return false;
	while (c->texts.n < count)
		if (!ray_vec_push(&c->texts, (struct ray_text){ 0 }))
			return false;
	return true;
}

/* Where a packed value's bytes are; NULL: the record is damaged. */
static const char *unpack(const struct ray_field *f, const void *bytes, size_t size, uint32_t *size_ret)
{
	struct ray_packed p;

	if (f->offset > size || sizeof(p) > size - f->offset)
		return NULL;
	memcpy(&p, (const char *)bytes + f->offset, sizeof(p));
	if (p.size > f->size || p.at > size || p.size > size - p.at)
		return NULL;
	*size_ret = p.size;
	return (const char *)bytes + p.at;
}

static uint32_t least_size(const struct ray_field *f)
{
	switch (f->kind) {
	case RAY_VALUE_INTEGER:
	case RAY_VALUE_FLOAT:
		return 8;
	case RAY_VALUE_USTACK:
	case RAY_VALUE_JSTACK:
		return sizeof(struct ray_stack_ref);
	case RAY_VALUE_SYMBOL:
		return 16;
	default:
		return f->size;
	}
}

static bool holds(const struct ray_field *f, size_t size)
{
	uint32_t need = f->size > least_size(f) ? f->size : least_size(f);

	return f->offset <= size && need <= size - f->offset;
}

bool ray_values_read(struct ray_consumer *c, size_t first, const struct ray_field *fields, size_t count,
		     const void *bytes, size_t size)
{
	if (!grow(c, first + count))
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct ray_field *f = &fields[i];
		const char *at = (const char *)bytes + f->offset;
		struct ray_text *text = &c->texts.at[first + i];
		struct ray_field whole = *f;

		if (f->is_packed) {
			at = unpack(f, bytes, size, &whole.size);
			if (!at)
				return false;
		} else if (!holds(f, size)) {
			return false;
		}
		ray_text_clear(text);
		if (ray_field_is_named(f) && !(c->t->settings.wants_frames && ray_field_is_stack(f)))
			ray_field_name(c, &whole, at, text);
		ray_field_value(&whole, at, ray_field_is_named(f) ? ray_text_get(text) : NULL, text->length,
				&c->values.at[first + i]);
		if (c->t->settings.on_fact)
			c->values.at[first + i].stack = ray_field_stack(c, &whole, at);
		show_scratch(c->t->plan, &c->values.at[first + i]);
	}
	return true;
}
