/* json.c - see json.h. SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
json_t *ray_json_text(const char *text)
{
	ray_auto_text safe = { 0 };
	json_t *value;

	if (!text)
		return json_null();
	value = json_string(text);
	if (value)
		return value;
	ray_text_add_safe(&safe, text, strlen(text));
	return json_string(ray_text_get(&safe));
}

json_t *ray_json_hex(uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	return json_string(text);
}

/* JSON lets DEL and U+0080 to U+009F stand as they are, but a terminal may obey them. Only strings can hold them. */
static void add_escaped(struct ray_text *out, const char *text)
{
	const unsigned char *start = (const unsigned char *)text, *p;

	for (p = start; *p; p++) {
		bool is_delete = *p == 0x7f, is_control = *p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0;

		if (!is_delete && !is_control)
			continue;
		ray_text_add_bytes(out, start, (size_t)(p - start));
		p += is_control;
		ray_text_printf(out, "\\u00%02X", *p);
		start = p + 1;
	}
	ray_text_add_bytes(out, start, (size_t)(p - start));
}

/* Sixteen digits: microseconds of the time of day, and no 0.0076309999999999998. */
static void add_dumped(struct ray_text *out, json_t *value)
{
	char *text = value ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(16) | JSON_ENCODE_ANY) : NULL;

	if (text)
		add_escaped(out, text);
	free(text);
	json_decref(value);
}

void ray_json_print(json_t *value)
{
	ray_auto_text out = { 0 };

	add_dumped(&out, value);
	ray_text_add(&out, "\n");
	fwrite(ray_text_get(&out), 1, out.length, stdout);
}

/* ---- lines ---- */

static void add_key(struct ray_text *line, const char *key)
{
	ray_text_add_bytes(line, line->length ? ",\"" : "{\"", 2);
	ray_text_add(line, key);
	ray_text_add_bytes(line, "\":", 2);
}

/* Nothing in it that JSON or a terminal would take for something else. */
static bool is_plain(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char b = (unsigned char)text[i];

		if (b < 0x20 || b >= 0x7f || b == '"' || b == '\\')
			return false;
	}
	return true;
}

void ray_json_line_bytes(struct ray_text *line, const char *key, const char *text, size_t length)
{
	add_key(line, key);
	if (is_plain(text, length)) {
		ray_text_add_bytes(line, "\"", 1);
		ray_text_add_bytes(line, text, length);
		ray_text_add_bytes(line, "\"", 1);
	} else {
		ray_auto_text copy = { 0 };

		ray_text_add_bytes(&copy, text, length);
		add_dumped(line, ray_json_text(ray_text_get(&copy)));
	}
}

void ray_json_line_text(struct ray_text *line, const char *key, const char *text)
{
	if (text)
		ray_json_line_bytes(line, key, text, strlen(text));
	else
		ray_json_line_null(line, key);
}

void ray_json_line_integer(struct ray_text *line, const char *key, int64_t value)
{
	add_key(line, key);
	ray_text_add_signed(line, value);
}

void ray_json_line_boolean(struct ray_text *line, const char *key, bool value)
{
	add_key(line, key);
	ray_text_add(line, value ? "true" : "false");
}

void ray_json_line_null(struct ray_text *line, const char *key)
{
	add_key(line, key);
	ray_text_add(line, "null");
}

/* millionths as a number with a point: 1500000 is 1.5, and 0 is 0.0. */
static void add_millionths(struct ray_text *line, uint64_t millionths)
{
	uint64_t fraction = millionths % 1000000;
	size_t digits = 6;

	while (digits > 1 && fraction % 10 == 0) {
		fraction /= 10;
		digits--;
	}
	ray_text_add_unsigned(line, millionths / 1000000, 1);
	ray_text_add_bytes(line, ".", 1);
	ray_text_add_unsigned(line, fraction, digits);
}

void ray_json_line_seconds(struct ray_text *line, const char *key, uint64_t ns)
{
	add_key(line, key);
	add_millionths(line, ns / 1000 + (ns % 1000 >= 500));
}

void ray_json_line_ms(struct ray_text *line, const char *key, uint64_t ns)
{
	add_key(line, key);
	add_millionths(line, ns);
}

void ray_json_line_value(struct ray_text *line, const char *key, json_t *value)
{
	add_key(line, key);
	if (value)
		add_dumped(line, value);
	else
		ray_text_add(line, "null");
}

void ray_json_line_end(struct ray_text *line)
{
	ray_text_add(line, line->length ? "}\n" : "{}\n");
	fwrite(ray_text_get(line), 1, line->length, stdout);
	ray_text_clear(line);
}
