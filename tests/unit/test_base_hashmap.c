/* test_base_hashmap.c - the hash map against a plain array, and the hash. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/hashmap.h"

/* ---- allocation failures ---- */

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

static bool has_no_memory;

void *__wrap_calloc(size_t count, size_t size)
{
	return has_no_memory ? NULL : __real_calloc(count, size);
}

/* ---- reproducible random numbers ---- */

static uint64_t state_of_random = 1;

static uint64_t random_word(void)
{
	state_of_random ^= state_of_random << 13;
	state_of_random ^= state_of_random >> 7;
	state_of_random ^= state_of_random << 17;
	return state_of_random * 0x2545f4914f6cdd1dULL >> 16;
}

static uint32_t random_below(uint32_t limit)
{
	return (uint32_t)(random_word() % limit);
}

/* ---- hash functions, most of them bad ---- */

static uint64_t good(uint32_t key)
{
	return ray_hash_word(0, key);
}

static uint64_t identity(uint32_t key)
{
	return key;
}

static uint64_t all_equal(uint32_t key)
{
	(void)key;
	return 5;
}

static uint64_t few(uint32_t key)
{
	return key % 7 * 3;
}

/* Probe sequences start at the last slots and wrap around. */
static uint64_t at_the_end(uint32_t key)
{
	return ~(uint64_t)0 - key % 3;
}

/* Keys differ only in bits that do not select the slot. */
static uint64_t high(uint32_t key)
{
	return (uint64_t)key << 32;
}

struct hash {
	uint64_t (*of)(uint32_t key);
	uint32_t keys; /* few for bad functions: long probe sequences */
	uint32_t steps;
};

static const struct hash hashes[] = {
	{ good, 40000, 1500000 },  { good, 100, 500000 },      { identity, 20000, 1000000 }, { few, 90, 300000 },
	{ all_equal, 60, 200000 }, { at_the_end, 90, 300000 }, { high, 60, 200000 },
};

/* ---- the map and its model ---- */

struct value {
	uint32_t key;
	uint64_t words[3];
};

typedef RAY_HASHMAP(struct value) value_map;

struct model {
	const struct hash *hash;
	value_map map;
	bool *has;
	uint64_t *words;
	size_t count;
};

static struct value *find(struct model *m, uint32_t key)
{
	return ray_hashmap_find(&m->map, m->hash->of(key), one, one->key == key);
}

static void check(struct model *m, uint32_t key)
{
	const struct value *v = find(m, key);

	assert_int_equal(v != NULL, m->has[key]);
	if (v) {
		assert_int_equal(v->words[0], m->words[key]);
		assert_int_equal(v->words[2], ~m->words[key]);
	}
}

static void check_all(struct model *m)
{
	size_t seen = 0;

	for (uint32_t key = 0; key < m->hash->keys; key++)
		check(m, key);
	ray_hashmap_each(&m->map, one)
	{
		assert_true(one->key < m->hash->keys && m->has[one->key]);
		seen++;
	}
	assert_int_equal(seen, m->count);
	assert_int_equal(ray_hashmap_count(&m->map), m->count);
	assert_int_equal(m->map.map.room & (m->map.map.room - 1), 0);
	assert_true(m->count * 4 <= m->map.map.room * 3);
}

static void add(struct model *m, uint32_t key)
{
	struct value v = { key, { random_word(), 0, 0 } }, *place;
	size_t room = m->map.map.room;

	if (m->has[key])
		return;
	v.words[2] = ~v.words[0];
	place = ray_hashmap_add(&m->map, m->hash->of(key), v);
	if (!place) {
		assert_true(has_no_memory);
		assert_int_equal(m->map.map.room, room);
		assert_int_equal(ray_hashmap_count(&m->map), m->count);
		return;
	}
	assert_int_equal(place->key, key);
	m->has[key] = true;
	m->words[key] = v.words[0];
	m->count++;
}

static void remove_key(struct model *m, uint32_t key)
{
	struct value *v = find(m, key);

	check(m, key);
	if (!v)
		return;
	ray_hashmap_remove(&m->map, v);
	m->has[key] = false;
	m->count--;
	check(m, key);
}

static void empty(struct model *m, bool frees)
{
	if (frees)
		ray_hashmap_free(&m->map);
	else
		ray_hashmap_clear(&m->map);
	memset(m->has, 0, m->hash->keys * sizeof(*m->has));
	m->count = 0;
}

/* Moves all values to a new map. */
static void rebuild(struct model *m)
{
	value_map fresh = { 0 };

	if (!ray_hashmap_reserve(&fresh, m->count)) {
		assert_true(has_no_memory);
		return;
	}
	ray_hashmap_each(&m->map, one) assert_non_null(ray_hashmap_add(&fresh, m->hash->of(one->key), *one));
	ray_hashmap_free(&m->map);
	m->map = fresh;
}

/* Alternates between mostly adding and mostly removing, so that the map fills and empties. */
static void step(struct model *m, uint32_t i)
{
	uint32_t key = random_below(m->hash->keys), what = random_below(100), turn = i / (m->hash->keys * 2) % 2;

	if (what < (turn ? 30 : 60))
		add(m, key);
	else if (what < 90)
		remove_key(m, key);
	else
		check(m, key);
	if (!random_below(200))
		has_no_memory = !has_no_memory && !random_below(4);
	if (!random_below(m->hash->keys * 5))
		empty(m, random_below(2));
	if (!random_below(m->hash->keys * 5))
		rebuild(m);
	if (!random_below(m->hash->keys * 3))
		check_all(m);
}

static void random_operations_match_a_model(void **state)
{
	(void)state;
	for (size_t h = 0; h < sizeof(hashes) / sizeof(hashes[0]); h++) {
		struct model m = { .hash = &hashes[h],
				   .has = calloc(hashes[h].keys, sizeof(bool)),
				   .words = calloc(hashes[h].keys, sizeof(uint64_t)) };

		for (uint32_t i = 0; i < hashes[h].steps; i++)
			step(&m, i);
		has_no_memory = false;
		check_all(&m);
		ray_hashmap_free(&m.map);
		free(m.has);
		free(m.words);
	}
}

/* Checks all keys after each step up to 64 values, then around each growth step. */
static void a_search_ends_at_every_load(void **state)
{
	RAY_HASHMAP(uint32_t) map = { 0 };
	uint32_t last = 200000;

	(void)state;
	for (uint32_t n = 0; n < last; n++) {
		size_t room = map.map.room;
		bool is_near = n < 64 || n * 4 + 16 >= room * 3;

		for (uint32_t key = 0; is_near && key < n; key += n < 5000 ? 1 : 97)
			assert_non_null(ray_hashmap_find(&map, good(key), one, *one == key));
		for (uint32_t key = n; is_near && key < n + 50; key++)
			assert_null(ray_hashmap_find(&map, good(key), one, *one == key));
		assert_non_null(ray_hashmap_add(&map, good(n), n));
		assert_true(map.map.n < map.map.room);
	}
	for (uint32_t n = last; n-- > 0;) {
		ray_hashmap_remove(&map, ray_hashmap_find(&map, good(n), one, *one == n));
		assert_null(ray_hashmap_find(&map, good(n), one, *one == n));
	}
	assert_int_equal(ray_hashmap_count(&map), 0);
	ray_hashmap_each(&map, one) fail_msg("%u is still there", *one);
	ray_hashmap_free(&map);
}

static void an_empty_map_has_no_values(void **state)
{
	RAY_HASHMAP(const char *) map = { 0 };

	(void)state;
	assert_null(ray_hashmap_find(&map, 1, one, *one != NULL));
	ray_hashmap_each(&map, one) fail_msg("%s", *one);
	ray_hashmap_clear(&map);
	ray_hashmap_free(&map);
	ray_hashmap_free(&map);
}

static void adding_after_reserving_cannot_fail(void **state)
{
	RAY_HASHMAP(uint32_t) map = { 0 };

	(void)state;
	for (uint32_t count = 0; count < 300; count++) {
		assert_true(ray_hashmap_reserve(&map, count));
		has_no_memory = true;
		for (uint32_t i = 0; i < count; i++)
			assert_non_null(ray_hashmap_add(&map, good(i), i));
		assert_int_equal(ray_hashmap_count(&map), count);
		has_no_memory = false;
		ray_hashmap_free(&map);
	}
}

static void reserving_an_absurd_number_fails(void **state)
{
	RAY_HASHMAP(struct value) map = { 0 };

	(void)state;
	assert_false(ray_hashmap_reserve(&map, SIZE_MAX));
	assert_false(ray_hashmap_reserve(&map, SIZE_MAX / 4));
	assert_false(ray_hashmap_reserve(&map, (size_t)1 << 31));
	assert_null(ray_hashmap_find(&map, 1, one, one->key == 1));
}

static void iteration_over_one_hash(void **state)
{
	RAY_HASHMAP(int) map = { 0 };
	int sum = 0;

	(void)state;
	for (int i = 1; i <= 40; i++)
		assert_non_null(ray_hashmap_add(&map, (uint64_t)(i % 2), i));
	ray_hashmap_each_of(&map, 1, one) sum += *one;
	assert_int_equal(sum, 400);
	ray_hashmap_each_of(&map, 2, one) fail_msg("%d", *one);
	ray_hashmap_free(&map);
	ray_hashmap_each_of(&map, 1, one) fail_msg("%d", *one);
	ray_hashmap_free(&map);
}

static void a_map_can_allocate_from_an_arena(void **state)
{
	ray_auto(ray_arena, arena) = ray_arena_create();
	RAY_HASHMAP(uint32_t) map = { .map.arena = arena };

	(void)state;
	for (uint32_t i = 0; i < 3000; i++)
		assert_non_null(ray_hashmap_add(&map, good(i), i));
	for (uint32_t i = 0; i < 3000; i += 2)
		ray_hashmap_remove(&map, ray_hashmap_find(&map, good(i), one, *one == i));
	for (uint32_t i = 0; i < 3000; i++)
		assert_int_equal(ray_hashmap_find(&map, good(i), one, *one == i) != NULL, i % 2);
}

static void values_of_one_byte_and_of_many(void **state)
{
	RAY_HASHMAP(char) small = { 0 };
	RAY_HASHMAP(struct { char text[61]; }) large = { 0 };

	(void)state;
	for (int i = 0; i < 100; i++) {
		__typeof__(large.slot_[0]->value) v = { { 0 } };

		snprintf(v.text, sizeof(v.text), "number %d", i);
		assert_non_null(ray_hashmap_add(&small, (uint64_t)i, (char)i));
		assert_non_null(ray_hashmap_add(&large, ray_hash_text(0, v.text), v));
	}
	for (int i = 0; i < 100; i++) {
		char text[61];

		snprintf(text, sizeof(text), "number %d", i);
		assert_int_equal(*ray_hashmap_find(&small, (uint64_t)i, one, *one == i), i);
		assert_non_null(ray_hashmap_find(&large, ray_hash_text(0, text), one, !strcmp(one->text, text)));
	}
	ray_hashmap_free(&small);
	ray_hashmap_free(&large);
}

/* ---- the hash ---- */

/* The secret is random: runs a test with a thousand of them, all zeros and all ones included. */
static void with_secrets(void (*is_good)(void))
{
	struct ray_hash_secret own = ray_hash_secret;

	for (int i = 0; i < 1000; i++) {
		uint8_t random[16];

		for (size_t k = 0; k < sizeof(random); k++)
			random[k] = i == 0 ? 0 : i == 1 ? 0xff : (uint8_t)random_word();
		ray_hash_choose(random);
		is_good();
	}
	ray_hash_secret = own;
}

/* Flipping one input bit changes about half of the output bits, and the low 8 bits. */
static void check_bits(void)
{
	for (int bit = 0; bit < 64; bit++) {
		uint64_t changed = 0, low = 0;

		for (int i = 0; i < 200; i++) {
			uint64_t hash = random_word(), word = random_word(), plain = ray_hash_word(hash, word);

			changed += (uint64_t)__builtin_popcountll(plain ^ ray_hash_word(hash, word ^ 1ULL << bit));
			low += (plain ^ ray_hash_word(hash ^ 1ULL << bit, word)) % 256 != 0;
		}
		assert_in_range(changed, 200 * 24, 200 * 40);
		assert_in_range(low, 180, 200);
	}
}

static void every_bit_counts(void **state)
{
	(void)state;
	with_secrets(check_bits);
}

static void bytes_differ_by_length_and_content(void **state)
{
	unsigned char bytes[40] = { 0 };
	uint64_t seen[40];

	(void)state;
	for (size_t size = 0; size < sizeof(bytes); size++) {
		seen[size] = ray_hash_bytes(0, bytes, size);
		for (size_t i = 0; i < size; i++) {
			assert_true(seen[i] != seen[size]);
			bytes[i] = 1;
			assert_true(ray_hash_bytes(0, bytes, size) != seen[size]);
			bytes[i] = 0;
		}
	}
	assert_true(ray_hash_text(0, "ab") == ray_hash_bytes(0, "ab", 2));
	assert_true(ray_hash_text(1, "ab") != ray_hash_text(0, "ab"));
}

/* Typical keys are small numbers and addresses: no slot gets many of them. */
static void check_strides(void)
{
	static const uint64_t strides[] = { 1, 8, 64, 4096, 1 << 20, 1ULL << 32, 1ULL << 47 };
	enum { PLACES = 4096 };

	for (size_t s = 0; s < sizeof(strides) / sizeof(strides[0]); s++) {
		unsigned char taken[PLACES] = { 0 };
		int most = 0;

		for (uint64_t i = 0; i < PLACES / 2; i++) {
			int n = ++taken[ray_hash_word(0, i * strides[s]) % PLACES];

			most = n > most ? n : most;
		}
		assert_in_range(most, 1, 12);
	}
}

static void plain_numbers_spread(void **state)
{
	(void)state;
	with_secrets(check_strides);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_operations_match_a_model),
		cmocka_unit_test(a_search_ends_at_every_load),
		cmocka_unit_test(an_empty_map_has_no_values),
		cmocka_unit_test(adding_after_reserving_cannot_fail),
		cmocka_unit_test(reserving_an_absurd_number_fails),
		cmocka_unit_test(iteration_over_one_hash),
		cmocka_unit_test(a_map_can_allocate_from_an_arena),
		cmocka_unit_test(values_of_one_byte_and_of_many),
		cmocka_unit_test(every_bit_counts),
		cmocka_unit_test(bytes_differ_by_length_and_content),
		cmocka_unit_test(plain_numbers_spread),
	};

	return cmocka_run_group_tests_name("base/hashmap", tests, NULL, NULL);
}
