/* test_target_stop.c - signals and job control while a process is held. SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <cmocka.h>

#include "target/inject.h"
#include "target/stop.h"
#include "target/target.h"

enum { KILLS = 3, MOST_TRIES = 3000 };

/* Shared with the processes that are forked here. */
static struct {
	volatile unsigned long sent, received;
	volatile int stop_sending;
} * shared;

static void count(int signal)
{
	(void)signal;
	shared->received++;
}

static pid_t start(void (*run)(pid_t), pid_t arg)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run(arg);
	_exit(0);
}

static void be_target(pid_t unused)
{
	(void)unused;
	signal(SIGRTMIN, count);
	shared->received = 0;
	shared->sent = 1; /* ready */
	for (;;)
		pause();
}

static pid_t start_target(void)
{
	pid_t pid;

	shared->sent = 0;
	pid = start(be_target, 0);
	while (!shared->sent)
		usleep(1000);
	shared->sent = 0;
	return pid;
}

static void end_target(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* State and tracer of a process, from /proc. */
static char state_of(pid_t pid, int *tracer)
{
	char path[64], line[256], state = '?';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "State: %c", &state);
		sscanf(line, "TracerPid: %d", tracer);
	}
	fclose(f);
	return state;
}

/* ------------------------------------------------------------------------- signals on their way */

static void send_signals(pid_t target)
{
	while (!shared->stop_sending) {
		if (!sigqueue(target, SIGRTMIN, (union sigval){ 0 }))
			shared->sent++;
		for (volatile int i = 0; i < 2000; i++)
			;
	}
}

/* Stops the target, and dies at once when that caught a signal on its way. */
static void stop_and_die(pid_t target)
{
	const struct ray_stop_thread *threads;
	struct ray_stop *stop = NULL;
	size_t n;

	if (ray_stop_all(target, RAY_STOP_TIMEOUT_MS, &stop))
		_exit(1);
	threads = ray_stop_threads(stop, &n);
	if (n && threads[0].delivering)
		raise(SIGKILL);
	ray_stop_release(stop);
}

static void a_signal_on_its_way_arrives_even_if_noderay_is_killed(void **state)
{
	pid_t target = start_target(), sender, tracer;
	int status, kills = 0;

	(void)state;
	shared->stop_sending = 0;
	sender = start(send_signals, target);
	for (int i = 0; i < MOST_TRIES && kills < KILLS; i++) {
		tracer = start(stop_and_die, target);
		assert_int_equal(waitpid(tracer, &status, 0), tracer);
		kills += WIFSIGNALED(status);
	}
	shared->stop_sending = 1;
	waitpid(sender, NULL, 0);
	for (int i = 0; i < 2000 && shared->received != shared->sent; i++)
		usleep(1000);
	end_target(target);
	assert_int_equal(shared->received, shared->sent);
	if (!kills)
		skip();
}

/* ------------------------------------------------------------------------- job control */

static struct ray_error *stop_ourselves(struct ray_stop *stop, void *arg)
{
	(void)stop;
	(void)arg;
	kill(getpid(), SIGTSTP);
	usleep(20000);
	return NULL;
}

/* In a group of its own, whose parent is in another: else the kernel ignores ^Z. */
static void hold_and_stop(pid_t target)
{
	setpgid(0, 0);
	if (ray_stop_run(target, RAY_STOP_TIMEOUT_MS, stop_ourselves, NULL, NULL))
		_exit(1);
}

static void noderay_is_stopped_only_after_it_let_go(void **state)
{
	pid_t target = start_target(), holder = start(hold_and_stop, target);
	int status, tracer = -1;

	(void)state;
	assert_int_equal(waitpid(holder, &status, WUNTRACED), holder);
	if (WIFSTOPPED(status))
		state_of(target, &tracer);
	kill(holder, SIGCONT);
	if (WIFSTOPPED(status))
		waitpid(holder, &status, 0);
	end_target(target);
	assert_int_equal(tracer, 0);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* ------------------------------------------------------------------------- borrowed registers */

static struct ray_error *call_with_signal(struct ray_stop *stop, void *arg)
{
	static const uint64_t none[5];
	ray_auto(ray_inject, in) = NULL;
	struct ray_target *t = arg;
	struct ray_gadgets gadgets;
	const struct ray_map *maps;
	struct ray_error *err;
	int64_t result = 0;
	size_t n;

	err = ray_gadgets_find(t, &gadgets);
	maps = ray_target_maps(t, &n);
	if (!err)
		err = ray_inject_begin(stop, &gadgets, maps, n, &in);
	if (err)
		return err;
	kill(ray_target_pid(t), SIGSTOP);
	err = ray_inject_call(in, SYS_getpid, none, &result);
	if (!err && result != ray_target_pid(t))
		err = ray_error_new(RAY_FAILED, "getpid() is %lld", (long long)result);
	if (!ray_inject_end(in) && !err)
		err = ray_error_new(RAY_FAILED, "registers were not given back");
	return err;
}

static void a_stop_signal_in_a_borrowed_thread_is_handed_on(void **state)
{
	ray_auto(ray_target, t) = NULL;
	pid_t target = start_target();
	char name[16], now = '?';
	struct ray_error *err;
	int tracer = -1;

	(void)state;
	snprintf(name, sizeof(name), "%d", target);
	err = ray_target_open(&(struct ray_target_options){ .name = name }, &t);
	if (!err)
		err = ray_stop_run(target, RAY_STOP_TIMEOUT_MS, call_with_signal, t, NULL);
	if (err)
		print_message("%s\n", ray_error_text(err));
	for (int i = 0; i < 100 && (now = state_of(target, &tracer)) != 'T'; i++)
		usleep(1000);
	kill(target, SIGCONT);
	sigqueue(target, SIGRTMIN, (union sigval){ 0 });
	for (int i = 0; i < 1000 && !shared->received; i++)
		usleep(1000);
	end_target(target);
	assert_null(err);
	assert_int_equal(now, 'T');
	assert_int_equal(tracer, 0);
	assert_int_equal(shared->received, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signal_on_its_way_arrives_even_if_noderay_is_killed),
		cmocka_unit_test(noderay_is_stopped_only_after_it_let_go),
		cmocka_unit_test(a_stop_signal_in_a_borrowed_thread_is_handed_on),
	};

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
