/* test_probe_pid.c - functions of this very process, as the pid provider finds them. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "probe/catalogue.h"

__attribute__((noinline, used)) int ray_test_function_to_find(int n);
int ray_test_function_to_find(int n)
{
	return n + getpid();
}

static struct ray_catalogue *catalogue;
static char provider[32];

static size_t count(const char *module, const char *function, const char *name)
{
	struct ray_probe_spec spec = { .provider = provider, .module = module, .function = function, .name = name };
	ray_probe_list list = { 0 };
	size_t n;

	assert_null(ray_catalogue_match(catalogue, &spec, &list));
	n = list.n;
	for (size_t i = 0; i < list.n; i++)
		assert_string_equal(list.at[i]->provider, provider);
	ray_vec_free(&list);
	return n;
}

static int set_up(void **state)
{
	pid_t pid = getpid();
	struct ray_catalogue_options options = { .pids = &pid, .pid_count = 1 };

	(void)state;
	snprintf(provider, sizeof(provider), "pid%d", pid);
	return ray_catalogue_create(&options, &catalogue) ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	ray_catalogue_free(catalogue);
	return 0;
}

static void a_function_is_found_by_name_and_by_pattern(void **state)
{
	(void)state;
	assert_int_equal(count("", "ray_test_function_to_find", "entry"), 1);
	assert_int_equal(count("a.out", "ray_test_function_to_f*", "entry"), 1);
	assert_int_equal(count("", "ray_test_function_to_find", ""), 2);
	assert_int_equal(count("libc.so.6", "ray_test_function_to_find", "entry"), 0);
	assert_int_equal(count("", "no_function_of_this_name", "entry"), 0);
}

static void a_library_is_found_with_and_without_its_suffix(void **state)
{
	(void)state;
	assert_int_equal(count("libc.so.6", "qsort_r", "entry"), 1);
	assert_int_equal(count("libc", "qsort_r", "entry"), 1);
	assert_int_equal(count("libc*", "qsort_r", "return"), 1);
}

static void an_offset_must_be_an_instruction(void **state)
{
	struct ray_probe_spec spec = { .provider = provider, .module = "", .function = "ray_test_function_to_find" };
	ray_auto(ray_error, err) = NULL;
	ray_probe_list list = { 0 };
	size_t refused = 0;
	char name[8];

	(void)state;
	for (unsigned offset = 0; offset < 8; offset++) {
		snprintf(name, sizeof(name), "%x", offset);
		spec.name = name;
		assert_null(ray_catalogue_match(catalogue, &spec, &list));
		err = ray_probe_sites(catalogue, list.at[list.n - 1]);
		if (err) {
			assert_non_null(strstr(ray_error_text(err), "no instruction"));
			refused++;
			ray_error_free(err);
			err = NULL;
		}
	}
	assert_int_equal(list.n, 8);
	assert_in_range(refused, 1, 7);
	ray_vec_free(&list);
}

static void a_process_that_is_not_there_is_an_error(void **state)
{
	struct ray_probe_spec spec = { .provider = "pid999999999", .module = "", .function = "f", .name = "entry" };
	ray_auto(ray_error, err) = NULL;
	ray_probe_list list = { 0 };

	(void)state;
	err = ray_catalogue_match(catalogue, &spec, &list);
	assert_non_null(err);
	assert_non_null(strstr(ray_error_text(err), "failed to grab process 999999999"));
	ray_vec_free(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_function_is_found_by_name_and_by_pattern, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_library_is_found_with_and_without_its_suffix, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_offset_must_be_an_instruction, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_process_that_is_not_there_is_an_error, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
