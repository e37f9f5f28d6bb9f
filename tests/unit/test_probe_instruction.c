/* test_probe_instruction.c - SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "probe/instruction.h"

static void a_push_is_probed_where_it_is(void **state)
{
	static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0xc3 };

	(void)state;
	assert_int_equal(ray_instruction_entry(code, sizeof(code), 6), 0);
	assert_true(ray_instruction_is_cheap(code, sizeof(code)));
}

static void endbr_is_passed_over(void **state)
{
	static const uint8_t code[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0xc3 };

	(void)state;
	assert_int_equal(ray_instruction_entry(code, sizeof(code), 6), 4);
	assert_false(ray_instruction_is_cheap(code, sizeof(code)));
}

static void a_compare_before_a_jump_is_passed_over(void **state)
{
	/* cmpq $0,0x60(%rdi); jne +1; ret; ret */
	static const uint8_t code[] = { 0x48, 0x83, 0x7f, 0x60, 0x00, 0x75, 0x01, 0xc3, 0xc3 };

	(void)state;
	assert_int_equal(ray_instruction_entry(code, sizeof(code), 6), 5);
}

static void a_written_argument_ends_the_search(void **state)
{
	/* mov %rsi,%rdi; push %rbp */
	static const uint8_t code[] = { 0x48, 0x89, 0xf7, 0x55, 0xc3 };
	/* sub $8,%rsp; call */
	static const uint8_t stack[] = { 0x48, 0x83, 0xec, 0x08, 0xe8, 0, 0, 0, 0, 0xc3 };
	/* movq $1,(%rdi); push %rbp */
	static const uint8_t memory[] = { 0x48, 0xc7, 0x07, 1, 0, 0, 0, 0x55, 0xc3 };

	(void)state;
	assert_int_equal(ray_instruction_entry(code, sizeof(code), 6), 0);
	assert_int_equal(ray_instruction_entry(stack, sizeof(stack), 6), 0);
	assert_int_equal(ray_instruction_entry(memory, sizeof(memory), 6), 0);
}

static void registers_that_hold_no_argument_may_be_written(void **state)
{
	/* xor %edi,%edi; jmp elsewhere */
	static const uint8_t code[] = { 0x31, 0xff, 0xe9, 0, 1, 0, 0 };
	/* test %rdx,%rdx; sete %cl; jne +1 */
	static const uint8_t third[] = { 0x48, 0x85, 0xd2, 0x0f, 0x94, 0xc1, 0x75, 0x01, 0xc3, 0xc3 };

	(void)state;
	assert_int_equal(ray_instruction_entry(code, sizeof(code), 0), 2);
	assert_int_equal(ray_instruction_entry(code, sizeof(code), 1), 0);
	assert_int_equal(ray_instruction_entry(third, sizeof(third), 3), 6);
	assert_int_equal(ray_instruction_entry(third, sizeof(third), 4), 0);
}

static void a_loop_back_ends_the_search(void **state)
{
	/* mov (%rdi),%rax; jne +2; inc...: dec %eax; jmp back to the jne */
	static const uint8_t code[] = { 0x48, 0x8b, 0x07, 0x75, 0x02, 0xff, 0xc8, 0xeb, 0xfa, 0xc3 };

	(void)state;
	assert_int_equal(ray_instruction_entry(code, sizeof(code), 6), 0);
}

static void only_starts_of_instructions_are_starts(void **state)
{
	static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0xc3 };

	(void)state;
	assert_true(ray_instruction_starts_at(code, sizeof(code), 0));
	assert_true(ray_instruction_starts_at(code, sizeof(code), 1));
	assert_false(ray_instruction_starts_at(code, sizeof(code), 2));
	assert_true(ray_instruction_starts_at(code, sizeof(code), 4));
	assert_false(ray_instruction_starts_at(code, sizeof(code), 5));
	assert_false(ray_instruction_starts_at(code, sizeof(code), 1000));
}

static void what_system_calls_return_is_seen_behind_each(void **state)
{
	/* syscall; cmp $-4096,%rax; ja +1; ret; syscall; test %rax,%rax; js +0; ret */
	static const uint8_t code[] = { 0x0f, 0x05, 0x48, 0x3d, 0x00, 0xf0, 0xff, 0xff, 0x77, 0x01,
					0xc3, 0x0f, 0x05, 0x48, 0x85, 0xc0, 0x78, 0x00, 0xc3 };
	/* syscall; mov %rax,%rdi; jmp */
	static const uint8_t lost[] = { 0x0f, 0x05, 0x48, 0x89, 0xc7, 0xeb, 0x00, 0xc3 };
	uint64_t at[2];

	(void)state;
	assert_int_equal(ray_instruction_after_calls(code, sizeof(code), at, 2), 2);
	assert_int_equal(at[0], 8);
	assert_int_equal(at[1], 16);
	assert_int_equal(ray_instruction_after_calls(code, sizeof(code), at, 1), 0);
	assert_int_equal(ray_instruction_after_calls(code, 2, at, 2), 0);
	assert_int_equal(ray_instruction_after_calls(lost, sizeof(lost), at, 2), 0);
	assert_int_equal(ray_instruction_after_calls(code + 10, 1, at, 2), 0); /* it has none */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_push_is_probed_where_it_is),
		cmocka_unit_test(endbr_is_passed_over),
		cmocka_unit_test(a_compare_before_a_jump_is_passed_over),
		cmocka_unit_test(a_written_argument_ends_the_search),
		cmocka_unit_test(registers_that_hold_no_argument_may_be_written),
		cmocka_unit_test(a_loop_back_ends_the_search),
		cmocka_unit_test(only_starts_of_instructions_are_starts),
		cmocka_unit_test(what_system_calls_return_is_seen_behind_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
