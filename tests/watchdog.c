/* watchdog.c - aborts with a stack trace when a main loop hangs. SPDX-License-Identifier: MIT
 *
 * Linked only into the binary that the tests run (base/heartbeat.h). A separate thread counts 100 ms ticks since
 * the last heartbeat, so time in which the whole process is stopped or has no CPU does not count. A blocked
 * standard output does not count either: stdio blocks until the reader continues. */
#include "base/heartbeat.h"

#include <execinfo.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT = 5000, TICK = 100 /* ms */, MOST_FRAMES = 64 };

static struct {
	pthread_t loop;
	volatile unsigned rounds; /* heartbeats; 0: no loop is running */
} state;

static void on_alarm(int signal)
{
	static const char text[] = "noderay: no pass of the main loop for 5 seconds:\n";
	void *frames[MOST_FRAMES];
	int count = backtrace(frames, MOST_FRAMES);

	(void)signal;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) > 0)
		backtrace_symbols_fd(frames, count, STDERR_FILENO);
	abort();
}

static bool output_is_stalled(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&p, 1, 0) == 0;
}

static void *watch(void *arg)
{
	struct timespec tick = { .tv_nsec = TICK * 1000000 };
	unsigned seen = 0;

	(void)arg;
	for (int ms = 0;; ms += TICK) {
		nanosleep(&tick, NULL);
		if (state.rounds != seen || !state.rounds || output_is_stalled())
			ms = 0;
		seen = state.rounds;
		if (ms >= LIMIT)
			pthread_kill(state.loop, SIGUSR2);
	}
	return NULL;
}

static void start(void)
{
	struct sigaction alarm = { .sa_handler = on_alarm };
	pthread_t watcher;
	sigset_t all, before;
	void *first;

	backtrace(&first, 1); /* loads libgcc here, because loading allocates memory */
	state.loop = pthread_self();
	sigaction(SIGUSR2, &alarm, NULL);
	/* Signals stay with the main thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	if (pthread_create(&watcher, NULL, watch, NULL))
		abort();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void ray_heartbeat(void)
{
	static bool is_started;

	if (!is_started)
		start();
	is_started = true;
	if (!++state.rounds)
		state.rounds = 1;
}

void ray_heartbeat_stop(void)
{
	state.rounds = 0;
}
