/* stop.h - stops every thread of a process, for as short as possible, and lets it go unharmed.
 * SPDX-License-Identifier: MIT
 *
 * By PTRACE_SEIZE and PTRACE_INTERRUPT only: the target gets no signal, its parent sees no stop, and
 * when noderay dies at any moment, SIGKILL included, the kernel lets every thread run on. A target
 * that was stopped already (SIGSTOP, ^Z) stays so. Knows nothing of memory, nodes or cores.
 *
 * The kernel ties a stopped thread to the thread that stopped it: all calls for one ray_stop must be
 * made by the thread that made the first. A thread in the middle of uninterruptible sleep cannot be let
 * go before it stops; the kernel does so when the calling thread ends. ray_stop_run() therefore does
 * the whole of it in a thread of its own, and is the way for anybody who lives on for long. */
#ifndef RAY_TARGET_STOP_H
#define RAY_TARGET_STOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "base/error.h"

enum { RAY_STOP_TIMEOUT_MS = 1000 };

struct ray_stop;

struct ray_stop_thread {
	int tid;
	bool stopped;	  /* registers can be read */
	bool was_stopped; /* by job control, before we came */
	bool delivering;  /* a signal was on its way to it; it is handed on at release */
	const char *note; /* why it is not stopped; NULL if it is */
};

struct ray_stop_report {
	uint64_t pause_ns; /* from before the first thread was stopped to after the last was let go */
	size_t stopped;
	size_t missed; /* did not stop in time or could not be seized; threads that ended are not counted */
};

/* Stops all threads, those created meanwhile included, waiting at most timeout_ms. Succeeds when at
 * least one thread stopped; the others carry a note. */
RAY_MUST_USE struct ray_error *ray_stop_all(int pid, unsigned timeout_ms, struct ray_stop **ret);
/* The same for some of its threads: others, and those that they create meanwhile, run on. tids must stay until the end. */
RAY_MUST_USE struct ray_error *ray_stop_some(int pid, const int *tids, size_t count, unsigned timeout_ms,
					     struct ray_stop **ret);
/* Ascending by tid, the main thread first. */
const struct ray_stop_thread *ray_stop_threads(const struct ray_stop *stop, size_t *count_ret);
int ray_stop_pid(const struct ray_stop *stop);
bool ray_stop_registers(struct ray_stop *stop, int tid, struct user_regs_struct *ret);
/* Any register set (NT_PRFPREG, NT_X86_XSTATE...). *size is the buffer's size, then what was written. */
bool ray_stop_regset(struct ray_stop *stop, int tid, unsigned type, void *buffer, size_t *size);
/* Lets all threads go. May be called twice. */
void ray_stop_release(struct ray_stop *stop);
struct ray_stop_report ray_stop_report(const struct ray_stop *stop); /* after release */
void ray_stop_free(struct ray_stop *stop);			     /* releases first */
RAY_DEFINE_AUTO(ray_stop, ray_stop_free)

/* Stops, calls while_stopped, releases: in a thread of its own, which has ended on return.
 * while_stopped may release early, to do more while the target runs on. */
RAY_MUST_USE struct ray_error *ray_stop_run(int pid, unsigned timeout_ms,
					    struct ray_error *(*while_stopped)(struct ray_stop *stop, void *arg),
					    void *arg, struct ray_stop_report *ret);

/* The same for some of its threads. */
RAY_MUST_USE struct ray_error *ray_stop_run_some(int pid, const int *tids, size_t count, unsigned timeout_ms,
						 struct ray_error *(*while_stopped)(struct ray_stop *stop, void *arg),
						 void *arg, struct ray_stop_report *ret);

/* Who traces the thread? */
enum ray_tracer { RAY_TRACER_NONE, RAY_TRACER_NODERAY, RAY_TRACER_OTHER };
enum ray_tracer ray_stop_tracer(int pid, int tid);
/* Explains EPERM or EACCES on a process: another user's, Yama, not dumpable, already traced..., and what
 * to do. what says what was tried: "cannot stop process 12". Other errnos become a plain error. */
RAY_MUST_USE struct ray_error *ray_stop_denied(int pid, int errnum, const char *what);

#endif
