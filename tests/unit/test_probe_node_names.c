/* test_probe_node_names.c - names of functions against symbols. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "probe/node_names.h"

static bool is(const char *name, const char *symbol)
{
	bool is_clone;

	return ray_node_name_is(name, symbol, &is_clone);
}

static bool is_clone(const char *name, const char *symbol)
{
	bool ret;

	return ray_node_name_is(name, symbol, &ret) && ret;
}

static void a_name_is_itself(void **state)
{
	(void)state;
	assert_true(is("uv_run", "uv_run"));
	assert_true(is("uv_run", "uv_run@@UV_1"));
	assert_false(is("uv_run", "uv_run_more"));
	assert_false(is("uv_run", "uv_ru"));
	assert_false(is_clone("uv_run", "uv_run"));
}

static void a_prefix_ends_in_a_star(void **state)
{
	(void)state;
	assert_true(is("_ZN4Heap4Call*", "_ZN4Heap4CallEi"));
	assert_true(is("_ZN4Heap4Call*", "_ZN4Heap4Call"));
	assert_false(is("_ZN4Heap4Call*", "_ZN4Heap4Cal"));
}

static void copies_count_and_pieces_do_not(void **state)
{
	(void)state;
	assert_true(is_clone("f", "f.constprop.0"));
	assert_true(is_clone("f", "f.isra.0.constprop.12"));
	assert_true(is_clone("_Zf*", "_Zf3EPKc.constprop.1331"));
	assert_true(is("f", "f.lto_priv.3"));
	assert_false(is_clone("f", "f.lto_priv.3"));
	assert_false(is("f", "f.cold"));
	assert_false(is("f", "f.part.0"));
	assert_false(is("f", "f.constprop.0.cold"));
	assert_false(is("_Zf*", "_ZfEi.cold.7"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_itself),
		cmocka_unit_test(a_prefix_ends_in_a_star),
		cmocka_unit_test(copies_count_and_pieces_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
