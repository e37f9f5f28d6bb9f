/* test_v8_frame.c - frames of V8's code, and the code that a pc lies in. SPDX-License-Identifier: MIT */
#include "fake_heap.h"
#include "v8/frame.h"

enum { FRAME = 128, BODY = 256, KIND_TURBOFAN = 2 };

/* A frame of a function with two arguments; returns its frame pointer. */
static uint64_t new_frame(struct fake_heap *h, uint64_t function)
{
	uint64_t context = fake_object(h, RAY_V8_TYPE_CONTEXT_FIRST, 32);
	uint64_t fp = fake_alloc(h, FRAME) + FRAME / 2;
	int32_t counted = fake_get(h, RAY_V8_ARGC_COUNTS_RECEIVER);

	fake_put64(h, fp + (uint64_t)(int64_t)fake_get(h, RAY_V8_FP_CONTEXT), context);
	fake_put64(h, fp + (uint64_t)(int64_t)fake_get(h, RAY_V8_FP_FUNCTION), function);
	fake_put64(h, fp + (uint64_t)(int64_t)fake_get(h, RAY_V8_FP_ARGC), (uint64_t)(2 + counted));
	fake_put64(h, fp + 16, fake_smi(7)); /* the receiver */
	fake_put64(h, fp + 24, fake_smi(8));
	return fp;
}

static uint64_t new_function(struct fake_heap *h)
{
	return fake_function(h, fake_shared(h, fake_one(h, "f"), 0));
}

static uint64_t bytecode(struct fake_heap *h, int32_t length)
{
	uint64_t a = fake_object(h, RAY_V8_TYPE_BYTECODE_ARRAY, 80 + (size_t)length);

	fake_set(h, a, RAY_V8_BYTECODE_LENGTH, fake_smi(length));
	return a;
}

static void a_function_s_frame_is_read(void **state)
{
	struct fake_heap *h = *state;
	uint64_t function = new_function(h), fp = new_frame(h, function), array = bytecode(h, 20);
	struct ray_v8_frame f;

	fake_put64(h, fp + (uint64_t)(int64_t)fake_get(h, RAY_V8_FP_BYTECODE_ARRAY), array);
	fake_put64(h, fp + (uint64_t)(int64_t)fake_get(h, RAY_V8_FP_BYTECODE_OFFSET),
		   fake_smi(fake_get(h, RAY_V8_BYTECODE_DATA) - 1 + 5));
	ray_v8_frame_read(&h->v8, fp, &f);
	assert_int_equal(f.kind, RAY_V8_FRAME_FUNCTION);
	assert_int_equal(f.function, function);
	assert_int_equal(f.receiver, fake_smi(7));
	assert_int_equal(f.argc, 2);
	assert_int_equal(f.args, fp + 24);
	assert_int_equal(f.bytecode_array, array);
	assert_int_equal(f.bytecode_offset, 5);
}

static void marked_frames_have_a_type(void **state)
{
	struct fake_heap *h = *state;
	uint64_t fp = new_frame(h, new_function(h)), marker = fp + (uint64_t)(int64_t)fake_get(h, RAY_V8_FP_CONTEXT);
	struct ray_v8_frame f;

	fake_put64(h, marker, 2 * 3);
	ray_v8_frame_read(&h->v8, fp, &f);
	assert_int_equal(f.kind, RAY_V8_FRAME_TYPED);
	assert_string_equal(ray_v8_frame_type(h->layout, f.type), "ExitFrame");
	fake_put64(h, marker, 2 * 60); /* a type that this V8 does not have */
	ray_v8_frame_read(&h->v8, fp, &f);
	assert_int_equal(f.kind, RAY_V8_FRAME_UNKNOWN);
}

static void what_is_no_frame_is_unknown(void **state)
{
	struct fake_heap *h = *state;
	uint64_t fp = new_frame(h, fake_one(h, "no function"));
	struct ray_v8_frame f;

	ray_v8_frame_read(&h->v8, fp, &f);
	assert_int_equal(f.kind, RAY_V8_FRAME_UNKNOWN);
	ray_v8_frame_read(&h->v8, 0x10, &f);
	assert_int_equal(f.kind, RAY_V8_FRAME_UNKNOWN);
	ray_v8_frame_read(&h->v8, UINT64_MAX - 3, &f);
	assert_int_equal(f.kind, RAY_V8_FRAME_UNKNOWN);
}

static void damaged_slots_are_not_known(void **state)
{
	static const int32_t offsets[] = { INT32_MIN, INT32_MAX, 0, -1, 1000 };
	struct fake_heap *h = *state;
	uint64_t fp = new_frame(h, new_function(h));
	struct ray_v8_frame f;

	fake_put64(h, fp + (uint64_t)(int64_t)fake_get(h, RAY_V8_FP_BYTECODE_ARRAY), bytecode(h, 20));
	fake_put64(h, fp + (uint64_t)(int64_t)fake_get(h, RAY_V8_FP_ARGC), UINT64_MAX / 2);
	for (size_t i = 0; i < RAY_COUNT(offsets); i++) {
		fake_put64(h, fp + (uint64_t)(int64_t)fake_get(h, RAY_V8_FP_BYTECODE_OFFSET), fake_smi(offsets[i]));
		ray_v8_frame_read(&h->v8, fp, &f);
		assert_int_equal(f.bytecode_offset, -1);
		assert_int_equal(f.argc, -1);
	}
}

/* ------------------------------------------------------------------------------ code */

/* Generated code of a kind behind baseline's; returns the first instruction. */
static uint64_t new_code(struct fake_heap *h, int32_t kind, uint64_t *code_ret)
{
	uint32_t flags = (uint32_t)(fake_get(h, RAY_V8_CODE_KIND_BASELINE) + kind), size = BODY;
	uint64_t code, body;

	if (ray_v8_has(h->layout, RAY_V8_TYPE_STREAM)) {
		uint64_t stream = fake_object(h, RAY_V8_TYPE_STREAM, 64 + BODY);

		code = fake_object(h, RAY_V8_TYPE_CODE, 96);
		body = stream - 1 + (uint64_t)fake_get(h, RAY_V8_STREAM_BODY);
		fake_set(h, stream, RAY_V8_STREAM_CODE, code);
		fake_set(h, code, RAY_V8_CODE_START, body);
	} else {
		code = fake_object(h, RAY_V8_TYPE_CODE, 96 + BODY);
		body = code - 1 + (uint64_t)fake_get(h, RAY_V8_CODE_BODY);
	}
	fake_put(h, code - 1 + (uint64_t)fake_get(h, RAY_V8_CODE_FLAGS), &flags, sizeof(flags));
	fake_put(h, code - 1 + (uint64_t)fake_get(h, RAY_V8_CODE_SIZE), &size, sizeof(size));
	*code_ret = code;
	return body;
}

static void code_is_found_from_any_pc_in_it(void **state)
{
	struct fake_heap *h = *state;
	uint64_t first, second, a = new_code(h, 0, &first), b;
	struct ray_v8_code c;

	fake_alloc(h, 10000); /* more than a page lies between */
	b = new_code(h, KIND_TURBOFAN, &second);
	assert_true(ray_v8_code_find(&h->v8, b + 100, &c));
	assert_int_equal(c.object, second);
	assert_int_equal(c.start, b);
	assert_int_equal(c.tier, RAY_TIER_TURBOFAN);
	assert_true(ray_v8_code_find(&h->v8, a, &c));
	assert_int_equal(c.object, first);
	assert_int_equal(c.tier, RAY_TIER_BASELINE);
	assert_true(ray_v8_code_find(&h->v8, a + BODY - 1, &c));
	assert_false(ray_v8_code_find(&h->v8, a + BODY + 5000, &c));
}

static void what_was_not_found_is_not_searched_again(void **state)
{
	struct fake_heap *h = *state;
	uint64_t code, pc = new_code(h, 0, &code) + BODY + 64;
	struct ray_v8_code c;

	fake_alloc(h, 100000);
	assert_false(ray_v8_code_find(&h->v8, pc + 50000, &c));
	h->reads = 0;
	assert_false(ray_v8_code_find(&h->v8, pc + 50000, &c));
	assert_int_equal(h->reads, 0);
}

static void the_tier_is_that_of_the_code(void **state)
{
	struct fake_heap *h = *state;
	uint64_t code, pc = new_code(h, KIND_TURBOFAN, &code), fp = new_frame(h, new_function(h));
	struct ray_v8_frame_code places;
	struct ray_v8_frame f;

	ray_v8_frame_read(&h->v8, fp, &f);
	ray_v8_frame_places(&h->v8, &f, pc + 8, true, -1, &places);
	assert_int_equal(places.tier, RAY_TIER_TURBOFAN);
	assert_int_equal(places.count, 1);
	assert_int_equal(places.places[0].shared, f.shared);
	assert_int_equal(places.places[0].position, -1);
	ray_v8_frame_places(&h->v8, &f, 0x5000, false, -1, &places);
	assert_int_equal(places.tier, RAY_TIER_BUILTIN);
	ray_v8_frame_places(&h->v8, &f, fake_base + FAKE_SIZE + 64, true, -1, &places);
	assert_int_equal(places.tier, RAY_TIER_NONE);
	assert_int_equal(places.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		fake_test(a_function_s_frame_is_read),	    fake_test(marked_frames_have_a_type),
		fake_test(what_is_no_frame_is_unknown),	    fake_test(damaged_slots_are_not_known),
		fake_test(code_is_found_from_any_pc_in_it), fake_test(what_was_not_found_is_not_searched_again),
		fake_test(the_tier_is_that_of_the_code),
	};

	return cmocka_run_group_tests_name("v8/frame", tests, NULL, NULL);
}
