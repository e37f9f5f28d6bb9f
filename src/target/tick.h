/* tick.h - looks at running threads without any right but that of being the same user. SPDX-License-Identifier: MIT
 *
 * Two ways to the same: registers and stack of each thread that runs, at regular moments. The kernel's own clock (ticker.c) copies them at one moment
 * and stops nobody, but may be forbidden. Stopping the threads that run for a moment (tick_stop.c) needs no more than ptrace.
 * Knows nothing of frames. */
#ifndef RAY_TARGET_TICK_H
#define RAY_TARGET_TICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/error.h"

struct ray_tick {
	int pid, tid;
	uint64_t time_ns; /* of CLOCK_MONOTONIC */
	bool is_exec;	  /* no look at all: the process is another program now */
	struct user_regs_struct registers;
	const unsigned char *stack; /* what lies at rsp and above; valid until the next is asked for */
	size_t size;
};

/* ---- by the kernel's clock ---- */

struct ray_ticker;

/* period_ns: of CPU time in user space. Threads and processes that these start are seen as well. RAY_DENIED when the kernel forbids it. */
RAY_MUST_USE struct ray_error *ray_ticker_create(uint64_t period_ns, struct ray_ticker **ret);
void ray_ticker_free(struct ray_ticker *t);
RAY_DEFINE_AUTO(ray_ticker, ray_ticker_free)
/* All threads of one more process. Those that it starts from then on come by themselves. */
RAY_MUST_USE struct ray_error *ray_ticker_add(struct ray_ticker *t, pid_t pid);
/* Waits until something is there; at most so long. */
void ray_ticker_wait(struct ray_ticker *t, int timeout_ms);
/* The oldest that has not been given yet; false: there is none. */
bool ray_ticker_next(struct ray_ticker *t, struct ray_tick *ret);
uint64_t ray_ticker_lost(const struct ray_ticker *t); /* for which there was no room */

/* ---- by stopping ---- */

struct ray_tick_stopper; /* holds what was seen last */

struct ray_tick_stopper *ray_tick_stopper_create(void); /* NULL without memory */
void ray_tick_stopper_free(struct ray_tick_stopper *s);
RAY_DEFINE_AUTO(ray_tick_stopper, ray_tick_stopper_free)

struct ray_tick_stops {
	const struct ray_tick *ticks; /* of the threads that ran; valid until the next time */
	size_t count;
	size_t missed;	   /* that ran, and could not be stopped in time */
	uint64_t pause_ns; /* 0: nobody ran, nobody was stopped */
};

/* Stops the threads of pid that run just now, calls back while they are stopped, and lets them go. A thread that sleeps is left alone. */
RAY_MUST_USE struct ray_error *ray_tick_stop(struct ray_tick_stopper *s, pid_t pid,
					     void (*while_stopped)(const struct ray_tick *ticks, size_t count,
								   void *arg),
					     void *arg, struct ray_tick_stops *ret);

#endif
