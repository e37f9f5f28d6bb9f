/* print.c - values as trace() and tuples lay them out: columns, stacks, raw bytes.
 * SPDX-License-Identifier: MIT
 *
 * Widths are those of the reference, by the size of the type. Values come read and named (field_value.c, field_name.c). */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "engine/consume.h"

void ray_print_raw(const void *bytes, size_t size, struct ray_text *out)
{
	const unsigned char *b = bytes;

	if (!size)
		return;
	ray_text_printf(out, "\n%11s", "");
	for (int i = 0; i < 16; i++)
		ray_text_printf(out, "  %x", i);
	ray_text_add(out, "  0123456789abcdef\n");
	for (size_t line = 0; line < size; line += 16) {
		size_t n = size - line < 16 ? size - line : 16;

		ray_text_printf(out, "%5s%5zx:", "", line);
		for (size_t i = 0; i < 16; i++) {
			if (i < n)
				ray_text_printf(out, " %02x", b[line + i]);
			else
				ray_text_add(out, "   ");
		}
		ray_text_add(out, "  ");
		for (size_t i = 0; i < n; i++)
			ray_text_printf(out, "%c", b[line + i] < ' ' || b[line + i] > '~' ? '.' : b[line + i]);
		ray_text_add(out, "\n");
	}
}

void ray_print_stack(const struct ray_value *v, uint32_t indent, struct ray_text *out)
{
	const char *line = v->bytes, *end = line + v->length;

	ray_text_add(out, "\n");
	while (line < end) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		size_t length = (size_t)((newline ? newline : end) - line);

		ray_text_printf(out, "%*s", (int)indent, "");
		ray_text_add_bytes(out, line, length);
		ray_text_add(out, "\n");
		line += length + 1;
	}
}

static void print_padded(const char *text, size_t length, int width, struct ray_text *out)
{
	ray_text_add(out, "  ");
	ray_text_add_bytes(out, text, length);
	if ((size_t)width > length)
		ray_text_printf(out, "%*s", width - (int)length, "");
}

/* Stacks and symbols look the same everywhere; false: it is neither. */
static bool print_named(struct ray_consumer *c, const struct ray_value *v, struct ray_text *out)
{
	switch (v->kind) {
	case RAY_VALUE_STACK:
	case RAY_VALUE_USTACK:
	case RAY_VALUE_JSTACK:
		ray_print_stack(v, c->t->options.stackindent, out);
		return true;
	case RAY_VALUE_SYMBOL:
		print_padded(v->bytes, v->length, 50, out);
		return true;
	default:
		return false;
	}
}

static void print_traced_integer(const struct ray_value *v, bool is_quiet, struct ray_text *out)
{
	int width = v->size == 8 ? 20 - v->is_signed : v->size == 4 ? 10 : v->size == 2 ? 5 : 3;

	if (!is_quiet)
		ray_text_add(out, " ");
	if (v->is_signed)
		ray_text_printf(out, "%*" PRId64, is_quiet ? 0 : width, (int64_t)v->integer);
	else
		ray_text_printf(out, "%*" PRIu64, is_quiet ? 0 : width, v->integer);
}

void ray_print_traced(struct ray_consumer *c, const struct ray_field *f, const struct ray_value *v)
{
	bool is_quiet = c->t->options.quiet;
	bool is_text = v->kind == RAY_VALUE_STRING || (v->kind == RAY_VALUE_BYTES && v->is_char);
	struct ray_text *out = &c->out;

	(void)f;
	if (print_named(c, v, out))
		return;
	if (c->t->options.rawbytes && v->kind == RAY_VALUE_INTEGER)
		ray_print_raw(&v->integer, v->size, out);
	else if (c->t->options.rawbytes)
		ray_print_raw(v->bytes, v->kind == RAY_VALUE_STRING ? c->t->options.strsize + 1 : v->size, out);
	else if (v->kind == RAY_VALUE_INTEGER)
		print_traced_integer(v, is_quiet, out);
	else if (is_text && is_quiet)
		ray_text_add_bytes(out, v->bytes, strnlen(v->bytes, v->length));
	else if (is_text)
		print_padded(v->bytes, strnlen(v->bytes, v->length), 33, out);
	else
		ray_print_raw(v->bytes, v->size, out);
}

static bool is_readable(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char b = (unsigned char)text[i];

		if (!isprint(b) && !isspace(b) && b != '\b' && b != '\a' && b < 0x80)
			return false;
	}
	return true;
}

/* Bytes that read as a text, with nothing but NULs behind it. */
static bool is_text_bytes(const struct ray_value *v, size_t *length)
{
	const char *bytes = v->bytes;

	*length = strnlen(bytes, v->size);
	if (!*length)
		return false;
	for (size_t i = *length; i < v->size; i++)
		if (bytes[i])
			return false;
	return is_readable(bytes, *length);
}

void ray_print_key(struct ray_consumer *c, const struct ray_field *f, const struct ray_value *v, struct ray_text *out)
{
	size_t length;

	(void)f;
	if (print_named(c, v, out))
		return;
	switch (v->kind) {
	case RAY_VALUE_INTEGER:
		if (v->size == 8)
			ray_text_printf(out, " %16lld", (long long)v->integer);
		else if (v->size == 4)
			ray_text_printf(out, " %8d", (int32_t)v->integer);
		else if (v->size == 2)
			ray_text_printf(out, " %5d", (uint16_t)v->integer);
		else
			ray_text_printf(out, " %3d", (uint8_t)v->integer);
		return;
	case RAY_VALUE_STRING:
		if (!c->t->options.rawbytes && is_readable(v->bytes, v->length))
			print_padded(v->bytes, v->length, 50, out);
		else
			ray_print_raw(v->bytes, v->length, out);
		return;
	default:
		if (!c->t->options.rawbytes && v->kind == RAY_VALUE_BYTES && is_text_bytes(v, &length))
			print_padded(v->bytes, length, 50, out);
		else
			ray_print_raw(v->bytes, v->size, out);
		return;
	}
}
