/* test_probe_uv.c - the catalogue of libuv's functions, and what the provider makes of it. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/elf.h"
#include "probe/provider.h"
#include "probe/uv.h"

static struct ray_arena *arena;

static int set_up(void **state)
{
	(void)state;
	arena = ray_arena_create();
	return arena ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	ray_arena_free(arena);
	return 0;
}

static void rows_are_tidy(void **state)
{
	(void)state;
	for (size_t i = 0; i < ray_uv_function_count; i++) {
		const struct ray_uv_function *f = &ray_uv_functions[i];

		assert_false(strncmp(f->name, "uv_", 3));
		assert_int_not_equal(f->name[3], '_');
		assert_true(ray_uv_public_find(f->name) == f); /* none is there twice */
		assert_true(*f->returns != 0);
		assert_true(!*f->js || f->js[strlen(f->js) - 1] != ',');
		/* One line of -lv holds any of them. */
		for (const char *p = f->js; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ','))
			assert_true(strcspn(p, ",") < 64);
	}
	assert_null(ray_uv_public_find("uv_no_such_function"));
}

struct expected {
	const char *name, *type;
	int native;
};

static void entry_is(const char *function, const struct expected *expected, size_t count)
{
	const struct ray_uv_function *f = ray_uv_public_find(function);
	struct ray_probe_args args;

	assert_non_null(f);
	assert_null(ray_uv_entry_args(arena, f, &args));
	assert_int_equal(args.count, 1);
	assert_int_equal(args.member_count, count);
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(args.members[i].name, expected[i].name);
		assert_string_equal(args.members[i].type, expected[i].type);
		assert_int_equal(args.members[i].native, expected[i].native);
	}
}

#define ENTRY_IS(function, ...)                                         \
	do {                                                            \
		static const struct expected rows_[] = { __VA_ARGS__ }; \
		entry_is(function, rows_, RAY_COUNT(rows_));            \
	} while (0)

static void arguments_are_where_the_compiler_puts_them(void **state)
{
	(void)state;
	ENTRY_IS("uv_fs_open", { "loop", "uv_loop_t *", 0 }, { "req", "uv_fs_t *", 1 }, { "path", "string", 2 },
		 { "flags", "int", 3 }, { "mode", "int", 4 }, { "cb", "uv_fs_cb", 5 });
	/* The seventh is on the stack, an array is a pointer. */
	ENTRY_IS("uv_fs_read", { "loop", "uv_loop_t *", 0 }, { "req", "uv_fs_t *", 1 }, { "file", "uv_file", 2 },
		 { "bufs", "uv_buf_t *", 3 }, { "nbufs", "unsigned int", 4 }, { "offset", "int64_t", 5 },
		 { "cb", "uv_fs_cb", 6 });
	/* Doubles have registers of their own. */
	ENTRY_IS("uv_fs_utime", { "loop", "uv_loop_t *", 0 }, { "req", "uv_fs_t *", 1 }, { "path", "string", 2 },
		 { "atime", "double", -1 }, { "mtime", "double", -1 }, { "cb", "uv_fs_cb", 3 });
	ENTRY_IS("uv_once", { "guard", "uv_once_t *", 0 }, { "callback", "uintptr_t", 1 });
	ENTRY_IS("uv_loop_configure", { "loop", "uv_loop_t *", 0 }, { "option", "uv_loop_option", 1 });
	ENTRY_IS("uv_udp_try_send2", { "handle", "uv_udp_t *", 0 }, { "count", "unsigned int", 1 },
		 { "bufs", "uv_buf_t **", 2 }, { "nbufs", "unsigned int *", 3 }, { "addrs", "uv_sockaddr_t **", 4 },
		 { "flags", "unsigned int", 5 });
	ENTRY_IS("uv_ip4_name", { "src", "uv_sockaddr_t *", 0 }, { "dst", "char *", 1 }, { "size", "size_t", 2 });
	entry_is("uv_hrtime", NULL, 0);
}

static const char *returned(const char *function)
{
	struct ray_probe_args args;

	assert_null(ray_uv_return_args(arena, ray_uv_public_find(function), &args));
	assert_null(args.members);
	assert_int_equal(args.at[0].native, 0);
	assert_true(args.count < 2 || args.at[1].native == 1);
	return args.count < 2 ? "none" : args.at[1].type;
}

static void the_value_is_the_second_of_a_return(void **state)
{
	(void)state;
	assert_string_equal(returned("uv_fs_open"), "int");
	assert_string_equal(returned("uv_err_name"), "string");
	assert_string_equal(returned("uv_default_loop"), "uv_loop_t *");
	assert_string_equal(returned("uv_close"), "none");
	assert_string_equal(returned("uv_buf_init"), "none");
}

static bool count_one(const struct ray_probe_args *args, void *arg)
{
	size_t *count = arg;

	assert_true(args->known);
	return ++*count < 1000;
}

/* How many kinds of args[] a description can have; -1: that is not known. */
static int kinds(struct ray_catalogue *c, const char *provider, const char *function, const char *name)
{
	struct ray_probe_spec spec = { .provider = provider, .module = "", .function = function, .name = name };
	size_t count = 0;
	bool is_known;

	assert_null(ray_catalogue_each_args(c, &spec, count_one, &count, &is_known));
	return is_known ? (int)count : -1;
}

static void arguments_are_known_without_a_process(void **state)
{
	struct ray_catalogue_options options = { 0 };
	ray_auto(ray_catalogue, c) = NULL;

	(void)state;
	assert_null(ray_catalogue_create(&options, &c));
	assert_int_equal(kinds(c, "uv*", "uv_fs_open", "entry"), 1);
	assert_int_equal(kinds(c, "uv[1-9]*", "uv_fs_open", ""), 2);
	assert_int_equal(kinds(c, "uv123", "", ""), 2 * (int)ray_uv_function_count);
	assert_int_equal(kinds(c, "uv123", "uv_nothing", ""), 0);
	assert_int_equal(kinds(c, "uv", "uv_fs_open", "entry"), -1);
	assert_int_equal(kinds(c, "uvx12", "uv_fs_open", "entry"), -1);
	assert_int_equal(kinds(c, "pid12", "uv_fs_open", "entry"), -1);
}

static void names_get_numbers_until_there_are_none(void **state)
{
	struct ray_catalogue_options options = { 0 };
	ray_auto(ray_catalogue, c) = NULL;
	char name[16];

	(void)state;
	assert_null(ray_catalogue_create(&options, &c));
	assert_null(ray_catalogue_slot_name(c, RAY_POINT_NAMED));
	for (int i = RAY_POINT_NAMED; i < RAY_POINT_ARGS; i++) {
		snprintf(name, sizeof(name), "name%d", i);
		assert_int_equal(ray_catalogue_slot(c, name), i);
		assert_int_equal(ray_catalogue_slot(c, name), i);
		assert_string_equal(ray_catalogue_slot_name(c, i), name);
	}
	assert_int_equal(ray_catalogue_slot(c, "one too many"), -1);
	assert_int_equal(ray_catalogue_slot(c, "name12"), 12);
	assert_null(ray_catalogue_slot_name(c, RAY_POINT_ARGS));
	assert_null(ray_catalogue_slot_name(c, 0));
}

/* ---- the binaries ---- */

struct exported {
	struct ray_elf *elf;
	const char *file;
	size_t count;
};

static bool take(const struct ray_symbol *s, void *arg)
{
	struct exported *x = arg;
	struct ray_symbol again;

	if (strncmp(s->name, "uv_", 3) || s->name[3] == '_' || s->type != STT_FUNC ||
	    !ray_elf_find_dynamic(x->elf, s->name, &again))
		return true;
	x->count++;
	if (!ray_uv_public_find(s->name))
		fail_msg("%s exports %s, which the catalogue lacks", x->file, s->name);
	return true;
}

static void what_a_node_exports_is_in_the_catalogue(void **state)
{
	static const char *const files[] = { "16.20.2/bin/node", "18.20.8/bin/node", "20.20.2/bin/node",
					     "22.23.3/bin/node", "24.21.0/bin/node", "26.10.0/bin/node" };
	FILE *f = popen("tools/nodes --dir 2>/dev/null", "r");
	char nodes[256] = "", path[512];
	int found = 0;

	(void)state;
	if (f && fgets(nodes, sizeof(nodes), f))
		nodes[strcspn(nodes, "\n")] = 0;
	if (f)
		pclose(f);
	for (size_t i = 0; i < RAY_COUNT(files); i++) {
		ray_auto(ray_elf, elf) = NULL;
		struct exported x = { .file = files[i] };

		snprintf(path, sizeof(path), "%s/%s", nodes, files[i]);
		if (access(path, R_OK))
			continue;
		assert_null(ray_elf_open(path, &elf));
		x.elf = elf;
		ray_elf_each_symbol(elf, take, &x);
		assert_true(x.count > 280);
		found++;
	}
	if (!found) {
		print_message("no node was fetched (tools/nodes)\n");
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_tidy),
		cmocka_unit_test(arguments_are_where_the_compiler_puts_them),
		cmocka_unit_test(the_value_is_the_second_of_a_return),
		cmocka_unit_test(arguments_are_known_without_a_process),
		cmocka_unit_test(names_get_numbers_until_there_are_none),
		cmocka_unit_test(what_a_node_exports_is_in_the_catalogue),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
