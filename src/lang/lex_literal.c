/* lex_literal.c - integers, character constants and strings. SPDX-License-Identifier: MIT */
#include "lang/lex.h"

#include <errno.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool is_any_of(char c, const char *set)
{
	return c && strchr(set, c);
}

static bool is_name_character(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* name, `name, module`name; a module's name may begin with a digit. */
size_t ray_lex_name_length(const char *text)
{
	size_t n = 0;

	if (is_digit(*text)) {
		while (is_name_character(text[n]))
			n++;
		if (text[n] != '`')
			return 0;
	}
	while (is_name_character(text[n]) || text[n] == '`')
		n++;
	return n;
}

size_t ray_lex_integer_length(const char *text)
{
	size_t n = 0;

	if (text[0] == '0' && is_any_of(text[1], "xX") && hex_value(text[2]) >= 0) {
		for (n = 2; hex_value(text[n]) >= 0;)
			n++;
	} else {
		while (is_digit(text[n]))
			n++;
	}
	if (!n)
		return 0;
	n += is_any_of(text[n], "uU");
	n += is_any_of(text[n], "lL");
	n += is_any_of(text[n], "lL");
	return n;
}

size_t ray_lex_float_length(const char *text)
{
	size_t n = 0, e;

	while (is_digit(text[n]))
		n++;
	if (!n && !(text[0] == '.' && is_digit(text[1])))
		return 0;
	if (text[n] == '.') {
		for (n++; is_digit(text[n]);)
			n++;
	}
	if (is_any_of(text[n], "eE")) {
		e = n + 1 + is_any_of(text[n + 1], "+-");
		if (is_digit(text[e])) {
			while (is_digit(text[e]))
				e++;
			n = e;
		}
	}
	return n + is_any_of(text[n], "fFlL");
}

bool ray_lex_number(struct ray_lexer *l, struct ray_token *t, const char *end)
{
	size_t length = (size_t)(end - l->at);
	char *stop;

	t->kind = RAY_TOKEN_INTEGER;
	t->near = l->at;
	t->near_length = length;
	t->is_decimal = l->at[0] != '0';
	errno = 0;
	t->value = strtoull(l->at, &stop, 0);
	if (errno == ERANGE)
		return ray_lex_fail(l, &t->where, "D_INT_OFLOW", "constant %.*s results in integer overflow",
				    (int)length, l->at);
	if (stop < end && !is_any_of(*stop, "uUlL"))
		return ray_lex_fail(l, &t->where, "D_INT_DIGIT", "constant %.*s contains invalid digit %c", (int)length,
				    l->at, *stop);
	for (; stop < end; stop++) {
		t->unsigned_suffixes += is_any_of(*stop, "uU");
		t->long_suffixes += is_any_of(*stop, "lL");
	}
	l->at = end;
	return true;
}

/* Up to three octal digits, or any number of hexadecimal ones behind the x. */
static size_t unescape_number(const char *text, size_t length, char *out)
{
	unsigned int value = 0;
	size_t n = 0;

	if (text[0] == 'x') {
		for (n = 1; n < length && hex_value(text[n]) >= 0; n++)
			value = value * 16 + (unsigned int)hex_value(text[n]);
	} else {
		for (; n < length && n < 3 && text[n] >= '0' && text[n] <= '7'; n++)
			value = value * 8 + (unsigned int)(text[n] - '0');
	}
	*out = (char)value;
	return n;
}

size_t ray_lex_unescape(char *text, size_t length)
{
	static const char from[] = "abfnrtv\"\\", to[] = "\a\b\f\n\r\t\v\"\\";
	size_t out = 0;

	for (size_t i = 0; i < length; i++) {
		const char *known;

		if (text[i] != '\\') {
			text[out++] = text[i];
			continue;
		}
		if (++i == length)
			break;
		if (text[i] == 'x' || (text[i] >= '0' && text[i] <= '7')) {
			i += unescape_number(text + i, length - i, &text[out++]) - 1;
			continue;
		}
		known = text[i] ? strchr(from, text[i]) : NULL;
		if (known) {
			text[out++] = to[known - from];
		} else {
			/* Also for '\'': two characters, in D. */
			text[out++] = '\\';
			text[out++] = text[i];
		}
	}
	text[out] = '\0';
	return out;
}

/* The closing quote, or a line's end; NULL if there is neither. */
static const char *find_closing(const struct ray_lexer *l, char quote)
{
	const char *p = l->at + 1;

	while (p < l->end && *p != quote && *p != '\n') {
		if (*p == '\\') {
			if (++p == l->end || *p == '\n')
				return NULL;
		}
		p++;
	}
	return p < l->end ? p : NULL;
}

static char *read_quoted(struct ray_lexer *l, struct ray_token *t, const char *tag, const char *what, size_t *length)
{
	char quote = *l->at;
	const char *closing = find_closing(l, quote);
	char *copy;

	if (!closing) {
		ray_lex_fail(l, &t->where, "D_SYNTAX", "syntax error near \"%c\"", quote);
		return NULL;
	}
	if (*closing == '\n') {
		/* The line end is part of what is wrong: the reference counts it. */
		t->where.line++;
		ray_lex_fail(l, &t->where, tag, "newline encountered in %s", what);
		return NULL;
	}
	*length = (size_t)(closing - l->at) - 1;
	copy = ray_arena_copy(l->arena, l->at + 1, *length);
	if (!copy)
		ray_lex_no_memory(l);
	t->near = l->at;
	t->near_length = *length + 2;
	return copy;
}

bool ray_lex_string(struct ray_lexer *l, struct ray_token *t)
{
	size_t length = 0;
	char *text = read_quoted(l, t, "D_STR_NL", "string literal", &length);

	if (!text)
		return false;
	l->at += length + 2;
	ray_lex_unescape(text, length);
	t->kind = RAY_TOKEN_STRING;
	t->text = text;
	t->length = strlen(text); /* D's strings end at the first NUL */
	return true;
}

bool ray_lex_character(struct ray_lexer *l, struct ray_token *t)
{
	size_t length = 0, count;
	char *text = read_quoted(l, t, "D_CHR_NL", "character constant", &length);

	if (!text)
		return false;
	if (!length)
		return ray_lex_fail(l, &t->where, "D_CHR_NULL", "empty character constant");
	l->at += length + 2;
	count = ray_lex_unescape(text, length);
	if (count > sizeof(t->value))
		return ray_lex_fail(l, &t->where, "D_CHR_OFLOW", "character constant is too long");
	for (size_t i = 0; i < count; i++)
		t->value = t->value << 8 | (unsigned char)text[i];
	t->kind = RAY_TOKEN_INTEGER;
	t->is_char = t->is_decimal = true;
	return true;
}
