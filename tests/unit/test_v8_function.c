/* test_v8_function.c - names of functions and classes, and properties. SPDX-License-Identifier: MIT */
#include "fake_heap.h"
#include "v8/function.h"
#include "v8/property.h"

/* ------------------------------------------------------------------------------ names */

static const char *name_of(struct fake_heap *h, uint64_t name_or_scope)
{
	return ray_v8_shared_name(&h->v8, fake_shared(h, name_or_scope, 0));
}

static void a_name_may_stand_by_itself(void **state)
{
	struct fake_heap *h = *state;

	assert_string_equal(name_of(h, fake_one(h, "builtin")), "builtin");
	assert_string_equal(name_of(h, fake_smi(0)), "");
}

/* With 75 context locals their names move to a hash table. */
static void a_name_is_found_behind_any_number_of_locals(void **state)
{
	static const int32_t counts[] = { 0, 1, 5, 74, 75, 76, 300 };
	struct fake_heap *h = *state;
	uint64_t name = fake_one(h, "handle"), inferred = fake_one(h, "Server.handle");
	int32_t start, end;

	for (size_t i = 0; i < RAY_COUNT(counts); i++) {
		uint64_t named = fake_shared(h, fake_scope(h, counts[i], name, 0, 12, 34), 0);

		assert_string_equal(ray_v8_shared_name(&h->v8, named), "handle");
		assert_true(ray_v8_shared_range(&h->v8, named, &start, &end));
		assert_int_equal(start, 12);
		assert_int_equal(end, 34);
		assert_string_equal(name_of(h, fake_scope(h, counts[i], 0, inferred, 12, 34)), "Server.handle");
		assert_string_equal(name_of(h, fake_scope(h, counts[i], 0, 0, 12, 34)), "");
	}
}

static void an_empty_name_gives_way_to_the_inferred_one(void **state)
{
	struct fake_heap *h = *state;
	uint64_t empty = fake_one(h, "");

	assert_string_equal(name_of(h, fake_scope(h, 2, empty, fake_one(h, "exports.run"), 0, 9)), "exports.run");
	assert_string_equal(name_of(h, fake_scope(h, 2, empty, empty, 0, 9)), "");
}

static void names_beyond_the_outer_scope_are_not_taken(void **state)
{
	struct fake_heap *h = *state;
	uint64_t outer = fake_scope(h, 0, fake_one(h, "outer"), 0, 0, 99);

	/* Where there is no name, the next slots are the range and the outer scope, then something else. */
	uint64_t scope = fake_scope(h, 0, 0, 0, 5, 9);
	int64_t at = fake_get(h, RAY_V8_SCOPE_FIRST) + 8 * (int64_t)fake_get(h, RAY_V8_SCOPE_IDX_FIRST_VARS);

	at += fake_get(h, RAY_V8_SCOPE_IDX_FIRST_VARS) >= 5 ? 0 : 16;
	fake_word(h, scope, at, outer);
	fake_word(h, scope, at + 8, fake_one(h, "stranger"));
	assert_string_equal(name_of(h, scope), "");
}

static void a_name_that_cannot_be_read_is_not_taken_for_none(void **state)
{
	const uint64_t gone = 0x7000000000000001;
	struct fake_heap *h = *state;

	assert_null(name_of(h, fake_scope(h, 2, gone, 0, 0, 9)));
	assert_null(name_of(h, fake_scope(h, 2, 0, gone, 0, 9)));
	assert_string_equal(name_of(h, fake_scope(h, 2, gone, fake_one(h, "exports.run"), 0, 9)), "exports.run");
}

static void damaged_scopes_have_no_name(void **state)
{
	static const int32_t counts[] = { -1, INT32_MIN, INT32_MAX, 1 << 19 };
	struct fake_heap *h = *state;
	uint64_t scope = fake_scope(h, 0, fake_one(h, "x"), 0, 0, 1);
	int64_t locals = fake_get(h, RAY_V8_SCOPE_FIRST) + 8 * (int64_t)fake_get(h, RAY_V8_SCOPE_IDX_LOCALS);
	int32_t start, end;

	for (size_t i = 0; i < RAY_COUNT(counts); i++) {
		const char *name;

		fake_word(h, scope, locals, fake_smi(counts[i]));
		name = name_of(h, scope);
		assert_true(!name || !name[0]);
	}
	assert_null(name_of(h, h->meta));
	assert_null(ray_v8_shared_name(&h->v8, h->meta));
	assert_null(ray_v8_shared_name(&h->v8, fake_smi(1)));
	scope = fake_scope(h, 0, fake_one(h, "x"), 0, 10, 5); /* ends before it starts */
	assert_false(ray_v8_shared_range(&h->v8, fake_shared(h, scope, 0), &start, &end));
}

/* ------------------------------------------------------------------------------ properties */

struct property {
	const char *name;
	uint64_t value;
	enum { IN_OBJECT, IN_ARRAY, IN_DESCRIPTOR, ACCESSOR } where;
};

enum { IN_OBJECT_START = 9, IN_OBJECT_SLOTS = 2 };

/* An object with a map of its own: words 9 and 10 hold properties, further ones lie in the property array. */
static void add_fast(struct fake_heap *h, uint64_t object, uint64_t map, const struct property *p, uint32_t count)
{
	uint64_t d = fake_alloc(h, (size_t)fake_get(h, RAY_V8_DESCRIPTORS_HEADER) + 24 * count) + 1;
	uint32_t bits = count << fake_get(h, RAY_V8_OWN_DESCRIPTORS_SHIFT);
	uint8_t start = IN_OBJECT_START, size = IN_OBJECT_START + IN_OBJECT_SLOTS;
	uint64_t outside[8] = { 0 };
	int32_t inside = 0, out = 0;

	fake_put(h, map - 1 + (uint64_t)fake_get(h, RAY_V8_MAP_BIT_FIELD3), &bits, sizeof(bits));
	fake_put(h, map - 1 + (uint64_t)fake_get(h, RAY_V8_MAP_INOBJECT_START), &start, 1);
	fake_put(h, map - 1 + (uint64_t)fake_get(h, RAY_V8_MAP_INSTANCE_SIZE), &size, 1);
	fake_set(h, map, RAY_V8_MAP_DESCRIPTORS, d);
	for (uint32_t i = 0; i < count; i++) {
		int64_t at = fake_get(h, RAY_V8_DESCRIPTORS_HEADER) + 24 * (int64_t)i;
		int32_t details = 0, index = 0;

		if (p[i].where == IN_OBJECT) {
			fake_word(h, object, (IN_OBJECT_START + inside) * 8, p[i].value);
			index = inside++;
		} else if (p[i].where == IN_ARRAY) {
			outside[out] = p[i].value;
			index = IN_OBJECT_SLOTS + out++;
		} else if (p[i].where == IN_DESCRIPTOR) {
			details = 1 << fake_get(h, RAY_V8_PROP_LOCATION_SHIFT);
		} else {
			details = fake_get(h, RAY_V8_PROP_KIND_MASK);
		}
		details |= index << fake_get(h, RAY_V8_PROP_INDEX_SHIFT);
		fake_word(h, d, at, fake_one(h, p[i].name));
		fake_word(h, d, at + 8, fake_smi(details));
		fake_word(h, d, at + 16, p[i].value);
	}
	fake_set(h, object, RAY_V8_PROPERTIES, fake_array(h, outside, 8));
}

static uint64_t new_object(struct fake_heap *h, enum ray_v8_field type, uint64_t *map_ret)
{
	uint64_t map = fake_new_map(h, fake_get(h, type)), object = fake_alloc(h, 96) + 1;

	fake_word(h, object, 0, map);
	*map_ret = map;
	return object;
}

static void fast_properties_lie_in_three_places(void **state)
{
	struct fake_heap *h = *state;
	struct property p[] = { { "a", fake_smi(1), IN_OBJECT },     { "b", fake_smi(2), IN_OBJECT },
				{ "c", fake_smi(3), IN_ARRAY },	     { "d", fake_smi(4), IN_ARRAY },
				{ "e", fake_smi(5), IN_DESCRIPTOR }, { "f", fake_smi(6), ACCESSOR } };
	uint64_t map, object = new_object(h, RAY_V8_TYPE_JSOBJECT, &map), value = 0;

	add_fast(h, object, map, p, RAY_COUNT(p));
	for (size_t i = 0; i < 5; i++) {
		assert_true(ray_v8_property_get(&h->v8, object, p[i].name, &value));
		assert_int_equal(value, p[i].value);
	}
	assert_false(ray_v8_property_get(&h->v8, object, "f", &value)); /* a getter is not run */
	assert_false(ray_v8_property_get(&h->v8, object, "g", &value));
	assert_string_equal(ray_v8_property_holding(&h->v8, object, fake_smi(4)), "d");
	assert_null(ray_v8_property_holding(&h->v8, object, fake_smi(9)));
}

static uint64_t add_dictionary(struct fake_heap *h, uint64_t object, uint64_t map, int32_t capacity)
{
	int32_t first = fake_get(h, RAY_V8_DICTIONARY_PREFIX_START) + fake_get(h, RAY_V8_DICTIONARY_PREFIX_SIZE);
	uint64_t words[64] = { 0 };
	uint32_t bits = 1u << fake_get(h, RAY_V8_DICTIONARY_SHIFT);
	uint64_t table;

	words[fake_get(h, RAY_V8_DICTIONARY_PREFIX_START) - 1] = fake_smi(capacity);
	words[first + 3] = fake_one(h, "held");
	words[first + 4] = fake_smi(42);
	words[first + 9] = fake_one(h, "getter");
	words[first + 10] = fake_smi(43);
	words[first + 11] = fake_smi(fake_get(h, RAY_V8_PROP_KIND_MASK));
	table = fake_array(h, words, first + 4 * 3);
	fake_put(h, map - 1 + (uint64_t)fake_get(h, RAY_V8_MAP_BIT_FIELD3), &bits, sizeof(bits));
	fake_set(h, object, RAY_V8_PROPERTIES, table);
	return table;
}

static void dictionary_properties_are_found(void **state)
{
	struct fake_heap *h = *state;
	uint64_t map, object = new_object(h, RAY_V8_TYPE_JSOBJECT, &map), value = 0;

	add_dictionary(h, object, map, 4);
	assert_true(ray_v8_property_get(&h->v8, object, "held", &value));
	assert_int_equal(value, fake_smi(42));
	assert_false(ray_v8_property_get(&h->v8, object, "getter", &value));
	assert_string_equal(ray_v8_property_holding(&h->v8, object, fake_smi(42)), "held");
}

static void damaged_dictionaries_end(void **state)
{
	static const int32_t capacities[] = { -1, INT32_MAX, 1 << 16, INT32_MIN };
	struct fake_heap *h = *state;
	uint64_t value;

	for (size_t i = 0; i < RAY_COUNT(capacities); i++) {
		uint64_t map, object = new_object(h, RAY_V8_TYPE_JSOBJECT, &map);

		add_dictionary(h, object, map, capacities[i]);
		h->reads = 0;
		ray_v8_property_get(&h->v8, object, "nothing", &value);
		assert_true(h->reads < 1000000);
	}
}

static void rings_of_prototypes_end(void **state)
{
	struct fake_heap *h = *state;
	uint64_t map, object = new_object(h, RAY_V8_TYPE_JSOBJECT, &map);

	fake_set(h, map, RAY_V8_MAP_PROTOTYPE, object);
	assert_null(ray_v8_property_holding(&h->v8, object, fake_smi(9)));
}

static void a_name_set_at_run_time_counts(void **state)
{
	struct fake_heap *h = *state;
	struct property p[] = { { "length", fake_smi(0), ACCESSOR }, { "name", 0, IN_DESCRIPTOR } };
	uint64_t map, f = new_object(h, RAY_V8_TYPE_JSFUNCTION, &map);

	fake_set(h, f, RAY_V8_JSFUNCTION_SHARED, fake_shared(h, fake_one(h, ""), 0));
	p[1].value = fake_one(h, "computed");
	add_fast(h, f, map, p, 2);
	assert_string_equal(ray_v8_function_name(&h->v8, f), "computed");
	/* In nearly all functions it is an accessor. */
	p[1].where = ACCESSOR;
	fake_set(h, f, RAY_V8_JSFUNCTION_SHARED, fake_shared(h, fake_one(h, "shared"), 0));
	add_fast(h, f, map, p, 2);
	assert_string_equal(ray_v8_function_name(&h->v8, f), "shared");
}

/* ------------------------------------------------------------------------------ classes */

static void the_class_is_that_of_the_first_map(void **state)
{
	struct fake_heap *h = *state;
	uint64_t map, object = new_object(h, RAY_V8_TYPE_JSOBJECT, &map);
	uint64_t first = fake_new_map(h, fake_get(h, RAY_V8_TYPE_JSOBJECT));
	uint64_t server = fake_function(h, fake_shared(h, fake_one(h, "Server"), 0));

	fake_set(h, map, RAY_V8_MAP_CONSTRUCTOR, first);
	fake_set(h, first, RAY_V8_MAP_CONSTRUCTOR, server);
	assert_string_equal(ray_v8_class_name(&h->v8, object), "Server");
	fake_set(h, first, RAY_V8_MAP_CONSTRUCTOR, fake_one(h, "no function"));
	assert_null(ray_v8_class_name(&h->v8, object));
}

static void rings_of_back_pointers_end(void **state)
{
	struct fake_heap *h = *state;
	uint64_t map, object = new_object(h, RAY_V8_TYPE_JSOBJECT, &map);

	fake_set(h, map, RAY_V8_MAP_CONSTRUCTOR, map);
	h->reads = 0;
	assert_null(ray_v8_class_name(&h->v8, object));
	assert_true(h->reads < 100000);
	assert_null(ray_v8_class_name(&h->v8, fake_smi(7)));
}

/* A class constructor has an instance type of its own; V8 16 does not say how many there are. */
static void class_constructors_are_functions(void **state)
{
	struct fake_heap *h = *state;
	uint64_t f = fake_object_of(h, fake_get(h, RAY_V8_TYPE_JSFUNCTION) + 12, 72);

	fake_set(h, f, RAY_V8_JSFUNCTION_SHARED, fake_shared(h, fake_one(h, "Base"), 0));
	assert_true(ray_v8_is_function(&h->v8, f));
	fake_set(h, f, RAY_V8_JSFUNCTION_SHARED, fake_one(h, "no SharedFunctionInfo"));
	assert_false(ray_v8_is_function(&h->v8, f));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		fake_test(a_name_may_stand_by_itself),
		fake_test(a_name_is_found_behind_any_number_of_locals),
		fake_test(an_empty_name_gives_way_to_the_inferred_one),
		fake_test(names_beyond_the_outer_scope_are_not_taken),
		fake_test(a_name_that_cannot_be_read_is_not_taken_for_none),
		fake_test(damaged_scopes_have_no_name),
		fake_test(fast_properties_lie_in_three_places),
		fake_test(dictionary_properties_are_found),
		fake_test(damaged_dictionaries_end),
		fake_test(rings_of_prototypes_end),
		fake_test(a_name_set_at_run_time_counts),
		fake_test(the_class_is_that_of_the_first_map),
		fake_test(rings_of_back_pointers_end),
		fake_test(class_constructors_are_functions),
	};

	return cmocka_run_group_tests_name("v8/function", tests, NULL, NULL);
}
