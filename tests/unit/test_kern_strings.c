/* Strings in the kernel against the C library. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kern_run.h"

static struct kern_run run;

/* Loads a function, or skips the test where programs cannot be loaded. */
static void need(const char *function)
{
	if (kern_load(&run, function))
		return;
	if (strstr(run.skip, "not permitted"))
		skip();
	fail_msg("%s: %s", function, run.skip);
}

static int sign(int x)
{
	return (x > 0) - (x < 0);
}

static const char *const samples[] = {
	"",	     "a",	 "b",	 "ab",	 "abcdefg",	      "abcdefgh",
	"abcdefghi", "abcdefgi", "\xff", "\x7f", "abcdefghijklmnopq", "abcdefghijklmnopr"
};

static void strings_compare_as_in_c(void **state)
{
	(void)state;
	need("ray_strcmp");
	for (size_t i = 0; i < RAY_COUNT(samples); i++)
		for (size_t j = 0; j < RAY_COUNT(samples); j++)
			assert_int_equal(kern_call(&run, kern_string(&run, 0, samples[i]),
						   kern_string(&run, 1, samples[j]), 0, 0),
					 sign(strcmp(samples[i], samples[j])));
}

static void a_string_of_full_length_is_compared_to_its_end(void **state)
{
	char a[KERN_STRSIZE + 1], b[KERN_STRSIZE + 1];

	(void)state;
	need("ray_strcmp");
	memset(a, 'x', KERN_STRSIZE);
	a[KERN_STRSIZE] = '\0';
	memcpy(b, a, sizeof(a));
	assert_int_equal(kern_call(&run, kern_string(&run, 0, a), kern_string(&run, 1, b), 0, 0), 0);
	b[KERN_STRSIZE - 1] = 'y';
	assert_int_equal(kern_call(&run, kern_string(&run, 0, a), kern_string(&run, 1, b), 0, 0), -1);
}

static void lengths_are_those_of_c(void **state)
{
	(void)state;
	need("ray_strlen");
	for (size_t i = 0; i < RAY_COUNT(samples); i++)
		assert_int_equal(kern_call(&run, kern_string(&run, 0, samples[i]), 0, 0, 0), strlen(samples[i]));
}

static void strings_are_read_from_this_process_and_cut(void **state)
{
	char text[KERN_STRSIZE * 2];

	(void)state;
	need("ray_str_read");
	memset(text, 'u', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(kern_call(&run, kern_temp(1), (uint64_t)(uintptr_t)text, 0, 0), RAY_SCRATCH | kern_temp(1));
	assert_int_equal(strlen(kern_memory(&run, kern_temp(1))), KERN_STRSIZE);
	assert_int_equal(kern_slot(&run)->fault, 0);
	kern_call(&run, kern_temp(1), 16, 0, 0);
	assert_int_equal(kern_slot(&run)->fault, RAY_FAULT_BADADDR);
	assert_int_equal(kern_slot(&run)->fault_value, 16);
}

static void a_stored_string_ends_in_zeros(void **state)
{
	char *at;

	(void)state;
	need("ray_str_store");
	at = kern_memory(&run, kern_temp(1));
	memset(at, 0xee, 100);
	kern_call(&run, kern_temp(1), kern_string(&run, 0, "hello"), 64, 0);
	assert_string_equal(at, "hello");
	for (int i = 5; i < 64; i++)
		assert_int_equal(at[i], 0);
	assert_int_equal((unsigned char)at[64], 0xee);
	kern_call(&run, kern_temp(1), kern_string(&run, 0, "hello, world"), 8, 0);
	assert_string_equal(at, "hello, ");
}

static void numbers_are_loaded_from_anywhere(void **state)
{
	uint64_t number = 0x1122334455667788;

	(void)state;
	need("ray_load");
	assert_int_equal(kern_call(&run, (uint64_t)(uintptr_t)&number, 8, 0, 0), 0x1122334455667788);
	assert_int_equal(kern_call(&run, (uint64_t)(uintptr_t)&number, 2, 0, 0), 0x7788);
	memcpy(kern_memory(&run, kern_temp(2)), &number, 8);
	assert_int_equal(kern_call(&run, RAY_SCRATCH | kern_temp(2), 4, 0, 0), 0x55667788);
	assert_int_equal(kern_slot(&run)->fault, 0);
	assert_int_equal(kern_call(&run, RAY_SCRATCH, 8, 0, 0), 0);
	assert_int_equal(kern_slot(&run)->fault, RAY_FAULT_BADADDR);
	assert_int_equal(kern_call(&run, 0, 8, 0, 0), 0);
	assert_int_equal(kern_slot(&run)->fault, RAY_FAULT_BADADDR);
}

static uint64_t lost_records(void)
{
	uint64_t n = 0;

	for (int cpu = 0; cpu < RAY_DROP_CPUS; cpu++)
		n += run.trace.state->drops[cpu];
	return n;
}

static void a_record_is_sent(void **state)
{
	(void)state;
	need("ray_record_send");
	assert_int_equal(kern_call(&run, run.plan.record_at, 64, 0, 0), 0);
	assert_int_equal(lost_records(), 0);
	for (int i = 0; i < 10000; i++)
		kern_call(&run, run.plan.record_at, 512, 0, 0);
	assert_true(lost_records() > 0);
}

static void strings_are_packed_one_behind_the_other(void **state)
{
	struct ray_record *r = (struct ray_record *)kern_memory(&run, run.plan.record_at);
	const char *words[] = { "/index.html", "", "GET" };
	uint64_t fields = run.plan.record_at + sizeof(*r);
	struct ray_packed *places = (struct ray_packed *)kern_memory(&run, fields);

	(void)state;
	need("ray_str_pack");
	r->size = sizeof(*r) + 4 * sizeof(*places);
	for (size_t i = 0; i < 3; i++)
		kern_call(&run, fields + i * sizeof(*places), (uint64_t)(uintptr_t)words[i], 64, 0);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(places[i].size, strlen(words[i]) + 1);
		assert_string_equal((char *)r + places[i].at, words[i]);
	}
	assert_int_equal(r->size, sizeof(*r) + 4 * sizeof(*places) + 16 + 8 + 8);
	/* What is too long is cut; what cannot be read takes nothing. */
	kern_call(&run, fields, (uint64_t)(uintptr_t)words[0], 7, 0);
	assert_string_equal((char *)r + places[0].at, "/index");
	assert_int_equal(kern_slot(&run)->fault, 0);
	kern_call(&run, fields, 8, 64, 0);
	assert_int_equal(kern_slot(&run)->fault, RAY_FAULT_BADADDR);
	assert_int_equal(r->size, sizeof(*r) + 4 * sizeof(*places) + 16 + 8 + 8 + 8);
}

static void memory_that_is_traced_tells_how_much_there_was(void **state)
{
	struct ray_record *r = (struct ray_record *)kern_memory(&run, run.plan.record_at);
	uint64_t field = run.plan.record_at + sizeof(*r);
	int64_t *got = (int64_t *)kern_memory(&run, field);
	struct ray_packed *place = (struct ray_packed *)(got + 1);
	char text[] = "abcdefgh";

	(void)state;
	need("ray_trace_bytes");
	r->size = sizeof(*r) + 16;
	kern_call(&run, field, (uint64_t)(uintptr_t)text, 5, 8);
	assert_int_equal(*got, 5);
	assert_int_equal(place->size, 5);
	assert_memory_equal((char *)r + place->at, "abcde", 5);
	kern_call(&run, field, 8, 5, 8);
	assert_int_equal(*got, -1);
	assert_int_equal(place->size, 0);
	assert_int_equal(r->size, sizeof(*r) + 16 + 8);
	need("ray_trace_text");
	r->size = sizeof(*r) + 16;
	kern_call(&run, field, (uint64_t)(uintptr_t)text, 32, 0);
	assert_int_equal(*got, 8);
	assert_string_equal((char *)r + place->at, text);
	kern_call(&run, field, (uint64_t)(uintptr_t)text, 5, 0);
	assert_int_equal(*got, 5);
	assert_string_equal((char *)r + place->at, "abcd");
	assert_int_equal(r->size, sizeof(*r) + 16 + 16 + 8);
}

static void the_name_of_this_program(void **state)
{
	(void)state;
	need("ray_execname");
	kern_call(&run, kern_temp(0), 0, 0, 0);
	assert_memory_equal(kern_memory(&run, kern_temp(0)), program_invocation_short_name, 10);
}

static int setup(void **state)
{
	(void)state;
	kern_init(&run);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	kern_deinit(&run);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_compare_as_in_c),
		cmocka_unit_test(a_string_of_full_length_is_compared_to_its_end),
		cmocka_unit_test(lengths_are_those_of_c),
		cmocka_unit_test(strings_are_read_from_this_process_and_cut),
		cmocka_unit_test(a_stored_string_ends_in_zeros),
		cmocka_unit_test(numbers_are_loaded_from_anywhere),
		cmocka_unit_test(a_record_is_sent),
		cmocka_unit_test(strings_are_packed_one_behind_the_other),
		cmocka_unit_test(memory_that_is_traced_tells_how_much_there_was),
		cmocka_unit_test(the_name_of_this_program),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
