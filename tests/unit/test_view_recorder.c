/* test_view_recorder.c - stacks as they are sampled become a profile. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "view/recorder.h"

enum { MAX_FRAMES = 12 };

/* A stack of frames that are given innermost first, as facts have them. */
struct stack {
	const struct ray_fact_frame *list[MAX_FRAMES];
	struct ray_fact_stack stack;
};

static const struct ray_fact_stack *stack_of(struct stack *s, uint64_t id, const struct ray_fact_frame *const *frames)
{
	s->stack = (struct ray_fact_stack){ .id = id, .generation = 1, .frames = s->list };
	for (; frames[s->stack.count]; s->stack.count++)
		s->list[s->stack.count] = frames[s->stack.count];
	return &s->stack;
}

#define STACK(s, id, ...) stack_of(&(s), id, (const struct ray_fact_frame *const[]){ __VA_ARGS__, NULL })

#define JS(name_, base_, line_)                                                                                   \
	{                                                                                                         \
		.kind = RAY_FRAME_JS, .function = (name_), .base = (base_), .file = "/app/x.js", .line = (line_), \
		.column = 3, .begin_line = 10, .begin_column = 5                                                  \
	}
#define NATIVE(name_)                                                                                     \
	{                                                                                                 \
		.kind = RAY_FRAME_NATIVE, .function = (name_), .base = (name_), .module = "/usr/bin/node" \
	}
#define BUILTIN(name_)                                                                               \
	{                                                                                            \
		.kind = RAY_FRAME_BUILTIN, .function = (name_), .base = (name_), .is_plumbing = true \
	}
#define STUB(name_)                                                                               \
	{                                                                                         \
		.kind = RAY_FRAME_STUB, .function = (name_), .base = (name_), .is_plumbing = true \
	}
#define KERNEL(name_)                                                                               \
	{                                                                                           \
		.kind = RAY_FRAME_KERNEL, .function = (name_), .base = (name_), .module = "vmlinux" \
	}

static const struct ray_fact_frame start = NATIVE("_start"), js_entry = STUB("JSEntry [EntryFrame]"),
				   trampoline = BUILTIN("InterpreterEntryTrampoline"), handler = BUILTIN("AddHandler"),
				   tim_sort = STUB("ArrayTimSort [StubFrame]"),
				   sort_code = BUILTIN("ArrayPrototypeSort"),
				   sort = { .kind = RAY_FRAME_BUILTIN,
					    .function = "Array.sort",
					    .base = "sort",
					    .is_plumbing = true },
				   regexp = STUB("(RegExp code)"),
				   collect = NATIVE("v8::internal::Heap::CollectGarbage"), copy = NATIVE("memmove"),
				   read_call = KERNEL("__x64_sys_read"), schedule = KERNEL("schedule"),
				   f_plain = JS("handle", "handle", 12), f_class = JS("Server.handle", "handle", 13),
				   f_other = JS("Proxy.handle", "handle", 13), g = JS("g", "g", 4);

/* "a > b > c": the way to a node. */
static const char *way(const struct ray_profile *p, uint32_t node)
{
	static char text[2100];
	char rest[1024];

	text[0] = '\0';
	for (; node; node = p->nodes.at[node].parent) {
		memcpy(rest, text, sizeof(rest));
		rest[sizeof(rest) - 1] = 0;
		snprintf(text, sizeof(text), "%s%s%s",
			 p->functions.at[p->frames.at[p->nodes.at[node].frame].function].name, *rest ? " > " : "",
			 rest);
	}
	return text;
}

static const struct ray_profile_function *innermost(const struct ray_profile *p, size_t sample)
{
	return &p->functions.at[p->frames.at[p->nodes.at[p->samples.at[sample].node].frame].function];
}

static struct ray_recorder *recorder_with(const struct ray_recorder_options *o)
{
	struct ray_recorder *r = ray_recorder_create(o);

	assert_non_null(r);
	ray_recorder_start(r, 1000);
	return r;
}

static void add(struct ray_recorder *r, const struct ray_fact_stack *user, const struct ray_fact_stack *kernel)
{
	ray_recorder_add(r, &(struct ray_recorder_sample){
				    .time_ns = 2000, .pid = 7, .tid = 7, .weight = 1, .user = user, .kernel = kernel });
}

/* ---- tests ---- */

static void what_only_leads_from_one_function_to_the_next_is_left_out(void **state)
{
	ray_auto(ray_recorder, r) = recorder_with(&(struct ray_recorder_options){ 0 });
	struct ray_profile *p = ray_recorder_profile(r);
	struct stack a, b, c, d;

	(void)state;
	add(r, STACK(a, 1, &handler, &g, &trampoline, &js_entry, &start), NULL);
	assert_string_equal(way(p, p->samples.at[0].node), "_start > g");
	add(r, STACK(b, 2, &g, &tim_sort, &sort_code, &sort, &g, &start), NULL);
	assert_string_equal(way(p, p->samples.at[1].node), "_start > g > Array.sort > ArrayTimSort > g");
	add(r, STACK(c, 3, &regexp, &g, &start), NULL);
	assert_string_equal(way(p, p->samples.at[2].node), "_start > g > (RegExp code)");
	assert_int_equal(innermost(p, 2)->kind, RAY_KIND_BUILTIN);
	STACK(d, 4, &trampoline);
	d.stack.is_cut = true;
	add(r, &d.stack, NULL);
	assert_string_equal(way(p, p->samples.at[3].node), "[stack cut] > InterpreterEntryTrampoline");
	assert_null(ray_profile_check(p));
}

static void a_function_is_one_however_it_is_called(void **state)
{
	ray_auto(ray_recorder, r) = recorder_with(&(struct ray_recorder_options){ 0 });
	struct ray_profile *p = ray_recorder_profile(r);
	struct stack a, b, c;

	(void)state;
	add(r, STACK(a, 1, &f_plain, &start), NULL);
	assert_string_equal(innermost(p, 0)->name, "handle");
	add(r, STACK(b, 2, &f_class, &start), NULL);
	assert_ptr_equal(innermost(p, 0), innermost(p, 1));
	assert_string_equal(innermost(p, 0)->name, "Server.handle");
	add(r, STACK(c, 3, &f_other, &start), NULL);
	assert_ptr_equal(innermost(p, 0), innermost(p, 2));
	assert_string_equal(innermost(p, 0)->name, "handle");
	assert_int_equal(innermost(p, 0)->line, 10);
	/* Two places in it are two frames. */
	assert_int_not_equal(p->samples.at[0].node, p->samples.at[1].node);
}

static void native_code_of_the_collector_collects(void **state)
{
	ray_auto(ray_recorder, r) = recorder_with(&(struct ray_recorder_options){ 0 });
	struct ray_profile *p = ray_recorder_profile(r);
	struct stack a, b;

	(void)state;
	add(r, STACK(a, 1, &copy, &collect, &g, &start), NULL);
	add(r, STACK(b, 2, &copy, &g, &start), NULL);
	assert_int_equal(innermost(p, 0)->kind, RAY_KIND_GC);
	assert_int_equal(innermost(p, 1)->kind, RAY_KIND_NATIVE);
}

static void the_kernel_is_inside_and_losses_are_counted(void **state)
{
	ray_auto(ray_recorder, r) = recorder_with(&(struct ray_recorder_options){ 0 });
	struct ray_fact_stack lost = { .is_cut = true, .is_lost = true };
	struct ray_profile *p = ray_recorder_profile(r);
	struct stack user, kernel, cut;

	(void)state;
	add(r, STACK(user, 1, &g, &start), STACK(kernel, 2, &schedule, &read_call));
	assert_string_equal(way(p, p->samples.at[0].node), "_start > g > __x64_sys_read > schedule");
	STACK(cut, 3, &g);
	cut.stack.is_cut = true;
	cut.stack.unnamed = 2;
	add(r, &cut.stack, NULL);
	assert_string_equal(way(p, p->samples.at[1].node), "[stack cut] > g");
	add(r, &lost, NULL);
	assert_string_equal(way(p, p->samples.at[2].node), "[stack lost]");
	add(r, NULL, &kernel.stack);
	assert_string_equal(way(p, p->samples.at[3].node), "__x64_sys_read > schedule");
	assert_int_equal(p->cut_stacks, 1);
	assert_int_equal(p->lost_samples, 1);
	assert_int_equal(p->unnamed_frames, 2);
}

static struct ray_fact_field stack_field(const char *name, const struct ray_fact_stack *stack)
{
	return (struct ray_fact_field){ .name = name,
					.value = { .kind = RAY_VALUE_USTACK, .bytes = "", .stack = stack } };
}

static void take(struct ray_recorder *r, const char *name, uint64_t time, const struct ray_fact_field *fields,
		 size_t count)
{
	ray_recorder_take(
		r, &(struct ray_fact){
			   .name = name, .time_ns = time, .pid = 7, .tid = 8, .fields = fields, .count = count });
}

static void a_wait_weighs_as_long_as_it_took(void **state)
{
	ray_auto(ray_recorder, r) = recorder_with(&(struct ray_recorder_options){ .unit = RAY_UNIT_NS });
	struct stack user, kernel;
	struct ray_fact_field fields[] = { stack_field("kernel", STACK(kernel, 2, &schedule, &read_call)),
					   stack_field("user", STACK(user, 1, &g, &start)) };
	ray_auto(ray_profile, p) = NULL;

	(void)state;
	take(r, "on", 1100, NULL, 0); /* nobody saw it leave */
	take(r, "off", 2000, fields, 2);
	take(r, "on", 2600, NULL, 0);
	take(r, "off", 3000, fields, 2);
	p = ray_recorder_finish(r, 3500);
	assert_int_equal(p->samples.n, 2);
	assert_string_equal(way(p, p->samples.at[0].node), "_start > g > __x64_sys_read > schedule > waiting: read");
	assert_int_equal(innermost(p, 0)->kind, RAY_KIND_IDLE);
	assert_int_equal(p->samples.at[0].weight, 600);
	assert_int_equal(p->samples.at[0].time_ns, 1000);
	assert_int_equal(p->samples.at[1].weight, 500); /* it still waits */
	assert_int_equal(p->duration_ns, 2500);
}

static const char *waits_for(const char *const *functions)
{
	static struct ray_fact_frame frames[MAX_FRAMES];
	static char buffer[64];
	struct stack s = { .stack.frames = s.list };

	for (size_t i = 0; functions[i]; i++) {
		frames[i] = (struct ray_fact_frame)KERNEL(functions[i]);
		s.list[s.stack.count++] = &frames[i];
	}
	return ray_recorder_waits_for(&s.stack, buffer, sizeof(buffer));
}

static void the_kernel_stack_tells_what_is_waited_for(void **state)
{
#define WAITS(...) waits_for((const char *const[]){ __VA_ARGS__, NULL })
	(void)state;
	assert_string_equal(WAITS("schedule", "futex_wait", "__x64_sys_futex", "do_syscall_64"), "futex");
	assert_string_equal(WAITS("schedule", "folio_wait_bit", "do_user_addr_fault", "asm_exc_page_fault"),
			    "page fault");
	assert_string_equal(WAITS("schedule", "rwsem_down_write_slowpath", "__x64_sys_mmap"), "a lock of the kernel");
	assert_string_equal(WAITS("__schedule", "schedule", "exit_to_user_mode_loop", "do_syscall_64"), "a CPU");
	assert_string_equal(WAITS("schedule"), "unknown");
	assert_string_equal(ray_recorder_waits_for(NULL, NULL, 0), "unknown");
#undef WAITS
}

static void too_many_samples_are_added_up(void **state)
{
	ray_auto(ray_recorder, r) = recorder_with(&(struct ray_recorder_options){ .most_samples = 10 });
	struct ray_profile *p = ray_recorder_profile(r);
	struct stack a, b;

	(void)state;
	STACK(a, 1, &g, &start);
	STACK(b, 2, &copy, &g, &start);
	for (int i = 0; i < 100; i++)
		add(r, i % 4 ? &a.stack : &b.stack, NULL);
	assert_int_equal(p->samples.n, 2);
	assert_false(p->has_times);
	assert_int_equal(ray_profile_weight(p), 100);
	assert_int_equal(p->samples.at[0].weight, 25);
	assert_int_equal(p->samples.at[0].count, 25);
	assert_int_equal(ray_recorder_count(r), 100);
}

/* The same id in another generation is another stack. */
static void what_a_generation_knew_is_forgotten_with_it(void **state)
{
	ray_auto(ray_recorder, r) = recorder_with(&(struct ray_recorder_options){ 0 });
	struct ray_profile *p = ray_recorder_profile(r);
	struct ray_fact_frame reused = JS("first", "first", 1);
	struct stack s;

	(void)state;
	add(r, STACK(s, 1, &reused), NULL);
	reused.function = reused.base = "second";
	s.stack.generation = 2;
	add(r, &s.stack, NULL);
	assert_string_equal(innermost(p, 0)->name, "first");
	assert_string_equal(innermost(p, 1)->name, "second");
}

static bool name_second(void *arg, uint32_t pid, uint32_t tid, struct ray_text *name, struct ray_text *process)
{
	(void)pid, (void)tid;
	if (!--*(int *)arg)
		ray_text_add(name, "main");
	ray_text_add(process, "node x.js");
	return name->length > 0;
}

static void a_thread_that_has_no_name_yet_is_asked_for_again(void **state)
{
	int tries = 3;
	ray_auto(ray_recorder, r) =
		recorder_with(&(struct ray_recorder_options){ .name_thread = name_second, .arg = &tries });
	struct ray_profile *p = ray_recorder_profile(r);
	struct stack s;

	(void)state;
	add(r, STACK(s, 1, &g, &start), NULL);
	for (int i = 0; i < 20; i++)
		ray_recorder_name_threads(r);
	assert_int_equal(tries, 0);
	assert_string_equal(p->threads.at[0].name, "main");
	assert_string_equal(p->threads.at[0].process, "node x.js");
}

static void memory_is_of_the_heap_that_its_stack_tells(void **state)
{
	static const struct ray_fact_frame page = NATIVE("v8::internal::MemoryAllocator::AllocatePage"),
					   take_page = NATIVE("mmap"), calloc_ = NATIVE("calloc"),
					   buffer = NATIVE("node::NodeArrayBufferAllocator::Allocate");
	ray_auto(ray_recorder, r) =
		recorder_with(&(struct ray_recorder_options){ .unit = RAY_UNIT_BYTES, .tells_heaps = true });
	struct ray_profile *p = ray_recorder_profile(r);
	struct ray_fact_field fields[] = {
		{ .name = "weight", .value = { .kind = RAY_VALUE_INTEGER, .integer = 5000 } },
		{ .name = "hint", .value = { .kind = RAY_VALUE_INTEGER, .integer = 0 } },
		{ .name = "user" },
	};
	struct stack s;

	(void)state;
	fields[2] = stack_field("user", STACK(s, 1, &take_page, &page, &g, &start));
	take(r, "sample", 2000, fields, 3);
	take(r, "trim", 2001, (struct ray_fact_field[]){ { .name = "weight", .value = { .integer = 1000 } } }, 1);
	fields[2] = stack_field("user", STACK(s, 2, &take_page, &calloc_, &buffer, &g, &start));
	take(r, "sample", 2002, fields, 3);
	fields[2] = stack_field("user", STACK(s, 3, &take_page, &calloc_, &g, &start));
	take(r, "sample", 2003, fields, 3);
	fields[1].value.integer = 1; /* and no names but those of the C library */
	fields[2] = stack_field("user", STACK(s, 4, &take_page, &g, &start));
	take(r, "sample", 2004, fields, 3);
	assert_string_equal(way(p, p->samples.at[0].node),
			    "(V8 heap) > _start > g > v8::internal::MemoryAllocator::AllocatePage > mmap");
	assert_int_equal(p->samples.at[0].weight, 4000);
	assert_memory_equal(way(p, p->samples.at[1].node), "(array buffers) > ", 18);
	assert_memory_equal(way(p, p->samples.at[2].node), "(native heap) > ", 16);
	assert_memory_equal(way(p, p->samples.at[3].node), "(V8 heap) > ", 12);
}

/* New functions for ever, under one that stays. */
static void a_profile_that_grows_without_end_is_thinned_out(void **state)
{
	ray_auto(ray_recorder, r) = recorder_with(&(struct ray_recorder_options){ .most_functions = 40 });
	struct ray_profile *p = ray_recorder_profile(r);
	struct ray_profile_row *rows = NULL;
	struct stack s;
	size_t count, at;
	char name[32];

	(void)state;
	add(r, STACK(s, 1, &f_class, &start), NULL);
	add(r, STACK(s, 2, &f_other, &start), NULL);
	for (int i = 0; i < 1000; i++) {
		struct ray_fact_frame made = { .kind = RAY_FRAME_JS, .function = name, .base = name, .file = "made" };

		snprintf(name, sizeof(name), "made%d", i);
		STACK(s, 10 + (uint64_t)i, &made, &g, &start);
		s.stack.generation = 2 + (uint64_t)i;
		add(r, &s.stack, NULL);
		STACK(s, 3, &f_class, &start);
		s.stack.generation = 2 + (uint64_t)i;
		add(r, &s.stack, NULL);
		assert_true(p->functions.n <= 43);
	}
	assert_true(ray_recorder_is_thinned(r));
	assert_null(ray_profile_check(p));
	assert_int_equal(ray_profile_weight(p), 2002);
	assert_true(ray_profile_rank(p, UINT32_MAX, &rows, &count));
	assert_string_equal(p->functions.at[rows[0].function].name, "handle"); /* of several classes, still */
	assert_int_equal(rows[0].self, 1002);
	for (at = 0; at < count && strcmp(p->functions.at[rows[at].function].name, "[rarely seen]"); at++)
		;
	assert_true(at < count && rows[at].self > 900);
	for (at = 0; at < count && strcmp(p->functions.at[rows[at].function].name, "g"); at++)
		;
	assert_int_equal(rows[at].total, 1000);
	free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_only_leads_from_one_function_to_the_next_is_left_out),
		cmocka_unit_test(a_function_is_one_however_it_is_called),
		cmocka_unit_test(native_code_of_the_collector_collects),
		cmocka_unit_test(the_kernel_is_inside_and_losses_are_counted),
		cmocka_unit_test(a_wait_weighs_as_long_as_it_took),
		cmocka_unit_test(the_kernel_stack_tells_what_is_waited_for),
		cmocka_unit_test(too_many_samples_are_added_up),
		cmocka_unit_test(what_a_generation_knew_is_forgotten_with_it),
		cmocka_unit_test(a_thread_that_has_no_name_yet_is_asked_for_again),
		cmocka_unit_test(memory_is_of_the_heap_that_its_stack_tells),
		cmocka_unit_test(a_profile_that_grows_without_end_is_thinned_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
