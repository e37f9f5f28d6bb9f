/* test_profile_pick.c - parts of profiles, and several put together. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "profile/pick.h"

static uint32_t call(struct ray_profile *p, uint32_t parent, const char *name, enum ray_profile_kind kind)
{
	uint32_t f = ray_profile_function(p, &(struct ray_profile_function){ .kind = kind, .name = name });

	return ray_profile_node(p, parent, ray_profile_frame(p, &(struct ray_profile_frame){ .function = f }));
}

static void add(struct ray_profile *p, uint32_t node, uint32_t tid, int64_t weight)
{
	uint32_t thread = ray_profile_thread(p, &(struct ray_profile_thread){ .pid = 1, .tid = tid });

	ray_profile_add(p,
			&(struct ray_profile_sample){ .node = node, .thread = thread, .weight = weight, .count = 1 });
}

/* main -> js -> write (kernel); main -> gc; and another thread that waits. */
static struct ray_profile *some(void)
{
	struct ray_profile *p = ray_profile_create();
	uint32_t main_node = call(p, 0, "main", RAY_KIND_NATIVE), js = call(p, main_node, "work", RAY_KIND_JS);

	add(p, call(p, js, "write", RAY_KIND_KERNEL), 1, 3);
	add(p, js, 1, 5);
	add(p, call(p, main_node, "scavenge", RAY_KIND_GC), 1, 2);
	add(p, call(p, 0, "(epoll_wait)", RAY_KIND_IDLE), 2, 100);
	p->lost_samples = 7;
	return p;
}

static int64_t self_of(const struct ray_profile *p, const char *name)
{
	ray_auto_memory struct ray_profile_row *rows = NULL;
	int64_t self = -1;
	size_t count;

	assert_true(ray_profile_rank(p, UINT32_MAX, &rows, &count));
	for (size_t i = 0; i < count; i++)
		if (!strcmp(p->functions.at[rows[i].function].name, name))
			self = rows[i].self;
	return self;
}

static void all_of_it_twice(void **state)
{
	ray_auto(ray_profile, p) = some();
	ray_auto(ray_profile, sum) = ray_profile_create();

	(void)state;
	assert_true(ray_profile_add_from(sum, p, NULL));
	assert_true(ray_profile_add_from(sum, p, NULL));
	assert_null(ray_profile_check(sum));
	assert_int_equal(ray_profile_weight(sum), 220);
	assert_int_equal(sum->nodes.n, p->nodes.n);
	assert_int_equal(sum->samples.n, 8);
	assert_int_equal(sum->lost_samples, 14);
	ray_profile_unite(sum);
	assert_int_equal(sum->samples.n, 4);
	assert_int_equal(ray_profile_weight(sum), 220);
	assert_int_equal(self_of(sum, "work"), 10);
}

static void hidden_frames_count_for_their_callers(void **state)
{
	struct ray_profile_pick pick = { .hidden = 1u << RAY_KIND_KERNEL | 1u << RAY_KIND_GC, .without_idle = true };
	ray_auto(ray_profile, p) = some();
	ray_auto(ray_profile, part) = ray_profile_create();

	(void)state;
	assert_true(ray_profile_add_from(part, p, &pick));
	assert_int_equal(self_of(part, "work"), 8);
	assert_int_equal(self_of(part, "main"), 2);
	assert_int_equal(self_of(part, "write"), -1);
	assert_int_equal(ray_profile_weight(part), 10);
}

static void all_hidden_is_the_root(void **state)
{
	struct ray_profile_pick pick = { .hidden = ~0u };
	ray_auto(ray_profile, p) = some();
	ray_auto(ray_profile, part) = ray_profile_create();

	(void)state;
	assert_true(ray_profile_add_from(part, p, &pick));
	assert_int_equal(part->nodes.n, 1);
	assert_int_equal(ray_profile_weight(part), 110);
}

static void threads_and_weights(void **state)
{
	bool second[] = { false, true };
	struct ray_profile_pick pick = { .threads = second };
	ray_auto(ray_profile, p) = some();
	ray_auto(ray_profile, part) = ray_profile_create();

	(void)state;
	assert_true(ray_profile_add_from(part, p, &pick));
	assert_int_equal(ray_profile_weight(part), 100);
	assert_int_equal(part->nodes.n, 2); /* nodes of nobody's are not there */
	pick = (struct ray_profile_pick){ .at_least = 3 };
	assert_true(ray_profile_add_from(part, p, &pick));
	assert_int_equal(pick.dropped_weight, 2);
	assert_int_equal(ray_profile_weight(part), 208);
}

static void nothing(void **state)
{
	ray_auto(ray_profile, p) = ray_profile_create();
	ray_auto(ray_profile, part) = ray_profile_create();

	(void)state;
	assert_true(ray_profile_add_from(part, p, NULL));
	ray_profile_unite(part);
	assert_int_equal(part->samples.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_twice),
		cmocka_unit_test(hidden_frames_count_for_their_callers),
		cmocka_unit_test(all_hidden_is_the_root),
		cmocka_unit_test(threads_and_weights),
		cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
