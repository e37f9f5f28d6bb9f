/* region_kinds.c - the table of kinds, see regions.h. SPDX-License-Identifier: MIT */
#include "stack/regions.h"

static const struct {
	enum ray_region_group group;
	const char *name, *text;
} kinds[] = {
#define X(kind, group, json, text) { RAY_GROUP_##group, json, text },
	RAY_REGION_KINDS(X)
#undef X
};

static const struct {
	const char *name, *text;
} groups[] = {
	[RAY_GROUP_V8] = { "v8", "V8 heap" },
	[RAY_GROUP_EXTERNAL] = { "external", "external" },
	[RAY_GROUP_NATIVE] = { "native", "native heap" },
	[RAY_GROUP_CODE] = { "code", "code" },
	[RAY_GROUP_STACKS] = { "stacks", "stacks" },
	[RAY_GROUP_FILES] = { "files", "files" },
	[RAY_GROUP_OTHER] = { "other", "other" },
	[RAY_GROUP_RESERVED] = { "reserved", "reserved" },
};

enum ray_region_group ray_region_group(enum ray_region_kind kind)
{
	return kinds[kind].group;
}

const char *ray_region_kind_name(enum ray_region_kind kind)
{
	return kinds[kind].name;
}

const char *ray_region_kind_text(enum ray_region_kind kind)
{
	return kinds[kind].text;
}

const char *ray_region_group_name(enum ray_region_group group)
{
	return groups[group].name;
}

const char *ray_region_group_text(enum ray_region_group group)
{
	return groups[group].text;
}
