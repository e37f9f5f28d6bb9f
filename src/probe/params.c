/* params.c - C parameters into types and names. Knows no C but where a name ends. SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "probe/params.h"

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

bool ray_param_split(struct ray_arena *arena, const char *text, size_t length, const char **type, const char **name)
{
	size_t end, start, type_end;

	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	end = length;
	if (end && text[end - 1] == ']') {
		while (end && text[end - 1] != '[')
			end--;
		if (!end--)
			return false;
	}
	start = end;
	while (start && in_name(text[start - 1]))
		start--;
	type_end = start;
	while (type_end && isspace((unsigned char)text[type_end - 1]))
		type_end--;
	if (start == end || !type_end)
		return false;
	*name = ray_arena_copy(arena, text + start, end - start);
	*type = ray_arena_printf(arena, "%.*s%.*s", (int)type_end, text, (int)(length - end), text + end);
	return *name && *type;
}

struct ray_error *ray_params_parse(struct ray_arena *arena, const char *text, struct ray_probe_args *ret)
{
	size_t most = 1;
	size_t count = 0;
	struct ray_probe_arg *args;

	for (const char *p = text; *p; p++)
		most += *p == ',';
	args = ray_arena_alloc(arena, sizeof(*args) * most);
	if (!args)
		return &ray_enomem;
	for (const char *p = text; *p; count++) {
		size_t length = strcspn(p, ",");

		if (!ray_param_split(arena, p, length, &args[count].type, &args[count].name))
			return ray_error_new(RAY_FAILED, "cannot take parameters apart: %s", text);
		args[count].native = (int)count;
		p += length;
		p += strspn(p, ", ");
	}
	*ret = (struct ray_probe_args){ .at = args, .count = count, .known = true };
	return NULL;
}
