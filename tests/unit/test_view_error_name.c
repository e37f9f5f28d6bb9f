/* test_view_error_name.c - errors as JavaScript calls them. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "view/error_name.h"

static void errors_of_libuv(void **state)
{
	char out[24];

	(void)state;
	assert_null(ray_view_uv_error(0, out));
	assert_null(ray_view_uv_error(4096, out));
	assert_string_equal(ray_view_uv_error(-2, out), "ENOENT");
	assert_string_equal(ray_view_uv_error(-125, out), "ECANCELED");
	assert_string_equal(ray_view_uv_error(-4095, out), "EOF");
	assert_string_equal(ray_view_uv_error(-3001, out), "EAI_AGAIN");
	assert_string_equal(ray_view_uv_error(-3999, out), "-3999");
	assert_string_equal(ray_view_uv_error(INT64_MIN, out), "-9223372036854775808");
}

static void errors_of_names(void **state)
{
	char out[24];

	(void)state;
	assert_null(ray_view_dns_error(0, out));
	assert_string_equal(ray_view_dns_error(-3008, out), "ENOTFOUND");
	assert_string_equal(ray_view_dns_error(-3007, out), "ENOTFOUND");
	assert_string_equal(ray_view_dns_error(-3001, out), "EAI_AGAIN");
	assert_string_equal(ray_view_dns_error(-125, out), "ECANCELED");
	assert_string_equal(ray_view_dns_error(3, out), "ESERVFAIL");
	assert_string_equal(ray_view_dns_error(12, out), "ETIMEOUT");
	assert_string_equal(ray_view_dns_error(24, out), "ECANCELLED");
	assert_string_equal(ray_view_dns_error(25, out), "25");
	assert_string_equal(ray_view_dns_error(INT64_MAX, out), "9223372036854775807");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_of_libuv),
		cmocka_unit_test(errors_of_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
