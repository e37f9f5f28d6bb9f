/* test_stack_deopt.c - V8's builtin that replaces frames, by its machine code. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "stack/deopt.h"

struct code {
	uint8_t bytes[2048];
	size_t size;
};

#define PUT(c, ...) put(c, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void put(struct code *c, const uint8_t *bytes, size_t size)
{
	assert_true(c->size + size <= sizeof(c->bytes));
	memcpy(c->bytes + c->size, bytes, size);
	c->size += size;
}

static void put_nops(struct code *c, size_t count)
{
	for (size_t i = 0; i < count; i++)
		PUT(c, 0x90);
}

/* What differs between releases: the order of two instructions behind a call, encodings, registers, distances. */
struct release {
	uint8_t from, input, content;
	bool restores_first, is_v16;
};

static void put_behind_call(struct code *c, const struct release *r)
{
	if (r->restores_first)
		PUT(c, 0x48, 0x8b, 0x24, 0x24);
	PUT(c, 0x49, 0xc7, 0x45, 0xa0, 0, 0, 0, 0);
	if (!r->restores_first)
		PUT(c, 0x48, 0x8b, 0x24, 0x24);
}

/* The parts of the builtin that are looked at, with something else in between. */
static struct ray_deopt_entry put_builtin(struct code *c, const struct release *r)
{
	struct ray_deopt_entry e;

	put_nops(c, 40);
	PUT(c, 0x48, 0x8b, r->is_v16 ? 0x8c : 0x94, 0x24, r->from, 1, 0, 0);
	put_nops(c, 70);
	PUT(c, 0xff, 0xd0);
	e.made = c->size;
	put_behind_call(c, r);
	PUT(c, 0x48, 0x8b, 0x58, r->input);
	PUT(c, 0x8f, 0x83, 0x88, 0, 0, 0);
	put_nops(c, 320);
	PUT(c, 0x48, 0x8b, 0x0b, 0x48, 0x01, 0xe1);
	PUT(c, 0x48, 0x8d, 0x93, r->content, 1, 0, 0);
	PUT(c, 0xe9, 6, 0, 0, 0);
	e.moving = c->size;
	PUT(c, 0x8f, 0x02, 0x48, 0x83, 0xc2, 0x08);
	if (r->is_v16)
		PUT(c, 0x48, 0x3b, 0xcc);
	else
		PUT(c, 0x48, 0x39, 0xe1);
	PUT(c, 0x75, 0xf5, 0x50);
	put_nops(c, 48);
	PUT(c, 0xff, 0xd0);
	e.computed = c->size;
	put_behind_call(c, r);
	put_nops(c, 200);
	e.end = c->size;
	PUT(c, 0xc3, 0xcc);
	return e;
}

static const struct release releases[] = {
	{ .from = 0, .input = 0x38, .content = 0x40, .is_v16 = true },
	{ .from = 0, .input = 0x48, .content = 0x48 },
	{ .from = 0x80, .input = 0x50, .content = 0xc8, .restores_first = true },
};

static void what_releases_have_is_understood(void **state)
{
	struct ray_deopt_distances distances;
	struct ray_deopt_entry wanted, entry;

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(releases); i++) {
		struct code c = { 0 };
		size_t at = 0;

		wanted = put_builtin(&c, &releases[i]);
		assert_true(ray_deopt_decode(c.bytes, c.size, &at, &entry, &distances));
		assert_memory_equal(&entry, &wanted, sizeof(entry));
		assert_int_equal(distances.input, releases[i].input);
		assert_int_equal(distances.content, 0x100 + releases[i].content);
		assert_int_equal(distances.from, 0x100 + releases[i].from);
		assert_int_equal(distances.fp, 0x38);
		assert_false(ray_deopt_decode(c.bytes, c.size, &at, &entry, &distances));
	}
}

static void several_are_found_one_after_the_other(void **state)
{
	struct ray_deopt_distances distances;
	struct ray_deopt_entry first, second, entry;
	struct code c = { 0 };
	size_t at = 0;

	(void)state;
	first = put_builtin(&c, &releases[1]);
	second = put_builtin(&c, &releases[1]);
	assert_true(ray_deopt_decode(c.bytes, c.size, &at, &entry, &distances));
	assert_memory_equal(&entry, &first, sizeof(entry));
	assert_true(ray_deopt_decode(c.bytes, c.size, &at, &entry, &distances));
	assert_memory_equal(&entry, &second, sizeof(entry));
	assert_false(ray_deopt_decode(c.bytes, c.size, &at, &entry, &distances));
}

static void check_not_understood(const uint8_t *bytes, size_t size)
{
	/* A copy that is no longer than it must be: what reads beyond it is found out. */
	uint8_t *copy = malloc(size ? size : 1);
	struct ray_deopt_distances distances;
	struct ray_deopt_entry entry;
	size_t at = 0;

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	assert_false(ray_deopt_decode(copy, size, &at, &entry, &distances));
	free(copy);
}

static void what_is_not_whole_is_not_understood(void **state)
{
	struct code c = { 0 };
	struct ray_deopt_entry e = put_builtin(&c, &releases[1]);

	(void)state;
	for (size_t size = 0; size < e.computed; size++)
		check_not_understood(c.bytes, size);
	for (size_t start = 41; start < e.moving; start++)
		check_not_understood(c.bytes + start, c.size - start);
}

static void distances_that_make_no_sense_are_not_believed(void **state)
{
	static const struct release odd[] = { { .from = 1, .input = 0x48, .content = 0x48 },
					      { .from = 0, .input = 0x4c, .content = 0x48 },
					      { .from = 0, .input = 0, .content = 0x48 },
					      { .from = 0, .input = 0x80, .content = 0x48 },
					      { .from = 0, .input = 0x48, .content = 0x47 } };

	(void)state;
	for (size_t i = 0; i < RAY_COUNT(odd); i++) {
		struct code c = { 0 };

		put_builtin(&c, &odd[i]);
		check_not_understood(c.bytes, c.size);
	}
}

static void it_is_known_when_the_frame_is_gone(void **state)
{
	const struct ray_deopt d = { .count = 1, .entries = { { 100, 200, 300, 400 } } };

	(void)state;
	assert_false(ray_deopt_has(&d, 98));
	assert_true(ray_deopt_has(&d, 99));
	assert_true(ray_deopt_has(&d, 399));
	assert_false(ray_deopt_has(&d, 400));
	assert_false(ray_deopt_is_moved(&d, 199));
	assert_true(ray_deopt_is_moved(&d, 200));
	assert_true(ray_deopt_is_moved(&d, 399));
	assert_false(ray_deopt_is_moved(&d, 400));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_releases_have_is_understood),
		cmocka_unit_test(several_are_found_one_after_the_other),
		cmocka_unit_test(what_is_not_whole_is_not_understood),
		cmocka_unit_test(distances_that_make_no_sense_are_not_believed),
		cmocka_unit_test(it_is_known_when_the_frame_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
