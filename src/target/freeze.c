/* freeze.c - copies registers and stacks of a process, so that it can run on while we look.
 * SPDX-License-Identifier: MIT
 *
 * Stopped (the default): all threads at once, through stop.c; the copy is one consistent picture.
 * Nonblocking: nothing is stopped. A sleeping thread's pc and sp come from /proc; its stack is
 * copied and believed only if it did not run meanwhile. A running thread is sampled by the kernel
 * (sample.c). Knows nothing of frames: what else must be kept is pinned by the caller's hook. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "target/internal.h"
#include "target/proc.h"
#include "target/stop.h"

enum {
	MAX_STACK = 16 << 20,	  /* what is in use; V8 lets JS have 984 KiB, in workers 4 MiB, or as told */
	UNKNOWN_STACK = 64 << 10, /* when no mapping is known at sp */
	RED_ZONE = 128,
	SAMPLE_MS = 120,
	TRIES = 4,
};

struct freeze {
	struct ray_target *t;
	const struct ray_freeze_options *options;
	struct ray_freeze_report *report;
};

static bool ensure_pins(struct ray_target *t)
{
	if (!t->pins)
		t->pins = ray_pins_create();
	return t->pins != NULL;
}

void ray_target_pin(struct ray_target *t, const struct ray_range *ranges, size_t count)
{
	RAY_VEC(struct ray_range) want = { 0 };
	RAY_VEC(unsigned char *) into = { 0 };
	ray_auto_memory size_t *done = NULL;

	if (t->kind != RAY_TARGET_PROCESS || !ensure_pins(t))
		return;
	for (size_t i = 0; i < count; i++) {
		uint64_t at = ranges[i].start & ~(uint64_t)(RAY_PIN_BLOCK - 1);

		for (; at < ranges[i].start + ranges[i].size; at += RAY_PIN_BLOCK) {
			unsigned char *block = ray_pins_new_block(t->pins, at);

			if (block && (!ray_vec_push(&want, (struct ray_range){ at, RAY_PIN_BLOCK }) ||
				      !ray_vec_push(&into, block)))
				ray_pins_drop_block(t->pins, at);
		}
	}
	done = calloc(want.n + 1, sizeof(*done));
	if (done)
		t->ops->read_many(t, want.at, into.at, done, want.n);
	for (size_t i = 0; i < want.n; i++) {
		if (!done || done[i] < RAY_PIN_BLOCK)
			ray_pins_drop_block(t->pins, want.at[i].start);
	}
	ray_vec_free(&want);
	ray_vec_free(&into);
}

bool ray_target_pin_bytes(struct ray_target *t, uint64_t start, const void *bytes, size_t size)
{
	unsigned char *copy = ensure_pins(t) ? malloc(size + 1) : NULL;

	if (!copy)
		return false;
	memcpy(copy, bytes, size);
	return ray_pins_add_range(t->pins, start, copy, size);
}

void ray_target_thaw(struct ray_target *t)
{
	ray_pins_free(t->pins);
	t->pins = NULL;
}

void ray_target_keep(struct ray_target *t, bool on)
{
	t->keeping = on && t->kind == RAY_TARGET_PROCESS;
}

/* The part of the stack that is in use: from the red zone below sp to the end of its mapping. */
static struct ray_range stack_range(struct freeze *f, uint64_t sp)
{
	size_t most = f->options->max_stack ? f->options->max_stack : MAX_STACK;
	const struct ray_map *map = ray_target_find_map(f->t, sp);
	uint64_t start = sp - RED_ZONE, end = map ? map->end : sp + UNKNOWN_STACK;

	if (map && start < map->start)
		start = map->start;
	if (end - start > most) {
		f->report->stack_cut += end - start - most;
		end = start + most;
	}
	return (struct ray_range){ start, (size_t)(end - start) };
}

static bool copy_stack(struct freeze *f, uint64_t sp)
{
	struct ray_range range = stack_range(f, sp);
	unsigned char *bytes = malloc(range.size);
	size_t got = 0;

	if (!bytes)
		return false;
	f->t->ops->read_many(f->t, &range, &bytes, &got, 1);
	if (!got) {
		free(bytes);
		return false;
	}
	f->report->stack_bytes += got;
	return ray_pins_add_range(f->t->pins, range.start, bytes, got);
}

static struct ray_thread *find_thread(struct ray_target *t, int tid)
{
	for (size_t i = 0; i < t->threads.n; i++) {
		if (t->threads.at[i].tid == tid)
			return &t->threads.at[i];
	}
	if (!ray_vec_push(&t->threads, (struct ray_thread){ .tid = tid, .state = '?' }))
		return NULL;
	return &t->threads.at[t->threads.n - 1];
}

static struct ray_error *copy_stopped(struct ray_stop *stop, void *arg)
{
	struct freeze *f = arg;
	const struct ray_stop_thread *threads;
	struct ray_thread *thread;
	size_t count;

	threads = ray_stop_threads(stop, &count);
	for (size_t i = 0; i < count; i++) {
		if (f->t->only_tid && threads[i].tid != f->t->only_tid)
			continue;
		thread = find_thread(f->t, threads[i].tid);
		if (!thread)
			return &ray_enomem;
		if (thread->is_kernel)
			continue;
		thread->note = threads[i].note;
		thread->has_registers = threads[i].stopped &&
					ray_stop_registers(stop, threads[i].tid, &thread->registers);
		if (thread->has_registers && ray_thread_looks_kernel(thread)) /* it began just now */
			ray_thread_mark_kernel(thread);
		if (thread->has_registers)
			copy_stack(f, thread->registers.rsp);
	}
	if (f->options->while_stopped)
		f->options->while_stopped(f->t, f->options->arg);
	return NULL;
}

static struct ray_error *freeze_stopped(struct freeze *f)
{
	struct ray_stop_report stopped = { 0 };
	struct ray_error *err;

	err = ray_stop_run(f->t->pid, RAY_STOP_TIMEOUT_MS, copy_stopped, f, &stopped);
	f->report->pause_ns = stopped.pause_ns;
	f->report->stopped = stopped.stopped;
	f->report->missed = stopped.missed;
	return err;
}

struct sleep_state {
	unsigned long long switches;
	enum ray_proc_wait wait;
	struct ray_proc_syscall at;
};

/* schedstat's third number counts the times the thread was put on a CPU. */
static bool read_sleep_state(int pid, int tid, struct sleep_state *s)
{
	char text[160];

	memset(s, 0, sizeof(*s));
	ray_proc_read(text, sizeof(text), "/proc/%d/task/%d/schedstat", pid, tid);
	if (sscanf(text, "%*u %*u %llu", &s->switches) != 1)
		return false;
	s->wait = ray_proc_syscall(pid, tid, &s->at);
	return s->wait == RAY_PROC_RUNNING || (s->wait == RAY_PROC_WAITS && s->at.sp && s->at.pc);
}

static bool try_sleeping(struct freeze *f, struct ray_thread *thread)
{
	struct sleep_state before, after;

	if (!read_sleep_state(f->t->pid, thread->tid, &before)) {
		thread->note = "its state cannot be read";
		return false;
	}
	if (before.wait == RAY_PROC_RUNNING)
		return false;
	thread->registers = (struct user_regs_struct){ .rip = before.at.pc, .rsp = before.at.sp };
	if (!copy_stack(f, before.at.sp) || !read_sleep_state(f->t->pid, thread->tid, &after))
		return false;
	thread->torn = after.switches != before.switches || after.wait != before.wait ||
		       memcmp(&after.at, &before.at, sizeof(after.at)) != 0;
	thread->has_registers = thread->only_pc_sp = true;
	return !thread->torn;
}

static bool try_running(struct freeze *f, struct ray_thread *thread)
{
	unsigned char *stack = NULL;
	const char *why = NULL;
	size_t size = 0;

	if (!ray_sample_thread(thread->tid, SAMPLE_MS, &thread->registers, &stack, &size, &why)) {
		thread->note = why;
		return false;
	}
	f->report->stack_bytes += size;
	thread->has_registers = true;
	thread->only_pc_sp = thread->torn = false;
	thread->note = "running: heap objects were read later";
	return ray_pins_add_range(f->t->pins, thread->registers.rsp, stack, size);
}

/* By a signal: nothing runs that could be paused. */
static bool is_stopped_already(const struct ray_target *t)
{
	for (size_t i = 0; i < t->threads.n; i++)
		if (t->threads.at[i].state != 'T')
			return false;
	return t->threads.n > 0;
}

static struct ray_error *freeze_nonblocking(struct freeze *f)
{
	/* What the kernel shows of a thread that sleeps outside of a system call is too little to walk its stack by. */
	if (is_stopped_already(f->t))
		return freeze_stopped(f);
	for (size_t i = 0; i < f->t->threads.n; i++) {
		struct ray_thread *thread = &f->t->threads.at[i];
		int tries = TRIES;

		if (thread->is_kernel || (f->t->only_tid && thread->tid != f->t->only_tid))
			continue;
		while (tries-- && !try_sleeping(f, thread) && !try_running(f, thread))
			;
		if (thread->torn)
			thread->note = "it ran on while its stack was copied";
		else if (thread->has_registers && thread->only_pc_sp)
			thread->note = NULL;
		f->report->missed += !thread->has_registers;
	}
	if (f->options->while_stopped)
		f->options->while_stopped(f->t, f->options->arg);
	return NULL;
}

struct ray_error *ray_target_freeze(struct ray_target *t, const struct ray_freeze_options *options,
				    struct ray_freeze_report *ret)
{
	struct freeze f = { t, options, ret };
	struct ray_error *err;

	memset(ret, 0, sizeof(*ret));
	if (t->kind != RAY_TARGET_PROCESS) {
		if (options->while_stopped)
			options->while_stopped(t, options->arg);
		return NULL;
	}
	err = ray_target_refresh(t);
	if (!err && !ensure_pins(t))
		return &ray_enomem;
	if (!err)
		err = options->nonblocking ? freeze_nonblocking(&f) : freeze_stopped(&f);
	return ray_error_wrap(err, "%s", t->name);
}
