/* test_stack_role.c - roles told from descriptors, symbols and objects of a made-up process.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
/* after the ones above */
#include <cmocka.h>

#include "stack/role.h"
#include "stack/start.h"
#include "stack/worker.h"
#include "target/internal.h"

/* One stretch of memory: [0, STACKS) is a heap, then a stack with its descriptor for each thread. */
enum {
	BASE = 0x100000,
	HEAP = 0x4000,
	STACK = 0x4000,
	THREADS = 4,
	DESCRIPTOR = 0x3000,
	ROUTINE = 0x638,
	CODE = 0x900000
};

static uint8_t memory[HEAP + THREADS * STACK];

static uint64_t descriptor(int i)
{
	return BASE + HEAP + (uint64_t)i * STACK + DESCRIPTOR;
}

static void put(uint64_t address, uint64_t value)
{
	memcpy(memory + (address - BASE), &value, sizeof(value));
}

static size_t fake_read(struct ray_target *t RAY_UNUSED, uint64_t address, void *buffer, size_t size)
{
	if (address < BASE || address >= BASE + sizeof(memory))
		return 0;
	if (size > BASE + sizeof(memory) - address)
		size = BASE + sizeof(memory) - address;
	memcpy(buffer, memory + (address - BASE), size);
	return size;
}

static struct ray_error *no_module(struct ray_target *t RAY_UNUSED, const struct ray_map *map RAY_UNUSED,
				   struct ray_elf **ret RAY_UNUSED)
{
	return ray_error_new(RAY_FAILED, "there are no files here");
}

static const struct ray_target_ops ops = { .read = fake_read, .open_module = no_module };

struct fake {
	struct ray_target target;
	struct ray_map maps[THREADS + 2];
	struct ray_thread threads[THREADS];
	uint64_t pointers[THREADS];
};

/* Four threads, the last three started with CODE + 0x100 * i and an object on the heap. */
static int set_up(void **state)
{
	struct fake *f = calloc(1, sizeof(*f));
	struct ray_map *map = f->maps;

	memset(memory, 0, sizeof(memory));
	f->target = (struct ray_target){
		.ops = &ops, .kind = RAY_TARGET_CORE, .pid = 100, .exe = "", .arena = ray_arena_create()
	};
	*map++ = (struct ray_map){ .start = BASE, .end = BASE + HEAP, .prot = PROT_READ | PROT_WRITE, .path = "" };
	for (int i = 0; i < THREADS; i++) {
		uint64_t start = BASE + HEAP + (uint64_t)i * STACK;

		*map++ = (struct ray_map){
			.start = start, .end = start + STACK, .prot = PROT_READ | PROT_WRITE, .path = ""
		};
		f->pointers[i] = descriptor(i);
		put(descriptor(i), descriptor(i));
		put(descriptor(i) + 0x10, descriptor(i));
		if (i) {
			put(descriptor(i) + ROUTINE, CODE + 0x100 * (uint64_t)i);
			put(descriptor(i) + ROUTINE + 8, BASE + 0x400 * (uint64_t)i);
		}
		f->threads[i] = (struct ray_thread){ .tid = 100 + i, .state = '?', .has_registers = true };
		f->threads[i].registers.fs_base = descriptor(i);
		f->threads[i].registers.rsp = start + 0x2000;
	}
	*map = (struct ray_map){
		.start = CODE, .end = CODE + 0x10000, .prot = PROT_READ | PROT_EXEC, .path = "/opt/libuv.so.1"
	};
	f->target.maps.at = f->maps;
	f->target.maps.n = RAY_COUNT(f->maps);
	f->target.threads.at = f->threads;
	f->target.threads.n = THREADS;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fake *f = *state;

	ray_arena_free(f->target.arena);
	for (size_t i = 0; i < f->target.modules.n; i++)
		free(f->target.modules.at[i]);
	ray_vec_free(&f->target.modules);
	free(f);
	return 0;
}

static void roles(struct fake *f, const struct ray_role_frames *frames, struct ray_role_info *ret)
{
	struct ray_node node = { 0 };

	assert_null(ray_role_find(&f->target, &node, frames, ret));
}

/* A Worker as node 24 lays it out; pthread_t, id and name are where the test wants them. */
static void put_worker(int i, uint64_t thread, uint64_t id, const char *name)
{
	uint64_t object = BASE + 0x400 * (uint64_t)i;

	put(object, 0x1234);
	put(object + 0x90, BASE + 0x3000);
	put(object + 0x98, thread);
	put(object + 0x108, id);
	put(object + 0x110, descriptor(i) - 0x2ff8);
	put(object + 0x118, object + 0x128);
	put(object + 0x120, strlen(name));
	memcpy(memory + (object + 0x128 - BASE), name, strlen(name));
}

static void start_routine_is_found_wherever_it_lies(void **state)
{
	struct fake *f = *state;
	struct ray_start starts[THREADS];

	ray_start_find(&f->target, f->pointers, THREADS, starts);
	assert_int_equal(starts[0].routine, 0);
	assert_int_equal(starts[2].routine, CODE + 0x200);
	assert_int_equal(starts[2].argument, BASE + 0x800);
	for (int i = 1; i < THREADS; i++) {
		put(descriptor(i) + ROUTINE, 0);
		put(descriptor(i) + 0x700, CODE + 8);
	}
	ray_start_find(&f->target, f->pointers, THREADS, starts);
	assert_int_equal(starts[3].routine, CODE + 8);
}

static void start_routine_is_not_invented(void **state)
{
	struct fake *f = *state;
	struct ray_start starts[THREADS];

	memset(memory, 0, sizeof(memory));
	ray_start_find(&f->target, f->pointers, THREADS, starts);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(starts[i].routine, 0);
	f->pointers[1] = 8; /* not mapped */
	ray_start_find(&f->target, f->pointers, THREADS, starts);
	assert_int_equal(starts[1].routine, 0);
}

static void worker_tells_its_id_and_name(void **state)
{
	struct fake *f = *state;
	struct ray_worker w;

	put_worker(2, descriptor(2), 7, "indexer");
	assert_true(ray_worker_read(&f->target, descriptor(2), BASE + 0x800, 0x1234, BASE + 0x3000, &w));
	assert_int_equal(w.id, 7);
	assert_string_equal(w.name, "indexer");
}

static void worker_of_another_thread_is_refused(void **state)
{
	struct fake *f = *state;
	struct ray_worker w;

	put_worker(2, descriptor(1), 7, "indexer");
	assert_false(ray_worker_read(&f->target, descriptor(2), BASE + 0x800, 0, 0, &w));
	put_worker(2, descriptor(2), 7, "indexer");
	assert_false(ray_worker_read(&f->target, descriptor(2), BASE + 0x800, 0x9999, 0, &w)); /* another class */
	assert_false(
		ray_worker_read(&f->target, descriptor(2), BASE + 0x800, 0, BASE + 0x3100, &w)); /* another isolate */
	assert_false(ray_worker_read(&f->target, descriptor(2), 0, 0, 0, &w));
	assert_false(ray_worker_read(&f->target, descriptor(2), 0x7fff00000000, 0, 0, &w));
}

static void worker_with_two_possible_ids_is_refused(void **state)
{
	struct fake *f = *state;
	struct ray_worker w;

	put_worker(2, descriptor(2), 7, "indexer");
	put(BASE + 0x800 + 0xc0, 9);
	put(BASE + 0x800 + 0xc8, descriptor(2) - 0x2000);
	assert_false(ray_worker_read(&f->target, descriptor(2), BASE + 0x800, 0, 0, &w));
}

static void first_thread_is_main_and_libuv_starts_its_pool(void **state)
{
	struct fake *f = *state;
	struct ray_role_info info[THREADS];

	roles(f, NULL, info);
	assert_int_equal(info[0].role, RAY_ROLE_MAIN);
	assert_string_equal(info[0].text, "main JS thread");
	assert_int_equal(info[3].role, RAY_ROLE_POOL);
	assert_string_equal(info[3].text, "libuv pool worker 3");
}

static void stripped_start_functions_are_told_by_their_frames(void **state)
{
	static const char *const platform[] = { "__futex_abstimed_wait", "uv_cond_wait", NULL, NULL, "clone3" };
	static const char *const waiting[] = { "sem_wait", "uv_sem_wait", NULL, NULL, "clone3" };
	struct ray_role_frames frames[THREADS] = { { 0 }, { platform, 5 }, { waiting, 5 }, { 0 } };
	struct fake *f = *state;
	struct ray_role_info info[THREADS];

	f->maps[THREADS + 1].path = "/opt/libnode.so.108";
	/* Busy in something nameless, but started like the first. */
	put(descriptor(3) + ROUTINE, CODE + 0x100);
	roles(f, frames, info);
	assert_int_equal(info[1].role, RAY_ROLE_PLATFORM);
	assert_int_equal(info[2].role, RAY_ROLE_SIGNAL);
	assert_string_equal(info[3].text, "V8 platform worker 2");
}

static void pool_threads_get_a_semaphore_of_the_main_stack(void **state)
{
	static const char *const waiting[] = { "uv_cond_wait", NULL };
	struct ray_role_frames frames[THREADS] = { { 0 }, { waiting, 2 }, { waiting, 2 }, { 0 } };
	struct fake *f = *state;
	struct ray_role_info info[THREADS];

	f->maps[THREADS + 1].path = "/opt/node";
	put(descriptor(2) + ROUTINE + 8, BASE + HEAP + 0x2100);
	roles(f, frames, info);
	assert_int_equal(info[1].role, RAY_ROLE_PLATFORM);
	assert_int_equal(info[2].role, RAY_ROLE_POOL);
}

static void nameless_worker_is_told_by_its_object_and_escaped(void **state)
{
	struct fake *f = *state;
	struct ray_role_info info[THREADS];

	f->maps[THREADS + 1].path = "/opt/node";
	put_worker(1, descriptor(1), 12, "a\x1b[2J");
	roles(f, NULL, info);
	assert_int_equal(info[1].role, RAY_ROLE_WORKER);
	assert_int_equal(info[1].worker_id, 12);
	assert_null(strchr(info[1].text, 0x1b));
	assert_int_equal(info[2].role, RAY_ROLE_OTHER);
	assert_string_equal(info[2].text, "other thread");
}

static void worker_without_a_believable_object_has_no_number(void **state)
{
	static const char *const spinning[] = { "uv_run", "_ZN4node6worker6Worker3RunEv", NULL };
	struct ray_role_frames frames[THREADS] = { { 0 }, { spinning, 3 }, { 0 }, { 0 } };
	struct fake *f = *state;
	struct ray_role_info info[THREADS];

	f->maps[THREADS + 1].path = "/opt/node";
	roles(f, frames, info);
	assert_int_equal(info[1].role, RAY_ROLE_WORKER);
	assert_int_equal(info[1].worker_id, -1);
	assert_string_equal(info[1].text, "worker_threads worker ?");
}

static void own_name_decides_only_when_nothing_else_does(void **state)
{
	struct fake *f = *state;
	struct ray_role_info info[THREADS];

	strcpy(f->threads[1].name, "InspectorIo");
	roles(f, NULL, info);
	assert_int_equal(info[1].role, RAY_ROLE_POOL);
	f->maps[THREADS + 1].path = "/opt/node";
	roles(f, NULL, info);
	assert_int_equal(info[1].role, RAY_ROLE_INSPECTOR);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(start_routine_is_found_wherever_it_lies),
		T(start_routine_is_not_invented),
		T(worker_tells_its_id_and_name),
		T(worker_of_another_thread_is_refused),
		T(worker_with_two_possible_ids_is_refused),
		T(first_thread_is_main_and_libuv_starts_its_pool),
		T(stripped_start_functions_are_told_by_their_frames),
		T(pool_threads_get_a_semaphore_of_the_main_stack),
		T(nameless_worker_is_told_by_its_object_and_escaped),
		T(worker_without_a_believable_object_has_no_number),
		T(own_name_decides_only_when_nothing_else_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
