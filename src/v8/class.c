/* class.c - what kind of thing an object is, as V8's own stack traces would call it.
 * SPDX-License-Identifier: MIT
 *
 * An object's map names the function that made it; with inheritance that is the base class, and the class itself
 * is only to be had as the property "constructor" of a prototype. */
#include <string.h>

#include "v8/function.h"
#include "v8/property.h"
#include "v8/string.h"

enum {
	NAME_LIMIT = 256,
	MAX_BACK_POINTERS = 2000,
	MAX_PROTOTYPES = 16,
	NEW_TARGET_IS_BASE = 1, /* of bit_field2: made by new F() itself, not by a class derived from F */
};

/* A map points back to the map it grew from, and the first of them to the constructor. */
static bool constructor_of(struct ray_v8 *v8, uint64_t map, uint64_t *ret)
{
	uint64_t value;

	for (int i = 0; i < MAX_BACK_POINTERS; i++) {
		if (!ray_v8_field(v8, map, RAY_V8_MAP_CONSTRUCTOR, &value))
			return false;
		if (!ray_v8_is(v8, value, RAY_V8_TYPE_MAP)) {
			*ret = value;
			return ray_v8_is_function(v8, value);
		}
		map = value;
	}
	return false;
}

static bool map_of(struct ray_v8 *v8, uint64_t object, uint64_t *ret)
{
	return ray_v8_word(v8, object, 0, ret) && ray_v8_is(v8, *ret, RAY_V8_TYPE_MAP);
}

static bool is_base(struct ray_v8 *v8, uint64_t map)
{
	int32_t offset = ray_v8_get(v8->layout, RAY_V8_MAP_BIT_FIELD2);
	uint8_t bits;

	return offset == RAY_V8_NONE ||
	       (ray_read(&v8->memory, map - 1 + (uint64_t)offset, &bits, 1) && (bits & NEW_TARGET_IS_BASE));
}

/* What an object or a prototype of it says about itself. */
struct clue {
	struct ray_v8 *v8;
	const char *tag, *constructor;
};

static bool is_named(struct ray_v8 *v8, uint64_t key, const char *name)
{
	const char *text;

	if (ray_v8_string_length(v8, key) != (int64_t)strlen(name))
		return false;
	text = ray_v8_string_text(v8, key, NAME_LIMIT);
	return text && !strcmp(text, name);
}

static bool look_at(uint64_t key, uint64_t value, void *arg)
{
	struct clue *c = arg;
	uint64_t description;

	if (ray_v8_is(c->v8, key, RAY_V8_TYPE_SYMBOL)) {
		if (ray_v8_is_string(c->v8, value) && ray_v8_field(c->v8, key, RAY_V8_SYMBOL_NAME, &description) &&
		    is_named(c->v8, description, "Symbol.toStringTag"))
			c->tag = ray_v8_string_text(c->v8, value, NAME_LIMIT);
	} else if (is_named(c->v8, key, "constructor")) {
		c->constructor = ray_v8_function_name(c->v8, value);
	}
	return !c->tag;
}

/* Every object is an Object in the end: that says nothing. */
static bool says_something(const char *name)
{
	return name && name[0] && strcmp(name, "Object");
}

static const char *name_by_prototypes(struct ray_v8 *v8, uint64_t object)
{
	uint64_t map;

	for (int i = 0; i < MAX_PROTOTYPES; i++) {
		struct clue c = { .v8 = v8 };

		ray_v8_property_each(v8, object, look_at, &c);
		if (c.tag)
			return c.tag;
		if (says_something(c.constructor))
			return c.constructor;
		if (!map_of(v8, object, &map) || !ray_v8_field(v8, map, RAY_V8_MAP_PROTOTYPE, &object) ||
		    ray_v8_type(v8, object) < 0)
			return NULL;
	}
	return NULL;
}

const char *ray_v8_class_name(struct ray_v8 *v8, uint64_t object)
{
	const char *name = NULL, *better;
	uint64_t map, constructor;

	if (!map_of(v8, object, &map))
		return NULL;
	if (constructor_of(v8, map, &constructor))
		name = ray_v8_function_name(v8, constructor);
	if (says_something(name) && is_base(v8, map))
		return name;
	better = name_by_prototypes(v8, object);
	return better ? better : name;
}
