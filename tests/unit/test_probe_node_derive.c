/* test_probe_node_derive.c - what following code finds in real nodes, against their symbols. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/auto.h"
#include "probe/node_derive.h"
#include "probe/node_names.h"

/* What code does not lead to: before V8 11 its spaces have other numbers, and before 12 its throw another name, but then these are exported; since
 * libuv 1.52 the watcher of signals is not in the switch. */
static const struct {
	const char *version;
	size_t lacks;
} official[] = { { "16.20.2", 4 }, { "18.20.8", 4 }, { "20.20.2", 1 },
		 { "22.23.3", 0 }, { "24.21.0", 1 }, { "26.10.0", 1 } };

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

/* Where the file's symbols say that it is; 0 if they do not. */
static uint64_t truth(struct ray_elf *e, const char *name, uint64_t *size_ret)
{
	struct ray_node_name wanted = { 0 };
	char pattern[256];

	snprintf(pattern, sizeof(pattern), "%s%s", name, strncmp(name, "_Z", 2) ? "" : "*");
	wanted.name = pattern;
	assert_null(ray_node_names_find(e, &wanted, 1));
	if (!wanted.count)
		return 0;
	*size_ret = wanted.bodies[0].size;
	return wanted.bodies[0].vaddr;
}

/* Deriving looks at exported symbols only, so the file's own local ones are the truth to compare with. */
static size_t check(struct ray_elf *e)
{
	struct ray_local_place places[RAY_LOCAL_FUNCTIONS];
	size_t found = 0;

	ray_node_derive(e, places);
	for (int i = 0; i < RAY_LOCAL_FUNCTIONS; i++) {
		const char *name = ray_local_name((enum ray_local_function)i);
		uint64_t size = 0;

		if (!places[i].vaddr)
			continue;
		if (truth(e, name, &size) != places[i].vaddr)
			fail_msg("%s: %s is not at 0x%lx", ray_elf_name(e), name, (unsigned long)places[i].vaddr);
		assert_int_equal(size, places[i].size);
		found++;
	}
	return found;
}

static void what_is_derived_is_what_the_symbols_say(void **state)
{
	size_t seen = 0;
	char path[512];

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(official); i++) {
		ray_auto(ray_elf, e) = NULL;

		snprintf(path, sizeof(path), "%s/%s/bin/node", nodes, official[i].version);
		if (access(path, R_OK))
			continue;
		assert_null(ray_elf_open(path, &e));
		assert_int_equal(check(e), RAY_LOCAL_FUNCTIONS - official[i].lacks);
		seen++;
	}
	if (!seen) {
		print_message("no node was fetched (tools/nodes)\n");
		skip();
	}
}

static void a_file_without_libuv_gives_nothing(void **state)
{
	struct ray_local_place places[RAY_LOCAL_FUNCTIONS];
	ray_auto(ray_elf, e) = NULL;

	(void)state;
	assert_null(ray_elf_open("/proc/self/exe", &e));
	ray_node_derive(e, places);
	for (int i = 0; i < RAY_LOCAL_FUNCTIONS; i++)
		assert_int_equal(places[i].vaddr, 0);
}

static void every_function_has_its_name(void **state)
{
	(void)state;
	for (int i = 0; i < RAY_LOCAL_FUNCTIONS; i++)
		assert_int_equal(ray_local_find(ray_local_name((enum ray_local_function)i)), i);
	assert_int_equal(ray_local_find("uv_run"), -1);
	assert_int_equal(ray_local_find("_ZN2v88internal4Heap14CollectGarbageE*"), RAY_V8_COLLECT_GARBAGE);
	assert_int_equal(ray_local_find("_ZN2v88internal4Heap13SizeOfObjectsEv"), RAY_V8_SIZE_OF_OBJECTS);
	assert_int_equal(ray_local_find("_ZN2v88internal4Heap"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_derived_is_what_the_symbols_say),
		cmocka_unit_test(a_file_without_libuv_gives_nothing),
		cmocka_unit_test(every_function_has_its_name),
	};

	return cmocka_run_group_tests_name("probe/node_derive", tests, find_nodes, NULL);
}
