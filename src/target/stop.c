/* stop.c - see stop.h. SPDX-License-Identifier: MIT */
#include "target/stop.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/vec.h"
#include "target/proc.h"

enum { MOST_URGENT = -20 }; /* nice */

enum state { NEW, SEIZED, STOPPED, GONE, FAILED };

struct thread {
	struct ray_stop_thread public;
	enum state state;
	int signal; /* on its way when we came: handed on at release */
};

static const uint64_t patience_ns = 15000000000;

struct ray_stop {
	int pid;
	const int *only; /* NULL: all threads */
	size_t only_count;
	RAY_VEC(struct thread) threads;
	struct ray_stop_thread *list; /* what ray_stop_threads() shows */
	uint64_t begun_ns, ended_ns, deadline_ns;
	uint64_t patience_ends_ns; /* with another noderay; it may be writing a core */
	bool released;
	bool hurried;
	int nice, slack; /* of the calling thread, before */
};

static struct thread *find(const struct ray_stop *s, int tid)
{
	for (size_t i = 0; i < s->threads.n; i++)
		if (s->threads.at[i].public.tid == tid)
			return &s->threads.at[i];
	return NULL;
}

static bool is_zombie(int pid, int tid)
{
	char text[512], *p;

	ray_proc_read(text, sizeof(text), "/proc/%d/task/%d/stat", pid, tid);
	p = strrchr(text, ')');
	return !p || (p[1] == ' ' && (p[2] == 'Z' || p[2] == 'X'));
}

static bool is_wanted(const struct ray_stop *s, int tid)
{
	for (size_t i = 0; i < s->only_count; i++)
		if (s->only[i] == tid)
			return true;
	return !s->only;
}

/* Adds the threads that are not known yet; counts them in *added. */
static struct ray_error *list_threads(struct ray_stop *s, size_t *added)
{
	struct thread t = { .state = NEW };
	struct dirent *e;
	char path[32];
	DIR *dir;

	*added = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", s->pid);
	dir = opendir(path);
	if (!dir)
		return ray_error_new(RAY_FAILED, "no process with pid %d", s->pid);
	while ((e = readdir(dir))) {
		t.public.tid = atoi(e->d_name);
		if (t.public.tid <= 0 || find(s, t.public.tid) || !is_wanted(s, t.public.tid))
			continue;
		if (!ray_vec_push(&s->threads, t)) {
			closedir(dir);
			return &ray_enomem;
		}
		++*added;
	}
	closedir(dir);
	return NULL;
}

static void fail(struct thread *t, enum state state, const char *note)
{
	t->state = state;
	t->public.note = note;
}

static struct ray_error *seize_failed(struct ray_stop *s, struct thread *t, int errnum)
{
	char what[64];

	if (errnum == ESRCH || is_zombie(s->pid, t->public.tid)) {
		fail(t, GONE, "it ended");
		return NULL;
	}
	if (t->public.tid != s->pid) {
		fail(t, FAILED, "no permission to stop it");
		return NULL;
	}
	snprintf(what, sizeof(what), "cannot stop process %d", s->pid);
	return ray_stop_denied(s->pid, errnum, what);
}

/* Seizing does not stop anything yet: it is done for all threads before the pause begins. Another noderay that
 * holds the target will let go of it soon: that is waited for, and does not count as time to stop in. Not once
 * something is stopped: the other may be waiting for us. */
static struct ray_error *seize(struct ray_stop *s, struct thread *t)
{
	struct timespec nap = { .tv_nsec = 2000000 };
	uint64_t begun = ray_clock_ns(), limit = s->begun_ns ? s->deadline_ns : s->patience_ends_ns;
	int e, tries = 4; /* when nobody is there: it may have let go just now */
	enum ray_tracer tracer;

	while (ptrace(PTRACE_SEIZE, t->public.tid, NULL, NULL)) {
		e = errno;
		tracer = e == EPERM ? ray_stop_tracer(s->pid, t->public.tid) : RAY_TRACER_OTHER;
		if (ray_interrupted || tracer == RAY_TRACER_OTHER || ray_clock_ns() > limit ||
		    (tracer == RAY_TRACER_NONE && !tries--))
			return seize_failed(s, t, e);
		nanosleep(&nap, NULL);
	}
	if (!s->begun_ns)
		s->deadline_ns += ray_clock_ns() - begun;
	t->state = SEIZED;
	return NULL;
}

/* What waitid() tells of a thread. False if nothing has happened to it yet. */
static bool settle(struct thread *t, const siginfo_t *info)
{
	int event = info->si_status >> 8, signal = info->si_status & 0x7f;

	if (!info->si_pid)
		return false;
	if (info->si_code != CLD_TRAPPED) {
		waitpid(t->public.tid, NULL, __WALL | WNOHANG);
		fail(t, GONE, "it ended");
		return true;
	}
	t->state = STOPPED;
	t->public.stopped = true;
	t->public.note = NULL;
	if (event == PTRACE_EVENT_STOP)
		t->public.was_stopped = signal != SIGTRAP;
	else
		t->signal = signal;
	t->public.delivering = t->signal != 0;
	return true;
}

/* One look at a thread that has not stopped yet. WNOWAIT leaves the stop unreported: a signal that is being
 * delivered is then still the kernel's, who delivers it even if we are killed before we hand it on. */
static bool poll_thread(struct thread *t)
{
	siginfo_t info = { 0 };
	int r;

	do
		r = waitid(P_PID, (id_t)t->public.tid, &info, WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL);
	while (r < 0 && errno == EINTR);
	if (r < 0) {
		fail(t, GONE, "it ended");
		return true;
	}
	return settle(t, &info);
}

static size_t poll_all(struct ray_stop *s, bool *progress)
{
	size_t waiting = 0;

	for (size_t i = 0; i < s->threads.n; i++) {
		struct thread *t = &s->threads.at[i];

		if (t->state != SEIZED)
			continue;
		if (poll_thread(t))
			*progress = true;
		else
			waiting++;
	}
	return waiting;
}

/* An idle thread stops within microseconds, so look often at first; give the processor away between
 * looks, since the thread may need this very one to get to its stop. */
static void wait_stopped(struct ray_stop *s)
{
	struct timespec nap = { .tv_nsec = 20000 };
	unsigned spins = 0;
	bool progress;

	for (;;) {
		progress = false;
		if (!poll_all(s, &progress))
			return;
		if (progress)
			continue;
		if (ray_clock_ns() > s->deadline_ns)
			break;
		if (spins++ < 50)
			sched_yield();
		else
			nanosleep(&nap, NULL);
	}
	for (size_t i = 0; i < s->threads.n; i++)
		if (s->threads.at[i].state == SEIZED)
			s->threads.at[i].public.note = "it did not stop in time (uninterruptible sleep?)";
}

/* Seizes and stops what the last listing brought. */
static struct ray_error *stop_new(struct ray_stop *s)
{
	struct ray_error *err;

	for (size_t i = 0; i < s->threads.n; i++) {
		if (s->threads.at[i].state != NEW)
			continue;
		err = seize(s, &s->threads.at[i]);
		if (err)
			return err;
	}
	if (!s->begun_ns)
		s->begun_ns = ray_clock_ns();
	for (size_t i = 0; i < s->threads.n; i++)
		if (s->threads.at[i].state == SEIZED)
			ptrace(PTRACE_INTERRUPT, s->threads.at[i].public.tid, NULL, NULL);
	wait_stopped(s);
	return NULL;
}

static int by_tid(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;

	return (x->public.tid > y->public.tid) - (x->public.tid < y->public.tid);
}

/* The main thread has the smallest tid but where tids wrapped: it goes first in any case. */
static struct ray_error *make_list(struct ray_stop *s)
{
	size_t n = 0;

	qsort(s->threads.at, s->threads.n, sizeof(*s->threads.at), by_tid);
	s->list = calloc(s->threads.n, sizeof(*s->list));
	if (!s->list)
		return &ray_enomem;
	for (size_t i = 0; i < s->threads.n; i++)
		if (s->threads.at[i].public.tid == s->pid)
			s->list[n++] = s->threads.at[i].public;
	for (size_t i = 0; i < s->threads.n; i++)
		if (s->threads.at[i].public.tid != s->pid)
			s->list[n++] = s->threads.at[i].public;
	return NULL;
}

/* While the target waits for us we come first, if we may; on a busy machine that is most of the pause. */
static void hurry(struct ray_stop *s)
{
	s->nice = getpriority(PRIO_PROCESS, 0);
	s->hurried = !setpriority(PRIO_PROCESS, 0, MOST_URGENT);
	s->slack = prctl(PR_GET_TIMERSLACK);
	prctl(PR_SET_TIMERSLACK, 1); /* short naps are to be short */
}

static struct ray_error *check_any(const struct ray_stop *s)
{
	const char *note = "it ended";

	for (size_t i = 0; i < s->threads.n; i++) {
		if (s->threads.at[i].state == STOPPED)
			return NULL;
		if (s->threads.at[i].state != GONE)
			note = s->threads.at[i].public.note;
	}
	return ray_error_new(RAY_FAILED, "cannot stop process %d: %s", s->pid, note);
}

struct ray_error *ray_stop_all(int pid, unsigned timeout_ms, struct ray_stop **ret)
{
	return ray_stop_some(pid, NULL, 0, timeout_ms, ret);
}

struct ray_error *ray_stop_some(int pid, const int *tids, size_t count, unsigned timeout_ms, struct ray_stop **ret)
{
	ray_auto(ray_stop, s) = calloc(1, sizeof(*s));
	struct ray_error *err;
	size_t added;

	if (!s)
		return &ray_enomem;
	s->pid = pid;
	s->only = tids;
	s->only_count = count;
	s->deadline_ns = ray_clock_ns() + (uint64_t)timeout_ms * 1000000;
	s->patience_ends_ns = ray_clock_ns() + patience_ns;
	hurry(s);
	err = list_threads(s, &added);
	/* A thread that still ran may have made another: until a look at all stopped ones finds none. */
	while (!err && added) {
		err = stop_new(s);
		if (!err)
			err = list_threads(s, &added);
		if (ray_clock_ns() > s->deadline_ns)
			break;
	}
	for (size_t i = 0; i < s->threads.n; i++)
		if (s->threads.at[i].state == NEW)
			fail(&s->threads.at[i], FAILED, "it was created while the others were being stopped");
	if (!err)
		err = check_any(s);
	if (!err)
		err = make_list(s);
	if (err)
		return err;
	*ret = ray_take(s);
	return NULL;
}

const struct ray_stop_thread *ray_stop_threads(const struct ray_stop *s, size_t *count_ret)
{
	*count_ret = s->threads.n;
	return s->list;
}

int ray_stop_pid(const struct ray_stop *s)
{
	return s->pid;
}

bool ray_stop_regset(struct ray_stop *s, int tid, unsigned type, void *buffer, size_t *size)
{
	struct iovec iov = { buffer, *size };
	struct thread *t = find(s, tid);

	if (!t || t->state != STOPPED || s->released)
		return false;
	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)type, &iov))
		return false;
	*size = iov.iov_len;
	return true;
}

bool ray_stop_registers(struct ray_stop *s, int tid, struct user_regs_struct *ret)
{
	struct user_regs_struct regs = { 0 };
	size_t size = sizeof(regs);

	if (!ray_stop_regset(s, tid, NT_PRSTATUS, &regs, &size) || size != sizeof(regs))
		return false;
	*ret = regs;
	return true;
}

void ray_stop_release(struct ray_stop *s)
{
	if (s->released)
		return;
	s->released = true;
	for (size_t i = 0; i < s->threads.n; i++) {
		struct thread *t = &s->threads.at[i];

		if (t->state == SEIZED)
			poll_thread(t);
		if (t->state == STOPPED)
			ptrace(PTRACE_DETACH, t->public.tid, NULL, (void *)(intptr_t)t->signal);
	}
	s->ended_ns = ray_clock_ns();
	if (s->hurried)
		setpriority(PRIO_PROCESS, 0, s->nice);
	if (s->slack > 0)
		prctl(PR_SET_TIMERSLACK, (unsigned long)s->slack);
}

struct ray_stop_report ray_stop_report(const struct ray_stop *s)
{
	struct ray_stop_report r = { .pause_ns = s->ended_ns - s->begun_ns };

	for (size_t i = 0; i < s->threads.n; i++) {
		if (s->threads.at[i].public.stopped)
			r.stopped++;
		else if (s->threads.at[i].state != GONE)
			r.missed++;
	}
	return r;
}

void ray_stop_free(struct ray_stop *s)
{
	if (!s)
		return;
	ray_stop_release(s);
	ray_vec_free(&s->threads);
	free(s->list);
	free(s);
}
