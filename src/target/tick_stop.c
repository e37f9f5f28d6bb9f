/* tick_stop.c - registers and stacks of the threads that run, by stopping them for a moment. See tick.h. SPDX-License-Identifier: MIT
 *
 * Who sleeps is known from /proc, and left alone: an idle process is never disturbed. */
#include <dirent.h>
#include <string.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/vec.h"
#include "target/proc.h"
#include "target/stop.h"
#include "target/tick.h"

enum {
	MOST_THREADS = 64,	/* that run at once; more have to wait for the next time */
	STACK_BYTES = 64 << 10, /* of each; what is deeper is read later, if it is still there */
	TIMEOUT_MS = 100,
};

struct ray_tick_stopper {
	pid_t pid;
	int tids[MOST_THREADS];
	size_t count;
	struct ray_tick ticks[MOST_THREADS];
	size_t taken;
	void (*while_stopped)(const struct ray_tick *ticks, size_t count, void *arg);
	void *arg;
	RAY_VEC(unsigned char *) stacks; /* as many as were ever needed at once */
};

struct ray_tick_stopper *ray_tick_stopper_create(void)
{
	return calloc(1, sizeof(struct ray_tick_stopper));
}

void ray_tick_stopper_free(struct ray_tick_stopper *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->stacks.n; i++)
		free(s->stacks.at[i]);
	ray_vec_free(&s->stacks);
	free(s);
}

static bool runs(pid_t pid, int tid)
{
	char text[256];
	const char *p;

	ray_proc_read(text, sizeof(text), "/proc/%d/task/%d/stat", pid, tid);
	p = strrchr(text, ')');
	return p && p[1] == ' ' && p[2] == 'R';
}

static void find_running(struct ray_tick_stopper *s)
{
	struct dirent *e;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", s->pid);
	dir = opendir(path);
	while (dir && s->count < MOST_THREADS && (e = readdir(dir))) {
		int tid = atoi(e->d_name);

		if (tid > 0 && runs(s->pid, tid))
			s->tids[s->count++] = tid;
	}
	if (dir)
		closedir(dir);
}

static size_t copy_stack(pid_t pid, uint64_t sp, unsigned char *to)
{
	struct iovec local = { to, STACK_BYTES }, remote[STACK_BYTES / 4096 + 1];
	uint64_t at = sp, end = sp + STACK_BYTES;
	size_t n = 0;
	ssize_t got;

	/* By pages: where the stack ends, the rest is left out. */
	while (at < end) {
		uint64_t next = (at | 4095) + 1 < end ? (at | 4095) + 1 : end;

		remote[n++] = (struct iovec){ (void *)(uintptr_t)at, (size_t)(next - at) };
		at = next;
	}
	got = process_vm_readv(pid, &local, 1, remote, n, 0);
	return got > 0 ? (size_t)got : 0;
}

static struct ray_error *look(struct ray_stop *stop, void *arg)
{
	struct ray_tick_stopper *s = arg;
	const struct ray_stop_thread *threads;
	size_t count;

	threads = ray_stop_threads(stop, &count);
	for (size_t i = 0; i < count && s->taken < MOST_THREADS; i++) {
		struct ray_tick *t = &s->ticks[s->taken];

		if (!threads[i].stopped || !ray_stop_registers(stop, threads[i].tid, &t->registers) ||
		    !t->registers.rsp)
			continue;
		t->pid = s->pid;
		t->tid = threads[i].tid;
		t->time_ns = ray_clock_ns();
		t->stack = s->stacks.at[s->taken];
		t->size = copy_stack(s->pid, t->registers.rsp, s->stacks.at[s->taken]);
		s->taken++;
	}
	s->while_stopped(s->ticks, s->taken, s->arg);
	return NULL;
}

static bool make_room(struct ray_tick_stopper *s)
{
	while (s->stacks.n < s->count) {
		unsigned char *stack = malloc(STACK_BYTES);

		if (!stack || !ray_vec_push(&s->stacks, stack)) {
			free(stack);
			return false;
		}
	}
	return true;
}

struct ray_error *ray_tick_stop(struct ray_tick_stopper *s, pid_t pid,
				void (*while_stopped)(const struct ray_tick *ticks, size_t count, void *arg), void *arg,
				struct ray_tick_stops *ret)
{
	struct ray_stop_report report = { 0 };
	struct ray_error *err;

	memset(ret, 0, sizeof(*ret));
	s->pid = pid;
	s->while_stopped = while_stopped;
	s->arg = arg;
	s->count = s->taken = 0;
	find_running(s);
	if (!s->count)
		return NULL;
	if (!make_room(s))
		return &ray_enomem;
	err = ray_stop_run_some(pid, s->tids, s->count, TIMEOUT_MS, look, s, &report);
	*ret = (struct ray_tick_stops){ s->ticks, s->taken, report.missed, report.pause_ns };
	return err;
}
