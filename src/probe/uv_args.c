/* uv_args.c - a row of uv_table.c, made args[] of its probes. SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "probe/params.h"
#include "probe/uv.h"

const struct ray_uv_function *ray_uv_public_find(const char *name)
{
	for (size_t i = 0; i < ray_uv_function_count; i++)
		if (!strcmp(ray_uv_functions[i].name, name))
			return &ray_uv_functions[i];
	return NULL;
}

/* Where the next parameter ends: commas in brackets belong to it. */
static size_t parameter_length(const char *text)
{
	size_t n = 0;

	for (int depth = 0; text[n] && (depth || text[n] != ','); n++)
		depth += (text[n] == '(') - (text[n] == ')');
	return n;
}

/* "void (*callback)(void)": the name stands in the middle. */
static bool function_pointer(struct ray_arena *arena, const char *text, size_t length, struct ray_probe_arg *ret)
{
	const char *star = memmem(text, length, "(*", 2);

	if (!star)
		return false;
	ret->name = ray_arena_copy(arena, star + 2, strcspn(star + 2, ")"));
	ret->type = "uintptr_t";
	return true;
}

/* The D type of what C calls `type`: text that a function is given is a string, an array is a pointer. */
static const char *d_type(struct ray_arena *arena, const char *type)
{
	const char *bracket = strchr(type, '[');

	if (!strcmp(type, "const char *"))
		return "string";
	if (!strncmp(type, "const ", 6))
		type += 6;
	if (!strncmp(type, "struct sockaddr", 15))
		return ray_arena_printf(arena, "uv_sockaddr_t *%s", strchr(type, '[') ? "*" : "");
	if (bracket)
		return ray_arena_printf(arena, "%.*s%s*", (int)(bracket - type), type, bracket[-1] == '*' ? "" : " ");
	return type;
}

/* One parameter; *place is the number of the register or the word of the stack that it is in. */
static bool parse(struct ray_arena *arena, const char *text, size_t length, int *place, struct ray_probe_arg *ret)
{
	const char *type = NULL;

	*ret = (struct ray_probe_arg){ 0 };
	if (!function_pointer(arena, text, length, ret)) {
		if (!ray_param_split(arena, text, length, &type, &ret->name))
			return false;
		ret->type = d_type(arena, type);
	}
	/* Vector registers are not for probes to see. */
	ret->native = type && !strcmp(type, "double") ? -1 : (*place)++;
	return ret->name && ret->type;
}

static struct ray_error *add_members(struct ray_arena *arena, const struct ray_uv_function *f,
				     struct ray_probe_args *call)
{
	struct ray_probe_arg *list;
	size_t most = 1, length;
	int place = 0;

	for (const char *p = f->parameters; *p; p++)
		most += *p == ',';
	list = ray_arena_alloc(arena, sizeof(*list) * most);
	if (!list)
		return &ray_enomem;
	call->members = list;
	for (const char *p = f->parameters; *p && strcmp(p, "..."); p += strspn(p, ", ")) {
		length = parameter_length(p);
		if (!parse(arena, p, length, &place, &list[call->member_count++]))
			return ray_error_new(RAY_FAILED, "cannot take parameters apart: %s", f->parameters);
		p += length;
	}
	return NULL;
}

struct ray_error *ray_uv_entry_args(struct ray_arena *arena, const struct ray_uv_function *f,
				    struct ray_probe_args *ret)
{
	struct ray_probe_arg *call = ray_arena_alloc(arena, sizeof(*call));

	if (!call)
		return &ray_enomem;
	*call = (struct ray_probe_arg){ .type = ray_arena_printf(arena, "struct %s *", f->name), .name = "call" };
	*ret = (struct ray_probe_args){ .at = call, .count = 1, .known = true };
	return call->type ? add_members(arena, f, ret) : &ray_enomem;
}

struct ray_error *ray_uv_return_args(struct ray_arena *arena, const struct ray_uv_function *f,
				     struct ray_probe_args *ret)
{
	struct ray_probe_arg *list = ray_arena_alloc(arena, sizeof(*list) * 2);
	/* A structure in two registers, or nothing at all. */
	bool has_value = strcmp(f->returns, "void") && strcmp(f->returns, "uv_buf_t");

	if (!list)
		return &ray_enomem;
	list[0] = (struct ray_probe_arg){ .type = "uint64_t", .name = "offset", .native = 0 };
	list[1] = (struct ray_probe_arg){ .type = d_type(arena, f->returns), .name = "value", .native = 1 };
	if (list[1].type && !strcmp(list[1].type, "string"))
		list[1].native_type = "string *";
	*ret = (struct ray_probe_args){ .at = list, .count = has_value ? 2 : 1, .known = true };
	return list[1].type ? NULL : &ray_enomem;
}
