/* test_stack_recorded.c - frames in a record of the kernel's walker, each as long as it is. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "stack/recorded.h"

static const uint32_t kinds[] = { RAY_FRAME_IS_EXACT, RAY_FRAME_HAS_WORDS, RAY_FRAME_HAS_WORDS | RAY_FRAME_HAS_BELOW,
				  0 };

/* One frame of each kind, the address of each its number. */
static struct ray_record_stack *make(size_t *size_ret)
{
	struct ray_record_stack *r = calloc(1, sizeof(*r) + 4 * sizeof(struct ray_walk_frame));
	char *at;

	assert_non_null(r);
	at = (char *)(r + 1);
	for (uint32_t i = 0; i < 4; i++) {
		struct ray_walk_frame *f = (struct ray_walk_frame *)at;

		f->pc = i;
		f->flags = kinds[i];
		at += ray_walk_frame_size(f->flags);
	}
	r->count = 4;
	r->bytes = (uint32_t)(at - (char *)(r + 1));
	*size_ret = sizeof(*r) + r->bytes;
	/* A copy that is no longer than it must be: what reads beyond it is found out. */
	return realloc(r, *size_ret);
}

static void frames_follow_one_another(void **state)
{
	struct ray_recorded_frames at = { 0 };
	uint32_t count = 0;
	size_t size;

	(void)state;
	at.record = make(&size);
	assert_true(ray_recorded_is_sound(at.record, size));
	for (; ray_recorded_next(&at); count++) {
		assert_int_equal(at.index, count);
		assert_int_equal(at.f->pc, count);
		assert_int_equal(at.f->flags, kinds[count]);
	}
	assert_int_equal(count, 4);
	free((void *)at.record);
}

static void what_is_cut_short_is_not_believed(void **state)
{
	struct ray_record_stack *r;
	size_t size;

	(void)state;
	r = make(&size);
	assert_false(ray_recorded_is_sound(r, size - 1));
	assert_false(ray_recorded_is_sound(r, sizeof(*r) - 1));
	r->count = 5;
	assert_false(ray_recorded_is_sound(r, size));
	r->count = 4;
	r->bytes -= 8;
	assert_false(ray_recorded_is_sound(r, size));
	r->bytes = UINT32_MAX & ~7u;
	assert_false(ray_recorded_is_sound(r, size));
	r->bytes = (uint32_t)(size - sizeof(*r));
	((struct ray_walk_frame *)((char *)r + size - RAY_FRAME_SIZE_NATIVE))->flags = RAY_FRAME_HAS_WORDS;
	assert_false(ray_recorded_is_sound(r, size));
	((struct ray_walk_frame *)((char *)r + size - RAY_FRAME_SIZE_NATIVE))->flags = 0;
	r->top_count = RAY_STACK_TOP + 1;
	assert_false(ray_recorded_is_sound(r, size));
	r->top_count = RAY_STACK_TOP;
	assert_true(ray_recorded_is_sound(r, size));
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_follow_one_another),
		cmocka_unit_test(what_is_cut_short_is_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
