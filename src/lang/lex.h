/* lex.h - text to tokens.
 * SPDX-License-Identifier: MIT
 *
 * D has two sets of words: those of probe descriptions, where "syscall:::entry" and "tick-1s" are one word each, and those of
 * expressions and declarations. The parser says which is meant, before it asks for the next token. Whether a name is a
 * type depends on what has been declared, so the parser answers that too, and asks for no token earlier than it must.
 * Knows no grammar. */
#ifndef RAY_LANG_LEX_H
#define RAY_LANG_LEX_H

#include "lang/lang.h"
#include "lang/names.h"
#include "lang/token.h"

enum ray_lex_mode { RAY_LEX_PROBES, RAY_LEX_EXPRESSIONS };

struct ray_lexer;

struct ray_lex_calls {
	bool (*is_variable)(void *arg,
			    const char *name); /* or a function, an enumerator: no type, whatever it is called */
	bool (*is_type)(void *arg, const char *name);
	bool (*run_control_line)(void *arg, struct ray_token *tokens, size_t count); /* # line; false: it has failed */
	void *arg;
};

struct ray_lexer {
	/* Set by whoever starts it. */
	struct ray_arena *arena;
	const struct ray_lang_options *options;
	const struct ray_macros *macros;   /* may be NULL */
	struct ray_diagnostic *diagnostic; /* may be NULL */
	struct ray_lex_calls calls;
	const char *file;
	bool is_included;
	bool *used; /* per argument of macros; NULL if nobody asks */
	/* Set by the parser as it goes. */
	enum ray_lex_mode mode;
	bool has_type;	      /* a declaration has its type already: what follows is a name */
	bool is_typedef;      /* a declaration begins with typedef */
	bool in_array_bounds; /* int a[...] */
	bool in_translator_input;
	/* The lexer's own. */
	const char *at, *end, *line_start;
	int line;
	int parens, brackets, braces;
	bool after_tag_keyword;	    /* struct, union, enum: a tag follows */
	bool after_member_operator; /* . or ->: a name follows, even if it is a keyword */
	bool has_looked_at_end;	    /* looking ahead found the text's end: no token of its own any more */
	struct ray_names variables; /* names that were used as variables, it seems */
	struct ray_error *error;
};

/* text must be NUL-terminated, and live as long as the positions that are made from it. */
void ray_lex_start(struct ray_lexer *l, const char *text, size_t length);
/* False after an error, which is then in l->error; the token is END. */
bool ray_lex_next(struct ray_lexer *l, struct ray_token *t);

/* Only the first error counts. Always false. */
bool ray_lex_fail(struct ray_lexer *l, const struct ray_where *where, const char *tag, const char *fmt, ...)
	RAY_PRINTF(4, 5);
bool ray_lex_fail_syntax(struct ray_lexer *l, const struct ray_token *t); /* syntax error near "..." */
bool ray_lex_no_memory(struct ray_lexer *l);
struct ray_where ray_lex_where(const struct ray_lexer *l, const char *at); /* at is on the present line */

/* lex_literal.c: at is the first character. All set the token, or fail. */
bool ray_lex_number(struct ray_lexer *l, struct ray_token *t, const char *end);
bool ray_lex_string(struct ray_lexer *l, struct ray_token *t);
bool ray_lex_character(struct ray_lexer *l, struct ray_token *t);
size_t ray_lex_unescape(char *text, size_t length); /* in place; returns the new length */
/* The lengths of what begins at text; 0: no such thing. */
size_t ray_lex_integer_length(const char *text);
size_t ray_lex_float_length(const char *text);
size_t ray_lex_name_length(const char *text);

/* lex_word.c */
bool ray_lex_word(struct ray_lexer *l, struct ray_token *t, size_t length); /* keyword, name or type, at l->at */
bool ray_lex_name(struct ray_lexer *l, struct ray_token *t, const char *name,
		  const char *next); /* next: what follows it */
bool ray_lex_probe(struct ray_lexer *l, struct ray_token *t, size_t length);
size_t ray_lex_probe_length(const char *text);
enum ray_token_kind ray_lex_keyword(const char *text, size_t length); /* END if it is none */

/* macro.c: $... in expressions; l->at is the dollar sign. */
bool ray_lex_macro(struct ray_lexer *l, struct ray_token *t);
/* $name; false if there is none. */
bool ray_macro_variable(const struct ray_macros *macros, const char *name, size_t length, int64_t *ret);
/* $number: NULL if there is no such argument. Marks it as used. */
const char *ray_macro_argument(const struct ray_lexer *l, uint64_t number);

/* pragma.c: splits a control line, from after the # on, and has it run. */
bool ray_lex_control_line(struct ray_lexer *l);

#endif
