/* test_stack_claims.c - claims on addresses: the first to come keeps them. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "stack/claims.h"

static void claim(struct ray_claims *c, uint64_t start, uint64_t end, enum ray_region_kind kind)
{
	ray_claims_add(c, &(struct ray_part){ .start = start, .end = end, .kind = kind, .count = 1 });
}

static void expect(const struct ray_claims *c, size_t i, uint64_t start, uint64_t end, enum ray_region_kind kind,
		   size_t count)
{
	assert_true(i < c->list.n);
	assert_int_equal(c->list.at[i].start, start);
	assert_int_equal(c->list.at[i].end, end);
	assert_int_equal(c->list.at[i].kind, kind);
	assert_int_equal(c->list.at[i].count, count);
}

static void claims_are_kept_in_order(void **state)
{
	struct ray_claims c = { 0 };

	(void)state;
	claim(&c, 50, 60, RAY_REGION_STACK);
	claim(&c, 10, 20, RAY_REGION_BRK);
	claim(&c, 30, 40, RAY_REGION_ARENA);
	expect(&c, 0, 10, 20, RAY_REGION_BRK, 1);
	expect(&c, 1, 30, 40, RAY_REGION_ARENA, 1);
	expect(&c, 2, 50, 60, RAY_REGION_STACK, 1);
	assert_true(ray_claims_has(&c, 10));
	assert_false(ray_claims_has(&c, 20));
	assert_int_equal(ray_claims_from(&c, 20), 1);
	assert_int_equal(ray_claims_from(&c, 60), 3);
	ray_vec_free(&c.list);
}

static void a_later_claim_gets_what_is_left(void **state)
{
	struct ray_claims c = { 0 };

	(void)state;
	claim(&c, 20, 30, RAY_REGION_V8_PAGE);
	claim(&c, 40, 50, RAY_REGION_V8_PAGE);
	claim(&c, 10, 60, RAY_REGION_ARENA);
	assert_int_equal(c.list.n, 5);
	/* Only the piece that begins where the claim does counts as one. */
	expect(&c, 0, 10, 20, RAY_REGION_ARENA, 1);
	expect(&c, 2, 30, 40, RAY_REGION_ARENA, 0);
	expect(&c, 4, 50, 60, RAY_REGION_ARENA, 0);
	ray_vec_free(&c.list);
}

static void a_claim_on_taken_addresses_gets_nothing(void **state)
{
	struct ray_claims c = { 0 };

	(void)state;
	claim(&c, 10, 60, RAY_REGION_STACK);
	claim(&c, 20, 30, RAY_REGION_BLOCK);
	claim(&c, 60, 60, RAY_REGION_BLOCK);
	claim(&c, 70, 65, RAY_REGION_BLOCK);
	assert_int_equal(c.list.n, 1);
	ray_vec_free(&c.list);
}

static void every_kind_has_words_and_a_group(void **state)
{
	(void)state;
	for (int i = 0; i < RAY_REGION_KIND_COUNT; i++) {
		assert_true(ray_region_group(i) < RAY_GROUP_COUNT);
		assert_true(*ray_region_kind_name(i) && *ray_region_kind_text(i));
	}
	for (int i = 0; i < RAY_GROUP_COUNT; i++)
		assert_true(*ray_region_group_name(i) && *ray_region_group_text(i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(claims_are_kept_in_order),
		cmocka_unit_test(a_later_claim_gets_what_is_left),
		cmocka_unit_test(a_claim_on_taken_addresses_gets_nothing),
		cmocka_unit_test(every_kind_has_words_and_a_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
