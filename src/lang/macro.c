/* macro.c - $target, $1, $$1 and their like.
 * SPDX-License-Identifier: MIT
 *
 * Values are put in as text or integer tokens; who the tracer is, is asked of the system here. */
#include "lang/lex.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int64_t own_pgid(void)
{
	return getpgid(0);
}
static int64_t own_sid(void)
{
	return getsid(0);
}
static int64_t own_pid(void)
{
	return getpid();
}
static int64_t own_ppid(void)
{
	return getppid();
}
static int64_t own_uid(void)
{
	return getuid();
}
static int64_t own_gid(void)
{
	return getgid();
}
static int64_t own_euid(void)
{
	return geteuid();
}
static int64_t own_egid(void)
{
	return getegid();
}

static const struct {
	const char *name;
	int64_t (*get)(void);
} variables[] = {
	{ "pid", own_pid }, { "ppid", own_ppid }, { "pgid", own_pgid }, { "sid", own_sid },
	{ "uid", own_uid }, { "gid", own_gid },	  { "euid", own_euid }, { "egid", own_egid },
};

bool ray_macro_variable(const struct ray_macros *macros, const char *name, size_t length, int64_t *ret)
{
	if (length == 6 && !memcmp(name, "target", 6)) {
		if (!macros || !macros->target)
			return false;
		*ret = macros->target;
		return true;
	}
	for (size_t i = 0; i < RAY_COUNT(variables); i++) {
		if (strlen(variables[i].name) == length && !memcmp(variables[i].name, name, length)) {
			*ret = variables[i].get();
			return true;
		}
	}
	return false;
}

const char *ray_macro_argument(const struct ray_lexer *l, uint64_t number)
{
	if (!l->macros || number >= l->macros->argument_count)
		return NULL;
	if (l->used)
		l->used[number] = true;
	return l->macros->arguments[number];
}

/* Whether text is a name or an integer; anything else is taken as a string. */
static bool is_name_or_integer(const char *text)
{
	char *stop;

	if (!*text)
		return false;
	errno = 0;
	strtoull(text, &stop, 0);
	if (!errno && !*stop)
		return true;
	return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_`")] == '\0';
}

static bool put_string(struct ray_lexer *l, struct ray_token *t, const char *text, size_t length)
{
	char *copy = ray_arena_copy(l->arena, text, length);

	if (!copy)
		return ray_lex_no_memory(l);
	ray_lex_unescape(copy, length);
	t->kind = RAY_TOKEN_STRING;
	t->text = copy;
	t->length = strlen(copy);
	return true;
}

static bool put_integer(struct ray_lexer *l, struct ray_token *t, const char *text)
{
	const char *digits = text + (*text == '-' || *text == '+');
	char *stop;

	t->kind = RAY_TOKEN_INTEGER;
	t->is_macro_negative = *text == '-';
	t->is_decimal = *digits != '0';
	errno = 0;
	t->value = strtoull(digits, &stop, 0);
	if (errno == ERANGE)
		return ray_lex_fail(l, &t->where, "D_MACRO_OFLOW",
				    "macro argument %.*s constant %s results in integer overflow", (int)t->near_length,
				    t->near, digits);
	for (; *stop; stop++) {
		if (!strchr("uUlL", *stop))
			return ray_lex_fail(l, &t->where, "D_INT_DIGIT", "constant %s contains invalid digit %c",
					    digits, *stop);
		t->unsigned_suffixes += *stop == 'u' || *stop == 'U';
		t->long_suffixes += *stop == 'l' || *stop == 'L';
	}
	return true;
}

static bool put_argument(struct ray_lexer *l, struct ray_token *t, const char *text)
{
	size_t length = strlen(text);

	if (!is_name_or_integer(text)) {
		if (length > 1 && text[0] == '"' && text[length - 1] == '"')
			return put_string(l, t, text + 1, length - 2);
		return put_string(l, t, text, length);
	}
	if (strchr("0123456789+-", *text))
		return put_integer(l, t, text);
	return ray_lex_name(l, t, text, l->at);
}

/* $3 or $$3; l->at is behind it. */
static bool lex_argument(struct ray_lexer *l, struct ray_token *t, const char *digits, bool is_string)
{
	uint64_t number = strtoull(digits, NULL, 10);
	const char *text = ray_macro_argument(l, number);

	if (!text) {
		if (!l->macros || !l->macros->default_arguments)
			return ray_lex_fail(l, &t->where, "D_MACRO_UNDEF", "macro argument %.*s is not defined",
					    (int)t->near_length, t->near);
		text = is_string ? "" : "0";
	}
	if (is_string) {
		l->after_member_operator = false;
		return put_string(l, t, text, strlen(text));
	}
	/* What comes from an argument lives as long as the rest. */
	text = ray_arena_strdup(l->arena, text);
	return text ? put_argument(l, t, text) : ray_lex_no_memory(l);
}

static bool lex_variable(struct ray_lexer *l, struct ray_token *t, const char *name, size_t length, bool is_string)
{
	char text[24];
	int64_t value;

	if (!ray_macro_variable(l->macros, name, length, &value))
		return ray_lex_fail(l, &t->where, "D_MACRO_UNDEF", "macro variable %.*s is not defined",
				    (int)t->near_length, t->near);
	if (is_string) {
		snprintf(text, sizeof(text), "%u", (unsigned int)value);
		return put_string(l, t, text, strlen(text));
	}
	t->kind = RAY_TOKEN_INTEGER;
	t->value = (uint64_t)(int64_t)(int)value;
	t->is_decimal = true;
	return true;
}

bool ray_lex_macro(struct ray_lexer *l, struct ray_token *t)
{
	bool is_string = l->at[1] == '$';
	const char *name = l->at + 1 + is_string;
	size_t digits = strspn(name, "0123456789"), length = ray_lex_name_length(name);

	if (!digits && !length)
		return ray_lex_fail(l, &t->where, "D_SYNTAX", "syntax error near \"$\"");
	t->near = l->at;
	t->near_length = (size_t)(name - l->at) + (digits > length ? digits : length);
	l->at += t->near_length;
	if (digits > length || (digits && digits == length))
		return lex_argument(l, t, name, is_string);
	return lex_variable(l, t, name, length, is_string);
}
