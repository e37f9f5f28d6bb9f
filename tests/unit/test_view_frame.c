/* test_view_frame.c - one frame as text. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "view/frame.h"

static void assert_line(struct ray_frame f, const char *expected)
{
	ray_auto_text text = { 0 };

	ray_frame_line(&f, &text);
	assert_string_equal(ray_text_get(&text), expected);
}

static void native_frames_are_module_function_offset(void **state)
{
	struct ray_frame f = {
		.kind = RAY_FRAME_NATIVE, .pc = 0x1234, .module = "/usr/bin/node", .function = "uv_run"
	};

	(void)state;
	assert_line(f, "node`uv_run");
	f.offset = 0x12;
	assert_line(f, "node`uv_run+0x12");
	f.function = NULL;
	assert_line(f, "node`0x1234");
	f.module = NULL;
	assert_line(f, "0x1234");
	assert_false(ray_frame_is_plumbing(&f));
}

static void javascript_says_where_it_is(void **state)
{
	struct ray_frame f = { .kind = RAY_FRAME_JS,
			       .pc = 0x1234,
			       .function = "handle",
			       .receiver_class = "Server",
			       .script = 1,
			       .file = "/srv/x.js",
			       .line = 3,
			       .column = 9,
			       .tier = RAY_TIER_TURBOFAN,
			       .inlined = true };

	(void)state;
	assert_line(f, "Server.handle (/srv/x.js:3:9)");
	assert_false(ray_frame_is_plumbing(&f));
	f.is_definition = true;
	assert_line(f, "Server.handle (/srv/x.js:3:9, defined here)");
	f.is_definition = false;
	f.line = 0;
	assert_line(f, "Server.handle (/srv/x.js)");
	f.file = "";
	assert_line(f, "Server.handle (<unknown>)");
	f.function = NULL;
	assert_line(f, "0x1234");
}

static void plumbing_is_marked(void **state)
{
	struct ray_frame f = { .kind = RAY_FRAME_STUB, .pc = 0x1234, .function = "JSEntry [EntryFrame]" };

	(void)state;
	assert_line(f, "v8`JSEntry [EntryFrame]");
	assert_true(ray_frame_is_plumbing(&f));
	f.function = NULL;
	assert_line(f, "0x1234");
	assert_false(ray_frame_is_plumbing(&f));
}

static void webassembly_is_named_as_v8_does(void **state)
{
	struct ray_frame f = {
		.kind = RAY_FRAME_WASM, .function = "add", .wasm_index = 2, .wasm_offset = 0x40, .file = "wasm://w"
	};

	(void)state;
	assert_line(f, "add (wasm://w:wasm-function[2]:0x40)");
	f.function = "wasm-function[2]";
	assert_line(f, "wasm-function[2] (wasm://w:0x40)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(native_frames_are_module_function_offset),
		cmocka_unit_test(javascript_says_where_it_is),
		cmocka_unit_test(plumbing_is_marked),
		cmocka_unit_test(webassembly_is_named_as_v8_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
