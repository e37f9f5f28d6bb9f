/* format.h - printf() formats of D: parsed once, printed with values that a record holds.
 * SPDX-License-Identifier: MIT
 *
 * The parser knows D's whole notation (flags, widths, `*`, %Y, %k, %@...); whether arguments fit is asked by the
 * checker with ray_conversion_accepts(). Pure: bytes in, text out. What needs names (%a, %A of addresses, %k) is
 * given the text. */
#ifndef RAY_VIEW_FORMAT_H
#define RAY_VIEW_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

enum ray_format_flag {
	RAY_FORMAT_LEFT = 1,
	RAY_FORMAT_PLUS = 2,
	RAY_FORMAT_ZERO = 4,
	RAY_FORMAT_ALTERNATE = 8,
	RAY_FORMAT_SPACE = 16,
	RAY_FORMAT_GROUP = 32,
	RAY_FORMAT_AGGREGATION = 64, /* %@ */
	RAY_FORMAT_DYNAMIC_WIDTH = 128,
	RAY_FORMAT_DYNAMIC_PRECISION = 256,
};

enum { RAY_FORMAT_WIDTH_MAX = 1 << 26 }; /* of a width or precision: a damaged `*` must not ask for all memory */

struct ray_conversion {
	const char *literal; /* text before it, already unescaped; "" if none */
	size_t literal_length;
	uint32_t flags;
	int width, precision; /* -1: not given */
	char size[4];	      /* "", "h", "hh", "l", "ll", "L", "w" */
	char letter;	      /* 'd'; 0 in the last one, which is only its literal */
};

struct ray_format {
	const char *text;
	struct ray_conversion *at;
	size_t count;	  /* conversions, with the closing literal */
	size_t arg_count; /* values it takes, `*` included */
};

/* Escapes were resolved by the lexer. Errors are worded as the reference does, without tag or line; tag_ret gets the
 * tag's name. */
RAY_MUST_USE struct ray_error *ray_format_parse(struct ray_arena *arena, const char *text, size_t length,
						struct ray_format **ret, const char **tag_ret);

/* What a value is, in as much as printing must know. */
enum ray_value_kind {
	RAY_VALUE_INTEGER,
	RAY_VALUE_STRING,
	RAY_VALUE_BYTES,
	RAY_VALUE_FLOAT,
	RAY_VALUE_STACK,
	RAY_VALUE_USTACK,
	RAY_VALUE_JSTACK, /* bytes is the naming's text, lines separated by \n */
	RAY_VALUE_SYMBOL, /* sym, usym...: text too */
	RAY_VALUE_AGGREGATION,
};

struct ray_fact_stack; /* view/fact.h */

struct ray_value {
	enum ray_value_kind kind;
	bool is_signed;
	bool is_pointer, is_char;
	uint32_t size;			    /* of the type in bytes; of the data for BYTES */
	uint64_t integer;		    /* sign-extended */
	const void *bytes;		    /* of FLOAT: size bytes of it; AGGREGATION: its histogram, ready to print */
	size_t length;			    /* of STRING without its NUL */
	const struct ray_fact_stack *stack; /* of a stack that a view is told; NULL: there is none */
};

/* Whether the conversion takes a value of this kind; false: *why is the reference's wording of what it takes ("char
 * [] or string (or use stringof)"). A value that is none (void, an aggregation's name) is RAY_VALUE_AGGREGATION:
 * nothing takes it. */
bool ray_conversion_accepts(const struct ray_conversion *c, const struct ray_value *example, const char **why);
/* One conversion with its literal; width and precision given as `*` come from the values before. Returns values
 * used. */
size_t ray_conversion_print(const struct ray_conversion *c, const struct ray_value *values, size_t count,
			    struct ray_text *out);
/* The whole format over count values (none of them an aggregation's). */
void ray_format_print(const struct ray_format *f, const struct ray_value *values, size_t count, struct ray_text *out);

#endif
