/* uv_role.c - which thread runs a loop, and what the loop is for. See uv.h.
 * SPDX-License-Identifier: MIT
 *
 * The thread: it waits in epoll on the loop's descriptor, or the loop lies in its stack. The role: static
 * memory means the main loop, an environment's handles mean a worker, and the rest is told by the name of
 * an async callback or, failing symbols, by the name of the thread. What cannot be told stays empty. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "elf/elf.h"
#include "target/proc.h"
#include "target/tls.h"
#include "target/uv.h"
#include "target/uv_layout.h"

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

/* Where a thread is: its system call with the first argument, and its stack pointer. */
struct where {
	long call; /* -1 when it is in none */
	uint64_t first;
	uint64_t sp; /* 0 when not known */
};

static struct where where_live(int pid, int tid)
{
	struct ray_proc_syscall s;

	if (ray_proc_syscall(pid, tid, &s) == RAY_PROC_WAITS)
		return (struct where){ s.number, s.args[0], s.sp };
	return (struct where){ .call = -1 };
}

static struct where where_is(struct ray_target *t, const struct ray_thread *thread)
{
	if (thread->has_registers)
		return (struct where){ (long)thread->registers.orig_rax, thread->registers.rdi, thread->registers.rsp };
	if (ray_target_kind(t) == RAY_TARGET_PROCESS)
		return where_live(ray_target_pid(t), thread->tid);
	return (struct where){ .call = -1 };
}

static bool waits_on(const struct where *w, const struct ray_uv_loop *loop)
{
	return (w->call == SYS_epoll_wait || w->call == SYS_epoll_pwait || w->call == SYS_epoll_pwait2) &&
	       w->first == (uint64_t)loop->backend_fd;
}

static bool is_in_stack(struct ray_target *t, const struct where *w, const struct ray_uv_loop *loop)
{
	const struct ray_map *m = w->sp ? ray_target_find_map(t, w->sp) : NULL;

	return m && loop->address >= w->sp && loop->address < m->end;
}

/* The thread whose stack holds the loop: the next descriptor above it in the same mapping. For threads that run,
 * of which the kernel does not tell where they are. */
static int owner_of(struct ray_target *t, const struct ray_uv_loop *loop, const struct ray_tls_thread *threads,
		    size_t count)
{
	const struct ray_map *m = ray_target_find_map(t, loop->address);
	uint64_t nearest = m ? m->end : 0;
	int tid = 0;

	for (size_t i = 0; i < count; i++) {
		if (threads[i].pointer <= loop->address || threads[i].pointer >= nearest)
			continue;
		nearest = threads[i].pointer;
		tid = threads[i].tid;
	}
	return tid;
}

static void find_owners(struct ray_target *t, struct ray_uv *uv)
{
	ray_auto_memory struct ray_tls_thread *threads = NULL;
	size_t n = 0;

	ray_error_free(ray_tls_threads(t, &threads, &n));
	for (size_t k = 0; k < uv->n; k++)
		if (!uv->loops[k].tid)
			uv->loops[k].tid = owner_of(t, &uv->loops[k], threads, n);
}

static void find_threads(struct ray_target *t, struct ray_uv *uv)
{
	const struct ray_thread *threads;
	struct where w;
	size_t i, k, n;

	threads = ray_target_threads(t, &n);
	for (i = 0; i < n; i++) {
		w = where_is(t, &threads[i]);
		for (k = 0; k < uv->n; k++)
			if (!uv->loops[k].tid && (waits_on(&w, &uv->loops[k]) || is_in_stack(t, &w, &uv->loops[k])))
				uv->loops[k].tid = threads[i].tid;
	}
	find_owners(t, uv);
}

/* What a callback's (mangled) name holds -> the role. */
static const struct {
	const char *part, *role;
} callback_roles[] = {
	{ "DelayedTaskScheduler", "platform" }, { "7tracing", "tracing" },   { "9inspector", "inspector" },
	{ "14SigintWatchdog", "watchdog" },	{ "8Watchdog", "watchdog" }, { "17SyncProcessRunner", "execSync" },
};

/* The kernel's name of the thread -> the role; node names its threads from 24 on. */
static const struct {
	const char *comm, *role;
} thread_roles[] = {
	{ "DelayedTaskSche", "platform" },
	{ "InspectorIo", "inspector" },
	{ "TraceEventWorke", "tracing" },
	{ "WorkerThread", "worker" },
};

static const char *role_by_callback(struct ray_target *t, const struct ray_uv_loop *loop)
{
	const struct ray_module *module;
	struct ray_symbol symbol;
	uint64_t vaddr;
	size_t i, k;

	for (i = 0; i < loop->handle_count; i++) {
		if (!loop->handles[i].callback || loop->handles[i].address == loop->address + UV_LOOP_WQ_ASYNC)
			continue;
		module = ray_target_module_at(t, loop->handles[i].callback, &vaddr);
		if (!module || !module->elf || !ray_elf_symbol_at(module->elf, vaddr, &symbol))
			continue;
		for (k = 0; k < RAY_COUNT(callback_roles); k++)
			if (strstr(symbol.name, callback_roles[k].part))
				return callback_roles[k].role;
	}
	return "";
}

static const char *role_by_thread(struct ray_target *t, int tid)
{
	const struct ray_thread *threads;
	size_t i, k, n;

	threads = ray_target_threads(t, &n);
	for (i = 0; tid && i < n; i++) {
		if (threads[i].tid != tid)
			continue;
		for (k = 0; k < RAY_COUNT(thread_roles); k++)
			if (!strcmp(threads[i].name, thread_roles[k].comm))
				return thread_roles[k].role;
	}
	return "";
}

/* An addon may have a loop in static memory too, but only node's own runs an environment there. */
static bool is_main(const struct ray_uv *uv, const struct ray_uv_loop *loop)
{
	size_t i, statics = 0;

	for (i = 0; i < uv->n; i++)
		statics += uv->loops[i].is_static;
	return loop->is_static && (loop->runs_js || statics == 1);
}

void ray_uv_name_loops(struct ray_target *t, struct ray_uv *uv)
{
	struct ray_uv_loop *loop;
	size_t i;

	find_threads(t, uv);
	for (i = 0; i < uv->n; i++) {
		loop = &uv->loops[i];
		loop->role = is_main(uv, loop) ? "main" : loop->runs_js ? "worker" : role_by_thread(t, loop->tid);
		if (!*loop->role)
			loop->role = role_by_callback(t, loop);
	}
}
