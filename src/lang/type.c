/* type.c - questions about a type: what it is, how big, which members.
 * SPDX-License-Identifier: MIT
 *
 * Knows nothing of the table but that it can complete a FORWARD (type_table.c). */
#include "lang/type.h"

#include <string.h>

#include "lang/type_table.h"

enum { MAX_TYPEDEFS = 64, MAX_NESTING = 16 };

const struct ray_type *ray_type_resolve(const struct ray_type *type)
{
	for (int i = 0; type && type->kind == RAY_TYPE_TYPEDEF && i < MAX_TYPEDEFS; i++)
		type = type->target;
	if (type && type->kind == RAY_TYPE_FORWARD)
		return ray_type_complete_(type);
	return type;
}

uint64_t ray_type_size(const struct ray_type *type)
{
	const struct ray_type *r = ray_type_resolve(type);

	return r ? r->size : 0;
}

static const struct ray_member *find_member(const struct ray_type *type, const char *name, uint32_t *bit_offset_ret,
					    int depth)
{
	const struct ray_type *r = ray_type_resolve(type);

	if (!r || (r->kind != RAY_TYPE_STRUCT && r->kind != RAY_TYPE_UNION) || depth > MAX_NESTING)
		return NULL;
	for (uint64_t i = 0; i < r->count; i++) {
		const struct ray_member *m = &r->members[i];
		uint32_t inner = 0;

		if (m->name && !strcmp(m->name, name)) {
			*bit_offset_ret = m->bit_offset;
			return m;
		}
		if (m->name)
			continue;
		const struct ray_member *found = find_member(m->type, name, &inner, depth + 1);
		if (found) {
			*bit_offset_ret = m->bit_offset + inner;
			return found;
		}
	}
	return NULL;
}

const struct ray_member *ray_type_member(const struct ray_type *type, const char *name, uint32_t *bit_offset_ret)
{
	return find_member(type, name, bit_offset_ret, 0);
}

bool ray_type_is_integer(const struct ray_type *type)
{
	const struct ray_type *r = ray_type_resolve(type);

	return r && (r->kind == RAY_TYPE_INTEGER || r->kind == RAY_TYPE_ENUM);
}

bool ray_type_is_signed(const struct ray_type *type)
{
	const struct ray_type *r = ray_type_resolve(type);

	return r && (r->kind == RAY_TYPE_ENUM || (r->flags & RAY_TYPE_SIGNED));
}

bool ray_type_is_pointer(const struct ray_type *type)
{
	const struct ray_type *r = ray_type_resolve(type);

	return r && r->kind == RAY_TYPE_POINTER;
}

bool ray_type_is_scalar(const struct ray_type *type)
{
	return ray_type_is_integer(type) || ray_type_is_pointer(type);
}

bool ray_type_is_string(const struct ray_type *type)
{
	const struct ray_type *r = ray_type_resolve(type);

	return r && r->kind == RAY_TYPE_STRING;
}

static bool is_char(const struct ray_type *type)
{
	const struct ray_type *r = ray_type_resolve(type);

	return r && r->kind == RAY_TYPE_INTEGER && r->size == 1 && (r->flags & RAY_TYPE_CHAR) &&
	       (r->flags & RAY_TYPE_SIGNED);
}

bool ray_type_is_stringish(const struct ray_type *type)
{
	const struct ray_type *r = ray_type_resolve(type);

	if (!r)
		return false;
	if (r->kind == RAY_TYPE_STRING)
		return true;
	return (r->kind == RAY_TYPE_POINTER || r->kind == RAY_TYPE_ARRAY) && is_char(r->target);
}

bool ray_type_is_by_reference(const struct ray_type *type)
{
	const struct ray_type *r = ray_type_resolve(type);

	return r && (r->kind == RAY_TYPE_STRUCT || r->kind == RAY_TYPE_UNION || r->kind == RAY_TYPE_ARRAY ||
		     r->kind == RAY_TYPE_STRING);
}

static bool equals(const struct ray_type *a, const struct ray_type *b, int depth)
{
	const struct ray_type *x = ray_type_resolve(a), *y = ray_type_resolve(b);

	if (x == y)
		return true;
	if (!x || !y || x->kind != y->kind || depth > MAX_NESTING)
		return false;
	switch (x->kind) {
	case RAY_TYPE_VOID:
	case RAY_TYPE_STRING:
	case RAY_TYPE_DYNAMIC:
		return true;
	case RAY_TYPE_INTEGER:
	case RAY_TYPE_FLOAT:
		return x->size == y->size && ray_type_is_signed(x) == ray_type_is_signed(y) &&
		       !strcmp(x->name, y->name);
	case RAY_TYPE_POINTER:
		return equals(x->target, y->target, depth + 1);
	case RAY_TYPE_ARRAY:
		return x->count == y->count && equals(x->target, y->target, depth + 1);
	case RAY_TYPE_STRUCT:
	case RAY_TYPE_UNION: /* the kernel's and a provider's own copy of one structure are the same */
		return (x->members && x->members == y->members) ||
		       (x->name && y->name && !strcmp(x->name, y->name) && x->size == y->size);
	default:
		return x->name && y->name && !strcmp(x->name, y->name);
	}
}

bool ray_type_equals(const struct ray_type *a, const struct ray_type *b)
{
	return equals(a, b, 0);
}
