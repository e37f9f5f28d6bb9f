/* interrupt.c - see interrupt.h. SPDX-License-Identifier: MIT
 *
 * A handler can run on any thread and during any of the functions here, so the state consists of words that are
 * read and written atomically. */
#include "base/interrupt.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"

enum {
	SAME_MS = 500,	  /* signals that close to the first one are duplicates */
	LIMIT_MS = 900,	  /* deadline; the kernel needs the rest of the second to close BPF objects */
	OUTPUT_MS = 5000, /* deadline while results are printed */
	STALLED_MS = 300, /* output that accepts no data for that long is stalled */
	LAST_MS = 100,	  /* deadline after a second signal */
	TICK_MS = 50,	  /* interval of the timer that checks the deadlines */
	CLEANUPS = 1024,
};

volatile int ray_interrupted;

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

static struct {
	volatile sig_atomic_t is_deferred, writing, fd, is_hurried, number;
	pid_t owner;				/* a forked child must not run the cleanups of its parent */
	uint64_t first_ns, last_ns, stalled_ns; /* 0: not set */
	struct {
		ray_interrupt_cleanup_fn *cleanup; /* NULL: free */
		void *arg;
	} cleanups[CLEANUPS];
} state;

static uint64_t get(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static bool has_passed(uint64_t since_ns, uint64_t ms)
{
	return ray_clock_ns() - since_ns >= ms * 1000000;
}

bool ray_interrupt_elapsed(uint32_t ms)
{
	return ray_interrupted && has_passed(get(&state.first_ns), ms);
}

void ray_interrupt_defer(void)
{
	state.is_deferred = 1;
}

void ray_interrupt_writing(enum ray_interrupt_writing what, int fd)
{
	state.fd = fd;
	state.writing = (int)what;
}

/* ---- cleanup ---- */

bool ray_interrupt_cleanup_add(ray_interrupt_cleanup_fn *cleanup, void *arg)
{
	for (size_t i = 0; i < CLEANUPS; i++) {
		if (state.cleanups[i].cleanup)
			continue;
		state.cleanups[i].arg = arg;
		__atomic_store_n(&state.cleanups[i].cleanup, cleanup, __ATOMIC_SEQ_CST);
		return true;
	}
	return false;
}

void ray_interrupt_cleanup_remove(ray_interrupt_cleanup_fn *cleanup, void *arg)
{
	for (size_t i = 0; i < CLEANUPS; i++)
		if (state.cleanups[i].cleanup == cleanup && state.cleanups[i].arg == arg) {
			__atomic_store_n(&state.cleanups[i].cleanup, NULL, __ATOMIC_SEQ_CST);
			return;
		}
}

static void run_cleanups(void)
{
	for (size_t i = 0; i < CLEANUPS; i++) {
		ray_interrupt_cleanup_fn *cleanup =
			__atomic_exchange_n(&state.cleanups[i].cleanup, NULL, __ATOMIC_SEQ_CST);

		if (cleanup)
			cleanup(state.cleanups[i].arg);
	}
}

/* ---- the end ---- */

/* Skipped when standard error would block. */
static void print_note(const char *text)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

	if (poll(&p, 1, 0) == 1 && write(STDERR_FILENO, text, strlen(text)) < 0)
		return;
}

/* Dies by the signal, so that the parent sees it in the wait status. The kernel ignores that signal for the init
 * process of a PID namespace, which exits instead. */
static _Noreturn void end(void)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };
	int number = (int)state.number;
	sigset_t set;

	if (getpid() == state.owner)
		run_cleanups();
	if (getpid() == state.owner && state.is_deferred)
		print_note("noderay: terminated before all results were written\n");
	sigaction(number, &usual, NULL);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	kill(getpid(), number);
	_exit(128 + number);
}

/* A reader may be slow for a moment; it is stalled after STALLED_MS. */
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
	uint64_t none = 0;

	if (getpid() != state.owner) {
		state.number = number;
		end();
	}
	/* Another thread may handle another signal at the same time. */
	if (__atomic_compare_exchange_n(&state.first_ns, &none, ray_clock_ns(), false, __ATOMIC_SEQ_CST,
					__ATOMIC_SEQ_CST)) {
		state.number = number;
		if (!state.is_deferred)
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
	/* SA_RESTART: an interrupted write would make stdio drop its buffer. poll() returns EINTR all the same. */
	struct sigaction wish = { .sa_handler = on_signal, .sa_flags = SA_RESTART }, before;
	struct sigaction tick = { .sa_handler = on_tick, .sa_flags = SA_RESTART };

	state.owner = getpid();
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		sigaddset(&wish.sa_mask, signals[i]);
		sigaddset(&tick.sa_mask, signals[i]);
	}
	sigaddset(&wish.sa_mask, SIGALRM);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (signals[i] != SIGHUP || sigaction(SIGHUP, NULL, &before) ||
		    before.sa_handler != SIG_IGN) /* ignored by nohup */
			sigaction(signals[i], &wish, NULL);
	sigaction(SIGALRM, &tick, NULL);
	sigemptyset(&wish.sa_mask);
	sigaddset(&wish.sa_mask, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &wish.sa_mask, NULL);
}
