/* interrupt.c - see interrupt.h. SPDX-License-Identifier: MIT
 *
 * Handlers may run on any thread, and while the lists are changed: all state is words that are written as a whole. */
#include "base/interrupt.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"

enum {
	SAME_MS = 500,	  /* signals so close to the first one are the same wish */
	LIMIT_MS = 900,	  /* then it is over: the rest of the second is for the kernel */
	OUTPUT_MS = 5000, /* likewise, while results are printed and taken */
	STALLED_MS = 300, /* so long nobody takes any */
	LAST_MS = 100,	  /* after another signal */
	TICK_MS = 50,
	UNDOS = 64,
};

volatile int ray_interrupted;

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

static struct {
	volatile sig_atomic_t keeps, writing, fd, is_hurried, number;
	pid_t owner; /* a child that has not become another program yet has nothing to undo */
	uint64_t first_ns, last_ns, stalled_ns; /* 0: not yet */
	struct {
		ray_interrupt_undo_fn *undo; /* NULL: free */
		void *arg;
	} undos[UNDOS];
} state;

static uint64_t get(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static bool has_passed(uint64_t since_ns, uint64_t ms)
{
	return ray_clock_ns() - since_ns >= ms * 1000000;
}

bool ray_interrupt_passed(uint32_t ms)
{
	return ray_interrupted && has_passed(get(&state.first_ns), ms);
}

void ray_interrupt_keep(void)
{
	state.keeps = 1;
}

void ray_interrupt_writing(enum ray_interrupt_writing what, int fd)
{
	state.fd = fd;
	state.writing = (int)what;
}

/* ---- what to undo ---- */

bool ray_interrupt_undo(ray_interrupt_undo_fn *undo, void *arg)
{
	for (size_t i = 0; i < UNDOS; i++) {
		if (state.undos[i].undo)
			continue;
		state.undos[i].arg = arg;
		__atomic_store_n(&state.undos[i].undo, undo, __ATOMIC_SEQ_CST);
		return true;
	}
	return false;
}

void ray_interrupt_undo_no_more(ray_interrupt_undo_fn *undo, void *arg)
{
	for (size_t i = 0; i < UNDOS; i++)
		if (state.undos[i].undo == undo && state.undos[i].arg == arg) {
			__atomic_store_n(&state.undos[i].undo, NULL, __ATOMIC_SEQ_CST);
			return;
		}
}

static void undo_all(void)
{
	for (size_t i = 0; i < UNDOS; i++) {
		ray_interrupt_undo_fn *undo = __atomic_exchange_n(&state.undos[i].undo, NULL, __ATOMIC_SEQ_CST);

		if (undo)
			undo(state.undos[i].arg);
	}
}

/* ---- the end ---- */

/* Nobody can be told more by now than that something is missing. */
static void say(const char *text)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

	if (poll(&p, 1, 0) == 1 && write(STDERR_FILENO, text, strlen(text)) < 0)
		return;
}

/* The parent sees which signal it was. The first process of a container is not ended by its own. */
static _Noreturn void end(void)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };
	int number = (int)state.number;
	sigset_t set;

	if (getpid() == state.owner)
		undo_all();
	if (getpid() == state.owner && state.keeps)
		say("noderay: it had to end before all results were written\n");
	sigaction(number, &usual, NULL);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	kill(getpid(), number);
	_exit(128 + number);
}

/* Does nobody take what is printed? A reader may be slow for a moment. */
static bool is_stalled(void)
{
	struct pollfd p = { .fd = (int)state.fd, .events = POLLOUT };
	uint64_t since = get(&state.stalled_ns);

	if (poll(&p, 1, 0) != 0) {
		since = 0;
	} else if (!since) {
		since = ray_clock_ns();
	}
	__atomic_store_n(&state.stalled_ns, since, __ATOMIC_SEQ_CST);
	return since && has_passed(since, STALLED_MS);
}

static bool is_over(void)
{
	uint64_t first = get(&state.first_ns), last = get(&state.last_ns);

	if (state.is_hurried && has_passed(last, LAST_MS))
		return true;
	switch (state.writing) {
	case RAY_WRITING_FILE:
		return false;
	case RAY_WRITING_OUTPUT:
		return has_passed(first, OUTPUT_MS) || (is_stalled() && has_passed(first, LIMIT_MS));
	default:
		return has_passed(first, LIMIT_MS);
	}
}

static void on_tick(int number)
{
	(void)number;
	if (ray_interrupted && is_over())
		end();
}

static void on_signal(int number)
{
	struct itimerval tick = { { 0, TICK_MS * 1000 }, { 0, TICK_MS * 1000 } };

	if (getpid() != state.owner) {
		state.number = number;
		end();
	}
	if (!__atomic_load_n(&state.first_ns, __ATOMIC_SEQ_CST)) {
		__atomic_store_n(&state.first_ns, ray_clock_ns(), __ATOMIC_SEQ_CST);
		state.number = number;
		if (!state.keeps)
			end();
		ray_interrupted = 1;
		setitimer(ITIMER_REAL, &tick, NULL);
	} else if (!state.is_hurried && has_passed(get(&state.first_ns), SAME_MS)) {
		__atomic_store_n(&state.last_ns, ray_clock_ns(), __ATOMIC_SEQ_CST);
		state.is_hurried = 1;
	}
}

void ray_interrupt_install(void)
{
	state.owner = getpid();
	/* A write to a slow reader goes on: stdio would drop what it holds. Whoever waits by poll() is woken all the same. */
	struct sigaction wish = { .sa_handler = on_signal, .sa_flags = SA_RESTART }, before;
	struct sigaction tick = { .sa_handler = on_tick, .sa_flags = SA_RESTART };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		sigaddset(&wish.sa_mask, signals[i]);
		sigaddset(&tick.sa_mask, signals[i]);
	}
	sigaddset(&wish.sa_mask, SIGALRM);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (signals[i] != SIGHUP || sigaction(SIGHUP, NULL, &before) ||
		    before.sa_handler != SIG_IGN) /* nohup */
			sigaction(signals[i], &wish, NULL);
	sigaction(SIGALRM, &tick, NULL);
	sigemptyset(&wish.sa_mask);
	sigaddset(&wish.sa_mask, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &wish.sa_mask, NULL);
}
