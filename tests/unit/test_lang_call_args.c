/* test_lang_call_args.c - args[0]->name of calls, and the structures behind them, without any process.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lang/dump.h"
#include "lang/lang.h"
#include "lang/type.h"
#include "probe/uv.h"

/* A provider that is uv's and that no process has: pids have no leading zero. */
#define UV "uv0[0]::"

static char answer[4096];

/* What the checker makes of the text, or its words if it refuses it. */
static const char *check(const char *text)
{
	const struct ray_lang_options options = {
		.error_tags = true, .strsize = 256, .scratchsize = 256, .allow_no_match = true
	};
	static const char *const arguments[] = { "test.d" };
	static const struct ray_catalogue_options none;
	const struct ray_macros macros = { .arguments = arguments, .argument_count = 1 };
	const struct ray_source source = {
		.kind = RAY_TEXT_SCRIPT, .file = "test.d", .text = text, .length = strlen(text)
	};
	ray_auto(ray_catalogue, catalogue) = NULL;
	ray_auto(ray_program, program) = NULL;
	ray_auto(ray_error, err) = ray_catalogue_create(&none, &catalogue);
	ray_auto_text dump = { 0 };

	if (!err)
		err = ray_program_create(&macros, &program);
	if (!err)
		err = ray_program_parse(program, &source, &options, &macros, NULL);
	if (!err)
		err = ray_program_check(program, catalogue, &options, &macros, NULL);
	if (!err)
		ray_dump_program(program, &dump);
	snprintf(answer, sizeof(answer), "%s", err ? ray_error_text(err) : ray_text_get(&dump));
	return answer;
}

static void accepts(const char *text)
{
	if (strstr(check(text), "[D_"))
		fail_msg("%s: %s", text, answer);
}

static void refuses(const char *text, const char *words)
{
	if (!strstr(check(text), words))
		fail_msg("%s: %s", text, answer);
}

static void a_call_has_its_arguments_as_members(void **state)
{
	(void)state;
	accepts(UV "uv_fs_open:entry { printf(\"%s %d %d\", args[0]->path, args[0]->flags, args[0]->mode); }");
	accepts(UV "uv_fs_open:entry { start[args[0]->req] = timestamp; self->req = args[0]->req; }");
	accepts(UV "uv_fs_open:entry /args[0]->cb == 0/ { @[args[0]->path] = count(); }");
	accepts(UV "uv_getaddrinfo:entry { trace(args[0]->node); trace(args[0]->hints->ai_family); }");
	accepts(UV "uv_spawn:entry { trace(args[0]->options->file); trace(stringof(args[0]->options->args[0])); }");
	accepts(UV "uv_close:entry /args[0]->handle->type == UV_TCP/ { trace(((uv_tcp_t *)args[0]->handle)->fd); }");
	accepts(UV "uv_fs_req_cleanup:entry { trace(args[0]->req->path); trace(args[0]->req->statbuf.st_size); }");
	accepts(UV "uv_fs_open:return { trace(args[1] + args[0]); }");
	accepts(UV "uv_err_name:return { printf(\"%s\", args[1]); }");
}

static void members_may_have_to_be_calculated(void **state)
{
	(void)state;
	accepts(UV "uv_tcp_connect:entry { printf(\"%s:%d\", args[0]->addr->address, args[0]->addr->port); }");
	accepts(UV "uv_getaddrinfo:entry { trace(args[0]->hints->ai_addr->address); }");
	accepts(UV "uv_udp_send:entry { trace(args[0]->req->addr.port); }");
	refuses(UV "uv_tcp_connect:entry { trace(args[0]->addr->host); }", "host is not a member of");
}

static void functions_may_differ_in_where_a_name_stands(void **state)
{
	(void)state;
	accepts(UV "uv_fs_*:entry { @[probefunc, args[0]->path, args[0]->flags] = count(); }");
	accepts(UV "uv_*_start:entry /args[0]->handle/ { trace(args[0]->handle->type); }");
	accepts(UV "uv_try_write*:entry { trace(args[0]->handle->fd); }");
	accepts(UV "uv_fs_open:entry, " UV "uv_fs_rename:entry { trace(args[0]->path); }");
	refuses(UV "uv_fs_*:entry { trace(args[0]->host); }",
		"[D_TYPE_MEMBER] line 1: none of the functions that the description matches has an argument host");
	refuses(UV ":entry { trace(args[0]->name); }", "[D_ARGS_MULTI] line 1: args[0]->name is not of one type");
	refuses(UV "uv_fs_*:entry { trace(args[0]->path); trace(args[0]->new_path); trace(args[0]->file); "
		   "trace(args[0]->mode); trace(args[0]->flags); trace(args[0]->offset); trace(args[0]->cb); "
		   "trace(args[0]->loop); trace(args[0]->uid); }",
		"args[0]->uid: only 8 names can be used");
}

static void what_is_not_there_is_told(void **state)
{
	(void)state;
	refuses(UV "uv_fs_close:entry { trace(args[0]->path); }",
		"[D_TYPE_MEMBER] line 1: path is not a member of args[0]: it has loop, req, file, cb");
	refuses(UV "uv_version:entry { trace(args[0]->path); }", "path is not a member of args[0]: it has none");
	refuses(UV "uv_fs_utime:entry { trace(args[0]->atime); }",
		"args[0]->atime cannot be read: probes do not see floating-point arguments");
	refuses(UV "uv_fs_open:entry { trace(args[1]); }", "[D_ARGS_IDX] line 1: index 1 is out of range");
	refuses(UV "uv_close:return { trace(args[1]); }", "[D_ARGS_IDX] line 1: index 1 is out of range");
	refuses(UV "uv_fs_open:entry { trace(args[0]); }", "dynamic expression");
	refuses(UV "uv_fs_open:entry { args[0]->flags = 1; }", "[D_OP_WRITE]");
	refuses(UV "uv_fs_open: { trace(args[0]->path); }", "[D_ARGS_MULTI]");
	refuses(UV "uv_fs_nothing:entry { trace(args[0]->path); }", "[D_ARGS_MULTI]");
	refuses("uv0[0]:::entry { trace(args[0]->req->path); }", "D_");
}

static void a_script_may_have_such_types_itself(void **state)
{
	(void)state;
	accepts("struct uv_fs_s { char x[8]; int mine; }; typedef struct uv_fs_s uv_fs_t;\n" UV
		"uv_fs_open:entry { trace(args[0]->req->mine); }");
	accepts("BEGIN { uv_file = 1; uv_fs_cb = uv_file + 1; trace(uv_fs_cb); }");
	accepts("inline int UV_TCP = 99; BEGIN { trace(UV_TCP); }");
	accepts("BEGIN { trace(sizeof(uv_fs_t)); trace(offsetof(uv_loop_t, time)); trace(sizeof(struct addrinfo)); }");
}

/* Every type that the tables name is one. */
static void check_args(struct ray_types *types, const struct ray_probe_arg *args, size_t count, const char *function)
{
	for (size_t i = 0; i < count; i++)
		if (args[i].native >= 0 && !ray_type_from_text(types, args[i].type))
			fail_msg("%s, %s: no type %s", function, args[i].name, args[i].type);
}

static void every_type_of_the_tables_is_known(void **state)
{
	struct ray_arena *arena = ray_arena_create();
	struct ray_probe_args args;
	struct ray_types *types;

	(void)state;
	assert_null(ray_types_create(arena, &types));
	for (size_t i = 0; i < ray_uv_function_count; i++) {
		const struct ray_uv_function *f = &ray_uv_functions[i];

		assert_null(ray_uv_entry_args(arena, f, &args));
		check_args(types, args.members, args.member_count, f->name);
		args = (struct ray_probe_args){ 0 };
		assert_null(ray_uv_return_args(arena, f, &args));
		check_args(types, args.at, args.count, f->name);
	}
	for (const struct ray_probe_type *t = ray_uv_types; t->name; t++) {
		const struct ray_type *type = ray_type_from_text(types, t->name);

		if (!type)
			fail_msg("%s cannot be made", t->name);
		assert_true(t->is || ray_type_size(type) == t->size);
		assert_true(!t->base || ray_probe_type_find(t->base, false));
	}
	ray_types_free(types);
	ray_arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_has_its_arguments_as_members),
		cmocka_unit_test(members_may_have_to_be_calculated),
		cmocka_unit_test(functions_may_differ_in_where_a_name_stands),
		cmocka_unit_test(what_is_not_there_is_told),
		cmocka_unit_test(a_script_may_have_such_types_itself),
		cmocka_unit_test(every_type_of_the_tables_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
