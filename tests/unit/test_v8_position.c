/* test_v8_position.c - from code to places in the source. SPDX-License-Identifier: MIT */
#include "fake_heap.h"
#include "v8/position.h"

enum { MAX_TABLE = 256, START = 100, END = 200 };

struct table {
	uint8_t bytes[MAX_TABLE];
	int32_t n;
};

static void add_unsigned(struct table *t, uint64_t value)
{
	do {
		t->bytes[t->n++] = (uint8_t)((value & 127) | (value > 127 ? 128 : 0));
		value >>= 7;
	} while (value);
}

static void add_signed(struct table *t, int64_t value)
{
	add_unsigned(t, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

struct entry {
	int64_t code, position;
	bool statement;
};

static int64_t at_offset(int32_t script_offset, int inlining)
{
	return (int64_t)inlining << 31 | (int64_t)(script_offset + 1) << 1;
}

/* As V8 writes it, before and since 14.2. */
static struct table encode(const struct entry *e, size_t count, bool new_code)
{
	struct table t = { .n = 0 };
	int64_t code = -1, position = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t d = e[i].code - code;

		if (new_code)
			add_unsigned(&t, (uint64_t)d << 2 | 2 | e[i].statement);
		else
			add_signed(&t, e[i].statement ? d : -d - 1);
		add_signed(&t, e[i].position - position);
		code = e[i].code;
		position = e[i].position;
	}
	return t;
}

struct seen {
	int64_t code[16], position[16];
	size_t n, stop_after;
};

static bool note(int64_t code, int64_t position, void *arg)
{
	struct seen *s = arg;

	s->code[s->n] = code;
	s->position[s->n++] = position;
	return s->n != s->stop_after;
}

static void both_encodings_are_read(void **state)
{
	const struct entry e[] = { { 0, at_offset(110, 0), true },
				   { 3, at_offset(105, 0), false },
				   { 300, at_offset(150, 0), true } };

	(void)state;
	for (int new_code = 0; new_code < 2; new_code++) {
		struct table t = encode(e, 3, new_code);
		struct seen s = { .n = 0 };

		assert_true(ray_v8_positions_each(t.bytes, (size_t)t.n, new_code, note, &s));
		assert_int_equal(s.n, 3);
		for (size_t i = 0; i < 3; i++) {
			assert_int_equal(s.code[i], e[i].code);
			assert_int_equal(s.position[i], e[i].position);
		}
		s = (struct seen){ .stop_after = 1 };
		assert_true(ray_v8_positions_each(t.bytes, (size_t)t.n, new_code, note, &s));
		assert_int_equal(s.n, 1);
	}
}

static void truncated_tables_are_refused(void **state)
{
	static const uint8_t endless[] = { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 };
	const struct entry e[] = { { 0, at_offset(110, 0), true }, { 300, at_offset(5000, 0), true } };
	struct table t = encode(e, 2, false);
	struct seen s = { .n = 0 };

	(void)state;
	assert_false(ray_v8_positions_each(t.bytes, (size_t)t.n - 1, false, note, &s));
	assert_false(ray_v8_positions_each(t.bytes, 1, false, note, &s));
	assert_false(ray_v8_positions_each(endless, sizeof(endless), false, note, &s));
	assert_false(ray_v8_positions_each(endless, sizeof(endless), true, note, &s));
	assert_true(ray_v8_positions_each(NULL, 0, false, note, &s));
}

/* ------------------------------------------------------------------------------ bytecode */

static uint64_t function_with_range(struct fake_heap *h)
{
	uint64_t source = fake_string(h, 0, true, 1000, 1016);

	return fake_shared(h, fake_scope(h, 0, fake_one(h, "f"), 0, START, END),
			   fake_script(h, fake_one(h, "a.js"), source));
}

static uint64_t bytecode(struct fake_heap *h, const void *bytes, int32_t length, const struct table *positions)
{
	uint64_t a = fake_object(h, RAY_V8_TYPE_BYTECODE_ARRAY, 80 + (size_t)length);

	fake_set(h, a, RAY_V8_BYTECODE_LENGTH, fake_smi(length));
	fake_set(h, a, RAY_V8_BYTECODE_POSITIONS, fake_bytes(h, positions->bytes, positions->n));
	if (bytes)
		fake_put(h, a - 1 + (uint64_t)fake_get(h, RAY_V8_BYTECODE_DATA), bytes, (size_t)length);
	return a;
}

static void the_last_entry_at_or_before_counts(void **state)
{
	const struct entry e[] = { { 2, at_offset(110, 0), true }, { 5, at_offset(120, 0), false } };
	struct table t = encode(e, 2, false);
	struct fake_heap *h = *state;
	uint64_t shared = function_with_range(h), a = bytecode(h, NULL, 10, &t);

	assert_int_equal(ray_v8_bytecode_position(&h->v8, a, 1, shared), -1);
	assert_int_equal(ray_v8_bytecode_position(&h->v8, a, 2, shared), 110);
	assert_int_equal(ray_v8_bytecode_position(&h->v8, a, 4, shared), 110);
	assert_int_equal(ray_v8_bytecode_position(&h->v8, a, 10, shared), 120);
	assert_int_equal(ray_v8_bytecode_position(&h->v8, a, 11, shared), -1);
	assert_int_equal(ray_v8_bytecode_position(&h->v8, a, -1, shared), -1);
	assert_int_equal(ray_v8_bytecode_position(&h->v8, h->meta, 2, shared), -1);
}

/* Whatever the version says, positions outside of the function give the wrong encoding away. */
static void the_encoding_that_fits_is_taken(void **state)
{
	const struct entry e[] = { { 2, at_offset(110, 0), true },
				   { 5, at_offset(120, 0), false },
				   { 9, at_offset(190, 0), true } };
	struct fake_heap *h = *state;
	uint64_t shared = function_with_range(h);

	for (int new_code = 0; new_code < 2; new_code++) {
		struct table t = encode(e, 3, new_code);
		uint64_t a = bytecode(h, NULL, 12, &t);

		assert_int_equal(ray_v8_bytecode_position(&h->v8, a, 5, shared), 120);
		assert_int_equal(ray_v8_bytecode_position(&h->v8, a, 11, shared), 190);
	}
}

static void tables_of_another_function_are_refused(void **state)
{
	const struct entry e[] = { { 2, at_offset(310, 0), true }, { 5, at_offset(320, 0), true } };
	struct table t = encode(e, 2, false);
	struct fake_heap *h = *state;

	assert_int_equal(ray_v8_bytecode_position(&h->v8, bytecode(h, NULL, 10, &t), 5, function_with_range(h)), -1);
}

/* ------------------------------------------------------------------------------ baseline */

enum { BYTECODES = 6 };

/* Wide and ExtraWide are 0 and 1; 4 has one operand, 5 has two. */
static const uint8_t sizes[3 * BYTECODES] = { 1, 1, 1, 1, 2, 3, 1, 1, 1, 1, 3, 5, 1, 1, 1, 1, 5, 9 };

static uint64_t code_object(struct fake_heap *h, uint64_t positions)
{
	uint64_t c = fake_object(h, RAY_V8_TYPE_CODE, 128);

	fake_set(h, c, RAY_V8_CODE_POSITIONS, positions);
	return c;
}

static void baseline_code_is_walked_beside_its_bytecode(void **state)
{
	static const uint8_t bytes[] = { 4, 0, 0, 5, 0, 0, 0, 0, 1, 4, 0, 0, 0, 0, 5, 0, 0 };
	static const uint64_t lengths[] = { 20, 4, 6, 300, 8 }; /* the prologue first */
	const struct table none = { .n = 0 };
	struct fake_heap *h = *state;
	struct table t = { .n = 0 };
	uint64_t array = bytecode(h, bytes, sizeof(bytes), &none);
	struct ray_v8_code code = { .start = 0x5000, .size = 0x1000 };

	for (size_t i = 0; i < RAY_COUNT(lengths); i++)
		add_unsigned(&t, lengths[i]);
	code.object = code_object(h, fake_bytes(h, t.bytes, t.n));
	assert_int_equal(ray_v8_baseline_offset(&h->v8, &code, 0x5000, array), -1); /* lengths are not known */
	h->v8.bytecode_sizes = sizes;
	h->v8.bytecode_count = BYTECODES;
	assert_int_equal(ray_v8_baseline_offset(&h->v8, &code, 0x5000 + 23, array), 0);
	assert_int_equal(ray_v8_baseline_offset(&h->v8, &code, 0x5000 + 24, array), 2);
	assert_int_equal(ray_v8_baseline_offset(&h->v8, &code, 0x5000 + 30, array), 8);
	assert_int_equal(ray_v8_baseline_offset(&h->v8, &code, 0x5000 + 330, array), 14);
	assert_int_equal(ray_v8_baseline_offset(&h->v8, &code, 0x5000 + 338, array), -1);
}

static void damaged_bytecode_has_no_offset(void **state)
{
	static const uint8_t unknown[] = { 200, 4, 0 }, only_prefix[] = { 4, 0, 0 };
	const struct table none = { .n = 0 };
	struct fake_heap *h = *state;
	struct table t = { { 1, 1, 1, 1, 1 }, 5 };
	struct ray_v8_code code = { .start = 0x5000, .size = 0x1000 };

	h->v8.bytecode_sizes = sizes;
	h->v8.bytecode_count = BYTECODES;
	code.object = code_object(h, fake_bytes(h, t.bytes, t.n));
	assert_int_equal(ray_v8_baseline_offset(&h->v8, &code, 0x5003, bytecode(h, unknown, 3, &none)), -1);
	assert_int_equal(ray_v8_baseline_offset(&h->v8, &code, 0x5009, bytecode(h, only_prefix, 3, &none)), -1);
	assert_int_equal(ray_v8_baseline_offset(&h->v8, &code, 0x5003, h->meta), -1);
}

/* ------------------------------------------------------------------------------ optimized code */

struct inlining {
	int64_t position;
	int32_t function, padding;
};

static struct ray_v8_code optimized(struct fake_heap *h, const struct table *t, const struct inlining *inlinings,
				    int32_t count, const uint64_t *literals, int32_t literal_count)
{
	struct ray_v8_code code = { .start = 0x5000, .size = 0x1000, .tier = RAY_TIER_TURBOFAN };
	uint64_t deopt[16] = { 0 };

	deopt[fake_get(h, RAY_V8_DEOPT_INLINING)] = fake_bytes(h, inlinings, count * (int32_t)sizeof(*inlinings));
	deopt[fake_get(h, RAY_V8_DEOPT_LITERALS)] = fake_array(h, literals, literal_count);
	code.object = code_object(h, fake_bytes(h, t->bytes, t->n));
	fake_set(h, code.object, RAY_V8_CODE_DEOPT, fake_array(h, deopt, 16));
	return code;
}

static void inlined_functions_come_innermost_first(void **state)
{
	struct fake_heap *h = *state;
	uint64_t outer = function_with_range(h);
	/* One literal is a weak reference, as V8 has them. */
	uint64_t literals[] = { fake_shared(h, fake_one(h, "middle"), 0), fake_shared(h, fake_one(h, "inner"), 0) | 2 };
	const struct inlining inlinings[] = { { at_offset(150, 0), 0, 0 }, { at_offset(33, 1), 1, 0 } };
	const struct entry e[] = { { 16, at_offset(140, 0), true }, { 32, at_offset(7, 2), true } };
	struct table t = encode(e, 2, false);
	struct ray_v8_code code = optimized(h, &t, inlinings, 2, literals, 2);
	struct ray_v8_place places[RAY_V8_MAX_INLINED];

	assert_int_equal(ray_v8_optimized_places(&h->v8, &code, 0x5010, outer, places), 1);
	assert_int_equal(places[0].position, 140);
	assert_int_equal(ray_v8_optimized_places(&h->v8, &code, 0x5028, outer, places), 3);
	assert_int_equal(places[0].shared, literals[1] & ~(uint64_t)2);
	assert_int_equal(places[0].position, 7);
	assert_true(places[0].inlined);
	assert_int_equal(places[1].shared, literals[0]);
	assert_int_equal(places[1].position, 33);
	assert_int_equal(places[2].shared, outer);
	assert_int_equal(places[2].position, 150);
	assert_false(places[2].inlined);
}

static void rings_of_inlinings_end(void **state)
{
	struct fake_heap *h = *state;
	uint64_t outer = function_with_range(h), literal = fake_shared(h, fake_one(h, "again"), 0);
	const struct inlining inlinings[] = { { at_offset(5, 1), 0, 0 } };
	const struct entry e[] = { { 0, at_offset(7, 1), true } };
	struct table t = encode(e, 1, false);
	struct ray_v8_code code = optimized(h, &t, inlinings, 1, &literal, 1);
	struct ray_v8_place places[RAY_V8_MAX_INLINED];

	assert_int_equal(ray_v8_optimized_places(&h->v8, &code, 0x5028, outer, places), RAY_V8_MAX_INLINED);
	assert_int_equal(places[RAY_V8_MAX_INLINED - 1].shared, outer);
}

static void inlinings_outside_of_the_tables_are_left_out(void **state)
{
	struct fake_heap *h = *state;
	uint64_t outer = function_with_range(h), literal = fake_one(h, "not a function");
	const struct inlining inlinings[] = { { at_offset(150, 0), 0, 0 }, { at_offset(150, 0), 99, 0 } };
	struct ray_v8_place places[RAY_V8_MAX_INLINED];

	for (int id = 1; id < 4; id++) {
		const struct entry e[] = { { 0, at_offset(7, id), true } };
		struct table t = encode(e, 1, false);
		struct ray_v8_code code = optimized(h, &t, inlinings, 2, &literal, 1);

		assert_int_equal(ray_v8_optimized_places(&h->v8, &code, 0x5028, outer, places), 1);
		assert_int_equal(places[0].shared, outer);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_encodings_are_read),
		cmocka_unit_test(truncated_tables_are_refused),
		fake_test(the_last_entry_at_or_before_counts),
		fake_test(the_encoding_that_fits_is_taken),
		fake_test(tables_of_another_function_are_refused),
		fake_test(baseline_code_is_walked_beside_its_bytecode),
		fake_test(damaged_bytecode_has_no_offset),
		fake_test(inlined_functions_come_innermost_first),
		fake_test(rings_of_inlinings_end),
		fake_test(inlinings_outside_of_the_tables_are_left_out),
	};

	return cmocka_run_group_tests_name("v8/position", tests, NULL, NULL);
}
