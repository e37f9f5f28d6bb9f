/* check_view.c - members of a library's structure that have to be calculated: the text of an address, its port.
 * SPDX-License-Identifier: MIT
 *
 * The provider gives a translator for them (probe/types.h), which is parsed when a script first asks for such a member. */
#include <string.h>

#include "lang/check.h"
#include "probe/types.h"

/* The structure that the translator makes; NULL after an error. */
static const struct ray_type *load(struct ray_check *c, const struct ray_probe_type *row)
{
	struct ray_source source = { .kind = RAY_TEXT_SCRIPT, .text = row->view, .length = strlen(row->view) };
	const struct ray_type *view = ray_type_defined(c->types, RAY_TYPE_STRUCT, row->view_tag);
	bool was_prelude = c->is_prelude;

	if (view)
		return view;
	c->error = ray_program_parse(c->program, &source, c->options, c->macros, c->diagnostic);
	if (c->error)
		return NULL;
	c->program->translators.at[c->program->translators.n - 1]->is_prelude = true;
	c->is_prelude = true;
	view = ray_check_translators(c) ? ray_type_defined(c->types, RAY_TYPE_STRUCT, row->view_tag) : NULL;
	c->is_prelude = was_prelude;
	return view;
}

struct ray_expr *ray_check_view_member(struct ray_check *c, struct ray_expr *e, const struct ray_type *s)
{
	const struct ray_probe_type *row = s->name ? ray_probe_type_find(s->name, true) : NULL;
	const struct ray_type *view;
	struct ray_expr *from = e->a, *x;
	uint32_t at;

	if (!row || !row->view)
		return NULL;
	view = load(c, row);
	if (!view || !ray_type_member(view, e->text, &at))
		return NULL;
	if (e->kind == RAY_EXPR_DOT) {
		from = ray_check_new(c, RAY_EXPR_ADDRESS, ray_type_pointer(c->types, e->a->type), &e->where);
		if (!from)
			return NULL;
		from->a = e->a;
	}
	x = ray_check_translate(c, from, view, &e->where);
	return x ? ray_check_translated_member(c, x, e->text, &e->where) : NULL;
}
