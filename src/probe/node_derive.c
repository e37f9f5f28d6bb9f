/* node_derive.c - see node_derive.h. SPDX-License-Identifier: MIT */
#include "probe/node_derive.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "probe/node_derive_internal.h"

static const char *const names[RAY_LOCAL_FUNCTIONS] = {
	[RAY_UV_FS_WORK] = "uv__fs_work",
	[RAY_UV_FS_DONE] = "uv__fs_done",
	[RAY_UV_WORK_SUBMIT] = "uv__work_submit",
	[RAY_UV_GETADDRINFO_WORK] = "uv__getaddrinfo_work",
	[RAY_UV_GETADDRINFO_DONE] = "uv__getaddrinfo_done",
	[RAY_UV_GETNAMEINFO_WORK] = "uv__getnameinfo_work",
	[RAY_UV_GETNAMEINFO_DONE] = "uv__getnameinfo_done",
	[RAY_UV_RANDOM_WORK] = "uv__random_work",
	[RAY_UV_RANDOM_DONE] = "uv__random_done",
	[RAY_UV_QUEUE_WORK] = "uv__queue_work",
	[RAY_UV_QUEUE_DONE] = "uv__queue_done",
	[RAY_UV_WORK_DONE] = "uv__work_done",
	[RAY_UV_RUN_TIMERS] = "uv__run_timers",
	[RAY_UV_RUN_IDLE] = "uv__run_idle",
	[RAY_UV_RUN_PREPARE] = "uv__run_prepare",
	[RAY_UV_RUN_CHECK] = "uv__run_check",
	[RAY_UV_IO_POLL] = "uv__io_poll",
	[RAY_UV_STREAM_IO] = "uv__stream_io",
	[RAY_UV_SERVER_IO] = "uv__server_io",
	[RAY_UV_ASYNC_IO] = "uv__async_io",
	[RAY_UV_POLL_IO] = "uv__poll_io",
	[RAY_UV_UDP_IO] = "uv__udp_io",
	[RAY_UV_INOTIFY_READ] = "uv__inotify_read",
	[RAY_UV_SIGNAL_EVENT] = "uv__signal_event",
	/* Up to their arguments, which differ between versions. */
	[RAY_V8_COLLECT_GARBAGE] = "_ZN2v88internal4Heap14CollectGarbageE",
	[RAY_V8_GC_PROLOGUE] = "_ZN2v88internal4Heap23CallGCPrologueCallbacksE",
	[RAY_V8_GC_EPILOGUE] = "_ZN2v88internal4Heap23CallGCEpilogueCallbacksE",
	[RAY_V8_SIZE_OF_OBJECTS] = "_ZN2v88internal4Heap13SizeOfObjectsE",
	[RAY_V8_THROW] = "_ZN2v88internal7Isolate5ThrowE",
};

const char *ray_local_name(enum ray_local_function function)
{
	return names[function];
}

int ray_local_find(const char *name)
{
	for (size_t i = 0; i < RAY_LOCAL_FUNCTIONS; i++)
		if (!strcmp(names[i], name) ||
		    (!strncmp(names[i], "_Z", 2) && !strncmp(names[i], name, strlen(names[i]))))
			return (int)i;
	return -1;
}

/* Fields of libuv's structures that functions must touch, from the start of uv_loop_t if not said otherwise. */
enum {
	LOOP_BACKEND_FD = 64,
	LOOP_WATCHER_QUEUE = 88,
	LOOP_WATCHERS = 104,
	LOOP_PREPARE = 384,
	LOOP_CHECK = 400,
	LOOP_IDLE = 416,
	LOOP_TIMER_HEAP = 520,
	WORK_REQ_WORK = 88, /* uv_work_t */
	WORK_REQ_DONE = 96,
	WORK_CB = -16, /* the same, from its work_req on */
	AFTER_WORK_CB = -8,
	WORK_LOOP = -24,
};

void ray_derive_set(struct ray_derive *d, enum ray_local_function function, uint64_t vaddr)
{
	uint64_t size;

	if (ray_follow_begins(d->elf, vaddr, &size))
		d->places[function] = (struct ray_local_place){ vaddr, size };
}

/* ---- the thread pool ---- */

/* Calls of the form submit(.., .., .., work, done): what uv__work_submit() looks like. */
struct submits {
	const struct ray_derive *d;
	uint64_t only; /* calls of this function; 0: of any */
	struct ray_vote submit, work, done;
};

static bool see_submit(const struct ray_flow_step *step, void *arg)
{
	struct submits *s = arg;

	if (!ray_follow_is_call(step) || !step->is_known[3] || !step->is_known[4] ||
	    (s->only && step->target != s->only) || step->args[3] == step->args[4] ||
	    !ray_follow_begins(s->d->elf, step->target, NULL) || !ray_follow_begins(s->d->elf, step->args[3], NULL) ||
	    !ray_follow_begins(s->d->elf, step->args[4], NULL))
		return true;
	ray_vote_cast(&s->submit, step->target);
	ray_vote_cast(&s->work, step->args[3]);
	ray_vote_cast(&s->done, step->args[4]);
	return true;
}

static void derive_fs(struct ray_derive *d)
{
	static const char *const witnesses[] = {
		"uv_fs_access",	   "uv_fs_chmod",    "uv_fs_chown",  "uv_fs_close",	"uv_fs_fchmod",
		"uv_fs_fdatasync", "uv_fs_fstat",    "uv_fs_fsync",  "uv_fs_ftruncate", "uv_fs_futime",
		"uv_fs_link",	   "uv_fs_lstat",    "uv_fs_mkdir",  "uv_fs_mkdtemp",	"uv_fs_open",
		"uv_fs_read",	   "uv_fs_readlink", "uv_fs_rename", "uv_fs_rmdir",	"uv_fs_scandir",
		"uv_fs_stat",	   "uv_fs_symlink",  "uv_fs_unlink", "uv_fs_utime",	"uv_fs_write",
		"uv_fs_realpath",
	};
	struct submits s = { .d = d };
	size_t callers = 0;
	struct ray_follow_content c;

	for (size_t i = 0; i < RAY_COUNT(witnesses); i++)
		ray_follow_walk(d->elf, ray_follow_exported(d->elf, witnesses[i]), see_submit, &s);
	if (!ray_vote_is_won(&s.work, 3) || !ray_vote_is_won(&s.done, 3) || !ray_vote_is_won(&s.submit, 3))
		return;
	/* Without a callback the same functions do the work at once. */
	for (size_t i = 0; i < RAY_COUNT(witnesses); i++) {
		ray_follow_content(d->elf, ray_follow_exported(d->elf, witnesses[i]), 0, &c);
		for (size_t j = 0; j < c.callee_count; j++)
			callers += c.callees[j] == s.work.value;
	}
	if (callers < 3)
		return;
	ray_derive_set(d, RAY_UV_FS_WORK, s.work.value);
	ray_derive_set(d, RAY_UV_FS_DONE, s.done.value);
	ray_derive_set(d, RAY_UV_WORK_SUBMIT, s.submit.value);
}

static void derive_submitted(struct ray_derive *d, const char *caller, enum ray_local_function work,
			     enum ray_local_function done)
{
	struct submits s = { .d = d, .only = d->places[RAY_UV_WORK_SUBMIT].vaddr };

	if (!s.only || !ray_follow_walk(d->elf, ray_follow_exported(d->elf, caller), see_submit, &s) ||
	    !ray_vote_is_won(&s.work, 1) || !ray_vote_is_won(&s.done, 1))
		return;
	ray_derive_set(d, work, s.work.value);
	ray_derive_set(d, done, s.done.value);
}

/* uv_queue_work() is compiled together with uv__work_submit(), which often ends up inside it: then the two functions that it takes the address of
 * are told by the callback that each of them calls. */
struct handed {
	const struct ray_derive *d;
	struct ray_vote work, done;
};

static void try_handed(struct handed *h, uint64_t vaddr)
{
	bool is_work, is_done;

	if (!ray_follow_begins(h->d->elf, vaddr, NULL) || !ray_follow_has_indirect(h->d->elf, vaddr))
		return;
	is_done = ray_follow_touches(h->d->elf, vaddr, WORK_LOOP) &&
		  ray_follow_touches(h->d->elf, vaddr, AFTER_WORK_CB);
	is_work = ray_follow_touches(h->d->elf, vaddr, WORK_CB) && !ray_follow_touches(h->d->elf, vaddr, WORK_LOOP);
	if (is_work)
		ray_vote_cast(&h->work, vaddr);
	if (is_done)
		ray_vote_cast(&h->done, vaddr);
}

/* Stored one by one, each says what it is by where it goes. */
static bool see_placed(const struct ray_flow_step *step, void *arg)
{
	struct handed *h = arg;

	if (step->kind != RAY_FLOW_STORE || !ray_follow_begins(h->d->elf, step->target, NULL))
		return true;
	if (step->displacement == WORK_REQ_WORK)
		ray_vote_cast(&h->work, step->target);
	if (step->displacement == WORK_REQ_DONE)
		ray_vote_cast(&h->done, step->target);
	return true;
}

/* Addresses come as constants, or in pairs from memory for a vector register to store at once. */
static bool see_handed(const struct ray_flow_step *step, void *arg)
{
	enum { WORD = 8, PAIR = 16 };
	struct handed *h = arg;
	uint64_t value;

	if (step->kind == RAY_FLOW_CONSTANT || step->kind == RAY_FLOW_STORE)
		try_handed(h, step->target);
	if (step->kind != RAY_FLOW_LOAD || step->size < WORD || step->size > PAIR)
		return true;
	for (size_t i = 0; i < step->size; i += WORD)
		if (ray_elf_read_pointer(h->d->elf, step->target + i, &value))
			try_handed(h, value);
	return true;
}

static void derive_queue(struct ray_derive *d)
{
	static ray_follow_fn *const ways[] = { see_placed, see_handed };
	uint64_t caller = ray_follow_exported(d->elf, "uv_queue_work");

	derive_submitted(d, "uv_queue_work", RAY_UV_QUEUE_WORK, RAY_UV_QUEUE_DONE);
	for (size_t i = 0; i < RAY_COUNT(ways) && !d->places[RAY_UV_QUEUE_WORK].vaddr; i++) {
		struct handed h = { .d = d };

		if (!ray_follow_walk(d->elf, caller, ways[i], &h) || !ray_vote_is_won(&h.work, 1) ||
		    !ray_vote_is_won(&h.done, 1) || h.work.value == h.done.value)
			continue;
		ray_derive_set(d, RAY_UV_QUEUE_WORK, h.work.value);
		ray_derive_set(d, RAY_UV_QUEUE_DONE, h.done.value);
	}
}

/* uv_loop_init() hands it to uv_async_init(), as third argument. */
static bool see_third(const struct ray_flow_step *step, void *arg)
{
	struct handed *h = arg;

	/* Through the PLT, or at once through a pointer (-fno-plt). */
	if ((ray_follow_is_call(step) || step->kind == RAY_FLOW_INDIRECT) && step->is_known[2] &&
	    ray_follow_begins(h->d->elf, step->args[2], NULL))
		ray_vote_cast(&h->work, step->args[2]);
	return true;
}

static void derive_work_done(struct ray_derive *d)
{
	struct handed h = { .d = d };

	if (ray_follow_walk(d->elf, ray_follow_exported(d->elf, "uv_loop_init"), see_third, &h) &&
	    ray_vote_is_won(&h.work, 1))
		ray_derive_set(d, RAY_UV_WORK_DONE, h.work.value);
}

/* ---- the loop ---- */

static bool is_placed(const struct ray_derive *d, uint64_t vaddr)
{
	for (size_t i = 0; i < RAY_LOCAL_FUNCTIONS; i++)
		if (d->places[i].vaddr == vaddr)
			return true;
	return false;
}

/* The one function that uv_run() calls, is none that is known, touches all of these fields and calls something through a pointer. */
static uint64_t only_callee(const struct ray_derive *d, const struct ray_follow_content *run, const int64_t *fields,
			    size_t count)
{
	struct ray_follow_content c;
	struct ray_vote v = { 0 };
	size_t j;

	for (size_t i = 0; i < run->callee_count; i++) {
		for (j = 0; j < count && !is_placed(d, run->callees[i]); j++)
			if (!ray_follow_content(d->elf, run->callees[i], fields[j], &c) || !c.is_touched ||
			    !c.has_indirect)
				break;
		if (j == count)
			ray_vote_cast(&v, run->callees[i]);
	}
	return ray_vote_is_won(&v, 1) ? v.value : 0;
}

static void derive_phases(struct ray_derive *d)
{
	static const struct {
		enum ray_local_function function;
		int64_t fields[3];
		size_t count;
	} phases[] = {
		/* The longest first: it is none of the others, whatever it touches. */
		{ RAY_UV_IO_POLL, { LOOP_BACKEND_FD, LOOP_WATCHER_QUEUE, LOOP_WATCHERS }, 3 },
		{ RAY_UV_RUN_TIMERS, { LOOP_TIMER_HEAP }, 1 },
		{ RAY_UV_RUN_IDLE, { LOOP_IDLE }, 1 },
		{ RAY_UV_RUN_PREPARE, { LOOP_PREPARE }, 1 },
		{ RAY_UV_RUN_CHECK, { LOOP_CHECK }, 1 },
	};
	struct ray_follow_content run;

	if (!ray_follow_content(d->elf, ray_follow_exported(d->elf, "uv_run"), 0, &run))
		return;
	for (size_t i = 0; i < RAY_COUNT(phases); i++)
		ray_derive_set(d, phases[i].function, only_callee(d, &run, phases[i].fields, phases[i].count));
}

void ray_node_derive(struct ray_elf *e, struct ray_local_place ret[RAY_LOCAL_FUNCTIONS])
{
	struct ray_derive d = { .elf = e, .places = ret };

	memset(ret, 0, sizeof(*ret) * RAY_LOCAL_FUNCTIONS);
	derive_fs(&d);
	derive_submitted(&d, "uv_getaddrinfo", RAY_UV_GETADDRINFO_WORK, RAY_UV_GETADDRINFO_DONE);
	derive_submitted(&d, "uv_getnameinfo", RAY_UV_GETNAMEINFO_WORK, RAY_UV_GETNAMEINFO_DONE);
	derive_submitted(&d, "uv_random", RAY_UV_RANDOM_WORK, RAY_UV_RANDOM_DONE);
	derive_queue(&d);
	derive_work_done(&d);
	ray_derive_watchers(&d);
	derive_phases(&d);
	ray_derive_v8(&d);
}
