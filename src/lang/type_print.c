/* type_print.c - a type as C would write it.
 * SPDX-License-Identifier: MIT */
#include "lang/type.h"

#include <string.h>

enum { MAX_DEPTH = 32 };

static void print_name(const struct ray_type *t, struct ray_text *out)
{
	enum ray_type_kind kind = t->kind == RAY_TYPE_FORWARD ? t->forward_kind : t->kind;
	const char *tag = kind == RAY_TYPE_STRUCT ? "struct " :
			  kind == RAY_TYPE_UNION  ? "union " :
			  kind == RAY_TYPE_ENUM	  ? "enum " :
						    "";

	if (t->flags & RAY_TYPE_CONST)
		ray_text_add(out, "const ");
	if (t->flags & RAY_TYPE_VOLATILE)
		ray_text_add(out, "volatile ");
	ray_text_add(out, tag);
	ray_text_add(out, t->name ? t->name : "(anon)");
}

/* A declarator grows from the name outwards: pointers to its left, arrays and functions to its right. */
static void print(const struct ray_type *t, const char *declarator, struct ray_text *out, int depth)
{
	ray_auto_text inner = { 0 };
	bool needs_parens;

	if (!t || depth > MAX_DEPTH) {
		ray_text_add(out, "...");
		return;
	}
	switch (t->kind) {
	case RAY_TYPE_POINTER:
		needs_parens = t->target && (t->target->kind == RAY_TYPE_ARRAY || t->target->kind == RAY_TYPE_FUNCTION);
		ray_text_printf(&inner, "%s*%s%s%s", needs_parens ? "(" : "", t->flags & RAY_TYPE_CONST ? "const" : "",
				declarator, needs_parens ? ")" : "");
		print(t->target, ray_text_get(&inner), out, depth + 1);
		return;
	case RAY_TYPE_ARRAY:
		if (t->flags & RAY_TYPE_FLEXIBLE)
			ray_text_printf(&inner, "%s[]", declarator);
		else
			ray_text_printf(&inner, "%s[%llu]", declarator, (unsigned long long)t->count);
		print(t->target, ray_text_get(&inner), out, depth + 1);
		return;
	case RAY_TYPE_FUNCTION:
		ray_text_printf(&inner, "%s()", declarator);
		print(t->target, ray_text_get(&inner), out, depth + 1);
		return;
	default:
		print_name(t, out);
		if (*declarator)
			ray_text_printf(out, " %s", declarator);
	}
}

void ray_type_print(const struct ray_type *type, struct ray_text *out)
{
	print(type, "", out, 0);
}
