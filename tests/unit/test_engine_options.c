/* test_engine_options.c - options of -x, pragmas and setopt(). SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/options.h"

static struct ray_trace_options o;

static int setup(void **state)
{
	(void)state;
	ray_trace_options_init(&o);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ray_trace_options_deinit(&o);
	return 0;
}

static void sets(const char *name, const char *value)
{
	assert_null(ray_trace_option_set(&o, name, value, RAY_OPTION_COMMAND));
}

static void refuses(const char *name, const char *value, enum ray_option_time time, const char *expected)
{
	ray_auto(ray_error, err) = ray_trace_option_set(&o, name, value, time);

	assert_non_null(err);
	assert_string_equal(ray_error_text(err), expected);
}

static const char bad_value[] = "Invalid value for specified option";

static void sizes_have_units(void **state)
{
	(void)state;
	sets("bufsize", "64");
	assert_int_equal(o.bufsize, 64);
	sets("bufsize", "0x10k");
	assert_int_equal(o.bufsize, 16 << 10);
	sets("aggsize", "3M");
	assert_int_equal(o.aggsize, 3 << 20);
	sets("specsize", "2g");
	assert_int_equal(o.specsize, 2LL << 30);
	refuses("bufsize", "-1", RAY_OPTION_COMMAND, bad_value);
	refuses("bufsize", "4q", RAY_OPTION_COMMAND, bad_value);
	refuses("bufsize", "4mm", RAY_OPTION_COMMAND, bad_value);
	refuses("bufsize", "99999999t", RAY_OPTION_COMMAND, bad_value);
	refuses("bufsize", "", RAY_OPTION_COMMAND, bad_value);
	refuses("bufsize", NULL, RAY_OPTION_COMMAND, bad_value);
	refuses("strsize", "1", RAY_OPTION_COMMAND, bad_value);
	sets("strsize", "2");
	assert_int_equal(o.strsize, 2);
}

static void rates_are_periods_or_frequencies(void **state)
{
	(void)state;
	sets("switchrate", "10hz");
	assert_int_equal(o.switchrate_ns, 100000000);
	sets("switchrate", "16sec");
	assert_int_equal(o.switchrate_ns, 16000000000);
	sets("aggrate", "50MS");
	assert_int_equal(o.aggrate_ns, 50000000);
	sets("aggrate", "7");
	assert_int_equal(o.aggrate_ns, 7);
	refuses("aggrate", "0.5hz", RAY_OPTION_RUNNING, bad_value);
	refuses("aggrate", "5parsec", RAY_OPTION_COMMAND, bad_value);
	refuses("aggrate", "999999999999999d", RAY_OPTION_COMMAND, bad_value);
}

static void switches_take_words_numbers_or_nothing(void **state)
{
	(void)state;
	sets("quiet", NULL);
	assert_true(o.quiet);
	sets("quiet", "no");
	assert_false(o.quiet);
	sets("quiet", "Enabled");
	assert_true(o.quiet);
	sets("quiet", "");
	assert_false(o.quiet);
	refuses("quiet", "um, no", RAY_OPTION_RUNNING, bad_value);
	sets("ustackframes", "30");
	assert_int_equal(o.ustackframes, 30);
	sets("ustackframes", "unset");
	assert_int_equal(o.ustackframes, 100);
	sets("cpu", "1");
	assert_int_equal(o.cpu, 1);
	sets("zdefs", NULL);
	assert_true(o.zdefs);
	refuses("zdefs", "1", RAY_OPTION_COMMAND, bad_value);
}

static void options_have_their_time(void **state)
{
	(void)state;
	refuses("Nixon", "1", RAY_OPTION_RUNNING, "Invalid option name");
	refuses("bufsize", "1m", RAY_OPTION_RUNNING, "Operation illegal when tracing is active");
	refuses("ldpath", "/x", RAY_OPTION_PRAGMA, "Option cannot be used from within a D program");
	assert_null(ray_trace_option_set(&o, "aggsortrev", "1", RAY_OPTION_RUNNING));
	assert_true(o.aggsortrev);
	assert_null(ray_trace_option_set(&o, "bufsize", "1m", RAY_OPTION_PRAGMA));
}

static void special_ones_keep_their_rules(void **state)
{
	(void)state;
	refuses("iregs", "9", RAY_OPTION_PRAGMA, bad_value);
	refuses("iregs", "7", RAY_OPTION_COMMAND, "Insufficient registers to generate code");
	refuses("version", "99.1", RAY_OPTION_COMMAND, "Requested version is not supported by compiler");
	refuses("version", "nonsense", RAY_OPTION_COMMAND, "Version is not properly formatted or is too large");
	sets("version", "1.0");
	refuses("stdc", "X", RAY_OPTION_COMMAND, bad_value);
	sets("evaltime", "exec");
	assert_int_equal(o.evaltime, RAY_EVALTIME_EXEC);
	refuses("evaltime", "", RAY_OPTION_COMMAND, bad_value);
	refuses("core", NULL, RAY_OPTION_COMMAND, "Option not supported: it would end the tracer by an abort");
	sets("define", "A=1");
	sets("cppargs", " -H  -dM ");
	sets("undef", "B");
	assert_string_equal(o.cppargs[0], "-DA=1");
	assert_string_equal(o.cppargs[1], "-H");
	assert_string_equal(o.cppargs[2], "-dM");
	assert_string_equal(o.cppargs[3], "-UB");
	assert_null(o.cppargs[4]);
}

static void the_environment_sets_options_in_capitals(void **state)
{
	char *environment[] = { "PATH=/bin",
				"DTRACE_OPT_QUIET=",
				"DTRACE_OPT_STRSIZE=99",
				"DTRACE_OPT_NONE=1",
				"DTRACE_OPT_ZDEFS=",
				"DTRACE_OPT_CPU=3",
				NULL };
	char *wrong[] = { "DTRACE_OPT_BUFSIZE=many", NULL };
	(void)state;

	assert_null(ray_trace_options_environment(&o, environment));
	assert_int_equal(o.strsize, 99);
	assert_int_equal(o.cpu, 3);
	assert_true(o.zdefs);
	ray_auto(ray_error, err) = ray_trace_options_environment(&o, wrong);
	assert_non_null(err);
	assert_string_equal(ray_error_text(err), "DTRACE_OPT_BUFSIZE: Invalid value for specified option");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sizes_have_units, setup, teardown),
		cmocka_unit_test_setup_teardown(rates_are_periods_or_frequencies, setup, teardown),
		cmocka_unit_test_setup_teardown(switches_take_words_numbers_or_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(options_have_their_time, setup, teardown),
		cmocka_unit_test_setup_teardown(special_ones_keep_their_rules, setup, teardown),
		cmocka_unit_test_setup_teardown(the_environment_sets_options_in_capitals, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
