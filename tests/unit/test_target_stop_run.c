/* test_target_stop_run.c - stopping a process and letting it go. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "target/stop.h"

static atomic_int *counters; /* shared with the child: one for each thread */

static void *count(void *arg)
{
	for (;;)
		atomic_fetch_add((atomic_int *)arg, 1);
	return NULL;
}

static pid_t start_child(void)
{
	pthread_t thread;
	pid_t child;

	memset(counters, 0, 4096);
	child = fork();
	if (child)
		return child;
	pthread_create(&thread, NULL, count, &counters[1]);
	count(&counters[0]);
	_exit(0);
}

static bool goes_on(int which)
{
	int before = counters[which];

	for (int i = 0; i < 5000; i++) {
		if (counters[which] != before)
			return true;
		usleep(1000);
	}
	return false;
}

static char state_of(pid_t pid)
{
	char path[64], text[512] = "", *p;
	ray_auto_file FILE *f = NULL;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (f && fread(text, 1, sizeof(text) - 1, f) && (p = strrchr(text, ')')))
		return p[2];
	return '?';
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static struct ray_error *check_still(struct ray_stop *stop, void *arg)
{
	const struct ray_stop_thread *threads;
	struct user_regs_struct r;
	size_t n;
	int a = counters[0], b = counters[1];

	(void)arg;
	threads = ray_stop_threads(stop, &n);
	assert_int_equal(n, 2);
	assert_int_equal(threads[0].tid, ray_stop_pid(stop));
	for (size_t i = 0; i < n; i++) {
		assert_true(threads[i].stopped && !threads[i].note);
		assert_true(ray_stop_registers(stop, threads[i].tid, &r));
		assert_true(r.rip && r.rsp);
	}
	usleep(20000);
	assert_int_equal(counters[0], a);
	assert_int_equal(counters[1], b);
	assert_false(ray_stop_registers(stop, 1, &r));
	return NULL;
}

static void all_threads_stand_still_and_then_go_on(void **state)
{
	struct ray_stop_report report;
	pid_t child = start_child();
	(void)state;

	assert_true(goes_on(0) && goes_on(1));
	for (int i = 0; i < 20; i++) {
		assert_null(ray_stop_run(child, 5000, check_still, NULL, &report));
		assert_int_equal(report.stopped, 2);
		assert_int_equal(report.missed, 0);
		assert_true(report.pause_ns > 20000000);
		assert_true(goes_on(0) && goes_on(1));
	}
	end_child(child);
}

static void one_that_was_stopped_stays_so(void **state)
{
	struct ray_stop *stop = NULL;
	pid_t child = start_child();
	size_t n;
	(void)state;

	assert_true(goes_on(0) && goes_on(1));
	kill(child, SIGSTOP);
	waitpid(child, NULL, WUNTRACED);
	assert_null(ray_stop_all(child, 5000, &stop));
	assert_true(ray_stop_threads(stop, &n)[0].was_stopped);
	ray_stop_free(stop);
	for (int i = 0; i < 1000 && state_of(child) != 'T'; i++)
		usleep(1000);
	assert_int_equal(state_of(child), 'T');
	kill(child, SIGCONT);
	assert_true(goes_on(0) && goes_on(1));
	end_child(child);
}

static struct ray_error *send_signal(struct ray_stop *stop, void *arg)
{
	(void)arg;
	kill(ray_stop_pid(stop), SIGTERM);
	return NULL;
}

static void a_signal_that_comes_meanwhile_is_not_lost(void **state)
{
	pid_t child = start_child();
	int status;
	(void)state;

	assert_true(goes_on(1));
	assert_null(ray_stop_run(child, 5000, send_signal, NULL, NULL));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
}

static void nobody_there_is_an_error(void **state)
{
	struct ray_stop *stop = NULL;
	ray_auto(ray_error, err) = ray_stop_all(0x7ffffffe, 100, &stop);
	(void)state;

	assert_int_equal(ray_error_code(err), RAY_FAILED);
	assert_non_null(strstr(ray_error_text(err), "no process with pid"));
}

static void a_refusal_is_explained(void **state)
{
	ray_auto(ray_error, kernel) = ray_stop_denied(2, EPERM, "cannot stop process 2");
	ray_auto(ray_error, other) = ray_stop_denied(getpid(), EIO, "cannot");
	(void)state;

	assert_int_equal(ray_error_code(other), RAY_FAILED);
	if (ray_error_code(kernel) == RAY_FAILED)
		return; /* a pid namespace of its own: there is no 2 */
	assert_int_equal(ray_error_code(kernel), RAY_DENIED);
	assert_true(strlen(ray_error_remedy_text(kernel)) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_threads_stand_still_and_then_go_on),
		cmocka_unit_test(one_that_was_stopped_stays_so),
		cmocka_unit_test(a_signal_that_comes_meanwhile_is_not_lost),
		cmocka_unit_test(nobody_there_is_an_error),
		cmocka_unit_test(a_refusal_is_explained),
	};

	counters = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
