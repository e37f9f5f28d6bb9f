/* test_engine_ring.c - records out of a ring, in turns. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "engine/consume.h"

enum { SIZE = 4096, RECORD = 16 /* with its head */, COUNT = 100 };

/* As the kernel leaves it: heads with lengths, and the data once more behind itself. */
struct fake_ring {
	unsigned long taken, given;
	_Alignas(8) char data[2 * SIZE];
	struct ray_ring ring;
};

static void fill(struct fake_ring *f, unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		uint32_t head[2] = { RECORD - 8, 0 };
		uint64_t value = i;

		memcpy(f->data + i * RECORD, head, sizeof(head));
		memcpy(f->data + i * RECORD + sizeof(head), &value, sizeof(value));
	}
	f->taken = 0;
	f->given = count * RECORD;
	f->ring = (struct ray_ring){ .taken = &f->taken, .given = &f->given, .data = f->data, .size = SIZE };
}

static struct ray_error *count(void *arg, const void *record, size_t size)
{
	uint64_t *next = arg, value;

	assert_int_equal(size, sizeof(value));
	memcpy(&value, record, sizeof(value));
	assert_int_equal(value, *next);
	++*next;
	return NULL;
}

static const struct ray_ring_limit no_limit;

static void all_are_taken_in_their_order(void **state)
{
	static struct fake_ring f;
	uint64_t next = 0;

	(void)state;
	fill(&f, COUNT);
	assert_null(ray_ring_take(&f.ring, &no_limit, count, &next));
	assert_int_equal(next, COUNT);
	assert_int_equal(f.taken, f.given);
	assert_null(ray_ring_take(&f.ring, &no_limit, count, &next));
	assert_int_equal(next, COUNT);
}

/* Whoever names stacks more slowly than they come must not be kept for ever. */
static void a_turn_ends_and_the_next_goes_on(void **state)
{
	static struct fake_ring f;
	uint64_t next = 0, before;

	(void)state;
	fill(&f, COUNT);
	for (int turns = 0; next < COUNT; turns++) {
		before = next;
		assert_true(turns < COUNT);
		assert_null(ray_ring_take(&f.ring, &(struct ray_ring_limit){ .end_ns = ray_clock_ns() }, count, &next));
		assert_true(next > before && next - before < COUNT / 2);
		assert_int_equal(f.taken, next * RECORD);
	}
	fill(&f, COUNT);
	next = 0;
	assert_null(ray_ring_take(&f.ring, &(struct ray_ring_limit){ .end_ns = UINT64_MAX }, count, &next));
	assert_int_equal(next, COUNT);
}

/* After the deadline one record is consumed, and the others are counted. */
static void records_after_the_deadline_are_counted(void **state)
{
	static struct fake_ring f;
	uint64_t next = 0;

	(void)state;
	fill(&f, COUNT);
	ray_interrupted = 1; /* at time 0: the deadline has passed */
	assert_null(ray_ring_take(&f.ring, &no_limit, count, &next));
	assert_int_equal(next, 1);
	assert_int_equal(ray_ring_skip(&f.ring), COUNT - 1);
	assert_int_equal(f.taken, f.given);
	assert_int_equal(ray_ring_skip(&f.ring), 0);
	ray_interrupted = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_taken_in_their_order),
		cmocka_unit_test(a_turn_ends_and_the_next_goes_on),
		cmocka_unit_test(records_after_the_deadline_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
