/* constant.c - constant expressions, for the sizes and values in declarations.
 * SPDX-License-Identifier: MIT
 *
 * The checker folds constants of its own; here, only what the parser itself must know. */
#include "lang/decl.h"

#include <string.h>

bool ray_constant_is_positive(const struct ray_constant *c)
{
	return c->value && (c->is_unsigned || (int64_t)c->value > 0);
}

/* Cuts to the type's width, and extends again. */
static void normalize(struct ray_constant *c)
{
	unsigned int shift = 64 - 8 * (unsigned int)c->size;

	if (!shift)
		return;
	c->value <<= shift;
	c->value = c->is_unsigned ? c->value >> shift : (uint64_t)((int64_t)c->value >> shift);
}

static bool set_type(const struct ray_type *type, struct ray_constant *c)
{
	if (!ray_type_is_integer(type))
		return false;
	c->size = ray_type_resolve(type)->size;
	c->is_unsigned = !ray_type_is_signed(type);
	return c->size && c->size <= 8;
}

static bool find_name(struct ray_parser *p, const struct ray_expr *e, struct ray_constant *ret)
{
	const struct ray_type *type;
	const struct ray_enumerator *enumerator;
	const struct ray_constant *known;
	int64_t value;

	*ret = (struct ray_constant){ .size = 4 };
	if (e->scope != RAY_SCOPE_GLOBAL)
		return false;
	if (ray_enum_body_find(p->enum_body, e->text, &value)) {
		ret->value = (uint64_t)value;
		return true;
	}
	enumerator = ray_type_enumerator(p->program->types, e->text, &type);
	if (enumerator) {
		ret->value = (uint64_t)enumerator->value;
		return true;
	}
	known = ray_names_find(&p->program->declared->constants, e->text);
	if (known)
		*ret = *known;
	return known;
}

static bool find_size(const struct ray_expr *e, struct ray_constant *ret)
{
	*ret = (struct ray_constant){ .size = 8, .is_unsigned = true };
	if (e->cast_type)
		ret->value = ray_type_size(e->cast_type);
	else if (e->a->kind == RAY_EXPR_STRING)
		ret->value = e->a->length + 1;
	return ret->value != 0;
}

static bool find_offset(const struct ray_expr *e, struct ray_constant *ret)
{
	uint32_t bit_offset = 0;
	const struct ray_member *m = ray_type_member(e->cast_type, e->text, &bit_offset);

	*ret = (struct ray_constant){ .size = 8, .is_unsigned = true, .value = bit_offset / 8 };
	return m && !m->bit_width;
}

static void promote(struct ray_constant *c)
{
	if (c->size < 4) {
		c->size = 4;
		c->is_unsigned = false;
	}
}

static bool find_unary(struct ray_parser *p, const struct ray_expr *e, struct ray_constant *ret)
{
	if (!ray_constant_find(p, e->a, ret))
		return false;
	promote(ret);
	switch (e->op) {
	case RAY_OP_PLUS:
		break;
	case RAY_OP_NEGATE:
		ret->value = -ret->value;
		break;
	case RAY_OP_INVERT:
		ret->value = ~ret->value;
		break;
	case RAY_OP_NOT:
		*ret = (struct ray_constant){ .size = 4, .value = !ret->value };
		break;
	default:
		return false;
	}
	normalize(ret);
	return true;
}

static bool compare(enum ray_op op, uint64_t x, uint64_t y, bool is_unsigned, uint64_t *ret)
{
	bool less = is_unsigned ? x < y : (int64_t)x < (int64_t)y;

	switch (op) {
	case RAY_OP_EQ:
		*ret = x == y;
		return true;
	case RAY_OP_NE:
		*ret = x != y;
		return true;
	case RAY_OP_LT:
		*ret = less;
		return true;
	case RAY_OP_LE:
		*ret = less || x == y;
		return true;
	case RAY_OP_GT:
		*ret = !less && x != y;
		return true;
	case RAY_OP_GE:
		*ret = !less;
		return true;
	case RAY_OP_LOGIC_AND:
		*ret = x && y;
		return true;
	case RAY_OP_LOGIC_OR:
		*ret = x || y;
		return true;
	case RAY_OP_LOGIC_XOR:
		*ret = !x != !y;
		return true;
	default:
		return false;
	}
}

/* The smallest integer divided by -1 overflows in C; here it wraps. */
static uint64_t divide(enum ray_op op, uint64_t x, uint64_t y, bool is_unsigned)
{
	if (is_unsigned)
		return op == RAY_OP_DIV ? x / y : x % y;
	if (y == UINT64_MAX)
		return op == RAY_OP_DIV ? -x : 0;
	return (uint64_t)(op == RAY_OP_DIV ? (int64_t)x / (int64_t)y : (int64_t)x % (int64_t)y);
}

static bool calculate(enum ray_op op, uint64_t x, uint64_t y, bool is_unsigned, uint64_t *ret)
{
	switch (op) {
	case RAY_OP_ADD:
		*ret = x + y;
		return true;
	case RAY_OP_SUB:
		*ret = x - y;
		return true;
	case RAY_OP_MUL:
		*ret = x * y;
		return true;
	case RAY_OP_DIV:
	case RAY_OP_MOD:
		*ret = y ? divide(op, x, y, is_unsigned) : 0;
		return y != 0;
	case RAY_OP_AND:
		*ret = x & y;
		return true;
	case RAY_OP_OR:
		*ret = x | y;
		return true;
	case RAY_OP_XOR:
		*ret = x ^ y;
		return true;
	case RAY_OP_SHL:
		*ret = x << (y & 63);
		return true;
	case RAY_OP_SHR:
		*ret = is_unsigned ? x >> (y & 63) : (uint64_t)((int64_t)x >> (y & 63));
		return true;
	default:
		return false;
	}
}

static bool find_binary(struct ray_parser *p, const struct ray_expr *e, struct ray_constant *ret)
{
	struct ray_constant x, y;
	bool is_shift = e->op == RAY_OP_SHL || e->op == RAY_OP_SHR;

	if (!ray_constant_find(p, e->a, &x) || !ray_constant_find(p, e->b, &y))
		return false;
	promote(&x);
	promote(&y);
	*ret = x;
	if (!is_shift && (y.size > x.size || (y.size == x.size && y.is_unsigned)))
		*ret = (struct ray_constant){ .size = y.size, .is_unsigned = y.is_unsigned };
	if (compare(e->op, x.value, y.value, ret->is_unsigned, &ret->value)) {
		ret->size = 4;
		ret->is_unsigned = false;
		return true;
	}
	if (!calculate(e->op, x.value, y.value, ret->is_unsigned, &ret->value))
		return false;
	normalize(ret);
	return true;
}

static bool find_cast(struct ray_parser *p, const struct ray_expr *e, struct ray_constant *ret)
{
	return e->op != RAY_OP_STRINGOF && ray_constant_find(p, e->a, ret) && ray_constant_convert(ret, e->cast_type);
}

bool ray_constant_convert(struct ray_constant *c, const struct ray_type *type)
{
	if (!set_type(type, c))
		return false;
	normalize(c);
	return true;
}

bool ray_constant_find(struct ray_parser *p, const struct ray_expr *e, struct ray_constant *ret)
{
	struct ray_constant condition;

	switch (e->kind) {
	case RAY_EXPR_INTEGER:
		*ret = (struct ray_constant){ .value = e->value };
		return set_type(e->type, ret);
	case RAY_EXPR_NAME:
		return find_name(p, e, ret);
	case RAY_EXPR_UNARY:
		return find_unary(p, e, ret);
	case RAY_EXPR_BINARY:
		return find_binary(p, e, ret);
	case RAY_EXPR_COND:
		return ray_constant_find(p, e->a, &condition) &&
		       ray_constant_find(p, condition.value ? e->b : e->c, ret);
	case RAY_EXPR_CAST:
		return find_cast(p, e, ret);
	case RAY_EXPR_SIZEOF:
		return find_size(e, ret);
	case RAY_EXPR_OFFSETOF:
		return find_offset(e, ret);
	default:
		return false;
	}
}
