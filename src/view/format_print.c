/* format_print.c - values to text, as D's printf() writes them.
 * SPDX-License-Identifier: MIT
 *
 * Mostly C's printf with the size taken from the value instead of from the format. What differs: a width or
 * precision of 0 counts as not given, unsigned values print unsigned under %d, %p has no 0x, and the letters that C
 * lacks. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "view/format.h"

/* Under -Wformat-nonliteral eyes: specs are made by make_spec() below, never from foreign text. */
struct spec {
	char text[48];
	int width; /* signed as given: negative is left-aligned */
};

static int bounded(int64_t n)
{
	if (n > RAY_FORMAT_WIDTH_MAX)
		return RAY_FORMAT_WIDTH_MAX;
	return n < -RAY_FORMAT_WIDTH_MAX ? -RAY_FORMAT_WIDTH_MAX : (int)n;
}

static void make_spec(struct spec *s, uint32_t flags, int width, int precision, const char *letters)
{
	int n = snprintf(s->text, sizeof(s->text), "%%%s%s%s%s%s%s", flags & RAY_FORMAT_ALTERNATE ? "#" : "",
			 flags & RAY_FORMAT_ZERO ? "0" : "", width < 0 || flags & RAY_FORMAT_LEFT ? "-" : "",
			 flags & RAY_FORMAT_PLUS ? "+" : "", flags & RAY_FORMAT_GROUP ? "'" : "",
			 flags & RAY_FORMAT_SPACE ? " " : "");

	s->width = width;
	if (width)
		n += snprintf(s->text + n, sizeof(s->text) - (size_t)n, "%d", width < 0 ? -width : width);
	if (precision > 0)
		n += snprintf(s->text + n, sizeof(s->text) - (size_t)n, ".%d", precision);
	snprintf(s->text + n, sizeof(s->text) - (size_t)n, "%s", letters);
}

/* The value cut to its type's size. */
static uint64_t as_unsigned(const struct ray_value *v)
{
	return v->size && v->size < 8 ? v->integer & ((1ULL << (8 * v->size)) - 1) : v->integer;
}

static void print_text(const struct ray_conversion *c, int width, int precision, const char *bytes, size_t length,
		       struct ray_text *out)
{
	size_t room = (size_t)(width < 0 ? -width : width), pad;
	bool is_left = width < 0 || c->flags & RAY_FORMAT_LEFT;

	if (precision > 0 && (size_t)precision < length)
		length = (size_t)precision;
	pad = room > length ? room - length : 0;
	if (pad && !is_left)
		ray_text_printf(out, "%*s", (int)pad, "");
	ray_text_add_bytes(out, bytes, length);
	if (pad && is_left)
		ray_text_printf(out, "%*s", (int)pad, "");
}

/* As a C string constant would write it, up to and with the first NUL. */
static void escape(const char *bytes, size_t length, struct ray_text *out)
{
	static const char plain[] = "abfnrtv\"\\", special[] = "\a\b\f\n\r\t\v\"\\";

	for (size_t i = 0; i < length; i++) {
		unsigned char b = (unsigned char)bytes[i];
		const char *found = b ? strchr(special, b) : NULL;

		if (found)
			ray_text_printf(out, "\\%c", plain[found - special]);
		else if (b >= ' ' && b <= '~')
			ray_text_add_bytes(out, &bytes[i], 1);
		else if (b)
			ray_text_printf(out, "\\%03o", b);
		else {
			ray_text_add(out, "\\0");
			break;
		}
	}
}

static void string_of(const struct ray_value *v, const char **bytes, size_t *length, bool *has_end)
{
	*bytes = v->bytes ? v->bytes : "";
	*length = !v->bytes ? 0 : strnlen(*bytes, v->kind == RAY_VALUE_BYTES ? v->size : v->length);
	*has_end = v->kind != RAY_VALUE_BYTES || *length < v->size;
}

static void print_string(const struct ray_conversion *c, int width, int precision, const struct ray_value *v,
			 struct ray_text *out)
{
	ray_auto_text escaped = { 0 };
	const char *bytes;
	size_t length;
	bool has_end;

	string_of(v, &bytes, &length, &has_end);
	if (c->letter == 'S') {
		escape(bytes, length, &escaped);
		if (has_end)
			ray_text_add(&escaped, "\\0");
		bytes = ray_text_get(&escaped);
		length = escaped.length;
	}
	print_text(c, width, precision, bytes, length, out);
}

static void print_wide(const struct ray_conversion *c, int width, int precision, const struct ray_value *v,
		       struct ray_text *out)
{
	ray_auto_text text = { 0 };

	if (v->kind == RAY_VALUE_INTEGER)
		ray_text_add_codepoint(&text, (uint32_t)v->integer);
	for (size_t i = 0; v->kind == RAY_VALUE_BYTES && v->bytes && i + 4 <= v->size; i += 4) {
		uint32_t codepoint;

		memcpy(&codepoint, (const char *)v->bytes + i, 4);
		if (!codepoint)
			break;
		ray_text_add_codepoint(&text, codepoint);
	}
	print_text(c, width, precision, ray_text_get(&text), text.length, out);
}

static void print_character(const struct ray_conversion *c, int width, int precision, const struct ray_value *v,
			    struct ray_text *out)
{
	ray_auto_text escaped = { 0 };
	char byte = (char)v->integer;

	if (c->letter == 'c') {
		print_text(c, width, 0, &byte, 1, out);
		return;
	}
	escape(&byte, 1, &escaped);
	print_text(c, width, precision, ray_text_get(&escaped), escaped.length, out);
}

static void print_time(const struct ray_conversion *c, int width, int precision, const struct ray_value *v,
		       struct ray_text *out)
{
	time_t seconds = (time_t)((int64_t)v->integer / 1000000000);
	struct tm tm;
	char text[96];
	size_t n = 0;

	if (localtime_r(&seconds, &tm))
		n = strftime(text, sizeof(text), c->letter == 'Y' ? "%Y %b %e %T" : "%a, %d %b %G %T %Z", &tm);
	print_text(c, width, precision, text, n, out);
}

static void print_float(const struct ray_conversion *c, int width, int precision, const struct ray_value *v,
			struct ray_text *out)
{
	char letters[3] = { 'L', c->letter };
	long double number = 0;
	struct spec spec;

	if (!v->bytes)
		return;
	if (v->size == sizeof(float)) {
		float f;

		memcpy(&f, v->bytes, sizeof(f));
		number = f;
	} else if (v->size == sizeof(double)) {
		double d;

		memcpy(&d, v->bytes, sizeof(d));
		number = d;
	} else if (v->size == sizeof(long double)) {
		memcpy(&number, v->bytes, sizeof(number));
	}
	make_spec(&spec, c->flags, width, precision, letters);
	ray_text_printf(out, spec.text, number);
}

/* What most formats ask for, without going through printf's own parser: it would cost most of the time that a record
 * takes. */
static void print_plain_integer(const struct ray_conversion *c, int width, bool is_signed, const struct ray_value *v,
				struct ray_text *out)
{
	unsigned base = c->letter == 'o' ? 8 : c->letter == 'x' || c->letter == 'X' || c->letter == 'p' ? 16 : 10;
	const char *digits = c->letter == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	bool is_negative = is_signed && (int64_t)v->integer < 0, is_left = width < 0 || c->flags & RAY_FORMAT_LEFT;
	uint64_t n = !is_signed ? as_unsigned(v) : is_negative ? -v->integer : v->integer;
	size_t room = (size_t)(width < 0 ? -width : width), length;
	char text[32], *at = text + sizeof(text);

	do
		*--at = digits[n % base];
	while (n /= base);
	if (is_negative)
		*--at = '-';
	length = (size_t)(text + sizeof(text) - at);
	if (length >= room) {
		ray_text_add_bytes(out, at, length);
		return;
	}
	if (is_left) {
		ray_text_printf(out, "%-*.*s", (int)room, (int)length, at);
	} else if (c->flags & RAY_FORMAT_ZERO) {
		ray_text_printf(out, "%s%0*d", is_negative ? "-" : "", (int)(room - length), 0);
		ray_text_add_bytes(out, at + is_negative, length - is_negative);
	} else {
		ray_text_printf(out, "%*.*s", (int)room, (int)length, at);
	}
}

static void print_integer(const struct ray_conversion *c, int width, int precision, const struct ray_value *v,
			  struct ray_text *out)
{
	char letters[4] = { 'l', 'l', c->letter };
	bool is_decimal = c->letter == 'd' || c->letter == 'i';
	struct spec spec;

	if (c->letter == 'p')
		letters[2] = 'x';
	if (is_decimal && !v->is_signed && !*c->size)
		letters[2] = 'u';
	is_decimal = letters[2] == 'd' || letters[2] == 'i';
	if (precision <= 0 &&
	    !(c->flags & (RAY_FORMAT_PLUS | RAY_FORMAT_ALTERNATE | RAY_FORMAT_SPACE | RAY_FORMAT_GROUP))) {
		print_plain_integer(c, width, is_decimal, v, out);
		return;
	}
	make_spec(&spec, c->flags, width, precision, letters);
	if (is_decimal)
		ray_text_printf(out, spec.text, (long long)v->integer);
	else
		ray_text_printf(out, spec.text, (unsigned long long)as_unsigned(v));
}

/* A stack begins on a line of its own. Left-aligned, the width is its indent; otherwise each line is padded to it. */
static void print_stack(const struct ray_conversion *c, int width, const struct ray_value *v, struct ray_text *out)
{
	bool is_left = c->flags & RAY_FORMAT_LEFT || width < 0;
	int indent = is_left ? (width < 0 ? -width : width) : 0;
	int pad = c->flags & RAY_FORMAT_LEFT ? 0 : width;
	const char *line = v->bytes ? v->bytes : "", *end = line + (v->bytes ? v->length : 0);

	ray_text_add(out, "\n");
	while (line < end) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		size_t length = (size_t)((newline ? newline : end) - line);

		ray_text_printf(out, "%*s", indent, "");
		print_text(c, pad, 0, line, length, out);
		ray_text_add(out, "\n");
		line += length + 1;
	}
}

static void print_value(const struct ray_conversion *c, int width, int precision, const struct ray_value *v,
			struct ray_text *out)
{
	switch (v->kind) {
	case RAY_VALUE_AGGREGATION: /* a histogram has its own layout, whatever the conversion */
		ray_text_add_bytes(out, v->bytes, v->bytes ? v->length : 0);
		return;
	case RAY_VALUE_STACK:
	case RAY_VALUE_USTACK:
	case RAY_VALUE_JSTACK:
		print_stack(c, width, v, out);
		return;
	case RAY_VALUE_SYMBOL:
		print_text(c, width, precision, v->bytes, v->bytes ? v->length : 0, out);
		return;
	case RAY_VALUE_FLOAT:
		print_float(c, width, precision, v, out);
		return;
	case RAY_VALUE_STRING:
	case RAY_VALUE_BYTES:
		if (*c->size)
			print_wide(c, width, precision, v, out);
		else
			print_string(c, width, precision, v, out);
		return;
	case RAY_VALUE_INTEGER:
		break;
	}
	if (c->letter == 'c' && *c->size)
		print_wide(c, width, precision, v, out);
	else if (c->letter == 'c' || c->letter == 'C')
		print_character(c, width, precision, v, out);
	else if (c->letter == 'Y' || c->letter == 'T')
		print_time(c, width, precision, v, out);
	else if (strchr("diouxXp", c->letter))
		print_integer(c, width, precision, v, out);
	else /* an address that nobody named */
		ray_text_printf(out, "0x%llx", (unsigned long long)as_unsigned(v));
}

size_t ray_conversion_print(const struct ray_conversion *c, const struct ray_value *values, size_t count,
			    struct ray_text *out)
{
	int width = c->width < 0 ? 0 : c->width, precision = c->precision < 0 ? 0 : c->precision;
	size_t used = 0;

	ray_text_add_bytes(out, c->literal, c->literal_length);
	if (c->letter == '%')
		ray_text_add(out, "%");
	if (!c->letter || c->letter == '%')
		return 0;
	if (c->flags & RAY_FORMAT_DYNAMIC_WIDTH && used < count)
		width = bounded((int64_t)values[used++].integer);
	if (c->flags & RAY_FORMAT_DYNAMIC_PRECISION && used < count)
		precision = bounded((int64_t)values[used++].integer);
	if (used < count)
		print_value(c, width, precision, &values[used++], out);
	return used;
}

void ray_format_print(const struct ray_format *f, const struct ray_value *values, size_t count, struct ray_text *out)
{
	size_t used = 0;

	for (size_t i = 0; i < f->count; i++)
		used += ray_conversion_print(&f->at[i], values + used, count - used, out);
}
