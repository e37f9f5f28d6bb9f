/* property.c - see property.h. SPDX-License-Identifier: MIT */
#include "v8/property.h"

#include <string.h>

#include "v8/string.h"

enum {
	NAME_LIMIT = 256,
	MAX_DESCRIPTORS = 1020,
	MAX_ENTRIES = 1 << 14,
	MAX_PROTOTYPES = 16,
	AT_ONCE = 64, /* entries that are read together */
};

struct visit {
	struct ray_v8 *v8;
	uint64_t object, map;
	bool (*each)(uint64_t key, uint64_t value, void *arg);
	void *arg;
	bool accessors;	  /* pass them too: the value is what holds their functions */
	bool is_accessor; /* the one that is passed */
};

static bool read_byte(struct ray_v8 *v8, uint64_t map, enum ray_v8_field field, uint8_t *ret)
{
	return ray_read(&v8->memory, map - 1 + (uint64_t)ray_v8_get(v8->layout, field), ret, 1);
}

/* A fast property lies in the descriptor, in the object, or in its property array. */
static bool fast_value(const struct visit *v, int32_t details, uint64_t in_descriptor, uint64_t *ret)
{
	const struct ray_v8_layout *l = v->v8->layout;
	uint8_t size, start;
	uint64_t properties;
	int32_t index;

	if ((details & ray_v8_get(l, RAY_V8_PROP_LOCATION_MASK)) >> ray_v8_get(l, RAY_V8_PROP_LOCATION_SHIFT)) {
		*ret = in_descriptor;
		return true;
	}
	index = (details & ray_v8_get(l, RAY_V8_PROP_INDEX_MASK)) >> ray_v8_get(l, RAY_V8_PROP_INDEX_SHIFT);
	if (!read_byte(v->v8, v->map, RAY_V8_MAP_INSTANCE_SIZE, &size) ||
	    !read_byte(v->v8, v->map, RAY_V8_MAP_INOBJECT_START, &start))
		return false;
	if (start <= size && index < size - start)
		return ray_v8_word(v->v8, v->object, (int64_t)(start + index) * 8, ret);
	return ray_v8_field(v->v8, v->object, RAY_V8_PROPERTIES, &properties) &&
	       ray_v8_word(v->v8, properties, ray_v8_get(l, RAY_V8_ARRAY_DATA) + (int64_t)(index - (size - start)) * 8,
			   ret);
}

static bool is_skipped(struct visit *v, int32_t details)
{
	v->is_accessor = details & ray_v8_get(v->v8->layout, RAY_V8_PROP_KIND_MASK);
	return v->is_accessor && !v->accessors;
}

/* Three words each, from address on. false: they cannot be read. */
static bool read_entries(const struct visit *v, uint64_t address, int64_t i, int64_t count, uint64_t (*ret)[3])
{
	int64_t n = count - i < AT_ONCE ? count - i : AT_ONCE;

	return ray_read(&v->v8->memory, address + (uint64_t)i * sizeof(*ret), ret, (size_t)n * sizeof(*ret));
}

static bool visit_fast(struct visit *v, uint32_t bits)
{
	const struct ray_v8_layout *l = v->v8->layout;
	uint64_t descriptors, at, entries[AT_ONCE][3], value;
	int count = (int)((bits & (uint32_t)ray_v8_get(l, RAY_V8_OWN_DESCRIPTORS_MASK)) >>
			  ray_v8_get(l, RAY_V8_OWN_DESCRIPTORS_SHIFT));

	if (count > MAX_DESCRIPTORS || !ray_v8_field(v->v8, v->map, RAY_V8_MAP_DESCRIPTORS, &descriptors) ||
	    !ray_v8_is_object(descriptors))
		return false;
	at = descriptors - 1 + (uint64_t)ray_v8_get(l, RAY_V8_DESCRIPTORS_HEADER);
	for (int i = 0; i < count; i++) {
		const uint64_t *words = entries[i % AT_ONCE];

		if (!(i % AT_ONCE) && !read_entries(v, at, i, count, entries))
			return false;
		if (!ray_v8_is_smi(words[1]))
			return false;
		if (is_skipped(v, ray_v8_smi(words[1])) || !fast_value(v, ray_v8_smi(words[1]), words[2], &value))
			continue;
		if (!v->each(words[0], value, v->arg))
			break;
	}
	return true;
}

static bool visit_dictionary(struct visit *v)
{
	const struct ray_v8_layout *l = v->v8->layout;
	int64_t prefix = ray_v8_get(l, RAY_V8_DICTIONARY_PREFIX_START),
		entry = ray_v8_get(l, RAY_V8_DICTIONARY_ENTRY_SIZE);
	int64_t first = prefix + ray_v8_get(l, RAY_V8_DICTIONARY_PREFIX_SIZE);
	uint64_t table, at, capacity, entries[AT_ONCE][3];

	if (entry != 3 || !ray_v8_field(v->v8, v->object, RAY_V8_PROPERTIES, &table) ||
	    !ray_v8_element(v->v8, table, prefix - 1, &capacity) || !ray_v8_is_smi(capacity) ||
	    ray_v8_smi(capacity) < 0 || ray_v8_smi(capacity) > MAX_ENTRIES)
		return false;
	at = table - 1 + (uint64_t)(ray_v8_get(l, RAY_V8_ARRAY_DATA) + first * 8);
	for (int64_t i = 0; i < ray_v8_smi(capacity); i++) {
		const uint64_t *words = entries[i % AT_ONCE];

		if (!(i % AT_ONCE) && !read_entries(v, at, i, ray_v8_smi(capacity), entries))
			return false;
		if (!ray_v8_is_object(words[0]) || !ray_v8_is_smi(words[2]) || is_skipped(v, ray_v8_smi(words[2])))
			continue;
		if (!v->each(words[0], words[1], v->arg))
			break;
	}
	return true;
}

static bool visit(struct visit *v)
{
	struct ray_v8 *v8 = v->v8;
	uint32_t bits;

	if (!ray_v8_word(v8, v->object, 0, &v->map) || !ray_v8_is(v8, v->map, RAY_V8_TYPE_MAP) ||
	    !ray_read_u32(&v8->memory, v->map - 1 + (uint64_t)ray_v8_get(v8->layout, RAY_V8_MAP_BIT_FIELD3), &bits))
		return false;
	return bits >> ray_v8_get(v8->layout, RAY_V8_DICTIONARY_SHIFT) & 1 ? visit_dictionary(v) : visit_fast(v, bits);
}

bool ray_v8_property_each(struct ray_v8 *v8, uint64_t object, bool (*each)(uint64_t key, uint64_t value, void *arg),
			  void *arg)
{
	struct visit v = { .v8 = v8, .object = object, .each = each, .arg = arg };

	return visit(&v);
}

struct search {
	struct ray_v8 *v8;
	const char *name;
	uint64_t value, key;
	bool found;
	const struct visit *visit;
};

static bool by_name(uint64_t key, uint64_t value, void *arg)
{
	struct search *s = arg;
	const char *text;

	if (ray_v8_string_length(s->v8, key) != (int64_t)strlen(s->name))
		return true;
	text = ray_v8_string_text(s->v8, key, NAME_LIMIT);
	if (!text || strcmp(text, s->name))
		return true;
	s->value = value;
	s->found = true;
	return false;
}

bool ray_v8_property_get(struct ray_v8 *v8, uint64_t object, const char *name, uint64_t *ret)
{
	struct search s = { .v8 = v8, .name = name };

	ray_v8_property_each(v8, object, by_name, &s);
	if (s.found)
		*ret = s.value;
	return s.found;
}

/* An AccessorPair is two words behind its map: getter and setter. */
static bool holds(struct ray_v8 *v8, uint64_t pair, uint64_t function)
{
	uint64_t getter, setter;

	return ray_v8_is(v8, pair, RAY_V8_TYPE_ACCESSOR_PAIR) && ray_v8_word(v8, pair, 8, &getter) &&
	       ray_v8_word(v8, pair, 16, &setter) && (getter == function || setter == function);
}

static bool by_value(uint64_t key, uint64_t value, void *arg)
{
	struct search *s = arg;

	/* Most objects have hundreds of properties behind them: what they hold is not looked at unless it may matter. */
	if (s->visit->is_accessor ? !holds(s->v8, value, s->value) : value != s->value)
		return true;
	if (!ray_v8_is_string(s->v8, key))
		return true;
	s->key = key;
	s->found = true;
	return false;
}

const char *ray_v8_property_holding(struct ray_v8 *v8, uint64_t object, uint64_t value)
{
	struct search s = { .v8 = v8, .value = value };
	uint64_t map;

	for (int i = 0; i < MAX_PROTOTYPES; i++) {
		struct visit v = { .v8 = v8, .object = object, .each = by_value, .arg = &s, .accessors = true };

		s.visit = &v;
		visit(&v);
		if (s.found)
			return ray_v8_string_text(v8, s.key, NAME_LIMIT);
		if (!ray_v8_word(v8, object, 0, &map) || !ray_v8_field(v8, map, RAY_V8_MAP_PROTOTYPE, &object) ||
		    ray_v8_type(v8, object) < 0)
			return NULL;
	}
	return NULL;
}
