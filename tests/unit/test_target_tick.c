/* test_target_tick.c - looks at running threads: by the kernel's clock and by stopping. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "target/tick.h"

enum { PATIENCE = 60 }; /* seconds: the machine may be busy */

static volatile unsigned sink;

static __attribute__((noinline)) void spin(void)
{
	volatile uint64_t here = 0;

	for (;;)
		sink += (unsigned)++here;
}

static void *spin_in_thread(void *arg)
{
	spin();
	return arg;
}

/* A process that does what it is told: 's' spins, 't' starts a thread that spins and sleeps itself, 'z' sleeps, 'x' becomes another program. */
static pid_t start(char what, int *tell_ret)
{
	int pipe_fds[2];
	pthread_t thread;
	pid_t pid;
	char go;

	assert_int_equal(pipe(pipe_fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid) {
		close(pipe_fds[0]);
		*tell_ret = pipe_fds[1];
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(pipe_fds[1]);
	if (read(pipe_fds[0], &go, 1) != 1)
		_exit(1);
	if (what == 't' && pthread_create(&thread, NULL, spin_in_thread, NULL))
		_exit(1);
	if (what == 'x')
		execl("/bin/sh", "sh", "-c", "while :; do :; done", NULL);
	if (what == 's')
		spin();
	for (;;)
		pause();
}

static void finish(pid_t pid, int tell)
{
	close(tell);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static bool is_late(uint64_t begin)
{
	return ray_clock_ns() - begin > PATIENCE * 1000000000ull;
}

/* Where perf events are forbidden (a container's filter) there is nothing to test. */
static struct ray_ticker *watch(pid_t pid)
{
	struct ray_ticker *t = NULL;
	struct ray_error *err = ray_ticker_create(1000000, &t);

	if (!err)
		err = ray_ticker_add(t, pid);
	if (ray_error_code(err) == RAY_DENIED) {
		ray_error_free(err);
		ray_ticker_free(t);
		return NULL;
	}
	assert_null(err);
	return t;
}

static void the_clock_sees_what_runs(void **state)
{
	uint64_t begin = ray_clock_ns(), last = 0;
	struct ray_ticker *t;
	struct ray_tick tick;
	int tell, seen = 0;
	pid_t pid = start('s', &tell);

	(void)state;
	t = watch(pid);
	assert_int_equal(write(tell, "s", 1), 1);
	while (t && seen < 20 && !is_late(begin)) {
		ray_ticker_wait(t, 100);
		while (ray_ticker_next(t, &tick)) {
			assert_false(tick.is_exec);
			assert_int_equal(tick.pid, pid);
			assert_int_equal(tick.tid, pid);
			assert_true(tick.time_ns >= last);
			assert_true(tick.size > 0 && tick.registers.rip && tick.registers.rsp);
			last = tick.time_ns;
			seen++;
		}
	}
	finish(pid, tell);
	ray_ticker_free(t);
	if (!t)
		skip();
	assert_true(seen >= 20);
}

static void threads_and_programs_that_come_later_are_seen(void **state)
{
	uint64_t begin = ray_clock_ns();
	bool other = false, is_exec = false, denied = false;
	struct ray_tick tick;

	(void)state;
	for (const char *what = "tx"; *what; what++) {
		int tell;
		pid_t pid = start(*what, &tell);
		struct ray_ticker *t = watch(pid);

		denied = !t;
		assert_int_equal(write(tell, "s", 1), 1);
		while (t && !(*what == 't' ? other : is_exec) && !is_late(begin)) {
			ray_ticker_wait(t, 100);
			while (ray_ticker_next(t, &tick)) {
				assert_int_equal(tick.pid, pid);
				other |= tick.tid != pid;
				is_exec |= tick.is_exec;
			}
		}
		finish(pid, tell);
		ray_ticker_free(t);
	}
	if (denied)
		skip();
	assert_true(other);
	assert_true(is_exec);
}

static void keep_pointer(const struct ray_tick *ticks, size_t count, void *arg)
{
	const struct ray_tick **kept = arg;

	*kept = count ? ticks : NULL;
}

static void who_runs_is_stopped_for_a_moment_and_runs_on(void **state)
{
	ray_auto(ray_tick_stopper, s) = ray_tick_stopper_create();
	const struct ray_tick *during = NULL;
	struct ray_tick_stops stops = { 0 };
	uint64_t begin = ray_clock_ns();
	int tell, looks = 0;
	pid_t pid = start('s', &tell);

	(void)state;
	assert_int_equal(write(tell, "s", 1), 1);
	while (looks < 5 && !is_late(begin)) {
		assert_null(ray_tick_stop(s, pid, keep_pointer, &during, &stops));
		if (!stops.count)
			continue;
		assert_ptr_equal(during, stops.ticks);
		assert_true(stops.pause_ns > 0);
		assert_int_equal(stops.ticks[0].tid, pid);
		assert_true(stops.ticks[0].size >= 64);
		looks++;
	}
	assert_int_equal(looks, 5);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	finish(pid, tell);
}

static void who_sleeps_is_left_alone(void **state)
{
	ray_auto(ray_tick_stopper, s) = ray_tick_stopper_create();
	const struct ray_tick *during = NULL;
	struct ray_tick_stops stops = { .count = 1 };
	uint64_t begin = ray_clock_ns();
	int tell;
	pid_t pid = start('z', &tell);

	(void)state;
	while (stops.count && !is_late(begin)) /* until it has come to its sleep */
		assert_null(ray_tick_stop(s, pid, keep_pointer, &during, &stops));
	assert_int_equal(stops.count, 0);
	assert_int_equal(stops.pause_ns, 0);
	finish(pid, tell);
	assert_null(ray_tick_stop(s, pid, keep_pointer, &during, &stops)); /* it is gone */
	assert_int_equal(stops.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_clock_sees_what_runs),
		cmocka_unit_test(threads_and_programs_that_come_later_are_seen),
		cmocka_unit_test(who_runs_is_stopped_for_a_moment_and_runs_on),
		cmocka_unit_test(who_sleeps_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
