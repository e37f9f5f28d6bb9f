/* token.h - the words of D.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_LANG_TOKEN_H
#define RAY_LANG_TOKEN_H

#include "lang/program.h"

/* X(ID, spelling): C's keywords are all reserved, though D gives no meaning to some. */
/* clang-format off */
#define RAY_KEYWORDS(X) \
	X(AUTO, "auto") X(BREAK, "break") X(CASE, "case") X(CHAR, "char") \
	X(CONST, "const") X(CONTINUE, "continue") X(COUNTER, "counter") X(DEFAULT, "default") \
	X(DO, "do") X(DOUBLE, "double") X(ELSE, "else") X(ENUM, "enum") \
	X(EXTERN, "extern") X(FLOAT, "float") X(FOR, "for") X(GOTO, "goto") \
	X(IF, "if") X(IMPORT, "import") X(INLINE, "inline") X(INT, "int") \
	X(LONG, "long") X(OFFSETOF, "offsetof") X(PROBE, "probe") X(PROVIDER, "provider") \
	X(REGISTER, "register") X(RESTRICT, "restrict") X(RETURN, "return") X(SELF, "self") \
	X(SHORT, "short") X(SIGNED, "signed") X(SIZEOF, "sizeof") X(STATIC, "static") \
	X(STRING, "string") X(STRINGOF, "stringof") X(STRUCT, "struct") X(SWITCH, "switch") \
	X(THIS, "this") X(TRANSLATOR, "translator") X(TYPEDEF, "typedef") X(UNION, "union") \
	X(UNSIGNED, "unsigned") X(VOID, "void") X(VOLATILE, "volatile") X(WHILE, "while") \
	X(XLATE, "xlate")
/* clang-format on */

enum ray_token_kind {
	RAY_TOKEN_END, /* of the text, or after an error */
	RAY_TOKEN_INTEGER,
	RAY_TOKEN_STRING,
	RAY_TOKEN_NAME,
	RAY_TOKEN_TYPE_NAME,
	RAY_TOKEN_AGGREGATION,
	RAY_TOKEN_PROBE, /* a probe description */
	RAY_TOKEN_END_PREDICATE,
	/* Punctuators; those of one character are written as that character. */
	RAY_TOKEN_FIRST_PUNCTUATOR = 256,
	RAY_TOKEN_ELLIPSIS,
	RAY_TOKEN_SHL_ASSIGN,
	RAY_TOKEN_SHR_ASSIGN,
	RAY_TOKEN_ADD_ASSIGN,
	RAY_TOKEN_SUB_ASSIGN,
	RAY_TOKEN_MUL_ASSIGN,
	RAY_TOKEN_DIV_ASSIGN,
	RAY_TOKEN_MOD_ASSIGN,
	RAY_TOKEN_AND_ASSIGN,
	RAY_TOKEN_XOR_ASSIGN,
	RAY_TOKEN_OR_ASSIGN,
	RAY_TOKEN_LOGIC_AND,
	RAY_TOKEN_LOGIC_XOR,
	RAY_TOKEN_LOGIC_OR,
	RAY_TOKEN_EQ,
	RAY_TOKEN_NE,
	RAY_TOKEN_LE,
	RAY_TOKEN_GE,
	RAY_TOKEN_SHL,
	RAY_TOKEN_SHR,
	RAY_TOKEN_INCREMENT,
	RAY_TOKEN_DECREMENT,
	RAY_TOKEN_ARROW,
	RAY_TOKEN_FIRST_KEYWORD = 512,
#define RAY_KEYWORD_ENUM(id, spelling) RAY_KEY_##id,
	RAY_KEYWORDS(RAY_KEYWORD_ENUM)
#undef RAY_KEYWORD_ENUM
};

struct ray_token {
	enum ray_token_kind kind;
	struct ray_where where;
	/* What a syntax error at this token quotes. */
	const char *near;
	size_t near_length;
	bool near_is_line;  /* all up to the line's end */
	size_t near_spaces; /* so many follow near in the quotation */
	const char *text;   /* of names, probes, aggregations (without the @) and strings */
	size_t length;
	/* INTEGER */
	uint64_t value;
	bool is_decimal, is_char, is_macro_negative;
	uint8_t unsigned_suffixes, long_suffixes;
};

#endif
