/* test_target_proc.c - small files of /proc. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "target/proc.h"

static void a_file_is_read_up_to_the_buffers_end(void **state)
{
	char text[64], head[4];

	(void)state;
	assert_true(ray_proc_read(text, sizeof(text), "/proc/%d/comm", getpid()) > 3);
	assert_int_equal(ray_proc_read(head, sizeof(head), "/proc/%d/comm", getpid()), 3);
	assert_memory_equal(head, text, 3);
	assert_int_equal(head[3], '\0');
}

static void a_file_that_is_not_there_is_empty(void **state)
{
	char text[8] = "before";

	(void)state;
	assert_int_equal(ray_proc_read(text, sizeof(text), "/proc/%d/comm", -1), 0);
	assert_string_equal(text, "");
}

static void a_process_has_its_parent_and_all_above(void **state)
{
	const pid_t above[] = { getppid() }, own[] = { getpid() }, none[] = { -1 };

	(void)state;
	assert_int_equal(ray_proc_parent(getpid()), getppid());
	assert_int_equal(ray_proc_parent(-1), 0);
	assert_true(ray_proc_is_progeny(getpid(), own, 1));
	assert_true(ray_proc_is_progeny(getpid(), above, 1));
	assert_false(ray_proc_is_progeny(getppid(), own, 1));
	assert_false(ray_proc_is_progeny(getpid(), none, 1));
}

static void a_thread_in_a_system_call_is_known_with_its_arguments(void **state)
{
	struct ray_proc_syscall s;

	(void)state;
	assert_int_equal(ray_proc_parse_syscall(
				 "232 0x10 0x7ffe5000 0x400 0xffffffffffffffff 0x0 0x8 0x7ffe4ff0 0x7f01c0de\n", &s),
			 RAY_PROC_WAITS);
	assert_int_equal(s.number, 232);
	assert_int_equal(s.args[0], 0x10);
	assert_int_equal(s.args[3], UINT64_MAX);
	assert_int_equal(s.sp, 0x7ffe4ff0);
	assert_int_equal(s.pc, 0x7f01c0de);
}

static void a_thread_that_waits_elsewhere_has_no_system_call(void **state)
{
	struct ray_proc_syscall s;

	(void)state;
	assert_int_equal(ray_proc_parse_syscall("-1 0x7ffe4ff0 0x7f01c0de\n", &s), RAY_PROC_WAITS);
	assert_int_equal(s.number, -1);
	assert_int_equal(s.sp, 0x7ffe4ff0);
	assert_int_equal(s.pc, 0x7f01c0de);
}

static void a_running_thread_and_nonsense_tell_nothing(void **state)
{
	struct ray_proc_syscall s = { .number = 7 };

	(void)state;
	assert_int_equal(ray_proc_parse_syscall("running\n", &s), RAY_PROC_RUNNING);
	assert_int_equal(ray_proc_parse_syscall("", &s), RAY_PROC_UNKNOWN);
	assert_int_equal(ray_proc_parse_syscall("232 0x10\n", &s), RAY_PROC_UNKNOWN);
	assert_int_equal(s.number, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_read_up_to_the_buffers_end),
		cmocka_unit_test(a_file_that_is_not_there_is_empty),
		cmocka_unit_test(a_process_has_its_parent_and_all_above),
		cmocka_unit_test(a_thread_in_a_system_call_is_known_with_its_arguments),
		cmocka_unit_test(a_thread_that_waits_elsewhere_has_no_system_call),
		cmocka_unit_test(a_running_thread_and_nonsense_tell_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
