/* test_base_containers.c - the vector, searches in it, and the arena. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/search.h"
#include "base/vec.h"

struct pair {
	int a;
	char b;
};

static void a_vector_keeps_what_was_pushed(void **state)
{
	RAY_VEC(struct pair) v = { 0 };
	int i;

	(void)state;
	for (i = 0; i < 100; i++)
		assert_true(ray_vec_push(&v, (struct pair){ i, (char)(i % 26 + 'a') }));
	assert_int_equal(v.n, 100);
	for (i = 0; i < 100; i++) {
		assert_int_equal(v.at[i].a, i);
		assert_int_equal(v.at[i].b, i % 26 + 'a');
	}
	ray_vec_free(&v);
	assert_null(v.at);
	assert_int_equal(v.n, 0);
	ray_vec_free(&v); /* freeing it again is harmless */
}

static void a_search_finds_how_many_meet_a_condition(void **state)
{
	RAY_VEC(struct pair) v = { 0 };

	(void)state;
	assert_int_equal(ray_search(v.at, v.n, one, one->a < 3), 0);
	for (int n = 1; n < 20; n++) {
		assert_true(ray_vec_push(&v, (struct pair){ .a = 2 * n }));
		for (int least = 0; least <= 2 * n + 2; least++)
			assert_int_equal(ray_search(v.at, v.n, one, one->a < least), least ? (least - 1) / 2 : 0);
	}
	ray_vec_free(&v);
}

static void arena_memory_is_zeroed_and_aligned(void **state)
{
	ray_auto(ray_arena, arena) = ray_arena_create();
	static const char zeros[100];
	size_t size;
	char *p;

	(void)state;
	for (size = 0; size < 100; size++) {
		p = ray_arena_alloc(arena, size);
		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 16, 0);
		assert_memory_equal(p, zeros, size);
		memset(p, 0xff, size);
	}
}

static void an_arena_takes_blocks_larger_than_its_chunks(void **state)
{
	ray_auto(ray_arena, arena) = ray_arena_create();
	char *small = ray_arena_strdup(arena, "small");
	char *large = ray_arena_alloc(arena, 1 << 20);

	(void)state;
	assert_non_null(large);
	memset(large, 1, 1 << 20);
	assert_string_equal(small, "small");
	assert_string_equal(ray_arena_strdup(arena, "after"), "after");
}

static void an_absurd_size_gets_no_memory(void **state)
{
	ray_auto(ray_arena, arena) = ray_arena_create();

	(void)state;
	assert_null(ray_arena_alloc(arena, SIZE_MAX));
	assert_null(ray_arena_alloc(arena, SIZE_MAX / 2 + 1));
}

static void arena_text_ends_with_a_nul(void **state)
{
	ray_auto(ray_arena, arena) = ray_arena_create();

	(void)state;
	assert_string_equal(ray_arena_copy(arena, "abcdef", 3), "abc");
	assert_string_equal(ray_arena_printf(arena, "%s-%d", "x", 7), "x-7");
}

static void a_taken_pointer_is_not_freed(void **state)
{
	char *kept;

	(void)state;
	{
		ray_auto_memory char *p = strdup("kept");

		kept = ray_take(p);
		assert_null(p);
	}
	assert_string_equal(kept, "kept");
	free(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vector_keeps_what_was_pushed),
		cmocka_unit_test(a_search_finds_how_many_meet_a_condition),
		cmocka_unit_test(arena_memory_is_zeroed_and_aligned),
		cmocka_unit_test(an_arena_takes_blocks_larger_than_its_chunks),
		cmocka_unit_test(an_absurd_size_gets_no_memory),
		cmocka_unit_test(arena_text_ends_with_a_nul),
		cmocka_unit_test(a_taken_pointer_is_not_freed),
	};

	return cmocka_run_group_tests_name("base/containers", tests, NULL, NULL);
}
