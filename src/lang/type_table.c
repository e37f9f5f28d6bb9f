/* type_table.c - the table of types: C's basic ones, D's typedefs, and what a script defines.
 * SPDX-License-Identifier: MIT
 *
 * Tags of structs, unions and enums are namespaces of their own. A script's names come before the kernel's. */
#include "lang/type_table.h"

#include <string.h>

static const struct {
	const char *name;
	enum ray_type_kind kind;
	uint32_t size, flags;
} basics[RAY_BASIC_COUNT_] = {
	[RAY_BASIC_VOID] = { "void", RAY_TYPE_VOID, 0, RAY_TYPE_SIGNED },
	[RAY_BASIC_CHAR] = { "char", RAY_TYPE_INTEGER, 1, RAY_TYPE_SIGNED | RAY_TYPE_CHAR },
	[RAY_BASIC_SCHAR] = { "signed char", RAY_TYPE_INTEGER, 1, RAY_TYPE_SIGNED | RAY_TYPE_CHAR },
	[RAY_BASIC_UCHAR] = { "unsigned char", RAY_TYPE_INTEGER, 1, RAY_TYPE_CHAR },
	[RAY_BASIC_SHORT] = { "short", RAY_TYPE_INTEGER, 2, RAY_TYPE_SIGNED },
	[RAY_BASIC_USHORT] = { "unsigned short", RAY_TYPE_INTEGER, 2, 0 },
	[RAY_BASIC_INT] = { "int", RAY_TYPE_INTEGER, 4, RAY_TYPE_SIGNED },
	[RAY_BASIC_UINT] = { "unsigned int", RAY_TYPE_INTEGER, 4, 0 },
	[RAY_BASIC_LONG] = { "long", RAY_TYPE_INTEGER, 8, RAY_TYPE_SIGNED },
	[RAY_BASIC_ULONG] = { "unsigned long", RAY_TYPE_INTEGER, 8, 0 },
	[RAY_BASIC_LLONG] = { "long long", RAY_TYPE_INTEGER, 8, RAY_TYPE_SIGNED },
	[RAY_BASIC_ULLONG] = { "unsigned long long", RAY_TYPE_INTEGER, 8, 0 },
	[RAY_BASIC_BOOL] = { "_Bool", RAY_TYPE_INTEGER, 1, RAY_TYPE_BOOL },
	[RAY_BASIC_FLOAT] = { "float", RAY_TYPE_FLOAT, 4, RAY_TYPE_SIGNED },
	[RAY_BASIC_DOUBLE] = { "double", RAY_TYPE_FLOAT, 8, RAY_TYPE_SIGNED },
	[RAY_BASIC_LDOUBLE] = { "long double", RAY_TYPE_FLOAT, 16, RAY_TYPE_SIGNED },
	[RAY_BASIC_STRING] = { "string", RAY_TYPE_STRING, 257, 0 },
	[RAY_BASIC_DYNAMIC] = { "<DYN>", RAY_TYPE_DYNAMIC, 0, 0 },
	/* What int64_t and uint64_t are typedefs of: the names that D's variables have. */
	[RAY_BASIC_INT64] = { "int64_t", RAY_TYPE_TYPEDEF, 8, RAY_TYPE_SIGNED },
	[RAY_BASIC_UINT64] = { "uint64_t", RAY_TYPE_TYPEDEF, 8, 0 },
};

/* D's own (as <sys/types.h> had them), then those of the system and its D libraries. */
static const struct {
	const char *name;
	enum ray_basic target;
} typedefs[] = {
	{ "int8_t", RAY_BASIC_SCHAR },	   { "int16_t", RAY_BASIC_SHORT },
	{ "int32_t", RAY_BASIC_INT },	   { "intptr_t", RAY_BASIC_LONG },
	{ "ssize_t", RAY_BASIC_LONG },	   { "uint8_t", RAY_BASIC_UCHAR },
	{ "uint16_t", RAY_BASIC_USHORT },  { "uint32_t", RAY_BASIC_UINT },
	{ "uchar_t", RAY_BASIC_UCHAR },	   { "ushort_t", RAY_BASIC_USHORT },
	{ "uint_t", RAY_BASIC_UINT },	   { "ulong_t", RAY_BASIC_ULONG },
	{ "longlong_t", RAY_BASIC_LLONG }, { "u_longlong_t", RAY_BASIC_ULLONG },
	{ "ptrdiff_t", RAY_BASIC_LONG },   { "uintptr_t", RAY_BASIC_ULONG },
	{ "size_t", RAY_BASIC_ULONG },	   { "id_t", RAY_BASIC_INT },
	{ "pid_t", RAY_BASIC_INT },	   { "stack", RAY_BASIC_VOID },
	{ "_symaddr", RAY_BASIC_VOID },	   { "_usymaddr", RAY_BASIC_VOID },
	{ "uid_t", RAY_BASIC_UINT },	   { "gid_t", RAY_BASIC_UINT },
	{ "dev_t", RAY_BASIC_UINT },	   { "mode_t", RAY_BASIC_USHORT },
	{ "umode_t", RAY_BASIC_USHORT },   { "nlink_t", RAY_BASIC_UINT },
	{ "ino_t", RAY_BASIC_ULONG },	   { "off_t", RAY_BASIC_LONG },
	{ "loff_t", RAY_BASIC_LLONG },	   { "time_t", RAY_BASIC_LONG },
	{ "time64_t", RAY_BASIC_LLONG },   { "clock_t", RAY_BASIC_LONG },
	{ "clockid_t", RAY_BASIC_INT },	   { "timer_t", RAY_BASIC_INT },
	{ "key_t", RAY_BASIC_INT },	   { "daddr_t", RAY_BASIC_INT },
	{ "caddr_t", RAY_BASIC_COUNT_ }, /* char * */
	{ "sector_t", RAY_BASIC_ULLONG },  { "blkcnt_t", RAY_BASIC_ULLONG },
	{ "socklen_t", RAY_BASIC_UINT },   { "sa_family_t", RAY_BASIC_USHORT },
	{ "gfp_t", RAY_BASIC_UINT },	   { "fmode_t", RAY_BASIC_UINT },
	{ "hrtime_t", RAY_BASIC_LLONG },   { "processorid_t", RAY_BASIC_INT },
	{ "psetid_t", RAY_BASIC_INT },	   { "chipid_t", RAY_BASIC_INT },
	{ "lgrp_id_t", RAY_BASIC_INT },	   { "ctid_t", RAY_BASIC_INT },
	{ "zoneid_t", RAY_BASIC_INT },	   { "poolid_t", RAY_BASIC_INT },
	{ "taskid_t", RAY_BASIC_INT },	   { "dprojid_t", RAY_BASIC_INT },
	{ "projid_t", RAY_BASIC_INT },	   { "pri_t", RAY_BASIC_SHORT },
	{ "ipaddr_t", RAY_BASIC_UINT },	   { "in_addr_t", RAY_BASIC_UINT },
	{ "in_port_t", RAY_BASIC_USHORT }, { "u_char", RAY_BASIC_UCHAR },
	{ "u_short", RAY_BASIC_USHORT },   { "u_int", RAY_BASIC_UINT },
	{ "u_long", RAY_BASIC_ULONG },	   { "uchar", RAY_BASIC_UCHAR },
	{ "ushort", RAY_BASIC_USHORT },	   { "uint", RAY_BASIC_UINT },
	{ "ulong", RAY_BASIC_ULONG },	   { "u_int8_t", RAY_BASIC_UCHAR },
	{ "u_int16_t", RAY_BASIC_USHORT }, { "u_int32_t", RAY_BASIC_UINT },
	{ "u_int64_t", RAY_BASIC_ULLONG }, { "u8", RAY_BASIC_UCHAR },
	{ "u16", RAY_BASIC_USHORT },	   { "u32", RAY_BASIC_UINT },
	{ "u64", RAY_BASIC_ULLONG },	   { "s8", RAY_BASIC_SCHAR },
	{ "s16", RAY_BASIC_SHORT },	   { "s32", RAY_BASIC_INT },
	{ "s64", RAY_BASIC_LLONG },	   { "__u8", RAY_BASIC_UCHAR },
	{ "__u16", RAY_BASIC_USHORT },	   { "__u32", RAY_BASIC_UINT },
	{ "__u64", RAY_BASIC_ULLONG },	   { "__s8", RAY_BASIC_SCHAR },
	{ "__s16", RAY_BASIC_SHORT },	   { "__s32", RAY_BASIC_INT },
	{ "__s64", RAY_BASIC_LLONG },	   { "__be16", RAY_BASIC_USHORT },
	{ "__be32", RAY_BASIC_UINT },	   { "__be64", RAY_BASIC_ULLONG },
	{ "bool", RAY_BASIC_BOOL },
};

static uint64_t hash_of(enum ray_type_kind kind, const char *name)
{
	return ray_hash_text(kind, name);
}

/* Valid until the next one is entered. */
static struct ray_type_entry *find(struct ray_types *types, enum ray_type_kind kind, const char *name)
{
	return ray_hashmap_find(&types->entries, hash_of(kind, name), one,
				one->kind == kind && !strcmp(one->name, name));
}

static bool enter(struct ray_types *types, enum ray_type_kind kind, const char *name, const struct ray_type *type,
		  const struct ray_enumerator *enumerator)
{
	struct ray_type_entry new = { name, kind, type, enumerator }, *old = find(types, kind, name);

	if (old)
		*old = new;
	return old || ray_hashmap_add(&types->entries, hash_of(kind, name), new);
}

static bool add_typedef(struct ray_types *types, const char *name, const struct ray_type *target)
{
	struct ray_type *t = ray_arena_alloc(types->arena, sizeof(*t));

	if (!t || !target)
		return false;
	*t = (struct ray_type){
		.kind = RAY_TYPE_TYPEDEF, .name = name, .target = target, .size = target->size, .align = target->align
	};
	return enter(types, RAY_TYPE_TYPEDEF, name, t, NULL);
}

static bool fill(struct ray_types *types)
{
	for (size_t i = 0; i < RAY_BASIC_COUNT_; i++) {
		types->basic[i] = (struct ray_type){ .kind = basics[i].kind,
						     .flags = basics[i].flags,
						     .name = basics[i].name,
						     .size = basics[i].size,
						     .align = basics[i].size };
	}
	types->basic[RAY_BASIC_STRING].align = 1;
	types->basic[RAY_BASIC_INT64].target = &types->basic[RAY_BASIC_LONG];
	types->basic[RAY_BASIC_UINT64].target = &types->basic[RAY_BASIC_ULONG];
	if (!enter(types, RAY_TYPE_TYPEDEF, "int64_t", &types->basic[RAY_BASIC_INT64], NULL) ||
	    !enter(types, RAY_TYPE_TYPEDEF, "uint64_t", &types->basic[RAY_BASIC_UINT64], NULL))
		return false;
	for (size_t i = 0; i < RAY_COUNT(typedefs); i++) {
		const struct ray_type *target = typedefs[i].target == RAY_BASIC_COUNT_ ?
							ray_type_pointer(types, &types->basic[RAY_BASIC_CHAR]) :
							&types->basic[typedefs[i].target];

		if (!add_typedef(types, typedefs[i].name, target))
			return false;
	}
	return true;
}

struct ray_error *ray_types_create(struct ray_arena *arena, struct ray_types **ret)
{
	struct ray_types *types = ray_arena_alloc(arena, sizeof(*types));

	if (!types)
		return &ray_enomem;
	types->arena = types->entries.map.arena = arena;
	if (!fill(types))
		return &ray_enomem;
	*ret = types;
	return NULL;
}

void ray_types_free(struct ray_types *types)
{
	if (types)
		ray_btf_free_(ray_take(types->btf));
}

void ray_types_set_strsize(struct ray_types *types, uint32_t strsize)
{
	types->basic[RAY_BASIC_STRING].size = (uint64_t)strsize + 1;
}

const struct ray_type *ray_type_basic(const struct ray_types *types, enum ray_basic which)
{
	return &types->basic[which];
}

const struct ray_type *ray_type_defined(struct ray_types *types, enum ray_type_kind kind, const char *name)
{
	const struct ray_type_entry *e = find(types, kind, name);

	return e ? e->type : NULL;
}

static bool ends_in_t(const char *name)
{
	size_t length = strlen(name);

	return length > 2 && !strcmp(name + length - 2, "_t");
}

const struct ray_type *ray_type_typedef(struct ray_types *types, const char *name)
{
	const char *tick = strchr(name, '`');
	const struct ray_type *t;

	if (tick)
		return ray_btf_find_(types, RAY_TYPE_TYPEDEF, tick + 1);
	t = ray_type_defined(types, RAY_TYPE_TYPEDEF, name);
	if (!t && ends_in_t(name)) {
		t = ray_prelude_type_(types, RAY_TYPE_TYPEDEF, name);
		if (!t)
			t = ray_probe_type_(types, RAY_TYPE_TYPEDEF, name);
		if (!t)
			t = ray_btf_find_(types, RAY_TYPE_TYPEDEF, name);
	}
	return t;
}

const struct ray_type *ray_type_tagged(struct ray_types *types, enum ray_type_kind kind, const char *tag)
{
	const char *tick = strchr(tag, '`');
	const struct ray_type *t;

	if (tick)
		return ray_btf_find_(types, kind, tick + 1);
	t = ray_type_defined(types, kind, tag);
	if (!t)
		t = ray_prelude_type_(types, kind, tag);
	if (!t)
		t = ray_probe_type_(types, kind, tag);
	if (!t)
		t = ray_btf_find_(types, kind, tag);
	return t;
}

const struct ray_type *ray_type_complete_(const struct ray_type *forward)
{
	const struct ray_type *t = NULL;

	if (!forward->owner)
		return forward;
	if (forward->btf_id)
		t = ray_btf_complete_(forward->owner, forward->btf_id);
	else if (forward->name)
		t = ray_type_tagged(forward->owner, forward->forward_kind, forward->name);
	if (t && t->kind == RAY_TYPE_FORWARD && t->btf_id && t != forward)
		t = ray_btf_complete_(t->owner, t->btf_id);
	return t ? t : forward;
}

const struct ray_type *ray_type_pointer(struct ray_types *types, const struct ray_type *to)
{
	struct ray_type *t = ray_arena_alloc(types->arena, sizeof(*t));

	if (!t || !to)
		return NULL;
	*t = (struct ray_type){ .kind = RAY_TYPE_POINTER, .target = to, .size = 8, .align = 8 };
	return t;
}

const struct ray_type *ray_type_array(struct ray_types *types, const struct ray_type *of, uint64_t count)
{
	const struct ray_type *r = ray_type_resolve(of);
	struct ray_type *t = ray_arena_alloc(types->arena, sizeof(*t));

	if (!t || !r)
		return NULL;
	*t = (struct ray_type){ .kind = RAY_TYPE_ARRAY, .target = of, .count = count, .align = r->align };
	if (__builtin_mul_overflow(r->size, count, &t->size))
		t->size = UINT64_MAX;
	return t;
}

const struct ray_type *ray_type_qualified(struct ray_types *types, const struct ray_type *type, uint32_t flags)
{
	struct ray_type *t;

	if (!type || (type->flags & flags) == flags)
		return type;
	t = ray_arena_alloc(types->arena, sizeof(*t));
	if (!t)
		return NULL;
	*t = *type;
	t->flags |= flags;
	return t;
}

static struct ray_error *enter_enumerators(struct ray_types *types, const struct ray_type *type)
{
	for (uint64_t i = 0; i < type->count; i++)
		if (!enter(types, RAY_TYPE_INTEGER, type->enumerators[i].name, type, &type->enumerators[i]))
			return &ray_enomem;
	return NULL;
}

struct ray_error *ray_type_define(struct ray_types *types, struct ray_type *type)
{
	enum ray_type_kind kind = type->kind == RAY_TYPE_FORWARD ? type->forward_kind : type->kind;

	type->owner = types;
	if (type->name) {
		const struct ray_type *old = ray_type_defined(types, kind, type->name);

		if (old && type->kind == RAY_TYPE_FORWARD)
			return NULL; /* naming it again defines nothing */
		/* The table's own typedefs (u8, uid_t...) give way to a script's. */
		if (old && old->kind != RAY_TYPE_FORWARD && !(kind == RAY_TYPE_TYPEDEF && !old->owner))
			return ray_error_new(RAY_FAILED, "type redeclared: %s", type->name);
		if (!enter(types, kind, type->name, type, NULL))
			return &ray_enomem;
	}
	return type->kind == RAY_TYPE_ENUM ? enter_enumerators(types, type) : NULL;
}

const struct ray_enumerator *ray_type_enumerator(struct ray_types *types, const char *name,
						 const struct ray_type **type_ret)
{
	const struct ray_type_entry *e = find(types, RAY_TYPE_INTEGER, name);

	if (!e)
		return NULL;
	*type_ret = e->type;
	return e->enumerator;
}
