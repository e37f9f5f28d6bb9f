/* test_elf_nodes.c - the ELF reader on whole node binaries. SPDX-License-Identifier: MIT
 *
 * Skipped where tools/nodes has not fetched them. */
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

static const char *const official[] = { "16.20.2", "18.20.8", "20.20.2", "22.23.3", "24.21.0", "26.10.0" };

static char nodes[256];

static int find_nodes(void **state)
{
	FILE *f = popen("tools/nodes --dir 2>/dev/null", "r");

	(void)state;
	if (f && fgets(nodes, sizeof(nodes), f))
		nodes[strcspn(nodes, "\n")] = 0;
	if (f)
		pclose(f);
	return 0;
}

/* NULL if it is not there. */
static struct ray_elf *open_node(const char *fmt, const char *version)
{
	struct ray_elf *e = NULL;
	char tail[128], path[512];

	snprintf(tail, sizeof(tail), fmt, version);
	snprintf(path, sizeof(path), "%s/%s", nodes, tail);
	if (access(path, R_OK) == 0)
		assert_null(ray_elf_open(path, &e));
	return e;
}

static void each_node(void (*check)(struct ray_elf *e))
{
	int found = 0;

	for (size_t i = 0; i < RAY_COUNT(official); i++) {
		ray_auto(ray_elf, e) = open_node("%s/bin/node", official[i]);

		if (!e)
			continue;
		check(e);
		found++;
	}
	if (!found) {
		print_message("no node was fetched (tools/nodes)\n");
		skip();
	}
}

static void check_names(struct ray_elf *e)
{
	struct ray_symbol s;
	uint64_t start;

	assert_true(ray_elf_find_dynamic(e, "napi_create_function", &s));
	assert_true(ray_elf_find_dynamic(e, "v8dbg_class_JSFunction__shared__SharedFunctionInfo", &s) ||
		    ray_elf_find_dynamic(e, "v8dbg_class_JSFunction__shared__Tagged_SharedFunctionInfo_", &s) ||
		    ray_elf_find_symbol(e, "v8dbg_SmiTag", &s));
	assert_true(ray_elf_find_symbol(e, "Builtins_InterpreterEntryTrampoline", &s));
	start = s.value;
	assert_true(ray_elf_symbol_at(e, start + 64, &s));
	assert_string_equal(s.name, "Builtins_InterpreterEntryTrampoline");
	assert_false(ray_elf_is_stripped(e));
	assert_int_equal(strlen(ray_elf_build_id_text(e)), 40);
}

static void every_node_has_the_names_that_make_it_one(void **state)
{
	(void)state;
	each_node(check_names);
}

struct totals {
	struct ray_elf *elf;
	size_t seen, wrong;
};

static bool look_back(const struct ray_symbol *s, void *arg)
{
	struct totals *t = arg;
	struct ray_symbol at, named;

	if (s->type != STT_FUNC || !s->size)
		return true;
	t->seen++;
	if (!ray_elf_symbol_at(t->elf, s->value + s->size - 1, &at) || at.value < s->value ||
	    at.value + at.size < s->value + s->size)
		t->wrong++;
	if (t->seen % 16 == 0 && !ray_elf_find_symbol(t->elf, s->name, &named))
		t->wrong++;
	return true;
}

static void check_round_trip(struct ray_elf *e)
{
	struct totals t = { .elf = e };

	ray_elf_each_symbol(e, look_back, &t);
	assert_true(t.seen > 50000);
	assert_int_equal(t.wrong, 0);
}

static void every_function_is_found_by_name_and_by_its_last_byte(void **state)
{
	(void)state;
	each_node(check_round_trip);
}

static void a_stripped_libnode_knows_what_it_exports(void **state)
{
	ray_auto(ray_elf, e) = open_node("%s/usr/lib/x86_64-linux-gnu/libnode.so.108", "debian");
	struct ray_symbol s;

	(void)state;
	if (!e) {
		print_message("Debian's node was not fetched (tools/nodes)\n");
		skip();
	}
	assert_true(ray_elf_is_stripped(e));
	assert_true(ray_elf_find_dynamic(e, "napi_create_function", &s));
	assert_true(ray_elf_symbol_at(e, s.value + 1, &s));
	assert_string_equal(s.name, "napi_create_function");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_node_has_the_names_that_make_it_one),
		cmocka_unit_test(every_function_is_found_by_name_and_by_its_last_byte),
		cmocka_unit_test(a_stripped_libnode_knows_what_it_exports),
	};

	return cmocka_run_group_tests_name("elf/nodes", tests, find_nodes, NULL);
}
