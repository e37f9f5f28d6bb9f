/* test_profile_profile.c - the model of profiles: everything once, and what it adds up to. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "profile/profile.h"

static uint32_t frame(struct ray_profile *p, const char *name, int line)
{
	struct ray_profile_function f = {
		.kind = RAY_KIND_JS, .name = name, .file = "/app/a.js", .line = 1, .column = 2
	};

	return ray_profile_frame(p,
				 &(struct ray_profile_frame){ .function = ray_profile_function(p, &f), .line = line });
}

static void sample(struct ray_profile *p, uint32_t node, uint32_t thread, int64_t weight)
{
	ray_profile_add(p,
			&(struct ray_profile_sample){ .node = node, .thread = thread, .weight = weight, .count = 1 });
}

static void everything_is_kept_once(void **state)
{
	ray_auto(ray_profile, p) = ray_profile_create();
	char name[16] = "f";
	uint32_t f = frame(p, name, 3), node;

	(void)state;
	strcpy(name, "g");
	assert_int_equal(frame(p, "f", 3), f);
	assert_int_not_equal(frame(p, "f", 4), f);
	assert_int_not_equal(frame(p, name, 3), f);
	assert_int_equal(p->functions.n, 3);
	node = ray_profile_node(p, 0, f);
	assert_int_equal(ray_profile_node(p, 0, f), node);
	assert_int_not_equal(ray_profile_node(p, node, f), node);
	assert_ptr_equal(ray_profile_text(p, "f"), ray_profile_text_n(p, "fgh", 1));
	assert_string_equal(ray_profile_text(p, NULL), "");
	assert_null(ray_profile_check(p));
}

static void many_are_found_again(void **state)
{
	ray_auto(ray_profile, p) = ray_profile_create();
	uint32_t first[2000];
	char name[32];

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 2000; i++) {
			uint32_t node;

			snprintf(name, sizeof(name), "function%d", i);
			node = ray_profile_node(p, (uint32_t)i / 2, frame(p, name, i));
			if (round)
				assert_int_equal(node, first[i]);
			first[i] = node;
		}
	}
	assert_int_equal(p->nodes.n, 2001);
	assert_false(p->failed);
}

static void a_thread_gets_its_name_later(void **state)
{
	ray_auto(ray_profile, p) = ray_profile_create();
	uint32_t thread = ray_profile_thread(p, &(struct ray_profile_thread){ .pid = 1, .tid = 2 });

	(void)state;
	assert_string_equal(p->threads.at[thread].name, "");
	assert_int_equal(ray_profile_thread(p, &(struct ray_profile_thread){ .pid = 1, .tid = 2, .name = "main" }),
			 thread);
	assert_string_equal(p->threads.at[thread].name, "main");
	assert_int_not_equal(ray_profile_thread(p, &(struct ray_profile_thread){ .pid = 1, .tid = 3 }), thread);
}

/* a calls b and itself; b calls a. */
static void a_function_that_calls_itself_counts_once(void **state)
{
	ray_auto(ray_profile, p) = ray_profile_create();
	uint32_t a = frame(p, "a", 1), b = frame(p, "b", 1), top = ray_profile_node(p, 0, a);
	uint32_t again = ray_profile_node(p, top, a), inner = ray_profile_node(p, ray_profile_node(p, again, b), a);
	struct ray_profile_row *rows;
	int64_t *self, *total;
	size_t count;

	(void)state;
	ray_profile_thread(p, &(struct ray_profile_thread){ .pid = 1, .tid = 1 });
	ray_profile_thread(p, &(struct ray_profile_thread){ .pid = 1, .tid = 2 });
	sample(p, inner, 0, 5);
	sample(p, again, 0, 2);
	sample(p, top, 1, 1);
	assert_true(ray_profile_rank(p, UINT32_MAX, &rows, &count));
	assert_int_equal(count, 2);
	assert_int_equal(rows[0].self, 8);
	assert_int_equal(rows[0].total, 8);
	assert_int_equal(rows[1].self, 0);
	assert_int_equal(rows[1].total, 5);
	free(rows);
	assert_true(ray_profile_rank(p, 1, &rows, &count));
	assert_int_equal(count, 1);
	assert_int_equal(rows[0].total, 1);
	free(rows);
	assert_true(ray_profile_sum(p, UINT32_MAX, &self, &total));
	assert_int_equal(total[0], 8);
	assert_int_equal(self[again], 2);
	assert_int_equal(total[again], 7);
	free(self);
	free(total);
	assert_int_equal(ray_profile_weight(p), 8);
}

static void what_leads_nowhere_is_found(void **state)
{
	ray_auto(ray_profile, p) = ray_profile_create();

	(void)state;
	sample(p, 0, 0, 1);
	assert_string_equal(ray_profile_check(p), "a sample of no thread or stack");
	ray_profile_thread(p, &(struct ray_profile_thread){ .pid = 1, .tid = 1 });
	assert_null(ray_profile_check(p));
	ray_profile_node(p, 0, 77);
	assert_string_equal(ray_profile_check(p), "a call from nowhere");
}

static void words_of_kinds_can_be_read_back(void **state)
{
	enum ray_profile_kind kind;

	(void)state;
	for (int i = 0; i < RAY_KIND_COUNT; i++) {
		assert_true(ray_profile_kind_parse(ray_profile_kind_word((enum ray_profile_kind)i), &kind));
		assert_int_equal(kind, i);
	}
	assert_false(ray_profile_kind_parse("other", &kind));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_kept_once),
		cmocka_unit_test(many_are_found_again),
		cmocka_unit_test(a_thread_gets_its_name_later),
		cmocka_unit_test(a_function_that_calls_itself_counts_once),
		cmocka_unit_test(what_leads_nowhere_is_found),
		cmocka_unit_test(words_of_kinds_can_be_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
