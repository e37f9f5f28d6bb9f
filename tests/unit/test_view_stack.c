/* test_view_stack.c - how stacks look, on made-up frames. SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "fake_heap.h"
#include "target/internal.h"
#include "view/stack.h"

struct scene {
	struct fake_heap heap;
	struct ray_target target;
	struct ray_js js;
	struct ray_thread thread;
	struct ray_stack stack;
	struct ray_stacks stacks;
};

static int set_up(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	fake_init_24(&s->heap);
	s->target.pid = 4711;
	s->js = (struct ray_js){ .target = &s->target, .layout = s->heap.layout, .v8 = s->heap.v8 };
	s->thread = (struct ray_thread){ .tid = 4711, .name = "node", .state = 'S', .has_registers = true };
	s->stack = (struct ray_stack){ .thread = &s->thread, .wanted = true };
	s->stack.role.role = RAY_ROLE_MAIN;
	s->stack.role.worker_id = -1;
	strcpy(s->stack.role.text, "main JS thread");
	s->stacks = (struct ray_stacks){ .js = &s->js, .at = &s->stack, .count = 1 };
	*state = s;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *s = *state;

	s->heap.v8 = s->js.v8; /* it may have remembered things */
	fake_deinit(&s->heap);
	free(s);
	return 0;
}

static char *shown(struct scene *s, struct ray_frame *frames, size_t count, struct ray_stack_view view, bool json)
{
	FILE *before = stdout, *out;
	char *text = NULL;
	size_t size = 0;

	s->stack.frames = frames;
	s->stack.count = count;
	out = open_memstream(&text, &size);
	assert_non_null(out);
	stdout = out;
	if (json)
		ray_stack_print_json(&s->stacks, &s->stack, &view);
	else
		ray_stack_print(&s->stacks, &s->stack, &view, out);
	stdout = before;
	fclose(out);
	return text;
}

static void assert_shown(struct scene *s, struct ray_frame *frames, size_t count, struct ray_stack_view view,
			 const char *expected)
{
	char *text = shown(s, frames, count, view, false);

	if (strcmp(text, expected))
		fail_msg("shown:\n%s\nexpected:\n%s", text, expected);
	free(text);
}

#define FRAME(k, ...)                                                                                             \
	{                                                                                                         \
		.kind = RAY_FRAME_##k, .pc = 0x1000, .argc = -1, .wasm_index = -1, .wasm_offset = -1, __VA_ARGS__ \
	}
#define HEAD "thread 4711  main JS thread  \"node\"  state S\n"

static void each_kind_of_frame_has_its_line(void **state)
{
	struct ray_frame frames[] = {
		FRAME(NATIVE, .function = "uv__io_poll", .offset = 0x42, .module = "/usr/bin/node"),
		FRAME(NATIVE, .why = "no symbol", .module = "/lib/libc.so.6"),
		FRAME(JS, .function = "handle", .receiver_class = "Server", .script = 1, .file = "/app/a.js", .line = 3,
		      .column = 5, .tier = RAY_TIER_INTERPRETED),
		FRAME(JS, .function = "small", .script = 1, .file = "/app/a.js", .line = 9, .column = 1,
		      .tier = RAY_TIER_TURBOFAN, .inlined = true),
		FRAME(JS, .function = "old", .script = 1, .file = "/app/a.js", .line = 1, .column = 1,
		      .tier = RAY_TIER_BASELINE, .is_definition = true),
		FRAME(JS, .function = "Base", .receiver_class = "Base", .is_construct = true),
		FRAME(JS, .why = "its name cannot be read"),
		FRAME(BUILTIN, .function = "ArrayMap", .tier = RAY_TIER_BUILTIN),
		{ .kind = RAY_FRAME_WASM,
		  .function = "steps",
		  .wasm_index = 3,
		  .wasm_offset = 0x5a,
		  .file = "wasm://wasm/1" },
	};

	assert_shown(*state, frames, RAY_COUNT(frames), (struct ray_stack_view){ 0 },
		     HEAD "   0 c    uv__io_poll+0x42 [node]\n"
			  "   1 c    0x1000 [libc.so.6] (no symbol)\n"
			  "   2 js   Server.handle (/app/a.js:3:5) [interpreted]\n"
			  "   3 js   small (/app/a.js:9:1) [turbofan, inlined]\n"
			  "   4 js   old (/app/a.js:1:1) [baseline, defined here]\n"
			  "   5 js   new Base\n"
			  "   6 js   <unnamed> (its name cannot be read)\n"
			  "   7 wasm steps (wasm://wasm/1:wasm-function[3]:0x5a)\n");
}

static void verbose_shows_builtins_and_addresses(void **state)
{
	struct ray_frame frames[] = { FRAME(BUILTIN, .function = "ArrayMap", .tier = RAY_TIER_BUILTIN),
				      FRAME(STUB, .function = "ExitFrame") };

	assert_shown(*state, frames, 2, (struct ray_stack_view){ .verbose = true },
		     HEAD "   0 v8   0000000000001000 ArrayMap [builtin]\n"
			  "   1 v8   0000000000001000 ExitFrame\n");
}

static void one_side_only(void **state)
{
	struct ray_frame frames[] = { FRAME(NATIVE, .function = "main"), FRAME(JS, .function = "f"),
				      FRAME(WASM, .function = "w") };

	assert_shown(*state, frames, 3, (struct ray_stack_view){ .only_js = true }, HEAD "   0 js   f\n   1 wasm w\n");
	assert_shown(*state, frames, 3, (struct ray_stack_view){ .only_native = true }, HEAD "   0 c    main+0x0\n");
}

static void deep_stacks_keep_both_ends(void **state)
{
	struct ray_frame frames[10];

	for (size_t i = 0; i < RAY_COUNT(frames); i++)
		frames[i] = (struct ray_frame)FRAME(JS, .function = i < 3 ? "inner" : i < 9 ? "again" : "outer");
	assert_shown(*state, frames, 10, (struct ray_stack_view){ .max_frames = 4 },
		     HEAD "   0 js   inner\n   1 js   inner\n   2 js   inner\n"
			  "     ... 6 frames left out (-n 0 shows all)\n"
			  "   9 js   outer\n");
}

static void what_is_missing_is_said(void **state)
{
	struct scene *s = *state;
	struct ray_frame frames[] = { FRAME(JS, .function = "f") };

	s->stack.end = RAY_WALK_BROKEN;
	s->thread.torn = true;
	strcpy(s->thread.name, "a\x1b[b");
	assert_shown(s, frames, 1, (struct ray_stack_view){ 0 },
		     "thread 4711  main JS thread  \"a\\x1b[b\"  state S  TORN: it ran on while its stack was copied\n"
		     "   0 js   f\n"
		     "     (the chain of frames ends here: outer frames are missing)\n");
	s->thread.has_registers = false;
	s->thread.torn = false;
	s->thread.note = "it ended";
	s->thread.name[0] = '\0';
	assert_shown(s, NULL, 0, (struct ray_stack_view){ 0 },
		     "thread 4711  main JS thread  state S\n     (it ended)\n");
}

static void arguments_and_source_follow_the_frame(void **state)
{
	struct scene *s = *state;
	uint64_t script =
		fake_script(&s->heap, fake_one(&s->heap, "a.js"), fake_one(&s->heap, "one\ntwo\x1b\nthree\nfour"));
	uint64_t text = fake_one(&s->heap, "x\n"), args = fake_alloc(&s->heap, 16); /* the last that memory holds */
	struct ray_frame frames[] = { FRAME(JS, .function = "f", .js_function = 1, .receiver = fake_smi(1),
					    .args = args, .script = script, .file = "a.js", .line = 2, .column = 1) };

	frames[0].argc = 2;
	fake_put64(&s->heap, args, text);
	fake_put64(&s->heap, args + 8, fake_smi(5));
	assert_shown(s, frames, 1, (struct ray_stack_view){ .arguments = true, .source = 1 },
		     HEAD "   0 js   f (a.js:2:1)\n"
			  "          this: 1  arguments: \"x\\n\", 5\n"
			  "                1  one\n"
			  "          >     2  two\\x1b\n"
			  "                3  three\n");
	frames[0].argc = 40; /* more than there is memory for */
	assert_shown(
		s, frames, 1, (struct ray_stack_view){ .arguments = true },
		HEAD
		"   0 js   f (a.js:2:1)\n"
		"          this: 1  arguments: \"x\\n\", 5, (unreadable), (unreadable), (unreadable), (unreadable), "
		"(unreadable), (unreadable), (unreadable), (unreadable), (unreadable), (unreadable), "
		"(unreadable), (unreadable), (unreadable), (unreadable), ... 24 more\n");
}

static void json_says_the_same(void **state)
{
	struct ray_frame frames[] = {
		FRAME(NATIVE, .function = "main", .offset = 4, .module = "/usr/bin/node"),
		FRAME(JS, .function = "handle", .receiver_class = "Server", .script = 1, .file = "/app/a.js", .line = 3,
		      .column = 5, .tier = RAY_TIER_MAGLEV, .inlined = true),
		FRAME(JS, .why = "its name cannot be read"),
	};
	char *text = shown(*state, frames, 3, (struct ray_stack_view){ 0 }, true);
	json_t *o = json_loads(text, 0, NULL), *list = json_object_get(o, "frames"), *js = json_array_get(list, 1);

	assert_non_null(o);
	assert_int_equal(json_array_size(list), 3);
	assert_string_equal(json_string_value(json_object_get(o, "role")), "main");
	assert_true(json_is_null(json_object_get(o, "worker")));
	assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "module")), "/usr/bin/node");
	assert_string_equal(json_string_value(json_object_get(js, "name")), "Server.handle");
	assert_string_equal(json_string_value(json_object_get(js, "tier")), "maglev");
	assert_int_equal(json_integer_value(json_object_get(js, "line")), 3);
	assert_true(json_is_true(json_object_get(js, "exact")));
	assert_true(json_is_true(json_object_get(js, "inlined")));
	assert_true(json_is_null(json_object_get(json_array_get(list, 2), "function")));
	assert_string_equal(json_string_value(json_object_get(json_array_get(list, 2), "why")),
			    "its name cannot be read");
	json_decref(o);
	free(text);
	text = shown(*state, frames, 3, (struct ray_stack_view){ .max_frames = 1 }, true);
	o = json_loads(text, 0, NULL);
	assert_int_equal(json_integer_value(json_object_get(o, "left_out")), 2);
	json_decref(o);
	free(text);
}

static void long_native_names_lose_their_lists(void **state)
{
	struct ray_frame frames[] = {
		FRAME(NATIVE, .function = "a::(anonymous namespace)::Call<std::vector<int>, bool>::operator()"
					  "(std::basic_string<char, std::char_traits<char>>, int)"),
		FRAME(NATIVE, .function = "broken<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<"),
	};

	assert_shown(*state, frames, 2, (struct ray_stack_view){ 0 },
		     HEAD "   0 c    a::(anonymous namespace)::Call<...>::operator()(...)+0x0\n"
			  "   1 c    broken<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<+0x0\n");
}

#define scene_test(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		scene_test(each_kind_of_frame_has_its_line),
		scene_test(verbose_shows_builtins_and_addresses),
		scene_test(one_side_only),
		scene_test(deep_stacks_keep_both_ends),
		scene_test(what_is_missing_is_said),
		scene_test(arguments_and_source_follow_the_frame),
		scene_test(json_says_the_same),
		scene_test(long_native_names_lose_their_lists),
	};

	return cmocka_run_group_tests_name("view/stack", tests, NULL, NULL);
}
