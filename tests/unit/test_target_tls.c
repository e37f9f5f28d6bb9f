/* test_target_tls.c - thread-local variables of a child of our own, read without stopping it.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/tls.h"

enum { THREADS = 3, MARK = 0x1000, KEYS = 40 };

__thread uint64_t test_tls_variable = 5;
static pthread_key_t keys[KEYS]; /* more than the first block of 32 holds */
static pthread_barrier_t barrier;

static void *work(void *arg)
{
	uint64_t number = (uint64_t)(uintptr_t)arg;

	test_tls_variable = MARK + number;
	pthread_setspecific(keys[0], (void *)(uintptr_t)(2 * MARK + number));
	pthread_setspecific(keys[KEYS - 1], (void *)(uintptr_t)(3 * MARK + number));
	pthread_barrier_wait(&barrier);
	for (;;)
		pause();
	return NULL;
}

static pid_t start_child(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	for (size_t i = 0; i < KEYS; i++)
		assert_int_equal(pthread_key_create(&keys[i], NULL), 0);
	pid = fork();
	if (!pid) {
		pthread_t t;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_barrier_init(&barrier, NULL, THREADS + 1);
		for (uintptr_t i = 1; i <= THREADS; i++)
			pthread_create(&t, NULL, work, (void *)i);
		pthread_barrier_wait(&barrier);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static const struct ray_module *executable(struct ray_target *t)
{
	const struct ray_map *maps;
	size_t count;

	maps = ray_target_maps(t, &count);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(maps[i].path, ray_target_exe(t)))
			return ray_target_map_module(t, &maps[i]);
	return NULL;
}

static uint64_t read_variable(struct ray_target *t, const struct ray_module *m, const struct ray_symbol *s,
			      uint64_t pointer)
{
	uint64_t address, value = 0;

	assert_true(ray_tls_address(t, m, pointer, s->value, &address));
	assert_int_equal(ray_target_read(t, address, &value, sizeof(value)), sizeof(value));
	return value;
}

static void variables_and_keys_of_every_thread(void **state)
{
	struct ray_tls_thread *threads = NULL;
	struct ray_target *t = NULL;
	pid_t pid = start_child();
	const struct ray_module *m;
	uint64_t value, seen = 0;
	struct ray_symbol s;
	size_t count;
	char name[16];
	(void)state;

	snprintf(name, sizeof(name), "%d", pid);
	assert_null(ray_target_open(&(struct ray_target_options){ .name = name }, &t));
	assert_null(ray_tls_threads(t, &threads, &count));
	assert_int_equal(count, THREADS + 1);
	m = executable(t);
	assert_true(ray_elf_find_symbol(m->elf, "test_tls_variable", &s));
	assert_int_equal(threads[0].tid, pid);
	assert_int_equal(read_variable(t, m, &s, threads[0].pointer), 5);
	for (size_t i = 1; i < count; i++) {
		uint64_t number = read_variable(t, m, &s, threads[i].pointer) - MARK;

		assert_in_range(number, 1, THREADS);
		seen |= 1u << number;
		assert_true(ray_tls_specific(t, threads[i].pointer, keys[0], &value));
		assert_int_equal(value, 2 * MARK + number);
		assert_true(ray_tls_specific(t, threads[i].pointer, keys[KEYS - 1], &value));
		assert_int_equal(value, 3 * MARK + number);
		assert_true(ray_tls_specific(t, threads[i].pointer, keys[1], &value));
		assert_int_equal(value, 0);
	}
	assert_int_equal(seen, 0xe);
	free(threads);
	ray_target_close(t);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void pointers_that_are_none_give_nothing(void **state)
{
	struct ray_target *t = NULL;
	pid_t pid = start_child();
	uint64_t value;
	char name[16];
	(void)state;

	snprintf(name, sizeof(name), "%d", pid);
	assert_null(ray_target_open(&(struct ray_target_options){ .name = name }, &t));
	assert_false(ray_tls_specific(t, 0, 1, &value));
	assert_false(ray_tls_specific(t, (uint64_t)(uintptr_t)&barrier, 1, &value));
	assert_false(ray_tls_module_address(t, 1, 0x10, 0, &value));
	assert_false(ray_tls_address(t, executable(t), 0x1000, UINT64_MAX, &value));
	ray_target_close(t);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_and_keys_of_every_thread),
		cmocka_unit_test(pointers_that_are_none_give_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
