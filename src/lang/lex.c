/* lex.c - blanks, comments and punctuators; sends the rest to where it is read.
 * SPDX-License-Identifier: MIT */
#include "lang/lex.h"

#include <stdarg.h>
#include <string.h>

#include "lang/diagnose.h"

void ray_lex_start(struct ray_lexer *l, const char *text, size_t length)
{
	l->at = l->line_start = text;
	l->end = text + length;
	l->line = 1;
	l->variables = ray_names_in(l->arena);
}

struct ray_where ray_lex_where(const struct ray_lexer *l, const char *at)
{
	return (struct ray_where){ .file = l->file,
				   .line = l->line,
				   .column = (int)(at - l->line_start) + 1,
				   .source = l->line_start,
				   .is_included = l->is_included };
}

bool ray_lex_no_memory(struct ray_lexer *l)
{
	if (!l->error)
		l->error = &ray_enomem;
	l->at = l->end;
	return false;
}

bool ray_lex_fail(struct ray_lexer *l, const struct ray_where *where, const char *tag, const char *fmt, ...)
{
	ray_auto_memory char *message = NULL;
	va_list args;
	int n;

	if (l->error)
		return false;
	va_start(args, fmt);
	n = vasprintf(&message, fmt, args);
	va_end(args);
	if (n < 0) {
		message = NULL;
		return ray_lex_no_memory(l);
	}
	l->error = ray_diagnose_text(l->options, l->diagnostic, where, NULL, tag, message);
	l->at = l->end;
	return false;
}

bool ray_lex_fail_syntax(struct ray_lexer *l, const struct ray_token *t)
{
	if (t->kind == RAY_TOKEN_END)
		return ray_lex_fail(l, &t->where, "D_SYNTAX", "syntax error near end of input");
	return ray_lex_fail(l, &t->where, "D_SYNTAX", "syntax error near \"%.*s%*s\"",
			    (int)(t->near_is_line ? strcspn(t->near, "\r\n") : t->near_length), t->near,
			    (int)t->near_spaces, "");
}

static void new_line(struct ray_lexer *l)
{
	l->line++;
	l->line_start = l->at;
}

static bool fail_here(struct ray_lexer *l, const char *message)
{
	struct ray_where where = ray_lex_where(l, l->at);

	return ray_lex_fail(l, &where, "D_SYNTAX", "%s", message);
}

/* l->at is behind the opening. */
static bool skip_comment(struct ray_lexer *l)
{
	while (l->at < l->end) {
		if (l->at[0] == '*' && l->at[1] == '/') {
			l->at += 2;
			return true;
		}
		if (l->at[0] == '/' && l->at[1] == '*')
			return fail_here(l, "/* encountered inside a comment");
		if (*l->at++ == '\n')
			new_line(l);
	}
	return fail_here(l, "end-of-file encountered before matching */");
}

static void skip_to_end_of_line(struct ray_lexer *l)
{
	while (l->at < l->end && *l->at != '\n')
		l->at++;
}

static bool is_first_of_line(const struct ray_lexer *l)
{
	const char *p = l->line_start;

	while (p < l->at && strchr("\f\t\v ", *p))
		p++;
	return p == l->at;
}

static bool is_blank(char c)
{
	return c && strchr("\f\n\r\t\v ", c);
}

/* Before the body of a clause, "//" and a star are the end of the predicate and a comment. */
static bool begins_line_comment(const struct ray_lexer *l)
{
	if (l->at[0] != '/' || l->at[1] != '/')
		return false;
	return l->at[2] != '*' || l->mode == RAY_LEX_PROBES || l->braces > 0;
}

/* To the next token. False after an error. */
static bool skip_blanks(struct ray_lexer *l)
{
	while (l->at < l->end) {
		if (is_blank(*l->at)) {
			if (*l->at++ == '\n')
				new_line(l);
		} else if (l->at[0] == '\\' && l->at[1] == '\n' && l->mode == RAY_LEX_EXPRESSIONS) {
			l->at += 2;
			new_line(l);
		} else if (l->at[0] == '/' && l->at[1] == '*') {
			l->at += 2;
			if (!skip_comment(l))
				return false;
		} else if (begins_line_comment(l)) {
			skip_to_end_of_line(l);
		} else if (*l->at == '#' && is_first_of_line(l)) {
			if (l->at[1] == '!')
				skip_to_end_of_line(l);
			else if (!ray_lex_control_line(l))
				return false;
		} else {
			break;
		}
	}
	return true;
}

static bool fail_character(struct ray_lexer *l)
{
	if (*l->at == '\0')
		return fail_here(l, "syntax error near end-of-input");
	struct ray_where where = ray_lex_where(l, l->at);
	return ray_lex_fail(l, &where, "D_SYNTAX", "syntax error near \"%c\"", *l->at);
}

/* The longest first. */
static const struct {
	char spelling[4];
	enum ray_token_kind kind;
} punctuators[] = {
	{ "...", RAY_TOKEN_ELLIPSIS },	{ "<<=", RAY_TOKEN_SHL_ASSIGN }, { ">>=", RAY_TOKEN_SHR_ASSIGN },
	{ "+=", RAY_TOKEN_ADD_ASSIGN }, { "-=", RAY_TOKEN_SUB_ASSIGN },	 { "*=", RAY_TOKEN_MUL_ASSIGN },
	{ "/=", RAY_TOKEN_DIV_ASSIGN }, { "%=", RAY_TOKEN_MOD_ASSIGN },	 { "&=", RAY_TOKEN_AND_ASSIGN },
	{ "^=", RAY_TOKEN_XOR_ASSIGN }, { "|=", RAY_TOKEN_OR_ASSIGN },	 { "&&", RAY_TOKEN_LOGIC_AND },
	{ "^^", RAY_TOKEN_LOGIC_XOR },	{ "||", RAY_TOKEN_LOGIC_OR },	 { "==", RAY_TOKEN_EQ },
	{ "!=", RAY_TOKEN_NE },		{ "<=", RAY_TOKEN_LE },		 { ">=", RAY_TOKEN_GE },
	{ "<<", RAY_TOKEN_SHL },	{ ">>", RAY_TOKEN_SHR },	 { "++", RAY_TOKEN_INCREMENT },
	{ "--", RAY_TOKEN_DECREMENT },	{ "->", RAY_TOKEN_ARROW },
};

static void take(struct ray_lexer *l, struct ray_token *t, enum ray_token_kind kind, size_t length)
{
	t->kind = kind;
	t->near = l->at;
	t->near_length = length;
	l->at += length;
}

/* A slash divides, or ends the predicate: that depends on what follows it. */
static bool lex_slash(struct ray_lexer *l, struct ray_token *t)
{
	const char *next = l->at + 1;

	take(l, t, '/', 1);
	while (next < l->end && is_blank(*next))
		next++;
	l->has_looked_at_end = next == l->end;
	t->near_is_line = next == l->at;
	bool is_comment = l->braces > 0 && next[0] == '/' && (next[1] == '*' || next[1] == '/');
	if ((next < l->end && (!*next || !strchr(";{/", *next))) || is_comment)
		return true;
	/* The reference has gone on to what follows by then: a message names that line. */
	while (l->at < next) {
		if (*l->at++ == '\n')
			new_line(l);
	}
	if (l->parens)
		return fail_here(l, "closing ) expected in predicate before /");
	if (l->brackets)
		return fail_here(l, "closing ] expected in predicate before /");
	t->kind = RAY_TOKEN_END_PREDICATE;
	return true;
}

/* Counts nesting, which tells a closing bracket too many from other errors. */
static bool count_bracket(struct ray_lexer *l, const struct ray_token *t)
{
	switch ((int)t->kind) {
	case '(':
	case '{':
	case '<':
	case '>':
		l->after_tag_keyword = false;
		l->parens += t->kind == '(';
		l->braces += t->kind == '{';
		return true;
	case ')':
		l->after_tag_keyword = false;
		return --l->parens >= 0 || ray_lex_fail(l, &t->where, "D_SYNTAX", "extra ) in input stream");
	case '[':
		l->brackets++;
		return true;
	case ']':
		return --l->brackets >= 0 || ray_lex_fail(l, &t->where, "D_SYNTAX", "extra ] in input stream");
	case '}':
		return --l->braces >= 0 || ray_lex_fail(l, &t->where, "D_SYNTAX", "extra } in input stream");
	default:
		return true;
	}
}

static bool lex_punctuator(struct ray_lexer *l, struct ray_token *t)
{
	for (size_t i = 0; i < RAY_COUNT(punctuators); i++) {
		size_t length = strlen(punctuators[i].spelling);

		if (!strncmp(l->at, punctuators[i].spelling, length)) {
			take(l, t, punctuators[i].kind, length);
			l->after_member_operator = t->kind == RAY_TOKEN_ARROW;
			return true;
		}
	}
	if (*l->at == '/')
		return lex_slash(l, t);
	if (!*l->at || !strchr("()[]{}<>|^&+-*%~!?:.=,;", *l->at))
		return fail_character(l);
	take(l, t, (enum ray_token_kind) * l->at, 1);
	l->after_member_operator = t->kind == '.';
	return count_bracket(l, t);
}

static bool lex_aggregation(struct ray_lexer *l, struct ray_token *t)
{
	size_t length = l->at[1] == '`' ? 0 : ray_lex_name_length(l->at + 1);

	/* A name here has no back-quotes. */
	length = strcspn(l->at + 1, "`") < length ? strcspn(l->at + 1, "`") : length;
	t->text = length ? ray_arena_copy(l->arena, l->at + 1, length) : "_";
	if (!t->text)
		return ray_lex_no_memory(l);
	take(l, t, RAY_TOKEN_AGGREGATION, length + 1);
	return true;
}

static bool lex_expression_token(struct ray_lexer *l, struct ray_token *t)
{
	size_t name = ray_lex_name_length(l->at), integer = ray_lex_integer_length(l->at);
	size_t real = ray_lex_float_length(l->at);

	if (name && name >= integer && name >= real)
		return ray_lex_word(l, t, name);
	if (integer && integer >= real)
		return ray_lex_number(l, t, l->at + integer);
	if (real)
		return fail_here(l, "floating-point constants are not permitted");
	switch (*l->at) {
	case '"':
		return ray_lex_string(l, t);
	case '\'':
		return ray_lex_character(l, t);
	case '@':
		return lex_aggregation(l, t);
	case '$':
		return ray_lex_macro(l, t);
	default:
		return lex_punctuator(l, t);
	}
}

static bool lex_probe_token(struct ray_lexer *l, struct ray_token *t)
{
	size_t length = ray_lex_integer_length(l->at);

	if (length)
		return ray_lex_number(l, t, l->at + length);
	length = ray_lex_probe_length(l->at);
	if (length)
		return ray_lex_probe(l, t, length);
	if (!*l->at || !strchr("{/,", *l->at))
		return fail_character(l);
	take(l, t, (enum ray_token_kind) * l->at, 1);
	return count_bracket(l, t);
}

bool ray_lex_next(struct ray_lexer *l, struct ray_token *t)
{
	*t = (struct ray_token){ .kind = RAY_TOKEN_END };
	if (l->error || !skip_blanks(l))
		return false;
	t->where = ray_lex_where(l, l->at);
	t->near = l->at;
	if (l->at >= l->end)
		return !l->has_looked_at_end || fail_here(l, "syntax error near end-of-input");
	bool is_read = l->mode == RAY_LEX_PROBES ? lex_probe_token(l, t) : lex_expression_token(l, t);
	if (!is_read)
		t->kind = RAY_TOKEN_END;
	/* Blanks and line ends between a slash and what decides its meaning belong to it. */
	if (t->kind == RAY_TOKEN_END_PREDICATE && t->where.line != l->line)
		t->where = ray_lex_where(l, l->at);
	return is_read;
}
