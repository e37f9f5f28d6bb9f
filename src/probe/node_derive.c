/* node_derive.c - see node_derive.h. SPDX-License-Identifier: MIT */
#include "probe/node_derive.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "elf/unwind.h"
#include "probe/flow.h"

static const char *const names[RAY_UV_FUNCTIONS] = {
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
};

const char *ray_uv_function_name(enum ray_uv_function function)
{
	return names[function];
}

int ray_uv_function_find(const char *name)
{
	for (size_t i = 0; i < RAY_UV_FUNCTIONS; i++)
		if (!strcmp(names[i], name))
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
	LOOP_ASYNC_HANDLES = 432,
	LOOP_TIMER_HEAP = 520,
	STREAM_WATCHER = 136, /* uv_stream_t; its callback is the first word */
	WORK_CB = -16,	      /* uv_work_t, from its work_req on */
	AFTER_WORK_CB = -8,
	WORK_LOOP = -24,
};
/* uv_handle_type */
enum { TYPE_PIPE = 7, TYPE_TCP = 12, TYPE_TTY = 14 };

enum { MAX_CODE = 64 << 10, MAX_CALLEES = 64 };

struct derive {
	struct ray_elf *elf;
	struct ray_uv_place *places;
	uint64_t io_init; /* uv__io_init */
};

/* ---- functions and what is in them ---- */

/* Whether a function begins there. */
static bool is_function(const struct derive *d, uint64_t vaddr, uint64_t *size_ret)
{
	uint64_t start, end;

	if (!vaddr || !ray_unwind_function(d->elf, vaddr, &start, &end) || start != vaddr || end <= start)
		return false;
	*size_ret = end - start;
	return true;
}

static bool begins(const struct derive *d, uint64_t vaddr)
{
	uint64_t size;

	return is_function(d, vaddr, &size);
}

static uint64_t exported(const struct derive *d, const char *name)
{
	struct ray_symbol s;

	return ray_elf_find_dynamic(d->elf, name, &s) && begins(d, s.value) ? s.value : 0;
}

static bool walk(const struct derive *d, uint64_t vaddr, bool (*each)(const struct ray_flow_step *step, void *arg),
		 void *arg)
{
	ray_auto_memory uint8_t *code = NULL;
	uint64_t size;

	if (!is_function(d, vaddr, &size) || size > MAX_CODE)
		return false;
	code = malloc(size);
	return code && ray_elf_read(d->elf, vaddr, code, size) == size && ray_flow_walk(code, size, vaddr, each, arg);
}

/* Everything that a question can be asked about. */
struct content {
	const struct derive *d;
	int64_t displacement;
	bool is_touched, is_called_through, has_indirect;
	uint64_t callees[MAX_CALLEES]; /* each once, in the order of the calls; functions of this file only */
	size_t callee_count;
};

static bool add_content(const struct ray_flow_step *step, void *arg)
{
	struct content *c = arg;

	switch (step->kind) {
	case RAY_FLOW_TOUCH:
		c->is_touched |= step->displacement == c->displacement;
		return true;
	case RAY_FLOW_INDIRECT:
		c->has_indirect = true;
		c->is_called_through |= step->has_displacement && step->displacement == c->displacement;
		return true;
	case RAY_FLOW_CALL:
	case RAY_FLOW_LEAVE:
		for (size_t i = 0; i < c->callee_count; i++)
			if (c->callees[i] == step->target)
				return true;
		if (c->callee_count < MAX_CALLEES && begins(c->d, step->target))
			c->callees[c->callee_count++] = step->target;
		return true;
	default:
		return true;
	}
}

static bool read_content(const struct derive *d, uint64_t vaddr, int64_t displacement, struct content *ret)
{
	*ret = (struct content){ .d = d, .displacement = displacement };
	return vaddr && walk(d, vaddr, add_content, ret);
}

static bool touches(const struct derive *d, uint64_t vaddr, int64_t displacement)
{
	struct content c;

	return read_content(d, vaddr, displacement, &c) && (c.is_touched || c.is_called_through);
}

static bool has_indirect(const struct derive *d, uint64_t vaddr)
{
	struct content c;

	return read_content(d, vaddr, 0, &c) && c.has_indirect;
}

static void set(struct derive *d, enum ray_uv_function function, uint64_t vaddr)
{
	uint64_t size;

	if (is_function(d, vaddr, &size))
		d->places[function] = (struct ray_uv_place){ vaddr, size };
}

/* ---- a vote: witnesses that must agree ---- */

struct vote {
	uint64_t value;
	size_t count;
	bool is_split;
};

static void cast(struct vote *v, uint64_t value)
{
	v->is_split |= v->count && v->value != value;
	v->value = value;
	v->count++;
}

static bool is_won(const struct vote *v, size_t witnesses)
{
	return !v->is_split && v->count >= witnesses;
}

/* ---- the thread pool ---- */

/* Calls of the form submit(.., .., .., work, done): what uv__work_submit() looks like. */
struct submits {
	const struct derive *d;
	uint64_t only; /* calls of this function; 0: of any */
	struct vote submit, work, done;
};

static bool see_submit(const struct ray_flow_step *step, void *arg)
{
	struct submits *s = arg;

	if ((step->kind != RAY_FLOW_CALL && step->kind != RAY_FLOW_LEAVE) || !step->is_known[3] || !step->is_known[4] ||
	    (s->only && step->target != s->only) || step->args[3] == step->args[4] || !begins(s->d, step->target) ||
	    !begins(s->d, step->args[3]) || !begins(s->d, step->args[4]))
		return true;
	cast(&s->submit, step->target);
	cast(&s->work, step->args[3]);
	cast(&s->done, step->args[4]);
	return true;
}

static void derive_fs(struct derive *d)
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
	struct content c;

	for (size_t i = 0; i < RAY_COUNT(witnesses); i++)
		walk(d, exported(d, witnesses[i]), see_submit, &s);
	if (!is_won(&s.work, 3) || !is_won(&s.done, 3) || !is_won(&s.submit, 3))
		return;
	/* Without a callback the same functions do the work at once. */
	for (size_t i = 0; i < RAY_COUNT(witnesses); i++) {
		read_content(d, exported(d, witnesses[i]), 0, &c);
		for (size_t j = 0; j < c.callee_count; j++)
			callers += c.callees[j] == s.work.value;
	}
	if (callers < 3)
		return;
	set(d, RAY_UV_FS_WORK, s.work.value);
	set(d, RAY_UV_FS_DONE, s.done.value);
	set(d, RAY_UV_WORK_SUBMIT, s.submit.value);
}

static void derive_submitted(struct derive *d, const char *caller, enum ray_uv_function work, enum ray_uv_function done)
{
	struct submits s = { .d = d, .only = d->places[RAY_UV_WORK_SUBMIT].vaddr };

	if (!s.only || !walk(d, exported(d, caller), see_submit, &s) || !is_won(&s.work, 1) || !is_won(&s.done, 1))
		return;
	set(d, work, s.work.value);
	set(d, done, s.done.value);
}

/* uv_queue_work() is compiled together with uv__work_submit(), which often ends up inside it: then the two functions that it takes the address of
 * are told by the callback that each of them calls. */
struct handed {
	const struct derive *d;
	struct vote work, done;
};

static void try_handed(struct handed *h, uint64_t vaddr)
{
	bool is_work, is_done;

	if (!begins(h->d, vaddr) || !has_indirect(h->d, vaddr))
		return;
	is_done = touches(h->d, vaddr, WORK_LOOP) && touches(h->d, vaddr, AFTER_WORK_CB);
	is_work = touches(h->d, vaddr, WORK_CB) && !touches(h->d, vaddr, WORK_LOOP);
	if (is_work)
		cast(&h->work, vaddr);
	if (is_done)
		cast(&h->done, vaddr);
}

/* Addresses come as constants, or in pairs from memory for a vector register to store at once. */
static bool see_handed(const struct ray_flow_step *step, void *arg)
{
	struct handed *h = arg;
	uint64_t words[2];
	size_t got;

	if (step->kind == RAY_FLOW_CONSTANT || step->kind == RAY_FLOW_STORE)
		try_handed(h, step->target);
	if (step->kind != RAY_FLOW_LOAD || step->size < sizeof(words[0]) || step->size > sizeof(words))
		return true;
	got = ray_elf_read(h->d->elf, step->target, words, step->size);
	for (size_t i = 0; i < got / sizeof(words[0]); i++)
		try_handed(h, words[i]);
	return true;
}

static void derive_queue(struct derive *d)
{
	struct handed h = { .d = d };

	derive_submitted(d, "uv_queue_work", RAY_UV_QUEUE_WORK, RAY_UV_QUEUE_DONE);
	if (d->places[RAY_UV_QUEUE_WORK].vaddr || !walk(d, exported(d, "uv_queue_work"), see_handed, &h) ||
	    !is_won(&h.work, 1) || !is_won(&h.done, 1))
		return;
	set(d, RAY_UV_QUEUE_WORK, h.work.value);
	set(d, RAY_UV_QUEUE_DONE, h.done.value);
}

/* ---- the loop ---- */

/* The one function that uv_run() calls, touches all of these fields and calls something through a pointer. */
static uint64_t only_callee(const struct derive *d, const struct content *run, const int64_t *fields, size_t count)
{
	struct vote v = { 0 };
	struct content c;
	size_t j;

	for (size_t i = 0; i < run->callee_count; i++) {
		for (j = 0; j < count && run->callees[i] != d->places[RAY_UV_IO_POLL].vaddr; j++)
			if (!read_content(d, run->callees[i], fields[j], &c) || !c.is_touched || !c.has_indirect)
				break;
		if (j == count)
			cast(&v, run->callees[i]);
	}
	return is_won(&v, 1) ? v.value : 0;
}

static void derive_phases(struct derive *d)
{
	static const struct {
		enum ray_uv_function function;
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
	struct content run;

	if (!read_content(d, exported(d, "uv_run"), 0, &run))
		return;
	for (size_t i = 0; i < RAY_COUNT(phases); i++)
		set(d, phases[i].function, only_callee(d, &run, phases[i].fields, phases[i].count));
}

/* ---- what the loop calls when a descriptor is ready ---- */

/* Calls with a constant third argument (a handle's type), and calls with a function as second or third one. */
struct handover {
	const struct derive *d;
	uint64_t only; /* calls of this function; 0: of any */
	unsigned argument;
	uint64_t type; /* else: the constant that argument must be */
	struct vote callee, function;
};

static bool see_typed(const struct ray_flow_step *step, void *arg)
{
	struct handover *h = arg;

	if ((step->kind == RAY_FLOW_CALL || step->kind == RAY_FLOW_LEAVE) && step->is_known[2] &&
	    step->args[2] == h->type && begins(h->d, step->target))
		cast(&h->callee, step->target);
	return true;
}

static bool see_handover(const struct ray_flow_step *step, void *arg)
{
	struct handover *h = arg;

	if ((step->kind == RAY_FLOW_CALL || step->kind == RAY_FLOW_LEAVE) && step->is_known[h->argument] &&
	    (!h->only || step->target == h->only) && begins(h->d, step->args[h->argument])) {
		cast(&h->callee, step->target);
		cast(&h->function, step->args[h->argument]);
	}
	return true;
}

static bool see_stored(const struct ray_flow_step *step, void *arg)
{
	struct handover *h = arg;

	if (step->kind == RAY_FLOW_STORE && step->displacement == STREAM_WATCHER && begins(h->d, step->target))
		cast(&h->function, step->target);
	return true;
}

/* uv__stream_init(loop, stream, type), which three exported functions call, hands uv__stream_io to uv__io_init(). */
static void derive_stream(struct derive *d)
{
	static const struct {
		const char *caller;
		uint64_t type;
	} witnesses[] = { { "uv_tcp_init_ex", TYPE_TCP }, { "uv_pipe_init", TYPE_PIPE }, { "uv_tty_init", TYPE_TTY } };
	struct handover inner = { .d = d, .argument = 1 };
	struct vote init = { 0 };

	for (size_t i = 0; i < RAY_COUNT(witnesses); i++) {
		struct handover h = { .d = d, .type = witnesses[i].type };

		walk(d, exported(d, witnesses[i].caller), see_typed, &h);
		if (is_won(&h.callee, 1))
			cast(&init, h.callee.value);
	}
	if (!is_won(&init, 2) || !walk(d, init.value, see_handover, &inner) || !is_won(&inner.function, 1) ||
	    !is_won(&inner.callee, 1) || !begins(d, inner.callee.value))
		return;
	d->io_init = inner.callee.value;
	set(d, RAY_UV_STREAM_IO, inner.function.value);
}

/* Others call uv__io_init() too, themselves or in a function of theirs. */
static void derive_watcher(struct derive *d, const char *const *callers, enum ray_uv_function function)
{
	struct handover h = { .d = d, .only = d->io_init, .argument = 1 };
	struct content c;

	if (!d->io_init)
		return;
	for (; *callers; callers++) {
		if (!read_content(d, exported(d, *callers), 0, &c))
			continue;
		walk(d, exported(d, *callers), see_handover, &h);
		for (size_t i = 0; i < c.callee_count; i++)
			walk(d, c.callees[i], see_handover, &h);
	}
	if (is_won(&h.function, 1) && h.function.value != d->places[RAY_UV_STREAM_IO].vaddr)
		set(d, function, h.function.value);
}

/* Since libuv 1.51 uv_async_init() hands it to a function that also starts the watcher, as third argument; so it must prove by itself that it
 * goes through the loop's async handles. */
static void derive_async(struct derive *d)
{
	struct handover h = { .d = d, .argument = 2 };
	struct content c;
	bool is_proven;

	derive_watcher(d, (const char *const[]){ "uv_async_init", NULL }, RAY_UV_ASYNC_IO);
	if (d->places[RAY_UV_ASYNC_IO].vaddr || !walk(d, exported(d, "uv_async_init"), see_handover, &h) ||
	    !is_won(&h.function, 1) || !read_content(d, h.function.value, LOOP_ASYNC_HANDLES, &c))
		return;
	is_proven = c.is_touched;
	for (size_t i = 0; i < c.callee_count; i++)
		is_proven |= touches(d, c.callees[i], LOOP_ASYNC_HANDLES);
	if (is_proven)
		set(d, RAY_UV_ASYNC_IO, h.function.value);
}

/* uv__tcp_listen() and uv__pipe_listen() put it where uv__stream_io was. */
static void derive_server(struct derive *d)
{
	struct handover h = { .d = d };
	struct content c;

	if (!read_content(d, exported(d, "uv_listen"), 0, &c))
		return;
	for (size_t i = 0; i < c.callee_count; i++)
		walk(d, c.callees[i], see_stored, &h);
	if (is_won(&h.function, 2) && h.function.value != d->places[RAY_UV_STREAM_IO].vaddr)
		set(d, RAY_UV_SERVER_IO, h.function.value);
}

/* uv_loop_init() hands it to uv_async_init(). */
static void derive_work_done(struct derive *d)
{
	struct handover h = { .d = d, .argument = 2 };

	if (walk(d, exported(d, "uv_loop_init"), see_handover, &h) && is_won(&h.function, 1))
		set(d, RAY_UV_WORK_DONE, h.function.value);
}

void ray_node_derive(struct ray_elf *e, struct ray_uv_place ret[RAY_UV_FUNCTIONS])
{
	struct derive d = { .elf = e, .places = ret };

	memset(ret, 0, sizeof(*ret) * RAY_UV_FUNCTIONS);
	derive_fs(&d);
	derive_submitted(&d, "uv_getaddrinfo", RAY_UV_GETADDRINFO_WORK, RAY_UV_GETADDRINFO_DONE);
	derive_submitted(&d, "uv_getnameinfo", RAY_UV_GETNAMEINFO_WORK, RAY_UV_GETNAMEINFO_DONE);
	derive_submitted(&d, "uv_random", RAY_UV_RANDOM_WORK, RAY_UV_RANDOM_DONE);
	derive_queue(&d);
	derive_phases(&d);
	derive_stream(&d);
	derive_async(&d);
	derive_watcher(&d, (const char *const[]){ "uv_poll_init", NULL }, RAY_UV_POLL_IO);
	derive_watcher(&d, (const char *const[]){ "uv_udp_init_ex", "uv_udp_init", NULL }, RAY_UV_UDP_IO);
	derive_server(&d);
	derive_work_done(&d);
}
