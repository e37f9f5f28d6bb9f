/* test_v8_wasm.c - WebAssembly modules and V8's objects around them, in made-up memory.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* after the ones above */
#include <cmocka.h>

#include "v8/wasm.h"
#include "v8/wasm_bytes.h"

enum { BASE = 0x100000 };

static uint8_t memory[0x8000];

static size_t read_memory(void *arg, uint64_t address, void *buffer, size_t size)
{
	(void)arg;
	if (address < BASE || address >= BASE + sizeof(memory))
		return 0;
	if (size > BASE + sizeof(memory) - address)
		size = BASE + sizeof(memory) - address;
	memcpy(buffer, memory + (address - BASE), size);
	return size;
}

static const struct ray_reader reader = { read_memory, NULL };

static void put(uint64_t address, uint64_t value)
{
	memcpy(memory + (address - BASE), &value, sizeof(value));
}

static void put32(uint64_t address, uint32_t value)
{
	memcpy(memory + (address - BASE), &value, sizeof(value));
}

/* One import of each kind that can be skipped, two declared functions, one export, names. */
static const uint8_t module[] = {
	0, 'a',	 's', 'm', 1, 0,    0,	 0,   1,   4,	1,   0x60, 0,	0,   2, 37, 5, 1, 'e', 1,   'm',  2,   1,   1,
	2,				    /* memory with a maximum */
	1, 'e',	 1,   't', 1, 0x70, 0,	 1, /* table */
	1, 'e',	 1,   'g', 3, 0x7f, 0,	    /* global */
	1, 'e',	 1,   'f', 0, 0,	    /* function 0 */
	1, 'e',	 1,   'x', 4, 0,    0,	    /* tag */
	3, 3,	 2,   0,   0, 7,    8,	 1,   4,   'm', 'a', 'i',  'n', 0,   2, 10, 9, 2, 2,   0,   0x0b, 4,   0,   1,
	1, 0x0b, 0,   20,  4, 'n',  'a', 'm', 'e', 0,	3,   2,	   'm', 'y', 1, 8,  1, 1, 5,   's', 't',  'e', 'p', 's',
};

static int set_up(void **state)
{
	(void)state;
	memset(memory, 0, sizeof(memory));
	memcpy(memory, module, sizeof(module));
	return 0;
}

static void module_tells_counts_names_and_bodies(void **state)
{
	struct ray_wasm_bytes w;
	struct ray_wasm_section body;
	char name[32];

	(void)state;
	assert_true(ray_wasm_bytes_read(&reader, BASE, sizeof(module), &w));
	assert_int_equal(w.imported, 1);
	assert_int_equal(w.declared, 2);
	assert_true(ray_wasm_bytes_module_name(&w, name, sizeof(name)));
	assert_string_equal(name, "my");
	assert_true(ray_wasm_bytes_function_name(&w, 1, name, sizeof(name)));
	assert_string_equal(name, "steps");
	assert_false(ray_wasm_bytes_function_name(&w, 2, name, sizeof(name)));
	assert_true(ray_wasm_bytes_export_name(&w, 2, name, sizeof(name)));
	assert_string_equal(name, "main");
	assert_false(ray_wasm_bytes_export_name(&w, 1, name, sizeof(name)));
	assert_true(ray_wasm_bytes_body(&w, 2, &body));
	assert_int_equal(body.size, 4);
	assert_int_equal(memory[body.offset + 1], 1);
	assert_false(ray_wasm_bytes_body(&w, 0, &body)); /* imported */
	assert_false(ray_wasm_bytes_body(&w, 3, &body));
	ray_wasm_bytes_deinit(&w);
}

static void name_is_cut_to_fit(void **state)
{
	struct ray_wasm_bytes w;
	char name[4];

	(void)state;
	assert_true(ray_wasm_bytes_read(&reader, BASE, sizeof(module), &w));
	assert_true(ray_wasm_bytes_function_name(&w, 1, name, sizeof(name)));
	assert_string_equal(name, "ste");
	ray_wasm_bytes_deinit(&w);
}

static void module_cut_anywhere_is_no_harm(void **state)
{
	struct ray_wasm_bytes w;
	struct ray_wasm_section body;
	char name[32];

	(void)state;
	for (size_t size = 0; size < sizeof(module); size++) {
		if (!ray_wasm_bytes_read(&reader, BASE, size, &w))
			continue;
		ray_wasm_bytes_function_name(&w, 1, name, sizeof(name));
		ray_wasm_bytes_export_name(&w, 2, name, sizeof(name));
		if (ray_wasm_bytes_body(&w, 2, &body))
			assert_true(body.offset + body.size <= size);
		ray_wasm_bytes_deinit(&w);
	}
	memory[0] = 1;
	assert_false(ray_wasm_bytes_read(&reader, BASE, sizeof(module), &w));
}

static void a_count_of_functions_that_lies_is_not_kept(void **state)
{
	/* One section of functions: it says 0x1fffffff of them in five bytes. Found by fuzzing: the table for them was
	 * allocated. */
	static const uint8_t lying[] = { 0,    'a',  's',  'm',	 1, 0, 0,    0,	   3,	9,
					 0xff, 0xff, 0xff, 0xff, 1, 0, 0xff, 0xff, 0xff };
	struct ray_wasm_bytes w;

	(void)state;
	memcpy(memory, lying, sizeof(lying));
	if (!ray_wasm_bytes_read(&reader, BASE, sizeof(lying), &w))
		return;
	assert_int_equal(w.declared, 0);
	ray_wasm_bytes_deinit(&w);
}

static void lengths_that_lie_are_refused(void **state)
{
	struct ray_wasm_bytes w;
	char name[32];

	(void)state;
	memset(memory + 14 + 1, 0xff, 10); /* the import section's length: more than 64 bits */
	assert_false(ray_wasm_bytes_read(&reader, BASE, sizeof(module), &w));
	memcpy(memory, module, sizeof(module));
	memory[sizeof(module) - 8] = 120; /* more names than there are */
	assert_true(ray_wasm_bytes_read(&reader, BASE, sizeof(module), &w));
	assert_false(ray_wasm_bytes_function_name(&w, 77, name, sizeof(name)));
	assert_true(ray_wasm_bytes_function_name(&w, 1, name, sizeof(name)));
	ray_wasm_bytes_deinit(&w);
}

/* Objects as V8 13.6 lays them out, at addresses that are easy to read. */
enum {
	INSTANCE = BASE + 0x1000,
	MANAGED = BASE + 0x1200,
	RECORD = BASE + 0x1280,
	POINTER = BASE + 0x1300,
	NATIVE = BASE + 0x1400,
	BYTES = BASE + 0x1800,
	JUMP = BASE + 0x1900,
	FAR = BASE + 0x1a00,
	OLD = BASE + 0x1b00,
	NEW = BASE + 0x1c00,
	OTHER = BASE + 0x1d00,
	NODE = BASE + 0x1e00,
	VECTOR = BASE + 0x1e80,
	TABLE = BASE + 0x1f00,
	META = BASE + 0x2000,
	SCRIPT = BASE + 0x2100,
	MAP = BASE + 0x2200,
	SCRIPT_TYPE = 167,
	CODE = 0x40000000,
};

static void put_code(uint64_t object, uint64_t start, uint32_t size, uint32_t index)
{
	put(object, NATIVE);
	put(object + 8, start);
	put(object + 0x18, META);
	put32(object + 0x20, size);
	put32(object + 0x38, index);
}

static void put_module(void)
{
	put(INSTANCE + 0x108, MANAGED + 1);
	put(INSTANCE + 0x20, SCRIPT + 1);
	put(MANAGED + 8, RECORD);
	put(RECORD + 24, POINTER);
	put(POINTER, NATIVE);
	put(NATIVE + 0xf0, BYTES);
	put(NATIVE + 0x100, JUMP);
	put(NATIVE + 0x108, FAR);
	put(BYTES, BASE);
	put(BYTES + 8, sizeof(module));
	put_code(JUMP, CODE, 0x40, UINT32_MAX);
	put_code(FAR, CODE + 0x40, 0x100, UINT32_MAX);
	put_code(OLD, CODE + 0x1000, 0x80, 1);
	put_code(NEW, CODE + 0x2000, 0x80, 1);
	put_code(OTHER, CODE + 0x3000, 0x80, 2);
	/* The map holds OLD alone, the vector the others. */
	put(NATIVE + 0x148, NODE);
	put(NODE + 8, NATIVE + 0x140);
	put(NODE + 32, CODE + 0x1000);
	put(NODE + 40, OLD);
	put(NATIVE + 0x168, VECTOR);
	put(NATIVE + 0x170, VECTOR + 24);
	put(VECTOR, OTHER);
	put(VECTOR + 8, NEW);
	put(VECTOR + 16, JUMP);
	put(NATIVE + 0x180, TABLE);
	put(TABLE, NEW);
	put(TABLE + 8, OTHER);
	put(SCRIPT, MAP + 1);
	put32(MAP + 12, SCRIPT_TYPE);
	put(SCRIPT + 0x48, MANAGED + 1);
}

static const struct ray_wasm_layout layout = { .map_instance_type = 12, .script_type = SCRIPT_TYPE };

static bool find(uint64_t pc, struct ray_wasm_frame *ret)
{
	ray_auto(ray_wasm, w) = ray_wasm_create(&reader, &layout);

	return ray_wasm_find(w, INSTANCE + 1, pc, false, ret);
}

static void function_is_found_in_map_and_vector(void **state)
{
	struct ray_wasm_frame f;

	(void)state;
	put_module();
	assert_true(find(CODE + 0x1010, &f)); /* replaced code that still runs */
	assert_int_equal(f.count, 1);
	assert_int_equal(f.functions[0].index, 1);
	assert_string_equal(f.functions[0].name, "steps");
	assert_false(f.functions[0].is_exported_name);
	assert_int_equal(f.functions[0].offset, -1);
	assert_string_equal(f.module_name, "my");
	assert_int_equal(f.script, SCRIPT + 1);
	assert_true(find(CODE + 0x2080, &f)); /* returns past its end */
	assert_int_equal(f.functions[0].index, 1);
	assert_true(find(CODE + 0x3001, &f));
	assert_int_equal(f.functions[0].index, 2);
	assert_string_equal(f.functions[0].name, "main");
	assert_true(f.functions[0].is_exported_name);
}

static void address_outside_of_functions_is_none(void **state)
{
	struct ray_wasm_frame f;

	(void)state;
	put_module();
	assert_false(find(CODE + 0x1081, &f));
	assert_false(find(CODE + 0x20, &f)); /* the jump table */
	assert_false(find(8, &f));
}

static void inlined_functions_come_innermost_first(void **state)
{
	/* At code offset 16: position 1 of the first inlined function (id 1), which was called at position 1. */
	static const uint8_t positions[] = { 17 << 1, 0x88, 0x80, 0x80, 0x80, 0x10 };
	struct ray_wasm_frame f;

	(void)state;
	put_module();
	put32(NEW + 0x28, sizeof(positions));
	put32(NEW + 0x2c, 13);
	memcpy(memory + (META - BASE), positions, sizeof(positions));
	put32(META + sizeof(positions), 2);
	put(META + sizeof(positions) + 5, (1 + 1) << 1);
	assert_true(find(CODE + 0x2011, &f));
	assert_int_equal(f.count, 2);
	assert_int_equal(f.functions[0].index, 2);
	assert_int_equal(f.functions[1].index, 1);
	assert_true(f.functions[1].offset > 0);
	/* Before the first entry nothing is known of positions. */
	assert_true(find(CODE + 0x2008, &f));
	assert_int_equal(f.count, 1);
	assert_int_equal(f.functions[0].offset, -1);
}

static void numbers_that_disagree_with_the_table_are_not_believed(void **state)
{
	struct ray_wasm_frame f;

	(void)state;
	put_module();
	put32(NEW + 0x38, 2);
	assert_false(find(CODE + 0x2010, &f));
}

static void every_missing_link_gives_nothing(void **state)
{
	static const uint64_t links[] = { INSTANCE + 0x108, MANAGED + 8,    RECORD + 24, POINTER, NATIVE + 0xf0,
					  NATIVE + 0x100,   NATIVE + 0x108, BYTES,	 JUMP,	  FAR + 8,
					  NATIVE + 0x180 };
	struct ray_wasm_frame f;

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(links); i++) {
		memset(memory, 0, sizeof(memory));
		memcpy(memory, module, sizeof(module));
		put_module();
		put(links[i], 0);
		assert_false(find(CODE + 0x2010, &f));
		put(links[i], UINT64_MAX - 7);
		assert_false(find(CODE + 0x2010, &f));
	}
}

static void circle_in_the_map_ends(void **state)
{
	struct ray_wasm_frame f;

	(void)state;
	put_module();
	put(NODE + 16, NODE);
	put(NODE + 24, NODE);
	assert_true(find(CODE + 0x1010, &f));
	assert_true(find(CODE + 0x3010, &f));
}

#define T(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(module_tells_counts_names_and_bodies),
		T(name_is_cut_to_fit),
		T(module_cut_anywhere_is_no_harm),
		T(lengths_that_lie_are_refused),
		T(a_count_of_functions_that_lies_is_not_kept),
		T(function_is_found_in_map_and_vector),
		T(address_outside_of_functions_is_none),
		T(inlined_functions_come_innermost_first),
		T(numbers_that_disagree_with_the_table_are_not_believed),
		T(every_missing_link_gives_nothing),
		T(circle_in_the_map_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
