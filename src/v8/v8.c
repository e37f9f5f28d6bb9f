/* v8.c - see v8.h. SPDX-License-Identifier: MIT */
#include "v8/v8.h"

#include <string.h>

#include "v8/code.h"
#include "v8/function.h"
#include "v8/script.h"

bool ray_v8_init(struct ray_v8 *v8, const struct ray_v8_layout *layout, struct ray_reader memory)
{
	memset(v8, 0, sizeof(*v8));
	v8->layout = layout;
	v8->memory = memory;
	v8->arena = ray_arena_create();
	return v8->arena != NULL;
}

void ray_v8_deinit(struct ray_v8 *v8)
{
	ray_v8_scripts_free(v8);
	ray_vec_free(&v8->codes);
	ray_arena_free(v8->arena);
	v8->arena = NULL;
}

bool ray_v8_forget(struct ray_v8 *v8, bool with_maps)
{
	ray_v8_scripts_doubt(v8);
	v8->codes.n = 0;
	for (size_t i = 0; i < RAY_V8_MAP_CACHE; i++)
		if (with_maps || v8->maps[i].type < 0)
			v8->maps[i].map = 0;
	memset(v8->texts, 0, sizeof(v8->texts));
	ray_arena_free(v8->arena);
	v8->arena = ray_arena_create();
	return v8->arena != NULL;
}

bool ray_v8_word(struct ray_v8 *v8, uint64_t object, int64_t offset, uint64_t *ret)
{
	return ray_v8_is_object(object) && ray_read_u64(&v8->memory, object - 1 + (uint64_t)offset, ret);
}

bool ray_v8_field(struct ray_v8 *v8, uint64_t object, enum ray_v8_field field, uint64_t *ret)
{
	int32_t offset = ray_v8_get(v8->layout, field);

	return offset != RAY_V8_NONE && ray_v8_word(v8, object, offset, ret);
}

bool ray_v8_smi_field(struct ray_v8 *v8, uint64_t object, enum ray_v8_field field, int32_t *ret)
{
	uint64_t value;

	if (!ray_v8_field(v8, object, field, &value) || (value & 0xffffffff))
		return false;
	*ret = ray_v8_smi(value);
	return true;
}

/* The instance type a map gives to its objects, without asking whether it is a map. */
static bool raw_type(struct ray_v8 *v8, uint64_t map, uint16_t *ret)
{
	return ray_v8_is_object(map) &&
	       ray_read_u16(&v8->memory, map - 1 + (uint64_t)ray_v8_get(v8->layout, RAY_V8_MAP_INSTANCE_TYPE), ret);
}

/* -1 unless the map's own map says that it is one. */
static int32_t map_type(struct ray_v8 *v8, uint64_t map)
{
	struct ray_v8_map_cache *c = &v8->maps[(map >> 3) * 0x9e3779b1u % RAY_V8_MAP_CACHE];
	uint64_t meta;
	uint16_t type, of_meta;

	if (c->map == map)
		return c->type;
	c->map = map;
	c->type = -1;
	if (ray_v8_word(v8, map, 0, &meta) && raw_type(v8, meta, &of_meta) &&
	    of_meta == ray_v8_get(v8->layout, RAY_V8_TYPE_MAP) && raw_type(v8, map, &type))
		c->type = type;
	return c->type;
}

int32_t ray_v8_type(struct ray_v8 *v8, uint64_t object)
{
	uint64_t map;

	if (!ray_v8_word(v8, object, 0, &map))
		return -1;
	if (ray_v8_is_smi(map) && !ray_v8_word(v8, map + 1, 0, &map))
		return -1;
	return ray_v8_is_object(map) ? map_type(v8, map) : -1;
}

bool ray_v8_is(struct ray_v8 *v8, uint64_t object, enum ray_v8_field type)
{
	return ray_v8_has(v8->layout, type) && ray_v8_type(v8, object) == ray_v8_get(v8->layout, type);
}

bool ray_v8_is_string(struct ray_v8 *v8, uint64_t object)
{
	int32_t type = ray_v8_type(v8, object);

	return type >= 0 && type < ray_v8_get(v8->layout, RAY_V8_FIRST_NONSTRING);
}

bool ray_v8_is_context(struct ray_v8 *v8, uint64_t object)
{
	int32_t type = ray_v8_type(v8, object);

	return type >= ray_v8_get(v8->layout, RAY_V8_TYPE_CONTEXT_FIRST) &&
	       type <= ray_v8_get(v8->layout, RAY_V8_TYPE_CONTEXT_LAST);
}

bool ray_v8_is_function(struct ray_v8 *v8, uint64_t object)
{
	int32_t type = ray_v8_type(v8, object);
	uint64_t shared;

	return type >= ray_v8_get(v8->layout, RAY_V8_TYPE_JSFUNCTION) &&
	       type <= ray_v8_get(v8->layout, RAY_V8_TYPE_JSFUNCTION_LAST) &&
	       ray_v8_field(v8, object, RAY_V8_JSFUNCTION_SHARED, &shared) && ray_v8_is(v8, shared, RAY_V8_TYPE_SFI);
}

bool ray_v8_element(struct ray_v8 *v8, uint64_t array, int64_t index, uint64_t *ret)
{
	int32_t length;

	return ray_v8_smi_field(v8, array, RAY_V8_ARRAY_LENGTH, &length) && index >= 0 && index < length &&
	       ray_v8_word(v8, array, ray_v8_get(v8->layout, RAY_V8_ARRAY_DATA) + index * 8, ret);
}

const uint8_t *ray_v8_bytes(struct ray_v8 *v8, uint64_t array, size_t limit, size_t *size_ret)
{
	int32_t length;
	uint8_t *bytes;

	if (!ray_v8_is(v8, array, RAY_V8_TYPE_BYTE_ARRAY) && !ray_v8_is(v8, array, RAY_V8_TYPE_TRUSTED_BYTE_ARRAY))
		return NULL;
	if (!ray_v8_smi_field(v8, array, RAY_V8_ARRAY_LENGTH, &length) || length < 0 || (size_t)length > limit)
		return NULL;
	bytes = ray_arena_alloc(v8->arena, (size_t)length + 1);
	if (!bytes || !ray_read(&v8->memory, array - 1 + (uint64_t)ray_v8_get(v8->layout, RAY_V8_ARRAY_DATA), bytes,
				(size_t)length))
		return NULL;
	*size_ret = (size_t)length;
	return bytes;
}
