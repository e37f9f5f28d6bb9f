/* test_kern_walk.c - the walker in the kernel, on the stack of this very process. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <bpf/libbpf.h>
#include <stdlib.h>

#include "base/text.h"
#include "kern_run.h"

static struct kern_run run;
static struct ray_catalogue *catalogue;
static bool asked;
static uint64_t result;

/* As kern_load(), with the stacker's maps. */
static bool load(const char *function)
{
	struct ray_trace *t = &run.trace;
	struct ray_slot_shape shape;
	void *slots;

	kern_unload(&run);
	kern_make_code(&run.entry.code, &function, 1);
	if (kern_failed(&run, ray_maps_create(t)) || kern_failed(&run, ray_stacker_create(t, &t->stacker)) ||
	    kern_failed(&run, ray_entry_load(t, &run.entry)))
		return false;
	ray_slot_shape(&run.plan, &shape);
	run.slot_size = shape.value_size;
	slots = mmap(NULL, run.slot_size * t->slot_count, PROT_READ | PROT_WRITE, MAP_SHARED, t->maps[RAY_LINK_SLOTS],
		     0);
	assert_ptr_not_equal(slots, MAP_FAILED);
	run.slots = slots;
	return true;
}

static int compare(const void *a, const void *b)
{
	if (!asked)
		result = (uint64_t)kern_call(&run, kern_temp(0), 50, 0, 0);
	asked = true;
	return *(const int *)a - *(const int *)b;
}

static __attribute__((noinline)) void sort_numbers(void)
{
	int numbers[] = { 3, 1, 2 };

	asked = false;
	qsort(numbers, 3, sizeof(numbers[0]), compare);
}

static int take(void *arg, void *record, size_t size)
{
	(void)arg;
	(void)size;
	assert_int_equal(((struct ray_record *)record)->kind, RAY_RECORD_STACK);
	ray_stacker_take(run.trace.stacker, record);
	return 0;
}

static size_t drain(void)
{
	struct ring_buffer *ring = ring_buffer__new(run.trace.maps[RAY_LINK_RING], take, NULL, NULL);
	int n = ring_buffer__consume(ring);

	ring_buffer__free(ring);
	return n < 0 ? 0 : (size_t)n;
}

static void a_stack_through_the_c_library_is_whole(void **state)
{
	struct ray_stack_ref *ref;
	ray_auto_text text = { 0 };
	const char *at;

	(void)state;
	if (!load("ray_ustack"))
		skip();
	sort_numbers();
	ref = (struct ray_stack_ref *)kern_memory(&run, kern_temp(0));
	assert_true(ref->id != 0);
	assert_int_equal(ref->tgid, getpid());
	assert_int_equal(ref->frames, 50);
	assert_int_equal(drain(), 1);
	ray_stacker_print(run.trace.stacker, ref, RAY_VALUE_USTACK, ref->frames, &text);
	at = strstr(ray_text_get(&text), "`compare+0x");
	assert_non_null(at);
	at = strstr(at, "qsort"); /* a sanitizer puts its own before it */
	assert_non_null(at);
	at = strstr(at, "`sort_numbers+0x");
	assert_non_null(at);
	at = strstr(at, "`main+0x");
	assert_non_null(at);
	assert_non_null(strstr(at, "`_start+0x"));
	ray_text_clear(&text);
	ray_stacker_print(run.trace.stacker, ref, RAY_VALUE_USTACK, 2, &text);
	assert_ptr_equal(strrchr(ray_text_get(&text), '\n') + 1, ray_text_get(&text) + text.length);
	ray_stacker_free(run.trace.stacker);
	run.trace.stacker = NULL;
}

static void a_stack_is_sent_once(void **state)
{
	uint64_t first = 0;

	(void)state;
	if (!load("ray_ustack"))
		skip();
	/* volatile: one call at one place, whatever the compiler would like */
	for (volatile int i = 0; i < 3; i++) {
		sort_numbers();
		if (!i)
			first = ((struct ray_stack_ref *)kern_memory(&run, kern_temp(0)))->id;
		assert_true(((struct ray_stack_ref *)kern_memory(&run, kern_temp(0)))->id == first);
	}
	assert_int_equal(drain(), 1);
	assert_int_equal(run.trace.state->stack_drops, 0);
	ray_stacker_free(run.trace.stacker);
	run.trace.stacker = NULL;
}

static void depth_and_caller_are_the_stack_s(void **state)
{
	ray_auto_text text = { 0 };
	size_t lines = 0;
	char name[256];

	(void)state;
	if (!load("ray_ustack"))
		skip();
	sort_numbers();
	drain();
	ray_stacker_print(run.trace.stacker, (struct ray_stack_ref *)kern_memory(&run, kern_temp(0)), RAY_VALUE_USTACK,
			  50, &text);
	for (const char *p = ray_text_get(&text); *p; p++)
		lines += *p == '\n';
	ray_stacker_free(run.trace.stacker);
	run.trace.stacker = NULL;
	assert_true(load("ray_ustackdepth"));
	sort_numbers();
	assert_int_equal(result, lines);
	ray_stacker_free(run.trace.stacker);
	run.trace.stacker = NULL;
	assert_true(load("ray_ucaller"));
	sort_numbers();
	ray_text_clear(&text);
	ray_stacker_symbol(run.trace.stacker, (uint32_t)getpid(), result, 'f', &text);
	assert_non_null(strstr(ray_text_get(&text), "`"));
	assert_null(strchr(ray_text_get(&text), '+'));
	ray_text_clear(&text);
	ray_stacker_symbol(run.trace.stacker, (uint32_t)getpid(), (uint64_t)(uintptr_t)sort_numbers, 'a', &text);
	snprintf(name, sizeof(name), "%s`sort_numbers", program_invocation_short_name);
	assert_string_equal(ray_text_get(&text), name);
	ray_text_clear(&text);
	ray_stacker_symbol(run.trace.stacker, (uint32_t)getpid(), (uint64_t)(uintptr_t)sort_numbers + 1, 'm', &text);
	assert_string_equal(ray_text_get(&text), program_invocation_short_name);
	ray_text_clear(&text);
	ray_stacker_symbol(run.trace.stacker, (uint32_t)getpid(), 0x10, 'f', &text);
	assert_string_equal(ray_text_get(&text), "0x10");
	ray_stacker_free(run.trace.stacker);
	run.trace.stacker = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_through_the_c_library_is_whole),
		cmocka_unit_test(a_stack_is_sent_once),
		cmocka_unit_test(depth_and_caller_are_the_stack_s),
	};
	pid_t self = getpid();
	struct ray_catalogue_options options = { .pids = &self, .pid_count = 1 };
	int failed;

	kern_init(&run);
	if (kern_failed(&run, ray_catalogue_create(&options, &catalogue)))
		return 1;
	ray_catalogue_free(run.trace.catalogue);
	run.trace.catalogue = catalogue;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	kern_deinit(&run); /* and the catalogue */
	return failed;
}
