/* test_elf_usdt.c - arguments of static probes, in every form that assemblers write. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "elf/usdt.h"

int ray_test_usdt_counter = 7; /* a symbol of this very program */

static struct ray_elf *self;

static int open_self(void **state)
{
	(void)state;
	return ray_elf_open("/proc/self/exe", &self) ? -1 : 0;
}

static int close_self(void **state)
{
	(void)state;
	ray_elf_close(self);
	return 0;
}

static struct ray_fetch parse(const char *text)
{
	struct ray_usdt probe = { .arguments = text, .vaddr = 0x1000 };
	struct ray_fetch fetch[RAY_ARGS];

	assert_int_equal(ray_usdt_arguments(self, &probe, fetch), 1);
	return fetch[0];
}

static void expect(const char *text, struct ray_fetch wanted)
{
	struct ray_fetch got = parse(text);

	assert_int_equal(got.kind, wanted.kind);
	assert_int_equal(got.size, wanted.size);
	assert_int_equal(got.flags, wanted.flags);
	if (wanted.kind == RAY_FETCH_REG || wanted.kind == RAY_FETCH_MEM)
		assert_int_equal(got.reg, wanted.reg);
	if (wanted.kind == RAY_FETCH_MEM)
		assert_int_equal(got.index, wanted.index);
	assert_int_equal(got.scale, wanted.scale);
	assert_true(got.value == wanted.value);
}

#define REG(r, s, f) ((struct ray_fetch){ .kind = RAY_FETCH_REG, .reg = r, .size = s, .flags = f })
#define MEM(r, i, k, s, f, v) \
	((struct ray_fetch){  \
		.kind = RAY_FETCH_MEM, .reg = r, .index = i, .scale = k, .size = s, .flags = f, .value = v })

static void registers_and_their_parts(void **state)
{
	(void)state;
	expect("8@%rdi", REG(14, 8, 0));
	expect("-4@%eax", REG(10, 4, 1));
	expect("2@%cx", REG(11, 2, 0));
	expect("-1@%r8b", REG(9, 1, 1));
	expect("1@%sil", REG(13, 1, 0));
	expect("%rsp", REG(19, 8, 0));
	expect("1@%ah", (struct ray_fetch){ .kind = RAY_FETCH_REG, .reg = 10, .size = 1, .scale = 8 });
}

static void constants(void **state)
{
	(void)state;
	expect("-4@$-1", (struct ray_fetch){ .kind = RAY_FETCH_CONST, .size = 4, .flags = 1, .value = -1 });
	expect("8@$0x7fffffffffffffff",
	       (struct ray_fetch){ .kind = RAY_FETCH_CONST, .size = 8, .value = 0x7fffffffffffffff });
}

static void memory(void **state)
{
	(void)state;
	expect("8@-8(%rbp)", MEM(4, 0xff, 0, 8, 0, -8));
	expect("-4@(%rax,%rcx,4)", MEM(10, 11, 2, 4, 1, 0));
	expect("8@16(,%rdx,8)", MEM(0xff, 12, 3, 8, 0, 16));
	expect("4@1024", MEM(0xff, 0xff, 0, 4, 0, 1024));
}

static void addresses_by_symbol_are_relative_to_the_probe(void **state)
{
	struct ray_symbol symbol;

	(void)state;
	assert_true(ray_elf_find_symbol(self, "ray_test_usdt_counter", &symbol));
	expect("-4@ray_test_usdt_counter(%rip)", MEM(16, 0xff, 0, 4, 1, (int64_t)symbol.value - 0x1000));
	expect("-4@ray_test_usdt_counter+8(%rip)", MEM(16, 0xff, 0, 4, 1, (int64_t)symbol.value + 8 - 0x1000));
	expect("-4@8+ray_test_usdt_counter(%rip)", MEM(16, 0xff, 0, 4, 1, (int64_t)symbol.value + 8 - 0x1000));
}

static void what_cannot_be_understood_is_none(void **state)
{
	static const char *const bad[] = { "8@%xmm0", "8f@%xmm1", "3@%rax",  "8@(%rax,%rcx,3)", "8@nowhere(%rip)",
					   "@",	      "8@%",	  "8@(%rax", "8@(%rax,)" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse(bad[i]).kind, RAY_FETCH_NONE);
}

static void only_so_many_are_kept(void **state)
{
	char text[(RAY_ARGS + 2) * 8] = "";
	struct ray_usdt probe = { .arguments = text };
	struct ray_fetch fetch[RAY_ARGS];

	(void)state;
	for (int i = 0, at = 0; i < RAY_ARGS + 2; i++)
		at += snprintf(text + at, sizeof(text) - at, "8@$%d ", i);
	assert_int_equal(ray_usdt_arguments(self, &probe, fetch), RAY_ARGS);
	assert_int_equal(fetch[RAY_ARGS - 1].value, RAY_ARGS - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_and_their_parts),
		cmocka_unit_test(constants),
		cmocka_unit_test(memory),
		cmocka_unit_test(addresses_by_symbol_are_relative_to_the_probe),
		cmocka_unit_test(what_cannot_be_understood_is_none),
		cmocka_unit_test(only_so_many_are_kept),
	};

	return cmocka_run_group_tests(tests, open_self, close_self);
}
