/* test_target_script.c - what a node was told to run. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "target/script.h"

static void expect_as(const char *args, size_t size, bool terminal, enum ray_script_kind kind, const char *text,
		      size_t options)
{
	ray_auto(ray_arena, arena) = ray_arena_create();
	struct ray_script s;
	size_t n = 0;

	assert_true(ray_script_parse(args, size, terminal, arena, &s));
	assert_string_equal(s.text, text);
	assert_int_equal(s.kind, kind);
	while (s.options[n])
		n++;
	assert_int_equal(n, options);
}

/* A literal's own NUL ends the last word. */
#define EXPECT(args, kind, text, options) expect_as(args, sizeof(args), false, kind, text, options)

static void the_script_is_shown_as_given(void **state)
{
	(void)state;
	EXPECT("node\0app.js", RAY_SCRIPT_FILE, "app.js", 0);
	EXPECT("/usr/bin/node\0../srv/app.mjs\0--port\0"
	       "80",
	       RAY_SCRIPT_FILE, "../srv/app.mjs", 0);
	EXPECT("node\0--enable-source-maps\0--max-old-space-size=100\0app.js\0-e\0x", RAY_SCRIPT_FILE, "app.js", 2);
	EXPECT("node\0my file.js", RAY_SCRIPT_FILE, "my file.js", 0);
}

static void values_of_options_are_not_the_script(void **state)
{
	(void)state;
	EXPECT("node\0-r\0./trace.js\0app.js", RAY_SCRIPT_FILE, "app.js", 2);
	EXPECT("node\0--require=./trace.js\0app.js", RAY_SCRIPT_FILE, "app.js", 1);
	EXPECT("node\0--import\0tsx\0--loader\0x\0-C\0dev\0--env-file\0.env\0app.ts", RAY_SCRIPT_FILE, "app.ts", 8);
	EXPECT("node\0--env_file\0.env\0app.js", RAY_SCRIPT_FILE, "app.js", 2);
	EXPECT("node\0--title\0x\0--inspect\0app.js", RAY_SCRIPT_FILE, "app.js", 3);
	EXPECT("node\0--inspect-brk=0.0.0.0:9229\0app.js", RAY_SCRIPT_FILE, "app.js", 1);
	EXPECT("node\0--watch\0app.js", RAY_SCRIPT_FILE, "app.js", 1);
	EXPECT("node\0-r", RAY_SCRIPT_STDIN, "-", 1);
}

static void two_dashes_end_the_options(void **state)
{
	(void)state;
	EXPECT("node\0--\0-strange.js", RAY_SCRIPT_FILE, "-strange.js", 0);
	EXPECT("node\0-r\0x\0--\0inspect", RAY_SCRIPT_FILE, "inspect", 2);
	EXPECT("node\0--", RAY_SCRIPT_STDIN, "-", 0);
}

static void code_on_the_command_line(void **state)
{
	(void)state;
	EXPECT("node\0-e\0f()", RAY_SCRIPT_EVAL, "-e 'f()'", 0);
	EXPECT("node\0-pe\0"
	       "1+1",
	       RAY_SCRIPT_EVAL, "-pe '1+1'", 0);
	EXPECT("node\0-p\0"
	       "1+1\0arg",
	       RAY_SCRIPT_EVAL, "-p '1+1'", 0);
	EXPECT("node\0--eval=f()\0arg", RAY_SCRIPT_EVAL, "-e 'f()'", 0);
	EXPECT("node\0--input-type\0module\0-e\0await f()\0arg", RAY_SCRIPT_EVAL, "-e 'await f()'", 2);
	EXPECT("node\0-p", RAY_SCRIPT_STDIN, "-", 0);
	EXPECT("node\0-e", RAY_SCRIPT_EVAL, "-e ''", 0);
}

static void no_script_is_a_repl_or_standard_input(void **state)
{
	(void)state;
	EXPECT("node", RAY_SCRIPT_STDIN, "-", 0);
	expect_as("node", sizeof("node"), true, RAY_SCRIPT_REPL, "<repl>", 0);
	EXPECT("node\0-i", RAY_SCRIPT_REPL, "<repl>", 0);
	EXPECT("node\0-\0arg", RAY_SCRIPT_STDIN, "-", 0);
	expect_as("node\0-", sizeof("node\0-"), true, RAY_SCRIPT_STDIN, "-", 0);
}

static void other_modes_of_node(void **state)
{
	(void)state;
	EXPECT("node\0--test", RAY_SCRIPT_TEST, "--test", 0);
	EXPECT("node\0--test\0--test-reporter\0spec\0a.test.js\0b.test.js", RAY_SCRIPT_TEST,
	       "--test a.test.js b.test.js", 2);
	EXPECT("node\0--run\0dev\0--\0-x", RAY_SCRIPT_RUN, "--run dev", 0);
	EXPECT("node\0--run=dev", RAY_SCRIPT_RUN, "--run dev", 0);
	EXPECT("node\0inspect\0app.js", RAY_SCRIPT_INSPECT, "inspect app.js", 0);
	EXPECT("node\0--prof-process\0isolate.log", RAY_SCRIPT_TOOL, "--prof-process isolate.log", 0);
}

static void a_title_over_the_command_line(void **state)
{
	(void)state;
	EXPECT("my server\0\0\0\0\0", RAY_SCRIPT_TITLE, "my server", 0);
}

static void broken_command_lines(void **state)
{
	(void)state;
	expect_as("", 0, false, RAY_SCRIPT_NONE, "", 0);
	expect_as("node\0app.js", 11, false, RAY_SCRIPT_FILE, "app.js", 0); /* no NUL at the end */
	EXPECT("\0", RAY_SCRIPT_FILE, "", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_script_is_shown_as_given),
		cmocka_unit_test(values_of_options_are_not_the_script),
		cmocka_unit_test(two_dashes_end_the_options),
		cmocka_unit_test(code_on_the_command_line),
		cmocka_unit_test(no_script_is_a_repl_or_standard_input),
		cmocka_unit_test(other_modes_of_node),
		cmocka_unit_test(a_title_over_the_command_line),
		cmocka_unit_test(broken_command_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
