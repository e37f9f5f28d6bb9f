/* test_stack_constants.c - what node binaries say of their V8. SPDX-License-Identifier: MIT
 *
 * Skipped where tools/nodes has not fetched them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stack/constants.h"

#define V8(major, minor, build) ((uint32_t)(major) << 24 | (uint32_t)(minor) << 16 | (uint32_t)(build))

/* What the symbols of each node say, and the table where they do not; NONE where the version has no such thing. That
 * frames come out right with them is tested on running nodes. */
static const struct expected {
	const char *node;
	uint32_t v8;
	int32_t shared, sfi_name, sfi_script, scope_first, positions, data, code_start, code_body, baseline,
		new_positions;
} nodes[] = {
	{ "16.20.2", V8(9, 4, 146), 24, 16, 32, 3, 32, 54, RAY_V8_NONE, 96, 11, 0 },
	{ "18.20.8", V8(10, 2, 154), 24, 16, 32, 3, 32, 56, RAY_V8_NONE, 128, 11, 0 },
	{ "20.20.2", V8(11, 3, 244), 24, 16, 32, 3, 32, 54, 40, RAY_V8_NONE, 11, 0 },
	{ "22.23.3", V8(12, 4, 254), 32, 16, 32, 3, 24, 64, 40, RAY_V8_NONE, 10, 0 },
	{ "24.21.0", V8(13, 6, 233), 32, 24, 40, 5, 24, 64, 40, RAY_V8_NONE, 10, 0 },
	{ "26.10.0", V8(14, 6, 202), 32, 24, 40, 5, 24, 64, 40, RAY_V8_NONE, 11, 1 },
};

static char directory[256];

static int find_nodes(void **state)
{
	FILE *f = popen("tools/nodes --dir 2>/dev/null", "r");

	(void)state;
	if (f && fgets(directory, sizeof(directory), f))
		directory[strcspn(directory, "\n")] = 0;
	if (f)
		pclose(f);
	return 0;
}

static struct ray_elf *open_node(const char *name)
{
	struct ray_elf *e = NULL;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s/bin/node", directory, name);
	if (access(path, R_OK) == 0)
		assert_null(ray_elf_open(path, &e));
	return e;
}

static void check(const struct expected *x, const struct ray_v8_layout *l)
{
	const struct {
		enum ray_v8_field field;
		int32_t value;
	} rows[] = {
		{ RAY_V8_JSFUNCTION_SHARED, x->shared },     { RAY_V8_SFI_NAME, x->sfi_name },
		{ RAY_V8_SFI_SCRIPT, x->sfi_script },	     { RAY_V8_SCOPE_IDX_FIRST_VARS, x->scope_first },
		{ RAY_V8_BYTECODE_POSITIONS, x->positions }, { RAY_V8_BYTECODE_DATA, x->data },
		{ RAY_V8_CODE_START, x->code_start },	     { RAY_V8_CODE_BODY, x->code_body },
		{ RAY_V8_CODE_KIND_BASELINE, x->baseline },  { RAY_V8_NEW_POSITION_CODE, x->new_positions },
	};

	for (size_t i = 0; i < RAY_COUNT(rows); i++) {
		if (ray_v8_get(l, rows[i].field) != rows[i].value)
			fail_msg("node %s: row %zu is %d, not %d", x->node, i, ray_v8_get(l, rows[i].field),
				 rows[i].value);
	}
}

static void every_node_gives_its_layout(void **state)
{
	int found = 0;

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(nodes); i++) {
		ray_auto(ray_elf, e) = open_node(nodes[i].node);
		struct ray_constants c;

		if (!e)
			continue;
		found++;
		assert_null(ray_constants_read(e, nodes[i].v8, &c));
		check(&nodes[i], c.layout);
		/* Wide (0) is as long as it is narrow; LdaSmi and others grow with the scale. */
		assert_non_null(c.bytecode_sizes);
		assert_true(c.bytecode_count > 100 && c.bytecode_count <= 256);
		assert_int_equal(c.bytecode_sizes[0], 1);
		for (size_t k = 0; k < c.bytecode_count; k++) {
			assert_true(c.bytecode_sizes[k] >= 1);
			assert_true(c.bytecode_sizes[c.bytecode_count + k] >= c.bytecode_sizes[k]);
			assert_true(c.bytecode_sizes[2 * c.bytecode_count + k] >=
				    c.bytecode_sizes[c.bytecode_count + k]);
		}
		ray_constants_deinit(&c);
	}
	if (!found)
		skip();
}

/* A release that nobody has seen yet is read like the newest: nothing required may be missing then. */
static void a_v8_that_is_not_known_is_read_like_the_newest(void **state)
{
	ray_auto(ray_elf, e) = open_node("26.10.0");
	struct ray_constants c;

	(void)state;
	if (!e)
		skip();
	assert_null(ray_constants_read(e, V8(19, 9, 1), &c));
	check(&nodes[5], c.layout);
	ray_constants_deinit(&c);
	assert_null(ray_constants_read(e, 0, &c));
	check(&nodes[5], c.layout);
	ray_constants_deinit(&c);
}

static void a_binary_without_v8_says_so(void **state)
{
	ray_auto(ray_elf, e) = NULL;
	struct ray_constants c;
	struct ray_error *err;

	(void)state;
	assert_null(ray_elf_open("/proc/self/exe", &e));
	err = ray_constants_read(e, 0, &c);
	assert_non_null(err);
	assert_non_null(strstr(ray_error_text(err), "no v8dbg_* symbols"));
	ray_error_free(err);
	ray_constants_deinit(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_node_gives_its_layout),
		cmocka_unit_test(a_v8_that_is_not_known_is_read_like_the_newest),
		cmocka_unit_test(a_binary_without_v8_says_so),
	};

	return cmocka_run_group_tests_name("stack/constants", tests, find_nodes, NULL);
}
