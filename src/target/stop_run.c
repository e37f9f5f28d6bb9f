/* stop_run.c - holds a process from a thread of its own; see stop.h. SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>

#include "target/stop.h"

struct run {
	int pid;
	const int *tids; /* NULL: all */
	size_t count;
	unsigned timeout_ms;
	struct ray_error *(*while_stopped)(struct ray_stop *stop, void *arg);
	void *arg;
	struct ray_stop_report report;
	struct ray_error *err;
};

static void *run_thread(void *arg)
{
	ray_auto(ray_stop, s) = NULL;
	struct run *r = arg;

	r->err = ray_stop_some(r->pid, r->tids, r->count, r->timeout_ms, &s);
	if (r->err)
		return NULL;
	r->err = r->while_stopped(s, r->arg);
	ray_stop_release(s);
	r->report = ray_stop_report(s);
	return NULL;
}

struct ray_error *ray_stop_run(int pid, unsigned timeout_ms,
			       struct ray_error *(*while_stopped)(struct ray_stop *stop, void *arg), void *arg,
			       struct ray_stop_report *ret)
{
	return ray_stop_run_some(pid, NULL, 0, timeout_ms, while_stopped, arg, ret);
}

struct ray_error *ray_stop_run_some(int pid, const int *tids, size_t count, unsigned timeout_ms,
				    struct ray_error *(*while_stopped)(struct ray_stop *stop, void *arg), void *arg,
				    struct ray_stop_report *ret)
{
	struct run r = { .pid = pid,
			 .tids = tids,
			 .count = count,
			 .timeout_ms = timeout_ms,
			 .while_stopped = while_stopped,
			 .arg = arg };
	sigset_t job_control, before;
	pthread_t thread;
	int e;

	/* ^Z, or output in the background, must not stop us while we hold the target: they wait. */
	sigemptyset(&job_control);
	sigaddset(&job_control, SIGTSTP);
	sigaddset(&job_control, SIGTTIN);
	sigaddset(&job_control, SIGTTOU);
	pthread_sigmask(SIG_BLOCK, &job_control, &before);
	e = pthread_create(&thread, NULL, run_thread, &r);
	if (!e)
		pthread_join(thread, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (e)
		return ray_error_errno(RAY_FAILED, e, "cannot start a thread");
	if (ret)
		*ret = r.report;
	return r.err;
}
