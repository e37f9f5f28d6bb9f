/* watchdog.c - in the program that the tests run: a main loop that does not come round is a failure. SPDX-License-Identifier: MIT
 *
 * The clock counts what the process could have done something in: a machine that is busy elsewhere, and a process that is stopped, is no fault of ours. Five seconds of CPU time, or
 * five seconds asleep in a loop that waits 20 ms at a time. Output that nobody reads is waited for as long as that takes. */
#include "base/round.h"

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
	volatile unsigned rounds; /* 0: no loop runs */
} state;

static void on_alarm(int signal)
{
	static const char text[] = "noderay: the main loop has not come round for 5 seconds:\n";
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

/* Each tick counts once, however long it took: while the process was stopped, or had no CPU, there were none. */
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

	backtrace(&first, 1); /* loads what it needs: not in the handler */
	state.loop = pthread_self();
	sigaction(SIGUSR2, &alarm, NULL);
	/* Signals are the main thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	if (pthread_create(&watcher, NULL, watch, NULL))
		abort();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void ray_round_begin(void)
{
	static bool is_started;

	if (!is_started)
		start();
	is_started = true;
	if (!++state.rounds)
		state.rounds = 1;
}

void ray_rounds_end(void)
{
	state.rounds = 0;
}
