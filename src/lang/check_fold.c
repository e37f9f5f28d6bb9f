/* check_fold.c - constants are computed here, never in the kernel.
 * SPDX-License-Identifier: MIT
 *
 * A value that does not fit the type C gives it keeps its value and becomes a long, as the reference computes with
 * 64 bits whatever the type. */
#include "lang/check.h"

uint64_t ray_check_normalize(uint64_t value, const struct ray_type *t)
{
	const struct ray_type *r = ray_type_resolve(t);
	unsigned shift;

	if (r->flags & RAY_TYPE_BOOL)
		return value != 0;
	if (r->size == 0 || r->size >= 8)
		return value;
	shift = 64 - (unsigned)r->size * 8;
	return ray_type_is_signed(r) ? (uint64_t)((int64_t)(value << shift) >> shift) : value << shift >> shift;
}

static bool divide(enum ray_op op, bool is_signed, uint64_t l, uint64_t r, uint64_t *ret)
{
	if (r == 0)
		return false;
	if (is_signed && (int64_t)r == -1) /* the most negative number by -1 has no answer in C */
		*ret = op == RAY_OP_DIV ? -l : 0;
	else if (is_signed)
		*ret = (uint64_t)(op == RAY_OP_DIV ? (int64_t)l / (int64_t)r : (int64_t)l % (int64_t)r);
	else
		*ret = op == RAY_OP_DIV ? l / r : l % r;
	return true;
}

static bool compute(enum ray_op op, bool is_signed, uint64_t l, uint64_t r, uint64_t *ret)
{
	switch (op) {
	case RAY_OP_ADD:
		*ret = l + r;
		break;
	case RAY_OP_SUB:
		*ret = l - r;
		break;
	case RAY_OP_MUL:
		*ret = l * r;
		break;
	case RAY_OP_DIV:
	case RAY_OP_MOD:
		return divide(op, is_signed, l, r, ret);
	case RAY_OP_AND:
		*ret = l & r;
		break;
	case RAY_OP_OR:
		*ret = l | r;
		break;
	case RAY_OP_XOR:
		*ret = l ^ r;
		break;
	case RAY_OP_SHL:
		*ret = l << (r & 63);
		break;
	case RAY_OP_SHR:
		*ret = is_signed ? (uint64_t)((int64_t)l >> (r & 63)) : l >> (r & 63);
		break;
	case RAY_OP_EQ:
		*ret = l == r;
		break;
	case RAY_OP_NE:
		*ret = l != r;
		break;
	case RAY_OP_LT:
		*ret = is_signed ? (int64_t)l < (int64_t)r : l < r;
		break;
	case RAY_OP_LE:
		*ret = is_signed ? (int64_t)l <= (int64_t)r : l <= r;
		break;
	case RAY_OP_GT:
		*ret = is_signed ? (int64_t)l > (int64_t)r : l > r;
		break;
	case RAY_OP_GE:
		*ret = is_signed ? (int64_t)l >= (int64_t)r : l >= r;
		break;
	case RAY_OP_LOGIC_AND:
		*ret = l && r;
		break;
	case RAY_OP_LOGIC_OR:
		*ret = l || r;
		break;
	case RAY_OP_LOGIC_XOR:
		*ret = !l != !r;
		break;
	default:
		return false;
	}
	return true;
}

static struct ray_expr *constant(struct ray_check *c, const struct ray_expr *e, uint64_t value)
{
	const struct ray_type *type = e->type;

	if (ray_check_normalize(value, type) != value)
		type = ray_type_basic(c->types, ray_type_is_signed(type) ? RAY_BASIC_LONG : RAY_BASIC_ULONG);
	return ray_check_integer(c, value, type, &e->where);
}

/* The left side alone decides: the right one would not be asked. */
static bool is_decided(const struct ray_expr *e)
{
	if (e->a->kind != RAY_EXPR_INTEGER)
		return false;
	return e->op == RAY_OP_LOGIC_AND ? !e->a->value : e->op == RAY_OP_LOGIC_OR && e->a->value;
}

static struct ray_expr *fold_binary(struct ray_check *c, struct ray_expr *e)
{
	uint64_t value;

	if (is_decided(e))
		return constant(c, e, e->op == RAY_OP_LOGIC_OR);
	if (e->a->kind != RAY_EXPR_INTEGER || e->b->kind != RAY_EXPR_INTEGER || !ray_type_is_integer(e->type) ||
	    !compute(e->op, ray_type_is_signed(e->a->type), e->a->value, e->b->value, &value))
		return e;
	return constant(c, e, value);
}

static struct ray_expr *fold_unary(struct ray_check *c, struct ray_expr *e)
{
	uint64_t v = e->a->value;

	if (e->a->kind != RAY_EXPR_INTEGER || !ray_check_is_integer(e->a))
		return e;
	switch (e->op) {
	case RAY_OP_NEGATE:
		v = -v;
		break;
	case RAY_OP_PLUS:
		break;
	case RAY_OP_INVERT:
		v = ~v;
		break;
	case RAY_OP_NOT:
		v = !v;
		break;
	default:
		return e;
	}
	return ray_check_integer(c, ray_check_normalize(v, e->type), e->type, &e->where);
}

struct ray_expr *ray_check_fold(struct ray_check *c, struct ray_expr *e)
{
	switch (e->kind) {
	case RAY_EXPR_BINARY:
		return fold_binary(c, e);
	case RAY_EXPR_UNARY:
		return fold_unary(c, e);
	case RAY_EXPR_CAST:
		if (e->a->kind == RAY_EXPR_INTEGER && ray_type_is_scalar(e->type))
			return ray_check_integer(c, ray_check_normalize(e->a->value, e->type), e->type, &e->where);
		return e;
	default:
		return e;
	}
}
