/* value.c - see value.h. SPDX-License-Identifier: MIT */
#include "v8/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "v8/function.h"
#include "v8/string.h"

enum { TEXT_LIMIT = 40 };

/* An oddball's kind is a Smi; V8 numbers false 0, true 1, null 3; undefined differs between versions. */
static bool oddball_kind(struct ray_v8 *v8, uint64_t value, int32_t *ret)
{
	return ray_v8_is(v8, value, RAY_V8_TYPE_ODDBALL) && ray_v8_smi_field(v8, value, RAY_V8_ODDBALL_KIND, ret);
}

bool ray_v8_is_nullish(struct ray_v8 *v8, uint64_t value)
{
	int32_t kind;

	return oddball_kind(v8, value, &kind) && (kind == ray_v8_get(v8->layout, RAY_V8_ODDBALL_NULL) ||
						  kind == ray_v8_get(v8->layout, RAY_V8_ODDBALL_UNDEFINED));
}

static const char *oddball_text(struct ray_v8 *v8, int32_t kind)
{
	if (kind == 0)
		return "false";
	if (kind == ray_v8_get(v8->layout, RAY_V8_ODDBALL_TRUE))
		return "true";
	if (kind == ray_v8_get(v8->layout, RAY_V8_ODDBALL_NULL))
		return "null";
	return kind == ray_v8_get(v8->layout, RAY_V8_ODDBALL_UNDEFINED) ? "undefined" : "(hole)";
}

static void add_string(struct ray_v8 *v8, uint64_t value, struct ray_text *out)
{
	const char *text = ray_v8_string_text(v8, value, TEXT_LIMIT);

	if (!text) {
		ray_text_add(out, "(unreadable string)");
		return;
	}
	ray_text_add(out, "\"");
	for (size_t n; *text; text += n) {
		n = strcspn(text, "\"");
		ray_text_add_safe(out, text, n);
		if (text[n]) {
			ray_text_add(out, "\\\"");
			n++;
		}
	}
	ray_text_add(out, "\"");
}

/* As few digits as give the number back: 0.1, not 0.10000000000000001. */
static void add_double(double d, struct ray_text *out)
{
	char digits[32];

	/* JavaScript writes whole numbers out up to here. */
	if (fabs(d) < 1e21 && d == trunc(d)) {
		ray_text_printf(out, "%.0f", d);
		return;
	}
	for (int precision = 1; precision <= 17; precision++) {
		snprintf(digits, sizeof(digits), "%.*g", precision, d);
		if (strtod(digits, NULL) == d)
			break;
	}
	ray_text_add(out, digits);
}

static void add_number(struct ray_v8 *v8, uint64_t value, struct ray_text *out)
{
	double d;

	if (!ray_read(&v8->memory, value - 1 + (uint64_t)ray_v8_get(v8->layout, RAY_V8_HEAP_NUMBER_VALUE), &d,
		      sizeof(d)))
		ray_text_add(out, "(unreadable number)");
	else if (isnan(d))
		ray_text_add(out, "NaN");
	else if (isinf(d))
		ray_text_add(out, d < 0 ? "-Infinity" : "Infinity");
	else
		add_double(d, out);
}

/* Sign and number of 64-bit digits in one word, then the digits, the lowest first. */
static void add_bigint(struct ray_v8 *v8, uint64_t value, struct ray_text *out)
{
	enum { BITS = 8, DIGITS = 16, MAX_DIGITS = 1 << 24 };
	uint64_t digit = 0, n;
	uint32_t bits;

	if (!ray_read_u32(&v8->memory, value - 1 + BITS, &bits)) {
		ray_text_add(out, "(unreadable bigint)");
		return;
	}
	n = bits >> 1 & 0x3fffffff;
	if (n > MAX_DIGITS || (n && !ray_read_u64(&v8->memory, value - 1 + DIGITS + (n - 1) * 8, &digit))) {
		ray_text_add(out, "(unreadable bigint)");
		return;
	}
	ray_text_add(out, bits & 1 ? "-" : "");
	/* A long one is known by how it starts and how much there is of it. */
	if (n <= 1)
		ray_text_printf(out, "%" PRIu64 "n", digit);
	else
		ray_text_printf(out, "0x%" PRIx64 "...n (%" PRIu64 " bits)", digit,
				n * 64 - (uint64_t)__builtin_clzll(digit | 1));
}

static void add_function(struct ray_v8 *v8, uint64_t value, struct ray_text *out)
{
	const char *name = ray_v8_function_name(v8, value);

	ray_text_add(out, "function");
	if (name && name[0]) {
		ray_text_add(out, " ");
		ray_text_add_safe(out, name, strlen(name));
	}
}

/* Newer V8 keeps a typed array's size in bytes only; how large an element is shows in the name. */
static void add_length(struct ray_v8 *v8, uint64_t value, const char *name, struct ray_text *out)
{
	size_t element = (size_t)atoi(name + strcspn(name, "0123456789")) / 8;
	uint64_t length;

	if (ray_v8_field(v8, value, RAY_V8_TYPED_ARRAY_LENGTH, &length) && length < (uint64_t)1 << 40) {
		ray_text_printf(out, "(%" PRIu64 ")", length);
		return;
	}
	if (!ray_v8_field(v8, value, RAY_V8_VIEW_BYTE_LENGTH, &length) || length >= (uint64_t)1 << 40)
		return;
	if (!strcmp(name, "Buffer"))
		element = 1;
	if (element)
		ray_text_printf(out, "(%" PRIu64 ")", length / element);
	else
		ray_text_printf(out, "(%" PRIu64 " bytes)", length);
}

static void add_object(struct ray_v8 *v8, uint64_t value, int32_t type, struct ray_text *out)
{
	const char *name = ray_v8_class_name(v8, value);
	uint64_t length;

	if (type == ray_v8_get(v8->layout, RAY_V8_TYPE_JSARRAY) &&
	    ray_v8_field(v8, value, RAY_V8_JSARRAY_LENGTH, &length) && !(length & 0xffffffff) &&
	    ray_v8_smi(length) >= 0) {
		ray_text_printf(out, "Array(%d)", ray_v8_smi(length));
		return;
	}
	if (!name || !name[0]) {
		ray_text_add(out, "#<Object>");
		return;
	}
	ray_text_add(out, "#<");
	ray_text_add_safe(out, name, strlen(name));
	if (ray_v8_has(v8->layout, RAY_V8_TYPE_TYPED_ARRAY) && type == ray_v8_get(v8->layout, RAY_V8_TYPE_TYPED_ARRAY))
		add_length(v8, value, name, out);
	ray_text_add(out, ">");
}

static void add_symbol(struct ray_v8 *v8, uint64_t value, struct ray_text *out)
{
	const char *name = NULL;
	uint64_t description;

	if (ray_v8_field(v8, value, RAY_V8_SYMBOL_NAME, &description) && ray_v8_is_string(v8, description))
		name = ray_v8_string_text(v8, description, TEXT_LIMIT);
	ray_text_add(out, "Symbol(");
	if (name)
		ray_text_add_safe(out, name, strlen(name));
	ray_text_add(out, ")");
}

void ray_v8_value_brief(struct ray_v8 *v8, uint64_t value, struct ray_text *out)
{
	int32_t type, kind;

	if (ray_v8_is_smi(value)) {
		if (value & 0xffffffff)
			ray_text_printf(out, "(not a value: 0x%" PRIx64 ")", value);
		else
			ray_text_printf(out, "%d", ray_v8_smi(value));
		return;
	}
	type = ray_v8_type(v8, value);
	if (type < 0)
		ray_text_printf(out, "(unreadable 0x%" PRIx64 ")", value);
	else if (ray_v8_is_string(v8, value))
		add_string(v8, value, out);
	else if (oddball_kind(v8, value, &kind))
		ray_text_add(out, oddball_text(v8, kind));
	else if (type == ray_v8_get(v8->layout, RAY_V8_TYPE_HEAP_NUMBER))
		add_number(v8, value, out);
	else if (type == ray_v8_get(v8->layout, RAY_V8_TYPE_SYMBOL))
		add_symbol(v8, value, out);
	else if (ray_v8_is(v8, value, RAY_V8_TYPE_BIGINT))
		add_bigint(v8, value, out);
	else if (ray_v8_is_function(v8, value))
		add_function(v8, value, out);
	else if (ray_v8_is(v8, value, RAY_V8_TYPE_HOLE))
		ray_text_add(out, "(hole)");
	else if (ray_v8_is(v8, value, RAY_V8_TYPE_GLOBAL_PROXY) || ray_v8_is(v8, value, RAY_V8_TYPE_GLOBAL_OBJECT))
		ray_text_add(out, "#<global>");
	else
		add_object(v8, value, type, out);
}
