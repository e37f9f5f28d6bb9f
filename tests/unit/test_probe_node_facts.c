/* test_probe_node_facts.c - libuv's layout in real nodes, and the names of V8's numbers. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "probe/node_facts.h"

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

static void every_libuv_has_the_layout_we_know(void **state)
{
	size_t seen = 0;
	char path[512];

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(official); i++) {
		ray_auto(ray_elf, e) = NULL;

		snprintf(path, sizeof(path), "%s/%s/bin/node", nodes, official[i]);
		if (access(path, R_OK))
			continue;
		assert_null(ray_elf_open(path, &e));
		assert_true(ray_uv_layout_holds(e));
		seen++;
	}
	if (!seen)
		skip();
}

static void reasons_have_names_up_to_a_point(void **state)
{
	(void)state;
	assert_string_equal(ray_v8_gc_reason(1), "allocation failure");
	assert_string_equal(ray_v8_gc_reason(21), "testing");
	assert_string_equal(ray_v8_gc_reason(25), "background allocation failure");
	assert_null(ray_v8_gc_reason(1000));
	for (unsigned i = 0; ray_v8_gc_reason(i); i++)
		assert_in_range(strlen(ray_v8_gc_reason(i)), 1, RAY_NODE_REASON - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_libuv_has_the_layout_we_know),
		cmocka_unit_test(reasons_have_names_up_to_a_point),
	};

	return cmocka_run_group_tests_name("probe/node_facts", tests, find_nodes, NULL);
}
