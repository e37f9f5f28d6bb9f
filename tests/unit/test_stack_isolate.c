/* test_stack_isolate.c - what the code of v8::Isolate::TryGetCurrent() says. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "stack/isolate.h"

static void expect(const uint8_t *code, size_t size, enum ray_isolate_access access, int64_t value, int64_t extra)
{
	int64_t got = 0, more = 0;

	assert_int_equal(ray_isolate_decode(code, size, 0x1000, &got, &more), access);
	assert_int_equal(got, value);
	assert_int_equal(more, extra);
}

#define EXPECT(access, value, extra, ...)                           \
	do {                                                        \
		static const uint8_t code_[] = { __VA_ARGS__ };     \
		expect(code_, sizeof(code_), access, value, extra); \
	} while (0)

static void a_variable_at_a_fixed_distance(void **state)
{
	(void)state;
	/* push %rbp; mov %rsp,%rbp; mov %fs:-0x178,%rax; pop; ret */
	EXPECT(RAY_ACCESS_FIXED, -0x178, 0, 0x55, 0x48, 0x89, 0xe5, 0x64, 0x48, 0x8b, 0x04, 0x25, 0x88, 0xfe, 0xff,
	       0xff, 0x5d, 0xc3);
}

static void a_distance_that_the_linker_fills_in(void **state)
{
	(void)state;
	/* mov $0,%eax; mov 0x10(%rip),%rax; mov %fs:(%rax),%rax; ret */
	EXPECT(RAY_ACCESS_FIXED_GOT, 0x1000 + 5 + 7 + 0x10, 0, 0xb8, 0, 0, 0, 0, 0x48, 0x8b, 0x05, 0x10, 0, 0, 0, 0x64,
	       0x48, 0x8b, 0x00, 0xc3);
}

static void a_pthread_key(void **state)
{
	(void)state;
	/* mov 0x20(%rip),%edi; jmp */
	EXPECT(RAY_ACCESS_KEY, 0x1000 + 6 + 0x20, 0, 0x8b, 0x3d, 0x20, 0, 0, 0, 0xe9, 1, 2, 3, 4);
}

static void a_pthread_key_behind_a_pointer(void **state)
{
	(void)state;
	/* mov 0x20(%rip),%rax; mov (%rax),%edi; jmp */
	EXPECT(RAY_ACCESS_KEY_GOT, 0x1000 + 7 + 0x20, 0, 0x48, 0x8b, 0x05, 0x20, 0, 0, 0, 0x8b, 0x38, 0xe9, 1, 2, 3, 4);
}

static void a_variable_of_a_shared_library(void **state)
{
	(void)state;
	/* data16 lea 0x30(%rip),%rdi; data16 data16 call; mov (%rax),%rax */
	EXPECT(RAY_ACCESS_MODULE_GOT, 0x1000 + 8 + 0x30, 0, 0x66, 0x48, 0x8d, 0x3d, 0x30, 0, 0, 0, 0x66, 0x66, 0x48,
	       0xe8, 1, 2, 3, 4, 0x48, 0x8b, 0x00, 0xc3);
	/* lea 0x30(%rip),%rdi; call; mov 0x48(%rax),%rax */
	EXPECT(RAY_ACCESS_LOCAL_GOT, 0x1000 + 7 + 0x30, 0x48, 0x48, 0x8d, 0x3d, 0x30, 0, 0, 0, 0xe8, 1, 2, 3, 4, 0x48,
	       0x8b, 0x80, 0x48, 0, 0, 0, 0xc3);
}

static void a_jump_elsewhere_is_followed(void **state)
{
	(void)state;
	EXPECT(RAY_ACCESS_ELSEWHERE, 0x1000 + 5 + 0x100, 0, 0xe9, 0, 1, 0, 0);
	EXPECT(RAY_ACCESS_ELSEWHERE, 0x1000 + 9 + 0x100, 0, 0xf3, 0x0f, 0x1e, 0xfa, 0xe9, 0, 1, 0, 0);
}

static void other_or_cut_code_says_nothing(void **state)
{
	int64_t value, extra;
	(void)state;

	EXPECT(RAY_ACCESS_UNKNOWN, 0, 0, 0xc3, 0x90);
	EXPECT(RAY_ACCESS_UNKNOWN, 0, 0, 0x64, 0x48, 0x8b, 0x04, 0x25, 0x88, 0xfe);
	assert_int_equal(ray_isolate_decode((const uint8_t *)"", 0, 0, &value, &extra), RAY_ACCESS_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_variable_at_a_fixed_distance),
		cmocka_unit_test(a_distance_that_the_linker_fills_in),
		cmocka_unit_test(a_pthread_key),
		cmocka_unit_test(a_pthread_key_behind_a_pointer),
		cmocka_unit_test(a_variable_of_a_shared_library),
		cmocka_unit_test(a_jump_elsewhere_is_followed),
		cmocka_unit_test(other_or_cut_code_says_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
