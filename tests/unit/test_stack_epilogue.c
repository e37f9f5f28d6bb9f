/* test_stack_epilogue.c - functions that have given up their frame and are about to return.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "stack/epilogue.h"

enum { CODE = 0x1000, STACK = 0x8000, RETURN = 0x4711, RCX = 2 };

struct memory {
	uint8_t code[64];
	size_t size;
	uint64_t stack[4];
};

static size_t read_memory(void *arg, uint64_t address, void *buffer, size_t size)
{
	struct memory *m = arg;
	const uint8_t *from = address >= STACK ? (const uint8_t *)m->stack + (address - STACK) :
						 m->code + (address - CODE);
	size_t left = address >= STACK ? STACK + sizeof(m->stack) - address : CODE + m->size - address;

	if (size > left)
		size = left;
	memcpy(buffer, from, size);
	return size;
}

static bool find(const uint8_t *code, size_t size, uint64_t rcx, uint64_t *address, uint64_t *sp)
{
	struct memory m = { .size = size, .stack = { RETURN, 1, 2, 3 } };
	struct ray_reader reader = { read_memory, &m };
	struct ray_unwind_regs regs = { .valid = (1u << RAY_UNWIND_REGS) - 1 };

	memcpy(m.code, code, size);
	regs.reg[RAY_UNWIND_PC] = CODE;
	regs.reg[RAY_UNWIND_RSP] = STACK;
	regs.reg[RCX] = rcx;
	return ray_epilogue_find(&reader, &regs, address, sp);
}

#define EXPECT(rcx, where, behind, ...)                                        \
	do {                                                                   \
		static const uint8_t code_[] = { __VA_ARGS__ };                \
		uint64_t address_ = 0, sp_ = 0;                                \
		assert_true(find(code_, sizeof(code_), rcx, &address_, &sp_)); \
		assert_int_equal(address_, where);                             \
		assert_int_equal(sp_, behind);                                 \
	} while (0)

#define EXPECT_NONE(...)                                                           \
	do {                                                                       \
		static const uint8_t code_[] = { __VA_ARGS__ };                    \
		uint64_t address_ = 7, sp_ = 7;                                    \
		assert_false(find(code_, sizeof(code_), RETURN, &address_, &sp_)); \
		assert_int_equal(address_, 7);                                     \
	} while (0)

static void at_the_return_the_address_is_on_top(void **state)
{
	(void)state;
	EXPECT(0, RETURN, STACK + 8, 0xc3);
	EXPECT(0, RETURN, STACK + 8, 0xc2, 0x10, 0x00);
}

static void arguments_are_dropped_below_it(void **state)
{
	(void)state;
	/* pop %rcx; lea (%rsp,%rax,8),%rsp; push %rcx; ret */
	EXPECT(0, RETURN, STACK + 16, 0x59, 0x48, 0x8d, 0x24, 0xc4, 0x51, 0xc3);
	/* pop %r10; lea 8(%rsp,%rcx,8),%rsp; push %r10; ret */
	EXPECT(0, RETURN, STACK + 16, 0x41, 0x5a, 0x48, 0x8d, 0x64, 0xcc, 0x08, 0x41, 0x52, 0xc3);
}

static void in_between_a_register_holds_it(void **state)
{
	(void)state;
	/* lea (%rsp,%rax,8),%rsp; push %rcx; ret */
	EXPECT(0x999, 0x999, STACK + 8, 0x48, 0x8d, 0x24, 0xc4, 0x51, 0xc3);
}

static void how_many_there_are_is_looked_at_first(void **state)
{
	(void)state;
	/* cmp $2,%rcx; jg; ret 16 */
	EXPECT(0, RETURN, STACK + 8, 0x48, 0x83, 0xf9, 0x02, 0x7f, 0x03, 0xc2, 0x10, 0x00);
	/* cmp $0x1000,%rcx; jg near; ret */
	EXPECT(0, RETURN, STACK + 8, 0x48, 0x81, 0xf9, 0, 0x10, 0, 0, 0x0f, 0x8f, 1, 0, 0, 0, 0xc3);
}

static void while_the_frame_stands_it_is_none(void **state)
{
	(void)state;
	EXPECT_NONE(0x5d, 0xc3);		   /* pop %rbp; ret */
	EXPECT_NONE(0xc9, 0xc3);		   /* leave; ret */
	EXPECT_NONE(0x48, 0x8b, 0xe5, 0x5d, 0xc3); /* mov %rbp,%rsp; pop %rbp; ret */
}

static void other_code_is_none(void **state)
{
	(void)state;
	EXPECT_NONE(0x48, 0x8b, 0x45, 0xf8, 0xc3); /* mov -8(%rbp),%rax; ret */
	EXPECT_NONE(0x59, 0x50, 0xc3);		   /* pop %rcx; push %rax; ret */
	EXPECT_NONE(0x59, 0x59, 0xc3);		   /* two words popped */
	EXPECT_NONE(0x70, 0, 0x70, 0, 0x70, 0, 0x70, 0, 0x70, 0, 0x70, 0, 0x70, 0, 0x70, 0, 0xc3);
	EXPECT_NONE(0x48); /* the code ends */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_the_return_the_address_is_on_top),
		cmocka_unit_test(arguments_are_dropped_below_it),
		cmocka_unit_test(in_between_a_register_holds_it),
		cmocka_unit_test(how_many_there_are_is_looked_at_first),
		cmocka_unit_test(while_the_frame_stands_it_is_none),
		cmocka_unit_test(other_code_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
