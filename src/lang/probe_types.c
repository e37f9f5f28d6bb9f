/* probe_types.c - types that providers know: structures of the libraries in traced programs.
 * SPDX-License-Identifier: MIT
 *
 * Each is made when its name is first used, from the text of probe/types.h. A script's own types of the same names come first. */
#include <stdlib.h>
#include <string.h>

#include "lang/type_table.h"
#include "probe/params.h"
#include "probe/types.h"

/* `string *` is a char * that is read as a string wherever it is used. */
static const struct ray_type *member_type(struct ray_types *types, const char *text)
{
	const struct ray_type *t;

	if (strcmp(text, "string *"))
		return ray_type_from_text(types, text);
	t = ray_type_pointer(types, ray_type_basic(types, RAY_BASIC_CHAR));
	return t ? ray_type_qualified(types, t, RAY_TYPE_TEXT) : NULL;
}

static bool add_member(struct ray_types *types, struct ray_member *m, const char *text, size_t length)
{
	const char *type, *name;
	char *rest;

	m->bit_offset = (uint32_t)strtoul(text, &rest, 10) * 8;
	rest += strspn(rest, " ");
	if (!ray_param_split(types->arena, rest, length - (size_t)(rest - text), &type, &name))
		return false;
	m->name = name;
	m->type = member_type(types, type);
	return m->type != NULL;
}

/* The members may lead back to the structure: it is in the table before them. */
static bool add_members(struct ray_types *types, struct ray_type *s, const char *text)
{
	size_t count = *text != 0;
	struct ray_member *members;

	for (const char *p = text; *p; p++)
		count += *p == ';';
	members = ray_arena_alloc(types->arena, (count + 1) * sizeof(*members));
	if (!members)
		return false;
	for (size_t i = 0; i < count; i++) {
		size_t length = strcspn(text, ";");

		if (!add_member(types, &members[i], text, length))
			return false;
		text += length + (text[length] == ';');
	}
	s->members = members;
	s->count = count;
	return true;
}

static const struct ray_type *structure(struct ray_types *types, const struct ray_probe_type *row, bool *is_new)
{
	const char *tag = row->tag ? row->tag : row->name;
	const struct ray_type *old = ray_type_defined(types, RAY_TYPE_STRUCT, tag);
	struct ray_type *s;

	*is_new = !old || old->kind == RAY_TYPE_FORWARD;
	if (!*is_new)
		return old;
	s = ray_arena_alloc(types->arena, sizeof(*s));
	if (!s)
		return NULL;
	*s = (struct ray_type){ .kind = RAY_TYPE_STRUCT, .name = tag, .size = row->size, .align = 8 };
	ray_error_free(ray_type_define(types, s));
	return s;
}

static const struct ray_type *alias(struct ray_types *types, const struct ray_probe_type *row,
				    const struct ray_type *target)
{
	const struct ray_type *old = ray_type_defined(types, RAY_TYPE_TYPEDEF, row->name);
	struct ray_type *t = old ? NULL : ray_arena_alloc(types->arena, sizeof(*t));

	if (!t || !target)
		return old;
	*t = (struct ray_type){ .kind = RAY_TYPE_TYPEDEF,
				.name = row->name,
				.target = target,
				.size = target->size,
				.align = target->align };
	ray_error_free(ray_type_define(types, t));
	return t;
}

const struct ray_type *ray_probe_type_(struct ray_types *types, enum ray_type_kind kind, const char *name)
{
	const struct ray_probe_type *row;
	const struct ray_type *s, *t;
	bool is_new;

	if (kind != RAY_TYPE_TYPEDEF && kind != RAY_TYPE_STRUCT)
		return NULL;
	row = ray_probe_type_find(name, kind == RAY_TYPE_STRUCT);
	if (!row)
		return NULL;
	if (row->is)
		return alias(types, row, ray_type_from_text(types, row->is));
	s = structure(types, row, &is_new);
	t = s ? alias(types, row, s) : NULL;
	if (!t || (is_new && !add_members(types, (struct ray_type *)s, row->members)))
		return NULL;
	return kind == RAY_TYPE_STRUCT ? s : t;
}
