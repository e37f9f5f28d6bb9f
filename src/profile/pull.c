/* pull.c - see pull.h. SPDX-License-Identifier: MIT */
#include "profile/pull.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 512, LONGEST_NUMBER = 64 };

void ray_pull_init(struct ray_pull *j, const char *bytes, size_t size)
{
	*j = (struct ray_pull){ .start = bytes, .at = bytes, .end = bytes + size };
	/* Some editors put this mark before everything else. */
	if (size >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3))
		j->at += 3;
}

void ray_pull_deinit(struct ray_pull *j)
{
	ray_text_deinit(&j->key);
	ray_text_deinit(&j->text);
}

void ray_pull_fail(struct ray_pull *j, const char *wrong)
{
	if (j->wrong)
		return;
	j->wrong = wrong;
	j->ended = j->at >= j->end;
}

struct ray_error *ray_pull_error(const struct ray_pull *j)
{
	size_t line = 1, column = 1;

	if (!j->wrong)
		return NULL;
	for (const char *c = j->start; c < j->at; c++) {
		column = *c == '\n' ? 1 : column + 1;
		line += *c == '\n';
	}
	return ray_error_new(RAY_UNREADABLE, "line %zu, column %zu: %s", line, column,
			     j->ended ? "the file ends in the middle" : j->wrong);
}

char ray_pull_peek(struct ray_pull *j)
{
	while (j->at < j->end && (*j->at == ' ' || *j->at == '\n' || *j->at == '\t' || *j->at == '\r'))
		j->at++;
	return j->at < j->end && !j->wrong ? *j->at : '\0';
}

static bool take(struct ray_pull *j, char c)
{
	if (ray_pull_peek(j) != c)
		return false;
	j->at++;
	return true;
}

static bool word(struct ray_pull *j, const char *text)
{
	size_t length = strlen(text);

	if (ray_pull_peek(j) != text[0] || (size_t)(j->end - j->at) < length || memcmp(j->at, text, length))
		return false;
	j->at += length;
	return true;
}

/* ---- objects and arrays ---- */

static void enter(struct ray_pull *j, char open, const char *wrong)
{
	j->absent = word(j, "null");
	j->fresh = true;
	if (!j->absent && !take(j, open))
		ray_pull_fail(j, wrong);
}

/* Is there another one before the bracket? */
static bool more(struct ray_pull *j, char close)
{
	bool fresh = j->fresh;

	j->fresh = false;
	if (j->wrong || (fresh && j->absent))
		return false;
	if (take(j, close))
		return false;
	if (!fresh && !take(j, ',')) {
		ray_pull_fail(j, close == '}' ? "a comma or } was expected" : "a comma or ] was expected");
		return false;
	}
	/* A comma before the bracket is an error in JSON, and yet files have it. */
	if (!fresh && take(j, close))
		return false;
	return true;
}

void ray_pull_object(struct ray_pull *j)
{
	enter(j, '{', "an object was expected");
}

void ray_pull_array(struct ray_pull *j)
{
	enter(j, '[', "an array was expected");
}

bool ray_pull_item(struct ray_pull *j)
{
	return more(j, ']');
}

/* ---- texts ---- */

static uint32_t hex4(struct ray_pull *j)
{
	uint32_t value = 0;

	for (int i = 0; i < 4; i++) {
		int c = j->at < j->end ? (unsigned char)*j->at : 0;

		if (!isxdigit(c)) {
			ray_pull_fail(j, "four hexadecimal digits were expected");
			return 0;
		}
		value = value << 4 | (uint32_t)(isdigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
		j->at++;
	}
	return value;
}

static void escape_u(struct ray_pull *j, struct ray_text *out)
{
	uint32_t c = hex4(j);

	if (c >= 0xd800 && c < 0xdc00 && j->end - j->at >= 6 && j->at[0] == '\\' && j->at[1] == 'u') {
		const char *back = j->at;
		uint32_t low;

		j->at += 2;
		low = hex4(j);
		if (low >= 0xdc00 && low < 0xe000)
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		else if (!j->wrong)
			j->at = back;
	}
	ray_text_add_codepoint(out, c);
}

static void escape(struct ray_pull *j, struct ray_text *out)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	char c = j->at < j->end ? *j->at : '\0';
	const char *found = c ? strchr(letters, c) : NULL;

	if (c == 'u') {
		j->at++;
		escape_u(j, out);
	} else if (found) {
		j->at++;
		ray_text_add_bytes(out, &meant[found - letters], 1);
	} else {
		ray_pull_fail(j, "no such escape");
	}
}

static void read_text(struct ray_pull *j, struct ray_text *out)
{
	ray_text_clear(out);
	if (!take(j, '"')) {
		ray_pull_fail(j, "a text was expected");
		return;
	}
	while (!j->wrong) {
		const char *from = j->at;

		while (j->at < j->end && *j->at != '"' && *j->at != '\\')
			j->at++;
		ray_text_add_bytes(out, from, (size_t)(j->at - from));
		if (j->at >= j->end) {
			ray_pull_fail(j, "a text does not end");
		} else if (*j->at++ == '"') {
			return;
		} else {
			escape(j, out);
		}
	}
}

struct ray_pull_text ray_pull_text(struct ray_pull *j)
{
	if (word(j, "null"))
		ray_text_clear(&j->text);
	else
		read_text(j, &j->text);
	if (j->wrong)
		return (struct ray_pull_text){ "", 0 };
	return (struct ray_pull_text){ ray_text_get(&j->text), j->text.length };
}

bool ray_pull_key(struct ray_pull *j, struct ray_pull_text *ret)
{
	if (!more(j, '}'))
		return false;
	read_text(j, &j->key);
	if (!take(j, ':'))
		ray_pull_fail(j, "a colon was expected");
	*ret = (struct ray_pull_text){ ray_text_get(&j->key), j->key.length };
	return !j->wrong;
}

/* ---- numbers ---- */

/* The characters of a number, with a NUL; 0 if there are none or too many. */
static size_t number_text(struct ray_pull *j, char out[LONGEST_NUMBER])
{
	size_t length = 0;

	ray_pull_peek(j);
	while (length < LONGEST_NUMBER - 1 && j->at < j->end && *j->at && strchr("+-.0123456789eE", *j->at))
		out[length++] = *j->at++;
	out[length] = '\0';
	return length;
}

double ray_pull_number(struct ray_pull *j)
{
	char text[LONGEST_NUMBER], *end;
	bool quoted;
	double value;

	if (j->wrong || word(j, "null"))
		return 0;
	quoted = take(j, '"');
	if (!number_text(j, text)) {
		ray_pull_fail(j, "a number was expected");
		return 0;
	}
	value = strtod(text, &end);
	if (*end || !isfinite(value) || (quoted && !take(j, '"'))) {
		ray_pull_fail(j, "a number was expected");
		return 0;
	}
	return value;
}

/* A run of at most 18 digits, as almost all numbers are: without strtod. */
int64_t ray_pull_integer(struct ray_pull *j)
{
	const char *at, *from;
	bool minus = ray_pull_peek(j) == '-';
	int64_t value = 0;
	double real;

	if (j->wrong)
		return 0;
	from = at = j->at + minus;
	while (at < j->end && at - from < 18 && *at >= '0' && *at <= '9')
		value = value * 10 + (*at++ - '0');
	if (at > from && (at == j->end || !strchr("0123456789.eE+-", *at) || !*at)) {
		j->at = at;
		return minus ? -value : value;
	}
	real = ray_pull_number(j);
	if (real >= 9.2e18)
		return INT64_MAX;
	return real <= -9.2e18 ? INT64_MIN : (int64_t)llround(real);
}

/* ---- whatever it is ---- */

/* Closing brackets must be those that are open; commas and colons between them are not looked at. */
void ray_pull_skip(struct ray_pull *j)
{
	char open[DEEPEST];
	size_t depth = 0;

	do {
		char c = ray_pull_peek(j);

		if (c == '{' || c == '[') {
			if (depth == DEEPEST) {
				ray_pull_fail(j, "nested too deeply");
				return;
			}
			open[depth++] = c == '{' ? '}' : ']';
			j->at++;
		} else if (depth && c == open[depth - 1]) {
			depth--;
			j->at++;
		} else if (depth && (c == ',' || c == ':')) {
			j->at++;
		} else if (c == '"') {
			read_text(j, &j->text);
		} else if (!word(j, "true") && !word(j, "false") && !word(j, "null")) {
			ray_pull_number(j);
		}
	} while (depth && !j->wrong);
	j->fresh = false;
}
