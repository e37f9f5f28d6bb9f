/* test_base_error.c - errors carry code, text and remedy. SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/error.h"

static void success_has_code_zero_and_no_text(void **state)
{
	(void)state;
	assert_int_equal(ray_error_code(NULL), RAY_DONE);
	assert_string_equal(ray_error_text(NULL), "");
	assert_string_equal(ray_error_remedy_text(NULL), "");
	ray_error_free(NULL);
}

static void text_is_built_from_the_inside_out(void **state)
{
	ray_auto(ray_error, err) = ray_error_new(RAY_UNREADABLE, "cannot read %d bytes", 8);

	(void)state;
	err = ray_error_wrap(err, "thread %d", 412);
	err = ray_error_wrap(err, "core");
	assert_string_equal(ray_error_text(err), "core: thread 412: cannot read 8 bytes");
	assert_int_equal(ray_error_code(err), RAY_UNREADABLE);
}

static void wrapping_success_is_success(void **state)
{
	(void)state;
	assert_null(ray_error_wrap(NULL, "thread %d", 1));
	assert_null(ray_error_remedy(NULL, "do this"));
}

static void errno_is_spelled_out(void **state)
{
	ray_auto(ray_error, err) = ray_error_errno(RAY_FAILED, ENOSPC, "cannot write %s", "x");

	(void)state;
	assert_string_equal(ray_error_text(err), "cannot write x: No space left on device");
	assert_int_equal(ray_error_code(err), RAY_FAILED);
}

static void want_of_rights_has_its_own_code(void **state)
{
	ray_auto(ray_error, perm) = ray_error_errno(RAY_FAILED, EPERM, "a");
	ray_auto(ray_error, acces) = ray_error_errno(RAY_UNREADABLE, EACCES, "b");

	(void)state;
	assert_int_equal(ray_error_code(perm), RAY_DENIED);
	assert_int_equal(ray_error_code(acces), RAY_DENIED);
}

static void the_last_remedy_counts(void **state)
{
	ray_auto(ray_error, err) = ray_error_new(RAY_FAILED, "no");

	(void)state;
	err = ray_error_remedy(err, "try %s", "this");
	err = ray_error_remedy(err, "try that");
	assert_string_equal(ray_error_remedy_text(err), "try that");
}

static void what_a_target_said_cannot_command_the_terminal(void **state)
{
	ray_auto(ray_error, err) = ray_error_new(RAY_UNREADABLE, "invalid token near '%s'\nsecond line", "\x1b[2J\x9b");

	(void)state;
	assert_string_equal(ray_error_text(err), "invalid token near '\\x1b[2J\ufffd'\nsecond line");
	err = ray_error_wrap(err, "%s", "caf\u00e9\x07");
	assert_string_equal(ray_error_text(err), "caf\u00e9\\x07: invalid token near '\\x1b[2J\ufffd'\nsecond line");
	err = ray_error_remedy(err, "give\n\t%s", "\x7f");
	assert_string_equal(ray_error_remedy_text(err), "give\n\t\\x7f");
}

static void out_of_memory_needs_no_memory(void **state)
{
	(void)state;
	assert_ptr_equal(ray_error_wrap(&ray_enomem, "x"), &ray_enomem);
	assert_ptr_equal(ray_error_remedy(&ray_enomem, "x"), &ray_enomem);
	assert_string_equal(ray_error_text(&ray_enomem), "out of memory");
	ray_error_free(&ray_enomem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(success_has_code_zero_and_no_text),
		cmocka_unit_test(text_is_built_from_the_inside_out),
		cmocka_unit_test(wrapping_success_is_success),
		cmocka_unit_test(errno_is_spelled_out),
		cmocka_unit_test(want_of_rights_has_its_own_code),
		cmocka_unit_test(the_last_remedy_counts),
		cmocka_unit_test(what_a_target_said_cannot_command_the_terminal),
		cmocka_unit_test(out_of_memory_needs_no_memory),
	};

	return cmocka_run_group_tests_name("base/error", tests, NULL, NULL);
}
