/* test_v8_translation.c - what optimized code keeps to go back to the interpreter. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/vec.h"
#include "v8/deopt.h"

/* A small set of opcodes: two kinds of interpreted frames, another frame, the opening, a value, "as over there". */
static const int32_t operands[] = { 5, 3, 2, 3, 1, 0, 1 };
enum { WITH_RETURN, WITHOUT_RETURN, STUB, BEGIN, VALUE, NOTHING, MATCH, OPCODES };

#define S(n) ((n) < 0 ? (uint8_t)(-(n) << 1 | 1) : (uint8_t)((n) << 1))

static size_t decode(const uint8_t *bytes, size_t from, size_t end, struct ray_v8_translated *ret)
{
	return ray_v8_translation_frames(bytes, from, end, operands, OPCODES, ret, 8);
}

static void frames_come_outermost_first(void **state)
{
	static const uint8_t bytes[] = { BEGIN, 0,    S(3), S(2),  WITHOUT_RETURN, S(7),	S(1),  S(4),
					 VALUE, S(5), STUB, S(1),  S(2),	   WITH_RETURN, S(60), S(2),
					 S(4),	S(0), S(1), VALUE, 0x80,	   0x01 };
	struct ray_v8_translated frames[8];

	(void)state;
	assert_int_equal(decode(bytes, 0, sizeof(bytes), frames), 2);
	assert_int_equal(frames[0].bytecode_offset, 7);
	assert_int_equal(frames[0].literal, 1);
	assert_int_equal(frames[1].bytecode_offset, 60);
	assert_int_equal(frames[1].literal, 2);
}

static void runs_are_borrowed_from_an_earlier_one(void **state)
{
	static const uint8_t bytes[] = { BEGIN,
					 0,
					 S(1),
					 S(1),
					 WITHOUT_RETURN,
					 S(7),
					 S(1),
					 S(4),
					 VALUE,
					 S(5),
					 NOTHING,
					 /* 11: another that borrows */ BEGIN,
					 11,
					 S(1),
					 S(1),
					 OPCODES + 2,
					 NOTHING,
					 /* 17: ours */ BEGIN,
					 17,
					 S(2),
					 S(2),
					 MATCH,
					 3,
					 WITHOUT_RETURN,
					 S(9),
					 S(2),
					 S(4) };
	struct ray_v8_translated frames[8];

	(void)state;
	assert_int_equal(decode(bytes, 17, sizeof(bytes), frames), 2);
	assert_int_equal(frames[0].bytecode_offset, 7);
	assert_int_equal(frames[1].bytecode_offset, 9);
	assert_int_equal(decode(bytes, 11, 17, frames), 1);
	assert_int_equal(frames[0].literal, 1);
}

static void broken_bytes_give_nothing(void **state)
{
	static const uint8_t no_begin[] = { VALUE, S(1) };
	static const uint8_t cut[] = { BEGIN, 0, S(1), S(1), WITHOUT_RETURN, S(7), 0x80 };
	static const uint8_t too_far_back[] = { BEGIN, 9, S(1), S(1), OPCODES + 1 };
	static const uint8_t nothing_to_borrow[] = { BEGIN, 0, S(1), S(1), OPCODES + 1 };
	static const uint8_t no_frames[] = { BEGIN, 0, S(0), S(0) };
	struct ray_v8_translated frames[8];

	(void)state;
	assert_int_equal(decode(no_begin, 0, sizeof(no_begin), frames), 0);
	assert_int_equal(decode(cut, 0, sizeof(cut), frames), 0);
	assert_int_equal(decode(too_far_back, 0, sizeof(too_far_back), frames), 0);
	assert_int_equal(decode(nothing_to_borrow, 0, sizeof(nothing_to_borrow), frames), 0);
	assert_int_equal(decode(no_frames, 0, sizeof(no_frames), frames), 0);
	assert_int_equal(decode(no_frames, 4, 4, frames), 0);
}

static void opcodes_in_another_order_are_not_guessed_at(void **state)
{
	static const int32_t old[] = { 1, 0, 3, 3, 1, 1, 3, 1 };
	static const uint8_t bytes[] = { 2, 0, S(1), S(1), 1 };
	struct ray_v8_translated frames[8];

	(void)state;
	assert_int_equal(ray_v8_translation_frames(bytes, 0, sizeof(bytes), old, RAY_COUNT(old), frames, 8), 0);
}

static void any_bytes_at_all(void **state)
{
	struct ray_v8_translated frames[8];
	uint8_t bytes[64];
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		for (size_t i = 0; i < sizeof(bytes); i++) {
			seed = seed * 1103515245 + 12345;
			bytes[i] = (uint8_t)(seed >> 16) & (seed & 1 << 30 ? 7 : 255);
		}
		assert_true(decode(bytes, (size_t)round % 32, sizeof(bytes), frames) <= 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_come_outermost_first),
		cmocka_unit_test(runs_are_borrowed_from_an_earlier_one),
		cmocka_unit_test(broken_bytes_give_nothing),
		cmocka_unit_test(opcodes_in_another_order_are_not_guessed_at),
		cmocka_unit_test(any_bytes_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
