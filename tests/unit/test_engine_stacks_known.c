/* test_engine_stacks_known.c - what a frame that was named before is known by. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "engine/stacks.h"

enum { FRAMES = 4, NATIVE = 0, OUTER = 1, CALLER = 2, INNER = 3 };

static const struct ray_stack_process process = { .tgid = 7,
						  .space = 0x7ff000000000,
						  .pushed = 1,
						  .shared_at = 32,
						  .code_start = 0x10000000,
						  .code_end = 0x20000000 };

/* A native leaf, an interpreted function, a function that builtins run on, and a frame for "new". */
struct stack {
	struct ray_walk_frame frames[FRAMES];
};

static struct stack new_stack(void)
{
	struct ray_walk_frame interpreted = {
		.pc = 0x402000,
		.sp = 0x1100,
		.fp = 0x1180,
		.flags = RAY_FRAME_HAS_WORDS | RAY_FRAME_HAS_FUNCTION | RAY_FRAME_HAS_RECEIVER,
		.words = { 57ULL << 32, 0x30000001, 1, 0x31000001, 0x32000001, 0, 0, 0x33000001 },
		.function = { 0x34000001, 0, 0, 0, 0x35000001 },
		.receiver_map = 0x36000001,
		.below[3] = 0x10000040,
	};
	struct stack s = { { [NATIVE] = { .pc = 0x401000, .sp = 0x1000, .flags = RAY_FRAME_IS_EXACT },
			     [OUTER] = interpreted,
			     [CALLER] = interpreted,
			     [INNER] = { .pc = 0x404000, .flags = RAY_FRAME_HAS_WORDS, .words[4] = 36 } } };

	s.frames[CALLER].pc = 0x403000;
	s.frames[CALLER].words[0] = 3;
	s.frames[CALLER].flags |= RAY_FRAME_HAS_BELOW;
	return s;
}

static uint64_t key_in(const struct ray_stack_process *p, const struct stack *r, uint32_t i)
{
	return ray_stack_known_key(p, &r->frames[i], i == 0, i + 1 < FRAMES ? &r->frames[i + 1] : NULL);
}

static uint64_t key(const struct stack *r, uint32_t i)
{
	return key_in(&process, r, i);
}

/* Whatever changes the word changes the key. */
static void check_matters(struct stack *r, uint32_t i, __u64 *word)
{
	uint64_t before = key(r, i), kept = *word;

	*word += 8;
	assert_true(key(r, i) != before);
	*word = kept;
	assert_true(key(r, i) == before);
}

static void check_does_not(struct stack *r, uint32_t i, __u64 *word)
{
	uint64_t before = key(r, i), kept = *word;

	*word += 8;
	assert_true(key(r, i) == before);
	*word = kept;
}

static void a_function_is_known_by_what_names_it(void **state)
{
	struct stack stack = new_stack(), *r = &stack;
	struct ray_walk_frame *f = &r->frames[OUTER];
	struct ray_stack_process other = process;

	(void)state;
	assert_true(key(r, OUTER) != 0);
	check_matters(r, OUTER, &f->pc);
	check_matters(r, OUTER, &f->function[0]);
	check_matters(r, OUTER, &f->function[4]);
	check_matters(r, OUTER, &f->words[1]);
	check_matters(r, OUTER, &f->receiver_map);
	/* They move. */
	check_does_not(r, OUTER, &f->words[3]);
	check_does_not(r, OUTER, &f->words[7]);
	check_does_not(r, OUTER, &f->fp);
	check_does_not(r, OUTER, &r->frames[NATIVE].pc);
	other.tgid++;
	assert_true(key_in(&other, r, OUTER) != key(r, OUTER));
	other = process;
	other.pushed++;
	assert_true(key_in(&other, r, OUTER) != key(r, OUTER));
}

static void who_calls_for_new_matters(void **state)
{
	struct stack stack = new_stack(), *r = &stack;

	(void)state;
	check_matters(r, CALLER, &r->frames[INNER].words[4]);
	check_does_not(r, CALLER, &r->frames[INNER].pc);
}

static void return_addresses_below_a_frame_matter(void **state)
{
	struct stack stack = new_stack(), *r = &stack;

	(void)state;
	check_matters(r, CALLER, &r->frames[CALLER].below[3]);
	check_does_not(r, CALLER, &r->frames[CALLER].below[2]);
	check_does_not(r, OUTER, &r->frames[OUTER].below[3]);
	r->frames[CALLER].fp = r->frames[CALLER].sp + 16;
	check_does_not(r, CALLER, &r->frames[CALLER].below[3]);
}

/* Of a frame that V8 is replacing the words are those of an object, and fp is wherever the frame is meanwhile. */
static void where_a_replaced_frame_left_its_code_matters(void **state)
{
	struct stack stack = new_stack(), *r = &stack;
	struct ray_walk_frame *f = &r->frames[CALLER];

	(void)state;
	f->flags |= RAY_FRAME_IS_REPLACED;
	f->fp = 0x1000;
	check_matters(r, CALLER, &f->below[3]);
	check_does_not(r, CALLER, &f->below[2]);
	check_does_not(r, CALLER, &f->fp);
}

static void the_innermost_frame_of_v8_is_not_known(void **state)
{
	struct stack stack = new_stack(), *r = &stack;

	(void)state;
	assert_true(key(r, NATIVE) != 0);
	check_does_not(r, NATIVE, &r->frames[OUTER].pc);
	r->frames[NATIVE].flags |= RAY_FRAME_IS_UNKNOWN;
	assert_true(key(r, NATIVE) == 0);
	r->frames[NATIVE] = r->frames[OUTER];
	assert_true(key(r, NATIVE) == 0);
	/* A signal came while it ran. */
	r->frames[OUTER].flags |= RAY_FRAME_IS_EXACT;
	assert_true(key(r, OUTER) == 0);
}

static void frames_are_found_again(void **state)
{
	struct ray_stack_knowns k;
	struct ray_walk_frame f = { 0 };

	(void)state;
	assert_true(ray_stack_known_init(&k));
	assert_null(ray_stack_known_find(&k, 0, &f));
	for (uint64_t i = 1; i <= 5000; i++) {
		struct ray_stack_known *known = ray_stack_known_add(&k, i * 1000003, 0, &f, i % 5);

		assert_non_null(known);
		known->count = (uint32_t)(i % 5);
	}
	for (uint64_t i = 1; i <= 5000; i++)
		assert_int_equal(ray_stack_known_find(&k, i * 1000003, &f)->count, i % 5);
	assert_null(ray_stack_known_find(&k, 5001 * 1000003ULL, &f));
	assert_null(ray_stack_known_add(&k, 1000003, 0, &f, 1));
	ray_stack_known_deinit(&k);
}

static void a_name_that_an_object_has_is_its_own(void **state)
{
	struct ray_walk_frame f = { .words = { [3] = 0x31000001, [7] = 0x33000001 } };
	struct ray_stack_known *known;
	struct ray_stack_knowns k;

	(void)state;
	assert_true(ray_stack_known_init(&k));
	known = ray_stack_known_add(&k, 99, RAY_NAMED_BY_RECEIVER, &f, 1);
	assert_non_null(known);
	known->count = 1;
	assert_ptr_equal(ray_stack_known_find(&k, 99, &f), known);
	f.words[3] += 8;
	assert_ptr_equal(ray_stack_known_find(&k, 99, &f), known);
	f.words[7] += 8;
	assert_null(ray_stack_known_find(&k, 99, &f));
	assert_non_null(ray_stack_known_add(&k, 99, RAY_NAMED_BY_RECEIVER, &f, 1));
	/* By both from now on. */
	assert_non_null(ray_stack_known_add(&k, 99, RAY_NAMED_BY_FUNCTION | RAY_NAMED_BY_RECEIVER, &f, 1));
	assert_non_null(ray_stack_known_find(&k, 99, &f));
	f.words[3] += 8;
	assert_null(ray_stack_known_find(&k, 99, &f));
	ray_stack_known_deinit(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_known_by_what_names_it),
		cmocka_unit_test(who_calls_for_new_matters),
		cmocka_unit_test(return_addresses_below_a_frame_matter),
		cmocka_unit_test(where_a_replaced_frame_left_its_code_matters),
		cmocka_unit_test(the_innermost_frame_of_v8_is_not_known),
		cmocka_unit_test(frames_are_found_again),
		cmocka_unit_test(a_name_that_an_object_has_is_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
