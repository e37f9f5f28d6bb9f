/* print_type.c - print(): a typed value as C would write it, one member per line.
 * SPDX-License-Identifier: MIT
 *
 * Members that are zero are left out, as in the reference: what matters in a kernel structure is what is set. Ends
 * with "..." where the bytes do or where it is too deep. */
#include <inttypes.h>
#include <string.h>

#include "engine/consume.h"

enum { START = 44, DEPTH = 10 };

struct dump {
	const uint8_t *bytes;
	size_t size;  /* of what is there */
	size_t limit; /* of what is shown */
	struct ray_text *out;
	bool is_cut;
	/* Structures whose end is not written yet, from `shallow` to `deep`: the reference writes it when the next
	 * member comes, after the dots that say that there is no more. -1: none. */
	int shallow, deep;
};

struct place {
	const char *name; /* of the member; NULL: none */
	uint64_t bit;	  /* from the start */
	uint32_t width;	  /* of a bit-field; 0: none */
	int depth;
};

static void dump_value(struct dump *d, const struct ray_type *type, struct place at);

static bool is_zero(const struct dump *d, uint64_t offset, uint64_t size)
{
	for (uint64_t i = offset; i < offset + size && i < d->size; i++)
		if (d->bytes[i])
			return false;
	return true;
}

static uint64_t bits_at(const struct dump *d, const struct ray_type *t, const struct place *at)
{
	uint64_t offset = at->bit / 8, word = 0;
	unsigned width = at->width ? at->width : (unsigned)(t->size * 8), shift = at->bit % 8;
	size_t n = t->size > 8 ? 8 : (size_t)((width + shift + 7) / 8);

	if (offset >= d->size)
		return 0;
	if (n > d->size - offset)
		n = d->size - offset;
	memcpy(&word, d->bytes + offset, n < 8 ? n : 8);
	word >>= shift;
	if (width < 64)
		word &= (1ULL << width) - 1;
	if (t->flags & RAY_TYPE_SIGNED && width && width < 64 && word >> (width - 1))
		word |= ~0ULL << width;
	return word;
}

static void close_structs(struct dump *d, int depth)
{
	if (d->deep < 0)
		return;
	for (; d->deep >= depth && d->deep >= d->shallow; d->deep--)
		ray_text_printf(d->out, "%*s}%s\n", START + d->deep, "", d->deep ? "," : "");
	if (d->deep < d->shallow)
		d->deep = d->shallow = -1;
}

static void print_name(const struct ray_type *type, struct ray_text *out)
{
	static const char *const keywords[] = {
		[RAY_TYPE_STRUCT] = "struct", [RAY_TYPE_UNION] = "union", [RAY_TYPE_ENUM] = "enum"
	};

	bool is_anonymous = !type->name || !*type->name || strcmp(type->name, "(anon)") == 0;

	if (is_anonymous && type->kind < RAY_COUNT(keywords) && keywords[type->kind])
		ray_text_add(out, keywords[type->kind]);
	else
		ray_type_print(type, out);
}

static void print_start(struct dump *d, const struct place *at, const struct ray_type *type)
{
	ray_text_printf(d->out, "%*s", START + at->depth, "");
	if (at->name && *at->name && at->depth)
		ray_text_printf(d->out, ".%s = ", at->name);
	ray_text_add(d->out, "(");
	print_name(type, d->out);
	ray_text_add(d->out, ")");
}

static void dump_members(struct dump *d, const struct ray_type *type, const struct ray_type *t, struct place at)
{
	print_start(d, &at, type);
	ray_text_add(d->out, " {\n");
	for (uint64_t i = 0; i < t->count && !d->is_cut; i++) {
		const struct ray_member *m = &t->members[i];

		dump_value(d, m->type, (struct place){ m->name, at.bit + m->bit_offset, m->bit_width, at.depth + 1 });
	}
	if (d->deep < 0)
		d->deep = at.depth;
	d->shallow = at.depth;
}

static void dump_elements(struct dump *d, const struct ray_type *type, const struct ray_type *t, struct place at)
{
	const struct ray_type *element = ray_type_resolve(t->target);
	bool is_text = element->kind == RAY_TYPE_INTEGER && element->size == 1;

	print_start(d, &at, type);
	ray_text_add(d->out, t->count ? " [\n" : " [],\n");
	if (!t->count || is_zero(d, at.bit / 8, t->size))
		return;
	for (uint64_t i = 0; i < t->count && !d->is_cut; i++) {
		uint64_t bit = at.bit + i * element->size * 8;

		if (is_text && bit / 8 < d->size && !d->bytes[bit / 8])
			break;
		dump_value(d, t->target, (struct place){ NULL, bit, 0, at.depth + 1 });
	}
	close_structs(d, at.depth + 1);
	ray_text_printf(d->out, "%*s],\n", START + at.depth, "");
}

static void dump_enum(struct dump *d, const struct ray_type *t, int64_t value)
{
	for (uint64_t i = 0; i < t->count; i++)
		if (t->enumerators[i].value == value) {
			ray_text_printf(d->out, "%s,\n", t->enumerators[i].name);
			return;
		}
	ray_text_printf(d->out, "%" PRId64 ",\n", value);
}

static void dump_scalar(struct dump *d, const struct ray_type *type, const struct ray_type *t, struct place at)
{
	uint64_t bits = bits_at(d, t, &at);
	bool is_char = t->kind == RAY_TYPE_INTEGER && type->name && strcmp(type->name, "char") == 0;

	print_start(d, &at, type);
	if (t->kind == RAY_TYPE_POINTER)
		ray_text_printf(d->out, "0x%" PRIx64 ",\n", bits);
	else if (t->kind == RAY_TYPE_ENUM)
		dump_enum(d, t, t->size == 4 ? (int32_t)bits : (int64_t)bits);
	else if (is_char)
		ray_text_printf(d->out, "'%c',\n", (char)bits);
	else if (t->size > 8)
		ray_text_printf(d->out, "?(%u bit value),\n", (unsigned)t->size * 8);
	else if (t->flags & RAY_TYPE_SIGNED)
		ray_text_printf(d->out, "%" PRId64 ",\n", (int64_t)bits);
	else
		ray_text_printf(d->out, "%" PRIu64 ",\n", bits);
}

static void dump_string(struct dump *d, struct place at)
{
	size_t offset = at.bit / 8;

	ray_text_printf(d->out, "%*s(string) \"", START + at.depth, "");
	ray_text_add_bytes(d->out, d->bytes + offset, strnlen((const char *)d->bytes + offset, d->size - offset));
	ray_text_add(d->out, "\",\n");
}

static void dump_value(struct dump *d, const struct ray_type *type, struct place at)
{
	const struct ray_type *t = ray_type_resolve(type);

	if (at.bit / 8 >= d->limit || at.depth >= DEPTH) {
		ray_text_printf(d->out, "%*s...\n", START + at.depth, "");
		d->is_cut = true;
		return;
	}
	close_structs(d, at.depth);
	if (at.depth > 0 && (at.width ? bits_at(d, t, &at) == 0 : is_zero(d, at.bit / 8, t->size)))
		return;
	switch (t->kind) {
	case RAY_TYPE_STRUCT:
	case RAY_TYPE_UNION:
		dump_members(d, type, t, at);
		break;
	case RAY_TYPE_ARRAY:
		dump_elements(d, type, t, at);
		break;
	case RAY_TYPE_STRING:
		dump_string(d, at);
		break;
	case RAY_TYPE_INTEGER:
	case RAY_TYPE_ENUM:
	case RAY_TYPE_POINTER:
		dump_scalar(d, type, t, at);
		break;
	default:
		break;
	}
}

void ray_print_typed(const struct ray_type *type, const void *bytes, size_t size, size_t limit, struct ray_text *out)
{
	struct dump d = { .bytes = bytes,
			  .size = size,
			  .limit = limit < size ? limit : size,
			  .out = out,
			  .shallow = -1,
			  .deep = -1 };

	dump_value(&d, type, (struct place){ 0 });
	close_structs(&d, 0);
}
