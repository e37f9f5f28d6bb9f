/* test_probe_flow.c - what is seen in small pieces of code. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "probe/flow.h"

enum { BASE = 0x1000, MOST = 16 };

struct seen {
	struct ray_flow_step steps[MOST];
	size_t n;
};

static bool keep(const struct ray_flow_step *step, void *arg)
{
	struct seen *seen = arg;

	if (seen->n < MOST)
		seen->steps[seen->n++] = *step;
	return true;
}

/* The first step of a kind; fails if there is none. */
static const struct ray_flow_step *first(const struct seen *seen, enum ray_flow_kind kind)
{
	for (size_t i = 0; i < seen->n; i++)
		if (seen->steps[i].kind == kind)
			return &seen->steps[i];
	fail();
	return NULL;
}

static void constants_are_known_at_a_call(void **state)
{
	/* mov $0x2000,%ecx; lea 0x10(%rip),%r8; xor %edx,%edx; mov %rcx,%rsi; call +0 */
	static const uint8_t code[] = { 0xb9, 0x00, 0x20, 0,	0,    0x4c, 0x8d, 0x05, 0x10, 0, 0,   0,
					0x31, 0xd2, 0x48, 0x89, 0xce, 0xe8, 0,	  0,	0,    0, 0xc3 };
	struct seen seen = { .n = 0 };
	const struct ray_flow_step *call;

	(void)state;
	assert_true(ray_flow_walk(code, sizeof(code), BASE, keep, &seen));
	call = first(&seen, RAY_FLOW_CALL);
	assert_int_equal(call->target, BASE + 22);
	assert_false(call->is_known[0]);
	assert_true(call->is_known[1] && call->is_known[2] && call->is_known[3] && call->is_known[4]);
	assert_int_equal(call->args[1], 0x2000);
	assert_int_equal(call->args[2], 0);
	assert_int_equal(call->args[3], 0x2000);
	assert_int_equal(call->args[4], BASE + 12 + 0x10);
}

static void a_call_leaves_nothing_known_for_the_next(void **state)
{
	/* mov $1,%edi; mov $2,%ebx; call; mov %ebx,%esi; call */
	static const uint8_t code[] = { 0xbf, 1, 0, 0, 0,    0xbb, 2,	 0, 0, 0, 0xe8,
					0,    0, 0, 0, 0x89, 0xde, 0xe8, 0, 0, 0, 0 };
	struct seen seen = { .n = 0 };

	(void)state;
	assert_true(ray_flow_walk(code, sizeof(code), BASE, keep, &seen));
	assert_int_equal(seen.steps[seen.n - 1].kind, RAY_FLOW_CALL);
	assert_false(seen.steps[seen.n - 1].is_known[0]);
	assert_true(seen.steps[seen.n - 1].is_known[1]);
	assert_int_equal(seen.steps[seen.n - 1].args[1], 2);
}

static void where_ways_meet_nothing_is_known(void **state)
{
	/* mov $1,%edi; je +5; mov $2,%edi; call: reached with 1 or 2 */
	static const uint8_t code[] = { 0xbf, 1, 0, 0, 0, 0x74, 5, 0xbf, 2, 0, 0, 0, 0xe8, 0, 0, 0, 0 };
	struct seen seen = { .n = 0 };

	(void)state;
	assert_true(ray_flow_walk(code, sizeof(code), BASE, keep, &seen));
	assert_false(first(&seen, RAY_FLOW_CALL)->is_known[0]);
}

static void what_all_ways_agree_on_is_known_where_they_meet(void **state)
{
	/* mov $1,%edi; je +5; mov $2,%esi; call; ret */
	static const uint8_t both[] = { 0xbf, 1, 0, 0, 0, 0x74, 5, 0xbe, 2, 0, 0, 0, 0xe8, 0, 0, 0, 0, 0xc3 };
	/* mov $1,%edi; je +6 ; jmp out; nop; call: padding lies between the jump and where the other one leads */
	static const uint8_t padded[] = { 0xbf, 1, 0, 0, 0, 0x74, 6, 0xe9, 0, 1, 0, 0, 0x90, 0xe8, 0, 0, 0, 0, 0xc3 };
	/* mov $1,%edi; dec %eax; call; jne back to the dec: a loop may come with anything */
	static const uint8_t loop[] = { 0xbf, 1, 0, 0, 0, 0xff, 0xc8, 0xe8, 0, 0, 0, 0, 0x75, 0xf7, 0xc3 };
	struct seen seen = { .n = 0 };

	(void)state;
	assert_true(ray_flow_walk(both, sizeof(both), BASE, keep, &seen));
	assert_true(first(&seen, RAY_FLOW_CALL)->is_known[0]);
	assert_int_equal(first(&seen, RAY_FLOW_CALL)->args[0], 1);
	assert_false(first(&seen, RAY_FLOW_CALL)->is_known[1]);
	seen.n = 0;
	assert_true(ray_flow_walk(padded, sizeof(padded), BASE, keep, &seen));
	assert_true(first(&seen, RAY_FLOW_CALL)->is_known[0]);
	seen.n = 0;
	assert_true(ray_flow_walk(loop, sizeof(loop), BASE, keep, &seen));
	assert_false(first(&seen, RAY_FLOW_CALL)->is_known[0]);
}

static void a_jump_out_is_a_last_call_and_one_inside_is_not(void **state)
{
	/* jmp +0 (inside); jmp far out */
	static const uint8_t code[] = { 0xeb, 0, 0xe9, 0, 1, 0, 0 };
	struct seen seen = { .n = 0 };

	(void)state;
	assert_true(ray_flow_walk(code, sizeof(code), BASE, keep, &seen));
	assert_int_equal(seen.n, 1);
	assert_int_equal(seen.steps[0].kind, RAY_FLOW_LEAVE);
	assert_int_equal(seen.steps[0].target, BASE + 7 + 0x100);
}

static void fields_and_pointers_are_told(void **state)
{
	/* mov 0x1a0(%rdi),%rax; call *-0x8(%rax); movq $0x55,0x88(%rdi); jmp *0x3000(,%rax,8) */
	static const uint8_t code[] = { 0x48, 0x8b, 0x87, 0xa0, 0x01, 0, 0, 0xff, 0x50, 0xf8, 0x48, 0xc7, 0x87, 0x88,
					0,    0,    0,	  0x55, 0,    0, 0, 0xff, 0x24, 0xc5, 0,    0x30, 0,	0 };
	struct seen seen = { .n = 0 };

	(void)state;
	assert_true(ray_flow_walk(code, sizeof(code), BASE, keep, &seen));
	assert_int_equal(first(&seen, RAY_FLOW_TOUCH)->displacement, 0x1a0);
	assert_true(first(&seen, RAY_FLOW_INDIRECT)->has_displacement);
	assert_int_equal(first(&seen, RAY_FLOW_INDIRECT)->displacement, -8);
	assert_int_equal(first(&seen, RAY_FLOW_STORE)->displacement, 0x88);
	assert_int_equal(first(&seen, RAY_FLOW_STORE)->target, 0x55);
	assert_int_equal(first(&seen, RAY_FLOW_TABLE)->target, 0x3000);
}

static void what_is_no_code_is_refused(void **state)
{
	static const uint8_t code[] = { 0x55, 0x06, 0x06, 0x06 };
	struct seen seen = { .n = 0 };

	(void)state;
	assert_false(ray_flow_walk(code, sizeof(code), BASE, keep, &seen));
	assert_int_equal(seen.n, 0);
	assert_true(ray_flow_walk(code, 0, BASE, keep, &seen));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants_are_known_at_a_call),
		cmocka_unit_test(a_call_leaves_nothing_known_for_the_next),
		cmocka_unit_test(where_ways_meet_nothing_is_known),
		cmocka_unit_test(what_all_ways_agree_on_is_known_where_they_meet),
		cmocka_unit_test(a_jump_out_is_a_last_call_and_one_inside_is_not),
		cmocka_unit_test(fields_and_pointers_are_told),
		cmocka_unit_test(what_is_no_code_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
