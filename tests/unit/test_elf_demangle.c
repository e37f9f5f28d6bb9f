/* test_elf_demangle.c - names as people read them. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/demangle.h"

static void becomes(const char *mangled, int with_arguments, const char *expected)
{
	char *name = ray_demangle(mangled, with_arguments);

	assert_non_null(name);
	assert_string_equal(name, expected);
	free(name);
}

static void a_c_name_stays_as_it_is(void **state)
{
	(void)state;
	becomes("epoll_wait", 0, "epoll_wait");
	becomes("foo.constprop.0", 0, "foo.constprop.0");
	becomes("", 0, "");
	becomes("_Zebra", 0, "_Zebra");
	becomes("_Rabbit", 0, "_Rabbit");
}

static void arguments_are_left_out_unless_wanted(void **state)
{
	(void)state;
	becomes("_ZN4node6Buffer3NewEPFvPcPvES2_", 0, "node::Buffer::New");
	becomes("_ZN4node6Buffer3NewEPFvPcPvES2_", 1, "node::Buffer::New(void (*)(char*, void*), void*)");
	becomes("_ZNK3foocvbEv", 0, "foo::operator bool");
	becomes("_ZN3fooclEv", 0, "foo::operator()");
}

static void template_arguments_are_kept(void **state)
{
	(void)state;
	becomes("_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_", 0, "std::move<int&>");
}

static void anonymous_namespaces_and_lambdas_are_kept(void **state)
{
	(void)state;
	becomes("_ZN12_GLOBAL__N_13fooEi", 0, "(anonymous namespace)::foo");
	becomes("_ZZN3foo3barEiENKUlicE_clEic", 0, "foo::bar(int)::{lambda(int, char)#1}::operator()");
}

static void compiler_clones_are_marked(void **state)
{
	(void)state;
	becomes("_ZN3foo3bazEi.constprop.0", 0, "foo::baz [clone .constprop.0]");
	becomes("_ZN3foo3bazEi.part.0.cold", 0, "foo::baz [clone .part.0] [clone .cold]");
	becomes("_ZN3foo3bazEi.part.0.cold", 1, "foo::baz(int) [clone .part.0] [clone .cold]");
}

static void rust_names_lose_their_hash(void **state)
{
	(void)state;
	becomes("_RNvCslLv8O1NqadD_7___rustc10rust_panic", 0, "__rustc::rust_panic");
	becomes("_ZN4core3fmt5write17h0123456789abcdefE", 0, "core::fmt::write");
}

/* Each parameter is a pair of the one before: forty of them would print for years. */
static void a_name_that_unfolds_without_end_is_cut(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char mangled[1024] = "_Z1f1XIiiE";
	char *name;

	(void)state;
	for (int i = 0; i < 40; i++) {
		char pair[32], id[3] = { digits[2 * i / 36], digits[2 * i % 36], 0 };

		snprintf(pair, sizeof(pair), "1XIS%s_S%s_E", 2 * i < 36 ? id + 1 : id, 2 * i < 36 ? id + 1 : id);
		strcat(mangled, pair);
	}
	name = ray_demangle(mangled, 1);
	assert_non_null(name);
	assert_int_equal(strncmp(name, "f(X<int, int>, X<X<int, int>, X<int, int> >", 42), 0);
	assert_in_range(strlen(name), 16000, 17000);
	assert_string_equal(name + strlen(name) - 3, "...");
	free(name);
}

static void symbol_versions_are_left_out(void **state)
{
	(void)state;
	becomes("pthread_create@@GLIBC_2.34", 0, "pthread_create");
	becomes("memcpy@GLIBC_2.2.5", 1, "memcpy");
	becomes("_ZSt4endlv@@GLIBCXX_3.4", 0, "std::endl");
	becomes("@", 0, "@");
}

static void very_long_and_deep_names_come_back_untouched(void **state)
{
	char *mangled = malloc(200001);
	char *name;

	(void)state;
	assert_non_null(mangled);
	memset(mangled, 'P', 200000);
	memcpy(mangled, "_Z1f", 4);
	for (size_t length = 200000; length > 100; length /= 3) {
		mangled[length] = 0;
		name = ray_demangle(mangled, 1);
		assert_string_equal(name, mangled);
		free(name);
	}
	free(mangled);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_c_name_stays_as_it_is),
		cmocka_unit_test(arguments_are_left_out_unless_wanted),
		cmocka_unit_test(template_arguments_are_kept),
		cmocka_unit_test(anonymous_namespaces_and_lambdas_are_kept),
		cmocka_unit_test(compiler_clones_are_marked),
		cmocka_unit_test(rust_names_lose_their_hash),
		cmocka_unit_test(a_name_that_unfolds_without_end_is_cut),
		cmocka_unit_test(symbol_versions_are_left_out),
		cmocka_unit_test(very_long_and_deep_names_come_back_untouched),
	};

	return cmocka_run_group_tests_name("elf/demangle", tests, NULL, NULL);
}
