/* parse.h - the parser's own parts.
 * SPDX-License-Identifier: MIT
 *
 * Recursive descent with one token of lookahead. What a construct does (declare a type, note a variable) happens at the very token
 * where the reference does it, before the next one is read: the meaning of the next word may depend on it, and so do the
 * lines in messages. Errors are kept in the lexer; every function returns false or NULL after one. Depth is bounded. */
#ifndef RAY_LANG_PARSE_H
#define RAY_LANG_PARSE_H

#include "lang/lex.h"

/* What texts have declared so far: lives with the program. */
struct ray_declared {
	struct ray_names globals; /* variables and inlines */
	struct ray_names threads; /* self-> */
	struct ray_names clauses; /* this-> */
	struct ray_names externs;
	struct ray_names constants; /* inlines that are: struct ray_constant */
};

struct ray_pending_pragma {
	struct ray_pending_pragma *next;
	const char *pragma, *name;
	struct ray_where where;
	bool is_used;
};

struct ray_enum_body; /* decl_enum.c */
struct ray_open_tag;  /* decl_struct.c */

struct ray_parser {
	struct ray_lexer lex;
	struct ray_token token; /* the last one that was read */
	struct ray_program *program;
	struct ray_lang_options options; /* as the text's own pragmas have changed them so far */
	struct ray_macros macros;
	enum ray_text_kind kind;
	const char *file; /* the text itself; NULL: an argument */
	bool is_file;
	bool is_library;
	unsigned int definitions; /* clauses, inlines, translators, provider blocks: what makes a text not empty */
	bool is_unary;		  /* the expression just parsed could be assigned to, as far as grammar goes */
	unsigned int depth;
	struct ray_enum_body *enum_body; /* the one that is being read */
	const struct ray_open_tag *open_tags;
	unsigned int version; /* of D, as #pragma D option version asks: 0x10200 is 1.2; 0: all there is */
	struct ray_pending_pragma *pending; /* pragmas of names that are not declared yet */
};

/* parse.c */
bool ray_parse_program(struct ray_parser *p);
bool ray_parse_advance(struct ray_parser *p);
bool ray_parse_expect(struct ray_parser *p, int kind); /* and advances */
bool ray_parse_syntax_error(struct ray_parser *p);
bool ray_parse_enter(struct ray_parser *p); /* one level deeper; fails when that is too deep */
void ray_parse_leave(struct ray_parser *p);
/* Fails at the last token read, as xyerror of the reference would name its line. */
#define ray_parse_fail(p, tag, ...) ray_lex_fail(&(p)->lex, &(p)->token.where, tag, __VA_ARGS__)
/* The same line, but the caret at what is meant, if that is on it. */
#define ray_parse_fail_at(p, at, tag, ...)                          \
	({                                                          \
		struct ray_where where_ = ray_parse_where(p, at);   \
		ray_lex_fail(&(p)->lex, &where_, tag, __VA_ARGS__); \
	})

/* parse_probe.c */
bool ray_parse_description(struct ray_parser *p, struct ray_probe_spec *spec); /* the present token */

/* parse_expr.c */
struct ray_expr *ray_parse_expression(struct ray_parser *p);  /* with commas */
struct ray_expr *ray_parse_assignment(struct ray_parser *p);  /* without */
struct ray_expr *ray_parse_conditional(struct ray_parser *p); /* without assignment */
struct ray_expr *ray_parse_unary(struct ray_parser *p);

/* parse_primary.c */
struct ray_expr *ray_parse_postfix(struct ray_parser *p);
struct ray_expr *ray_parse_new(struct ray_parser *p, enum ray_expr_kind kind, struct ray_where where);
/* Where a construct ends whose sign is at where: there, or, if the line is another by now, at the last token. */
struct ray_where ray_parse_where(const struct ray_parser *p, struct ray_where where);
/* Sets the depth of an expression from its parts; fails if that is too much. */
struct ray_expr *ray_parse_finish(struct ray_parser *p, struct ray_expr *e);

#endif
