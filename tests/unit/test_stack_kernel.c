/* test_stack_kernel.c - the kernel's functions by address. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "stack/kernel.h"

static void an_address_belongs_to_the_function_before_it(void **state)
{
	char text[] = "0000000000000000 A fixed_percpu_data\n"
		      "ffffffff81000000 T _text\n"
		      "ffffffff81000000 T _stext\n"
		      "ffffffff81000100 t do_one\n"
		      "ffffffff81000180 d a_variable\n"
		      "ffffffffc0001000 t in_module\t[ext4]\n"
		      "nonsense\n"
		      "ffffffff81000200 W weak\n";
	ray_auto(ray_kernel, k) = ray_kernel_create();
	struct ray_kernel_symbol s;

	(void)state;
	assert_true(ray_kernel_parse(k, text));
	assert_true(ray_kernel_symbol_at(k, 0xffffffff81000000, &s));
	assert_string_equal(s.name, "_text");
	assert_string_equal(s.module, "vmlinux");
	assert_true(ray_kernel_symbol_at(k, 0xffffffff810001ff, &s));
	assert_string_equal(s.name, "do_one");
	assert_true(s.start == 0xffffffff81000100);
	assert_true(ray_kernel_symbol_at(k, 0xffffffffc0001010, &s));
	assert_string_equal(s.name, "in_module");
	assert_string_equal(s.module, "ext4");
	assert_false(ray_kernel_symbol_at(k, 0xffffffff80ffffff, &s));
	assert_false(ray_kernel_symbol_at(k, 0xffffffffff000000, &s));
}

/* As it is without the right to see addresses. */
static void zeros_name_nothing(void **state)
{
	char text[] = "0000000000000000 T _text\n0000000000000000 T do_one\n";
	ray_auto(ray_kernel, k) = ray_kernel_create();
	struct ray_kernel_symbol s;

	(void)state;
	assert_true(ray_kernel_parse(k, text));
	assert_false(ray_kernel_symbol_at(k, 0xffffffff81000000, &s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_belongs_to_the_function_before_it),
		cmocka_unit_test(zeros_name_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
