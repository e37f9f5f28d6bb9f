/* test_probe_catalogue.c - descriptions against the providers that need no process and no rights.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/derived.h"
#include "probe/provider.h"

static struct ray_catalogue *catalogue;

static int setup(void **state)
{
	(void)state;
	return ray_catalogue_create(&(struct ray_catalogue_options){ 0 }, &catalogue) != NULL;
}

static int teardown(void **state)
{
	(void)state;
	ray_catalogue_free(catalogue);
	return 0;
}

static size_t match(ray_probe_list *list, const char *provider, const char *module, const char *function,
		    const char *name)
{
	struct ray_probe_spec spec = { .provider = provider, .module = module, .function = function, .name = name };
	size_t before = list->n;

	assert_null(ray_catalogue_match(catalogue, &spec, list));
	return list->n - before;
}

static size_t count(const char *provider, const char *function, const char *name)
{
	ray_probe_list list = { 0 };
	size_t n = match(&list, provider, "", function, name);

	ray_vec_free(&list);
	return n;
}

/* Nanoseconds of the clock that the name stands for; 0: there is no such probe. */
static uint64_t period(const char *name)
{
	ray_probe_list list = { 0 };
	uint64_t ns = 0;

	if (match(&list, "profile", "", "", name)) {
		assert_int_equal(list.n, 1);
		assert_string_equal(list.at[0]->name, name);
		assert_null(ray_probe_sites(catalogue, list.at[0]));
		assert_int_equal(list.at[0]->site_count, 1);
		ns = list.at[0]->sites[0].period_ns;
	}
	ray_vec_free(&list);
	return ns;
}

static void dtrace_has_the_first_three_numbers(void **state)
{
	static const char *const names[] = { "BEGIN", "END", "ERROR" };

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		assert_string_equal(ray_catalogue_probe(catalogue, i + 1)->name, names[i]);
	assert_null(ray_catalogue_probe(catalogue, 0));
	assert_null(ray_catalogue_probe(catalogue, 1 << 30));
	assert_int_equal(count("", "", "BEGIN"), 1);
	assert_int_equal(count("dtrace", "", "*R*"), 1);
	assert_int_equal(count("dtrace", "x", ""), 0);
}

static void clocks_have_units(void **state)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} rows[] = {
		{ "tick-1", 1000000000 },	 { "profile-97", 10309278 },	  { "tick-1s", 1000000000 },
		{ "tick-1sec", 1000000000 },	 { "tick-10ms", 10000000 },	  { "tick-10msec", 10000000 },
		{ "tick-200us", 200000 },	 { "tick-300usec", 300000 },	  { "tick-200000ns", 200000 },
		{ "tick-200000nsec", 200000 },	 { "tick-1m", 60000000000 },	  { "tick-2min", 120000000000 },
		{ "tick-1h", 3600000000000 },	 { "tick-1hour", 3600000000000 }, { "tick-1d", 86400000000000 },
		{ "tick-1day", 86400000000000 }, { "profile-10000hz", 100000 },	  { "tick-1SEC", 1000000000 },
	};

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(rows); i++)
		if (period(rows[i].name) != rows[i].ns)
			fail_msg("%s: %lu", rows[i].name, (unsigned long)period(rows[i].name));
}

static void clocks_that_are_none_do_not_match(void **state)
{
	static const char *const names[] = {
		"tick-0",   "tick-",	     "tick-1us",     "tick-199us",
		"tick-1ns", "profile-10001", "tick-s",	     "tick-1seconds",
		"tick--1",  "tick- 1",	     "tick-+1",	     "tick-1 s",
		"tick",	    "profile-",	     "tick-1.5s",    "tick-99999999999999999999s",
		"tick-1x",  "tick-0x10",     "tick-106752d", "profile-999999999999",
	};

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(names); i++)
		if (period(names[i]))
			fail_msg("%s", names[i]);
	assert_int_equal(count("profile", "f", "tick-1s"), 0);
	assert_int_equal(count("syscall", "", "tick-1s"), 0);
}

static void a_pattern_finds_the_customary_clocks(void **state)
{
	(void)state;
	assert_int_equal(count("profile", "", "profile-*"), 7);
	assert_int_equal(count("pro*", "", "tick-*"), 6);
	assert_int_equal(count("profile", "", ""), 13);
}

static void system_calls_have_entry_and_return(void **state)
{
	ray_probe_list list = { 0 };
	struct ray_probe_args args;

	(void)state;
	assert_int_equal(match(&list, "syscall", "", "read", ""), 2);
	assert_string_equal(list.at[0]->name, "entry");
	assert_string_equal(list.at[0]->module, "vmlinux");
	assert_string_equal(list.at[1]->name, "return");
	assert_null(ray_probe_args(catalogue, list.at[0], &args));
	assert_int_equal(args.count, 3);
	assert_string_equal(args.at[1].type, "char *");
	assert_string_equal(args.at[1].name, "buf");
	assert_int_equal(args.at[1].native, 1);
	assert_null(ray_probe_args(catalogue, list.at[1], &args));
	assert_int_equal(args.count, 1);
	assert_string_equal(args.at[0].type, "long");
	/* The same probes again are no new ones. */
	assert_int_equal(match(&list, "syscall", "vmlinux", "read", "*"), 0);
	ray_vec_free(&list);
}

static void the_c_librarys_names_mean_the_kernels(void **state)
{
	ray_probe_list list = { 0 };

	(void)state;
	assert_int_equal(match(&list, "syscall", "", "fstat", "entry"), 1);
	assert_string_equal(list.at[0]->function, "newfstat");
	ray_vec_free(&list);
	assert_int_equal(count("syscall", "fst*t", "entry"), 0);
	assert_int_equal(count("syscall", "nosuchcall", ""), 0);
}

static void every_parameter_of_every_call_has_a_type_and_a_name(void **state)
{
	ray_probe_list list = { 0 };
	struct ray_probe_args args;

	(void)state;
	assert_true(match(&list, "syscall", "", "", "entry") > 350);
	for (size_t i = 0; i < list.n; i++) {
		assert_null(ray_probe_args(catalogue, list.at[i], &args));
		assert_true(args.known && args.count <= 6);
		for (size_t k = 0; k < args.count; k++)
			assert_true(*args.at[k].type && *args.at[k].name);
	}
	ray_vec_free(&list);
}

static void a_number_means_the_same_probe_in_every_run(void **state)
{
	struct ray_catalogue *other;
	ray_probe_list list = { 0 };
	struct ray_probe_spec spec = { .provider = "", .module = "", .function = "", .name = "" };

	(void)state;
	assert_int_equal(match(&list, "syscall", "", "openat", "return"), 1);
	spec.id = list.at[0]->id;
	ray_vec_free(&list);
	assert_null(ray_catalogue_create(&(struct ray_catalogue_options){ 0 }, &other));
	assert_null(ray_catalogue_match(other, &spec, &list));
	assert_int_equal(list.n, 1);
	assert_string_equal(list.at[0]->function, "openat");
	ray_vec_free(&list);
	spec.id = 99;
	assert_null(ray_catalogue_match(other, &spec, &list));
	assert_int_equal(list.n, 0);
	ray_vec_free(&list);
	ray_catalogue_free(other);
}

static void a_kernel_without_a_tracepoint_is_told_by_its_types(void **state)
{
	static const char types[] = "types\0btf_trace_sched_exit_tp\0more";
	char path[] = "/tmp/noderay-types-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, types, sizeof(types)), sizeof(types));
	close(fd);
	assert_true(ray_tracepoint_exists(path, "sched_exit_tp"));
	assert_false(ray_tracepoint_exists(path, "sched_exit"));
	assert_false(ray_tracepoint_exists(path, "sched_entry_tp"));
	unlink(path);
	assert_false(ray_tracepoint_exists(path, "sched_exit_tp"));
}

static void a_reserved_probe_is_found_once_it_is_named(void **state)
{
	const struct ray_probe_names names = { "node", "node", "http", "http-server-request", 0 };
	const struct ray_probe_names full = { "node77", "node", "http", "http-server-request", 0 };
	struct ray_probe *first, *second, *found;
	ray_probe_list list = { 0 };

	(void)state;
	assert_null(ray_catalogue_reserve(catalogue, &ray_provider_node, &names, &first));
	assert_null(ray_catalogue_reserve(catalogue, &ray_provider_node, &names, &second));
	assert_true(first->is_reserved && second->is_reserved && first->id != second->id);
	assert_ptr_equal(ray_catalogue_probe(catalogue, first->id), first);
	assert_null(ray_catalogue_name(catalogue, first, "node77"));
	assert_false(first->is_reserved);
	assert_string_equal(first->provider, "node77");
	assert_null(ray_catalogue_add(catalogue, &ray_provider_node, &full, &list, &found));
	assert_ptr_equal(found, first);
	/* Another process has the same number. */
	assert_null(ray_catalogue_name(catalogue, second, "node77"));
	assert_null(ray_catalogue_add(catalogue, &ray_provider_node, &full, &list, &found));
	assert_ptr_equal(found, second);
	assert_ptr_equal(ray_catalogue_probe(catalogue, first->id), first);
	ray_vec_free(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dtrace_has_the_first_three_numbers),
		cmocka_unit_test(clocks_have_units),
		cmocka_unit_test(clocks_that_are_none_do_not_match),
		cmocka_unit_test(a_pattern_finds_the_customary_clocks),
		cmocka_unit_test(system_calls_have_entry_and_return),
		cmocka_unit_test(the_c_librarys_names_mean_the_kernels),
		cmocka_unit_test(every_parameter_of_every_call_has_a_type_and_a_name),
		cmocka_unit_test(a_number_means_the_same_probe_in_every_run),
		cmocka_unit_test(a_kernel_without_a_tracepoint_is_told_by_its_types),
		cmocka_unit_test(a_reserved_probe_is_found_once_it_is_named),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
