/* format.c - reading printf() formats of D, and which values each conversion takes.
 * SPDX-License-Identifier: MIT
 *
 * One table says what exists: a conversion is its size modifiers and its letter together ("llx"), as in the
 * reference, so that `%hhd` is an unknown conversion and not a short one. Printing is in format_print.c. */
#include "view/format.h"

#include <ctype.h>
#include <string.h>

enum takes {
	TAKES_INTEGER,
	TAKES_SMALL, /* up to int */
	TAKES_FLOAT,
	TAKES_ADDRESS,
	TAKES_SYMBOL, /* an address, or what sym() and its like make */
	TAKES_STRING,
	TAKES_WIDE_STRING,
	TAKES_STACK,
	TAKES_TIME,
	TAKES_SHORT,
	TAKES_UNSIGNED_SHORT,
	TAKES_ANY_SHORT,
	TAKES_INT,
	TAKES_LONG,
	TAKES_UNSIGNED_LONG,
	TAKES_ANY_LONG,
	TAKES_LONG_DOUBLE,
	TAKES_NOTHING,
};

static const char any_integer[] = "char, short, int, long, or long long";
static const char small_integer[] = "char, short, or int";
static const char any_float[] = "float, double, or long double";
static const char user_address[] = "pointer or integer (with -p/-c) or _usymaddr (without -p/-c)";
static const char any_string[] = "char [] or string (or use stringof)";

static const struct row {
	const char *name;
	enum takes takes;
	const char *wording;
} rows[] = {
	{ "a", TAKES_SYMBOL, "pointer or integer" },
	{ "A", TAKES_SYMBOL, user_address },
	{ "c", TAKES_SMALL, small_integer },
	{ "C", TAKES_SMALL, small_integer },
	{ "d", TAKES_INTEGER, any_integer },
	{ "e", TAKES_FLOAT, any_float },
	{ "E", TAKES_FLOAT, any_float },
	{ "f", TAKES_FLOAT, any_float },
	{ "g", TAKES_FLOAT, any_float },
	{ "G", TAKES_FLOAT, any_float },
	{ "hd", TAKES_SHORT, "short" },
	{ "hi", TAKES_SHORT, "short" },
	{ "ho", TAKES_UNSIGNED_SHORT, "unsigned short" },
	{ "hu", TAKES_UNSIGNED_SHORT, "unsigned short" },
	{ "hx", TAKES_ANY_SHORT, "short" },
	{ "hX", TAKES_ANY_SHORT, "short" },
	{ "i", TAKES_INTEGER, any_integer },
	{ "k", TAKES_STACK, "stack" },
	{ "lc", TAKES_INT, "int" },
	{ "ld", TAKES_LONG, "long" },
	{ "li", TAKES_LONG, "long" },
	{ "lo", TAKES_UNSIGNED_LONG, "unsigned long" },
	{ "lu", TAKES_UNSIGNED_LONG, "unsigned long" },
	{ "ls", TAKES_WIDE_STRING, "wchar_t []" },
	{ "lx", TAKES_ANY_LONG, "long" },
	{ "lX", TAKES_ANY_LONG, "long" },
	{ "lld", TAKES_LONG, "long long" },
	{ "lli", TAKES_LONG, "long long" },
	{ "llo", TAKES_UNSIGNED_LONG, "unsigned long long" },
	{ "llu", TAKES_UNSIGNED_LONG, "unsigned long long" },
	{ "llx", TAKES_ANY_LONG, "long long" },
	{ "llX", TAKES_ANY_LONG, "long long" },
	{ "Le", TAKES_LONG_DOUBLE, "long double" },
	{ "LE", TAKES_LONG_DOUBLE, "long double" },
	{ "Lf", TAKES_LONG_DOUBLE, "long double" },
	{ "Lg", TAKES_LONG_DOUBLE, "long double" },
	{ "LG", TAKES_LONG_DOUBLE, "long double" },
	{ "o", TAKES_INTEGER, any_integer },
	{ "p", TAKES_ADDRESS, "pointer or integer" },
	{ "s", TAKES_STRING, any_string },
	{ "S", TAKES_STRING, any_string },
	{ "T", TAKES_TIME, "int64_t" },
	{ "u", TAKES_INTEGER, any_integer },
	{ "wc", TAKES_INT, "int" },
	{ "ws", TAKES_WIDE_STRING, "wchar_t []" },
	{ "x", TAKES_INTEGER, any_integer },
	{ "X", TAKES_INTEGER, any_integer },
	{ "Y", TAKES_TIME, "int64_t" },
	{ "%", TAKES_NOTHING, "void" },
};

static const struct row *find_row(const char *name)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

bool ray_conversion_accepts(const struct ray_conversion *c, const struct ray_value *v, const char **why)
{
	bool is_integer = v->kind == RAY_VALUE_INTEGER && !v->is_pointer;
	bool is_scalar = v->kind == RAY_VALUE_INTEGER;
	char name[sizeof(c->size) + 2];
	const struct row *row;

	snprintf(name, sizeof(name), "%s%c", c->size, c->letter);
	row = find_row(name);
	*why = row ? row->wording : "";
	switch (row ? row->takes : TAKES_NOTHING) {
	case TAKES_INTEGER:
		return is_integer;
	case TAKES_SMALL:
		return is_integer && v->size <= 4;
	case TAKES_FLOAT:
		return v->kind == RAY_VALUE_FLOAT;
	case TAKES_ADDRESS:
		return is_scalar;
	case TAKES_SYMBOL:
		return is_scalar || v->kind == RAY_VALUE_SYMBOL;
	case TAKES_STRING:
		return v->kind == RAY_VALUE_STRING || (v->kind == RAY_VALUE_BYTES && v->is_char);
	case TAKES_WIDE_STRING:
		return v->kind == RAY_VALUE_BYTES && !v->is_char;
	case TAKES_STACK:
		return v->kind == RAY_VALUE_STACK || v->kind == RAY_VALUE_USTACK || v->kind == RAY_VALUE_JSTACK;
	case TAKES_TIME:
		return is_integer && v->size == 8;
	case TAKES_SHORT:
		return is_integer && v->size == 2 && v->is_signed;
	case TAKES_UNSIGNED_SHORT:
		return is_integer && v->size == 2 && !v->is_signed;
	case TAKES_ANY_SHORT:
		return is_integer && v->size == 2;
	case TAKES_INT:
		return is_integer && v->size == 4 && v->is_signed;
	case TAKES_LONG:
		return is_integer && v->size == 8 && v->is_signed;
	case TAKES_UNSIGNED_LONG:
		return is_integer && v->size == 8 && !v->is_signed;
	case TAKES_ANY_LONG:
		return is_integer && v->size == 8;
	case TAKES_LONG_DOUBLE:
		return v->kind == RAY_VALUE_FLOAT && v->size == sizeof(long double);
	case TAKES_NOTHING:
		break;
	}
	return false;
}

/* ---- parsing ---- */

struct parser {
	const char *at;	 /* the next character; the text ends with a NUL */
	unsigned number; /* of the conversion, from 1 */
	bool has_dot, has_digits;
	char name[8];
	size_t name_length;
};

static struct ray_error *parse_number(struct parser *p, struct ray_conversion *c)
{
	long n = 0;

	for (; isdigit((unsigned char)*p->at); p->at++) {
		n = n * 10 + (*p->at - '0');
		if (n > RAY_FORMAT_WIDTH_MAX)
			return ray_error_new(RAY_FAILED, "format conversion #%u has a %s above %d", p->number,
					     p->has_dot ? "precision" : "width", RAY_FORMAT_WIDTH_MAX);
	}
	if (p->has_dot)
		c->precision = (int)n;
	else
		c->width = (int)n;
	p->has_digits = true;
	return NULL;
}

static struct ray_error *parse_star(struct parser *p, struct ray_conversion *c)
{
	uint32_t flag = p->has_dot ? RAY_FORMAT_DYNAMIC_PRECISION : RAY_FORMAT_DYNAMIC_WIDTH;

	if (c->flags & flag)
		return ray_error_new(RAY_FAILED,
				     "format conversion #%u has more than one '*' specified for the output %s",
				     p->number, p->has_dot ? "precision" : "width");
	c->flags |= flag;
	return NULL;
}

/* One character that is neither a number nor the conversion's letter; false: it is the letter. */
static bool parse_flag(struct parser *p, struct ray_conversion *c, char ch)
{
	switch (ch) {
	case '0':
		c->flags = (c->flags | RAY_FORMAT_ZERO) & ~(uint32_t)RAY_FORMAT_LEFT;
		return true;
	case '-':
		c->flags = (c->flags | RAY_FORMAT_LEFT) & ~(uint32_t)RAY_FORMAT_ZERO;
		return true;
	case '#':
		c->flags |= RAY_FORMAT_ALTERNATE;
		return true;
	case '+':
		c->flags |= RAY_FORMAT_PLUS;
		return true;
	case '@':
		c->flags |= RAY_FORMAT_AGGREGATION;
		return true;
	case '\'':
		c->flags |= RAY_FORMAT_GROUP;
		return true;
	case ' ':
		c->flags |= RAY_FORMAT_SPACE;
		return true;
	case '?': /* as wide as an address */
		c->width = 16;
		return true;
	case 'h':
	case 'l':
	case 'L':
	case 'w':
		if (p->name_length < sizeof(p->name) - 2)
			p->name[p->name_length++] = ch;
		return true;
	default:
		return false;
	}
}

static struct ray_error *finish_conversion(struct parser *p, struct ray_conversion *c, char letter)
{
	/* "%@" ends formats of printa() that are older than the rule that a letter must follow. */
	if (letter == '\0' && c->flags & RAY_FORMAT_AGGREGATION && !p->name_length)
		letter = 'd';
	if (letter == '\0')
		return ray_error_new(RAY_FAILED, "format conversion #%u name expected before end of format string",
				     p->number);
	if (letter == '$')
		return ray_error_new(RAY_FAILED, "format conversion #%u uses unsupported positional format (%%n$)",
				     p->number);
	if (letter == '%' && p->at[-2] != '%')
		return ray_error_new(RAY_FAILED,
				     "format conversion #%u cannot be combined with other format flags: %%%%",
				     p->number);
	p->name[p->name_length] = letter;
	p->name[p->name_length + 1] = '\0';
	if (!find_row(p->name))
		return ray_error_new(RAY_FAILED, "format conversion #%u is undefined: %%%s", p->number, p->name);
	c->letter = letter;
	memcpy(c->size, p->name, p->name_length); /* at most two: the table has no longer ones */
	return NULL;
}

/* p->at is behind the '%'. */
static struct ray_error *parse_conversion(struct parser *p, struct ray_conversion *c)
{
	struct ray_error *err = NULL;

	p->has_dot = p->has_digits = false;
	p->name_length = 0;
	while (!err) {
		char ch = *p->at;

		if (isdigit((unsigned char)ch) && (ch != '0' || p->has_dot || p->has_digits)) {
			err = parse_number(p, c);
			continue;
		}
		if (ch)
			p->at++;
		if (ch == '*') {
			err = parse_star(p, c);
		} else if (ch == '.') {
			if (p->has_dot)
				err = ray_error_new(RAY_FAILED, "format conversion #%u has more than one '.' specified",
						    p->number);
			p->has_dot = true;
			p->has_digits = false;
		} else if (!parse_flag(p, c, ch)) {
			return finish_conversion(p, c, ch);
		}
	}
	return err;
}

static size_t count_values(const struct ray_conversion *c)
{
	if (!c->letter || c->letter == '%')
		return 0;
	return !!(c->flags & RAY_FORMAT_DYNAMIC_WIDTH) + !!(c->flags & RAY_FORMAT_DYNAMIC_PRECISION) +
	       !(c->flags & RAY_FORMAT_AGGREGATION);
}

struct ray_error *ray_format_parse(struct ray_arena *arena, const char *text, size_t length, struct ray_format **ret,
				   const char **tag_ret)
{
	struct parser p = { 0 };
	struct ray_format *f = ray_arena_alloc(arena, sizeof(*f));
	char *copy = ray_arena_copy(arena, text, strnlen(text, length));
	size_t most = 1;

	*tag_ret = "D_SYNTAX";
	if (!f || !copy)
		return &ray_enomem;
	for (const char *s = copy; *s; s++)
		most += *s == '%';
	f->text = copy;
	f->at = ray_arena_alloc(arena, most * sizeof(*f->at));
	if (!f->at)
		return &ray_enomem;
	for (p.at = copy;;) {
		struct ray_conversion *c = &f->at[f->count++];
		const char *percent = strchrnul(p.at, '%');
		struct ray_error *err;

		c->literal = p.at;
		c->literal_length = (size_t)(percent - p.at);
		c->width = c->precision = -1;
		if (!*percent)
			break;
		p.at = percent + 1;
		p.number++;
		err = parse_conversion(&p, c);
		if (err)
			return err;
		f->arg_count += count_values(c);
	}
	*ret = f;
	return NULL;
}
