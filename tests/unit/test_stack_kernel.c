/* test_stack_kernel.c - the kernel's functions by address. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
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

struct oracle {
	unsigned questions;
	bool is_mute;
};

static bool answer(void *arg, uint64_t address, char *text, size_t size)
{
	struct oracle *o = arg;

	o->questions++;
	if (o->is_mute)
		return false;
	if (address == 0xffffffff81000010)
		snprintf(text, size, "do_one+0x10/0x80");
	else if (address == 0xffffffffa0000040)
		snprintf(text, size, "bpf_prog_167fdf73d15dd5de_ray_walk_context_of+0x40/0x100");
	else if (address >> 16 == 0xffffffffc000)
		snprintf(text, size, "in_module+0x%x/0x100 [ext4]", (unsigned)(address & 0xffff));
	else
		snprintf(text, size, "0x%llx", (unsigned long long)address);
	return true;
}

static void an_address_is_asked_for_once(void **state)
{
	ray_auto(ray_kernel, k) = ray_kernel_create();
	struct oracle o = { 0 };
	struct ray_kernel_symbol s;

	(void)state;
	ray_kernel_ask(k, answer, &o);
	for (int i = 0; i < 3; i++) {
		assert_true(ray_kernel_symbol_at(k, 0xffffffff81000010, &s));
		assert_string_equal(s.name, "do_one");
		assert_string_equal(s.module, "vmlinux");
		assert_true(s.start == 0xffffffff81000000);
		assert_false(ray_kernel_symbol_at(k, 0xffffffff90000000, &s));
		assert_false(ray_kernel_symbol_at(k, 0, &s));
	}
	assert_int_equal(o.questions, 2);
	/* The answer said how long the function is. */
	assert_true(ray_kernel_symbol_at(k, 0xffffffff8100007f, &s));
	assert_string_equal(s.name, "do_one");
	assert_true(s.start == 0xffffffff81000000);
	assert_int_equal(o.questions, 2);
	assert_false(ray_kernel_symbol_at(k, 0xffffffff81000080, &s));
	assert_int_equal(o.questions, 3);
	assert_true(ray_kernel_symbol_at(k, 0xffffffffa0000040, &s));
	assert_string_equal(s.name, "bpf_prog_167fdf73d15dd5de_ray_walk_context_of");
	assert_string_equal(s.module, "bpf");
	for (uint64_t i = 0; i < 5000; i++) {
		assert_true(ray_kernel_symbol_at(k, 0xffffffffc0000000 + i, &s));
		assert_string_equal(s.module, "ext4");
		assert_true(s.start == 0xffffffffc0000000);
	}
	assert_true(ray_kernel_symbol_at(k, 0xffffffff81000010, &s));
	assert_int_equal(o.questions, 5004);
}

static void who_cannot_be_asked_is_not_asked_again(void **state)
{
	char text[] = "ffffffff81000100 t do_one\nffffffff81000200 t do_two\n";
	ray_auto(ray_kernel, k) = ray_kernel_create();
	struct oracle o = { .is_mute = true };
	struct ray_kernel_symbol s;

	(void)state;
	assert_true(ray_kernel_parse(k, text));
	ray_kernel_ask(k, answer, &o);
	assert_true(ray_kernel_symbol_at(k, 0xffffffff81000110, &s));
	assert_string_equal(s.name, "do_one");
	assert_true(ray_kernel_symbol_at(k, 0xffffffff81000210, &s));
	assert_string_equal(s.name, "do_two");
	assert_int_equal(o.questions, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_asked_for_once),
		cmocka_unit_test(who_cannot_be_asked_is_not_asked_again),
		cmocka_unit_test(an_address_belongs_to_the_function_before_it),
		cmocka_unit_test(zeros_name_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
