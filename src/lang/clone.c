/* clone.c - copies of checked expressions, with variables replaced by values.
 * SPDX-License-Identifier: MIT
 *
 * For what is written once and used often: inline definitions, translators. */
#include "lang/check.h"

struct ray_expr *ray_expr_clone(struct ray_arena *arena, const struct ray_expr *e, const struct ray_substitution *s,
				size_t count)
{
	struct ray_expr *copy;

	if (!e)
		return NULL;
	if (e->kind == RAY_EXPR_VARIABLE) {
		for (size_t i = 0; i < count; i++) {
			if (s[i].variable == e->variable)
				return ray_expr_clone(arena, s[i].value, NULL, 0);
		}
	}
	copy = ray_arena_alloc(arena, sizeof(*copy));
	if (!copy)
		return NULL;
	*copy = *e;
	copy->a = ray_expr_clone(arena, e->a, s, count);
	copy->b = ray_expr_clone(arena, e->b, s, count);
	copy->c = ray_expr_clone(arena, e->c, s, count);
	if ((e->a && !copy->a) || (e->b && !copy->b) || (e->c && !copy->c))
		return NULL;
	if (!e->arg_count)
		return copy;
	copy->args = ray_arena_alloc(arena, e->arg_count * sizeof(struct ray_expr *));
	if (!copy->args)
		return NULL;
	for (size_t i = 0; i < e->arg_count; i++) {
		copy->args[i] = ray_expr_clone(arena, e->args[i], s, count);
		if (!copy->args[i])
			return NULL;
	}
	return copy;
}
