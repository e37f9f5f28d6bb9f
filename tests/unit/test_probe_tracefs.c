/* test_probe_tracefs.c - the format files of tracepoints. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/arena.h"
#include "probe/tracefs.h"

static const char sample[] = "name: sample\n"
			     "ID: 372\n"
			     "format:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
			     "\n"
			     "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
			     "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
			     "\tfield:__data_loc char[] filename;\toffset:28;\tsize:4;\tsigned:0;\n"
			     "\tfield:const struct sk_buff * skb;\toffset:32;\tsize:8;\tsigned:0;\n"
			     "\tfield:__rel_loc u8[] bytes;\toffset:40;\tsize:4;\tsigned:0;\n"
			     "\tfield:unsigned long args[6];\toffset:48;\tsize:48;\tsigned:0;\n"
			     "\tfield:struct timespec64 when;\toffset:96;\tsize:16;\tsigned:0;\n"
			     "\n"
			     "print fmt: \"field:int fake;\toffset:0;\tsize:4;\tsigned:1;\"\n"
			     "\tfield:int later;\toffset:0;\tsize:4;\tsigned:1;\n";

static void fields_have_types_places_and_kinds(void **state)
{
	static const struct ray_tracefs_field expected[] = {
		{ RAY_FIELD_ARRAY, "char", "prev_comm", 8, 16, false },
		{ RAY_FIELD_NUMBER, "pid_t", "prev_pid", 24, 4, true },
		{ RAY_FIELD_DATA, "char", "filename", 28, 4, false },
		{ RAY_FIELD_NUMBER, "const struct sk_buff *", "skb", 32, 8, false },
		{ RAY_FIELD_REL, "u8", "bytes", 40, 4, false },
		{ RAY_FIELD_ARRAY, "unsigned long", "args", 48, 48, false },
		{ RAY_FIELD_ARRAY, "struct timespec64", "when", 96, 16, false },
	};
	ray_auto(ray_arena, arena) = ray_arena_create();
	struct ray_tracefs_format format;

	(void)state;
	assert_null(ray_tracefs_format_parse(arena, sample, &format));
	assert_int_equal(format.count, RAY_COUNT(expected));
	for (size_t i = 0; i < RAY_COUNT(expected); i++) {
		assert_int_equal(format.at[i].kind, expected[i].kind);
		assert_string_equal(format.at[i].type, expected[i].type);
		assert_string_equal(format.at[i].name, expected[i].name);
		assert_int_equal(format.at[i].offset, expected[i].offset);
		assert_int_equal(format.at[i].size, expected[i].size);
		assert_int_equal(format.at[i].is_signed, expected[i].is_signed);
	}
}

static void what_is_no_field_is_left_out(void **state)
{
	static const char *const texts[] = {
		"",
		"field:",
		"field:int x;",
		"field:int x;\toffset:8;\n",
		"field:int;\toffset:8;\tsize:4;\n",
		"field:[] x;\toffset:8;\tsize:4;\n",
		"field:int x;\toffset:99999999999999999999;\tsize:4;\n",
		"field:int x;\toffset:-8;\tsize:4;\n",
		"field:char x[;\toffset:8;\tsize:4;\n",
		"field:char ];\toffset:8;\tsize:4;\n",
		"field:int x;\toffset:8190;\tsize:4;\n",
	};
	ray_auto(ray_arena, arena) = ray_arena_create();
	struct ray_tracefs_format format;

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(texts); i++) {
		assert_null(ray_tracefs_format_parse(arena, texts[i], &format));
		if (format.count)
			fail_msg("%s", texts[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_have_types_places_and_kinds),
		cmocka_unit_test(what_is_no_field_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
