/* lex_word.c - keywords, names, names of types, probe descriptions.
 * SPDX-License-Identifier: MIT
 *
 * Whether a name stands for a type cannot always be known: variables come into being by assignment, and types of the kernel
 * are many. The rules are the reference's, so that the same programs are taken. */
#include "lang/lex.h"

#include <string.h>

static const struct {
	const char *spelling;
	enum ray_token_kind kind;
} keywords[] = {
#define ROW(id, spelling) { spelling, RAY_KEY_##id },
	RAY_KEYWORDS(ROW)
#undef ROW
};

enum ray_token_kind ray_lex_keyword(const char *text, size_t length)
{
	for (size_t i = 0; i < RAY_COUNT(keywords); i++) {
		if (!strncmp(keywords[i].spelling, text, length) && !keywords[i].spelling[length])
			return keywords[i].kind;
	}
	return RAY_TOKEN_END;
}

static bool is_tag_keyword(enum ray_token_kind kind)
{
	return kind == RAY_KEY_STRUCT || kind == RAY_KEY_UNION || kind == RAY_KEY_ENUM;
}

/* What follows tells a variable that is about to be made from a type: x = 1, x++, x[1], x; */
static bool looks_like_variable(const struct ray_lexer *l, const char *next)
{
	switch (*next) {
	case '+':
	case '-':
		return next[1] == next[0];
	case '=':
		return next[1] != '=';
	case '[':
	case ';':
		return true;
	case ',':
		return l->parens == 0;
	case '>':
		return l->in_translator_input;
	default:
		return false;
	}
}

/* After a look at what follows a name, an error there quotes the rest of the line. */
static void quote_rest_of_line(struct ray_token *t, const char *end, const char *next)
{
	const char *newline = end < next ? memchr(end, '\n', (size_t)(next - end)) : NULL;

	t->near_is_line = !newline;
	for (const char *p = end; newline && p < next; p++)
		t->near_spaces += *p != '\n';
}

/* A member of a struct may have a type's name, which stays a type elsewhere. */
static char seen_in_declaration;

static bool note_variable(struct ray_lexer *l, const char *name)
{
	void *how = l->has_type ? (void *)&seen_in_declaration : (void *)l;

	return ray_names_put(&l->variables, name, how) || ray_lex_no_memory(l);
}

static bool was_variable(const struct ray_lexer *l, const char *name)
{
	const void *how = ray_names_find(&l->variables, name);

	return how && (how != &seen_in_declaration || !l->calls.is_type(l->calls.arg, name));
}

bool ray_lex_name(struct ray_lexer *l, struct ray_token *t, const char *name, const char *next)
{
	const char *end = next;

	t->text = name;
	t->length = strlen(name);
	t->kind = RAY_TOKEN_NAME;
	if (l->after_tag_keyword) {
		l->after_tag_keyword = false;
		t->kind = RAY_TOKEN_TYPE_NAME;
		return true;
	}
	if (l->after_member_operator) {
		l->after_member_operator = false;
		return true;
	}
	if (l->in_array_bounds && l->has_type)
		return note_variable(l, name);
	if (was_variable(l, name) || l->calls.is_variable(l->calls.arg, name))
		return true;
	while (next < l->end && *next && strchr("\f\n\r\t\v ", *next))
		next++;
	l->has_looked_at_end = next == l->end;
	quote_rest_of_line(t, end, next);
	if (looks_like_variable(l, next))
		return l->is_typedef || note_variable(l, name);
	if (!l->has_type && l->calls.is_type(l->calls.arg, name))
		t->kind = RAY_TOKEN_TYPE_NAME;
	return true;
}

bool ray_lex_word(struct ray_lexer *l, struct ray_token *t, size_t length)
{
	const char *name;

	t->near = l->at;
	t->near_length = length;
	t->kind = l->after_member_operator ? RAY_TOKEN_END : ray_lex_keyword(l->at, length);
	if (t->kind != RAY_TOKEN_END) {
		if (is_tag_keyword(t->kind))
			l->after_tag_keyword = true;
		l->at += length;
		return true;
	}
	name = ray_arena_copy(l->arena, l->at, length);
	if (!name)
		return ray_lex_no_memory(l);
	l->at += length;
	return ray_lex_name(l, t, name, l->at);
}

static bool is_probe_character(char c)
{
	return c && strchr("-$:_.?*\\[]!abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", c);
}

size_t ray_lex_probe_length(const char *text)
{
	size_t n = 0;

	while (is_probe_character(text[n]) || (n && text[n] && strchr("0123456789`", text[n])))
		n++;
	return n;
}

/* The keywords that a declaration or definition may begin with. */
static bool begins_declaration(enum ray_token_kind kind)
{
	switch ((int)kind) {
	case RAY_KEY_AUTO:
	case RAY_KEY_CHAR:
	case RAY_KEY_CONST:
	case RAY_KEY_COUNTER:
	case RAY_KEY_DOUBLE:
	case RAY_KEY_ENUM:
	case RAY_KEY_EXTERN:
	case RAY_KEY_FLOAT:
	case RAY_KEY_IMPORT:
	case RAY_KEY_INLINE:
	case RAY_KEY_INT:
	case RAY_KEY_LONG:
	case RAY_KEY_PROVIDER:
	case RAY_KEY_REGISTER:
	case RAY_KEY_RESTRICT:
	case RAY_KEY_SELF:
	case RAY_KEY_SHORT:
	case RAY_KEY_SIGNED:
	case RAY_KEY_STATIC:
	case RAY_KEY_STRING:
	case RAY_KEY_STRUCT:
	case RAY_KEY_THIS:
	case RAY_KEY_TRANSLATOR:
	case RAY_KEY_TYPEDEF:
	case RAY_KEY_UNION:
	case RAY_KEY_UNSIGNED:
	case RAY_KEY_VOID:
	case RAY_KEY_VOLATILE:
		return true;
	default:
		return false;
	}
}

/* "foo_t *x" begins a declaration, though a star may be part of a description. */
static bool lex_type_in_probe(struct ray_lexer *l, struct ray_token *t, const char *text, size_t length)
{
	static const char *const always[] = { "BEGIN", "END", "ERROR" };
	size_t until_star = strcspn(text, "*");
	enum ray_token_kind keyword;
	char *name;

	if ((l->options && l->options->knows_default_probe_field) || strpbrk(text, ":-.?!`"))
		return false;
	for (size_t i = 0; i < RAY_COUNT(always); i++) {
		if (!strcmp(text, always[i]))
			return false;
	}
	length = until_star ? until_star : length;
	name = ray_arena_copy(l->arena, text, length);
	if (!name)
		return false;
	keyword = ray_lex_keyword(name, length);
	if (keyword != RAY_TOKEN_END ? !begins_declaration(keyword) : !l->calls.is_type(l->calls.arg, name))
		return false;
	t->kind = keyword != RAY_TOKEN_END ? keyword : RAY_TOKEN_TYPE_NAME;
	t->text = name;
	t->length = t->near_length = length;
	l->at += length;
	l->mode = RAY_LEX_EXPRESSIONS;
	return true;
}

bool ray_lex_probe(struct ray_lexer *l, struct ray_token *t, size_t length)
{
	enum ray_token_kind keyword = ray_lex_keyword(l->at, length);
	char *text = ray_arena_copy(l->arena, l->at, length);

	if (!text)
		return ray_lex_no_memory(l);
	t->near = l->at;
	t->near_length = length;
	if (keyword != RAY_TOKEN_END && begins_declaration(keyword)) {
		t->kind = keyword;
		l->after_tag_keyword = is_tag_keyword(keyword);
		l->mode = RAY_LEX_EXPRESSIONS;
		l->at += length;
		return true;
	}
	if (lex_type_in_probe(l, t, text, length))
		return true;
	t->kind = RAY_TOKEN_PROBE;
	t->text = text;
	t->length = length;
	l->at += length;
	return true;
}
