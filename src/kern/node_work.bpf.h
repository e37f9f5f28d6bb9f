/* node_work.bpf.h - the works of libuv's thread pool: who submitted what, how long it waited, how long it ran.
 * SPDX-License-Identifier: MIT
 *
 * A work is known by the address of its struct uv__work, which lies inside a uv_fs_t, uv_getaddrinfo_t, uv_work_t...: node_fs.bpf.h and node_dns.bpf.h
 * tell those. All handlers of the three files do the same: in their first call they note what has happened in the slot's cursor, with the events that
 * this means; ray_work_next() then fills in and tells them one by one. */
#ifndef RAY_KERN_NODE_WORK_BPF_H
#define RAY_KERN_NODE_WORK_BPF_H

#include "kern/file.bpf.h"
#include "kern/node.bpf.h"

enum ray_work_kind {
	RAY_WORK_OTHER, /* something that the pool runs and nobody knows */
	RAY_WORK_FS,
	RAY_WORK_LOOKUP,  /* uv_getaddrinfo() */
	RAY_WORK_SERVICE, /* uv_getnameinfo() */
	RAY_WORK_QUEUE,	  /* uv_queue_work() of an addon, or of something that node calls so */
	RAY_WORK_JOB,	  /* and of node itself: the uv_work_t is part of a node::ThreadPoolWork */
	RAY_WORK_RANDOM,  /* uv_random() */
	RAY_WORK_RESOLVE, /* c-ares: no work of the pool, but a question that takes its time */
	RAY_WORK_REVERSE,
	RAY_WORK_RING,	/* an operation on a file that the kernel does by itself, through io_uring */
	RAY_WORK_INNER, /* an operation on a file that is part of a work */
	RAY_WORK_CALL,	/* a system call on files, see node_files.bpf.h */
};

enum { RAY_ECANCELED = 125, RAY_UNKNOWN_RESULT = 1 << 30 /* none: read it where it is */ };

/* slot->cursor */
struct ray_work_cursor {
	__u32 events;	 /* to tell, a byte each, the first in the lowest */
	__u32 tid;	 /* who asked */
	__u64 work;	 /* struct uv__work *; what a question of c-ares is known by */
	__u64 submitted; /* ns; 0: it was not seen, or never waited */
	__u64 started;	 /* ns; 0: not yet */
	__u64 now;
	__u64 request;
	__u64 function; /* of INNER and CALL: the work that it is part of */
	__u32 kind;
	__s32 result;
};

_Static_assert(sizeof(struct ray_work_cursor) <= sizeof(((struct ray_slot *)0)->cursor), "");

static __always_inline struct ray_work_cursor *ray_work_cursor(struct ray_slot *s)
{
	return (struct ray_work_cursor *)s->cursor;
}

static __always_inline __u64 ray_user_pointer(__u64 at)
{
	__u64 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (void *)at);
	return value;
}

static __always_inline __s32 ray_user_int(__u64 at)
{
	__s32 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (void *)at);
	return value;
}

/* ---- what is remembered ---- */

static __always_inline struct ray_node_work_key ray_work_key(__u32 table, __u64 address)
{
	return (struct ray_node_work_key){ .tgid = bpf_get_current_pid_tgid() >> 32,
					   .kind = table,
					   .address = address };
}

static __always_inline struct ray_node_work_state *ray_work_find(__u32 table, __u64 address)
{
	struct ray_node_work_key key = ray_work_key(table, address);

	return bpf_map_lookup_elem(RAY_MAP(NODE_WORKS), &key);
}

static __always_inline void ray_work_forget(__u32 table, __u64 address)
{
	struct ray_node_work_key key = ray_work_key(table, address);

	bpf_map_delete_elem(RAY_MAP(NODE_WORKS), &key);
}

/* A new element is made in the area: nothing of a request is told here. */
static __always_inline struct ray_node_work_state *ray_work_blank(struct ray_slot *s)
{
	struct ray_node_work_state *state = (struct ray_node_work_state *)&ray_node_area(s)->request;

	_Static_assert(sizeof(*state) <= sizeof(struct ray_node_request), "");
	ray_clear((char *)state, sizeof(*state));
	return state;
}

static __always_inline void ray_work_keep(__u32 table, __u64 address, struct ray_node_work_state *blank)
{
	struct ray_node_work_key key = ray_work_key(table, address);
	struct ray_state *state = ray_state_get();

	if (bpf_map_update_elem(RAY_MAP(NODE_WORKS), &key, blank, BPF_ANY) && state)
		__sync_fetch_and_add(&state->node_drops, 1);
}

/* The counters of the process's pool. NULL: no room, which is counted. */
static __always_inline struct ray_node_work_state *ray_pool(struct ray_slot *s)
{
	struct ray_node_work_state *pool = ray_work_find(RAY_TABLE_POOL, 0);

	if (pool)
		return pool;
	ray_work_keep(RAY_TABLE_POOL, 0, ray_work_blank(s));
	return ray_work_find(RAY_TABLE_POOL, 0);
}

/* What a thread does is done for the request whose bytes it read last; a thread of the pool works for the one that submitted the work. */
static __always_inline __u64 ray_work_request(const struct ray_node_thread *thread)
{
	if (!thread)
		return 0;
	return thread->work ? thread->work_request : thread->request;
}

/* ---- events ---- */

static __always_inline void ray_work_push(struct ray_work_cursor *c, __u32 event)
{
	__u32 events = c->events, shift = 0;

	if (!RAY_WATCHED(1ULL << event))
		return;
	if (events & 0xff)
		shift = 8;
	if (events & 0xff00)
		shift = 16;
	c->events = events | event << shift;
}

static __always_inline void ray_work_begin(struct ray_slot *s, __u64 work, __u32 kind)
{
	struct ray_work_cursor *c = ray_work_cursor(s);

	c->events = c->submitted = c->started = c->request = c->function = 0;
	c->work = work;
	c->kind = kind;
	c->result = RAY_UNKNOWN_RESULT;
	c->tid = bpf_get_current_pid_tgid();
	c->now = bpf_ktime_get_ns();
}

/* ---- what uv_queue_work() was given ---- */

enum { RAY_UV_WORK_CB = 72 /* of uv_work_t */ };

enum {
	RAY_JOB_EXECUTE =
		24 /* from the name of a job of Node-API to the addon's function: its env and data are between */
};

/* In newer nodes jobs have a name: "crypto", "zlib", "node_api". 0: there is none, or it cannot be one. */
static __always_inline __u64 ray_work_job_name(const struct ray_watched *node, __u64 request)
{
	__u64 name = node->at.job_type ? ray_user_pointer(request + node->at.job_type) : 0;
	char first = 0;

	if (!name)
		return 0;
	bpf_probe_read_user(&first, 1, (void *)name);
	return first >= 'a' && first <= 'z' ? name : 0;
}

/* Jobs are objects with virtual functions: the one that the pool calls tells their class; those of Node-API have a function of the addon's. */
static __always_inline __u64 ray_work_job_function(const struct ray_watched *node, __u64 request)
{
	__u64 name = ray_work_job_name(node, request), table;

	if (name && ray_user_pointer(name) == RAY_WORD('n', 'o', 'd', 'e', '_', 'a', 'p', 'i'))
		return ray_user_pointer(request + node->at.job_type + RAY_JOB_EXECUTE);
	/* node::ThreadPoolWork: its virtual functions, the Environment *, the uv_work_t. The first two of them destroy it. */
	table = ray_user_pointer(request - 16);
	return table ? ray_user_pointer(table + 16) : 0;
}

/* Which of the two it is, and what it runs. */
static __always_inline void ray_work_queued(struct ray_work_cursor *c, const struct ray_watched *node, __u64 callback)
{
	__u64 function;

	c->function = callback;
	if (!callback || callback != node->code[RAY_CODE_JOB])
		return;
	c->kind = RAY_WORK_JOB;
	function = ray_work_job_function(node, c->work - node->at.queue_work);
	if (function)
		c->function = function;
}

static __always_inline void ray_work_name_job(struct ray_node_work *work, const struct ray_watched *node, __u64 request)
{
	__u64 name = ray_work_job_name(node, request);

	if (name)
		bpf_probe_read_user_str(work->kind, sizeof(work->kind), (void *)name);
}

/* ---- what is told ---- */

static __always_inline __u64 ray_work_kind_name(__u32 kind)
{
	if (kind == RAY_WORK_FS)
		return RAY_WORD('f', 's', 0, 0, 0, 0, 0, 0);
	if (kind == RAY_WORK_LOOKUP || kind == RAY_WORK_SERVICE)
		return RAY_WORD('d', 'n', 's', 0, 0, 0, 0, 0);
	if (kind == RAY_WORK_RANDOM)
		return RAY_WORD('r', 'a', 'n', 'd', 'o', 'm', 0, 0);
	return RAY_WORD('w', 'o', 'r', 'k', 0, 0, 0, 0);
}

/* What a work of fs is about; "?" for an operation that has no name yet. */
static __always_inline void ray_work_operation(char *dst, const struct ray_watched *node, __u32 type)
{
	*(__u64 *)dst = RAY_WORD('?', 0, 0, 0, 0, 0, 0, 0);
	if (type < RAY_NODE_OPERATIONS && node->operations[type][0])
		bpf_probe_read_kernel_str(dst, RAY_NODE_OPERATION, node->operations[type]);
}

static __always_inline void ray_work_operation_dns(char *dst, __u32 kind)
{
	__u64 *words = (__u64 *)dst;

	words[0] = kind == RAY_WORK_LOOKUP ? RAY_WORD('g', 'e', 't', 'a', 'd', 'd', 'r', 'i') :
					     RAY_WORD('g', 'e', 't', 'n', 'a', 'm', 'e', 'i');
	words[1] = RAY_WORD('n', 'f', 'o', 0, 0, 0, 0, 0);
}

/* area->work, for what the cursor says. */
static __noinline void ray_work_fill(struct ray_slot *s, const struct ray_watched *node, __u32 event)
{
	struct ray_work_cursor *c = ray_work_cursor(s);
	struct ray_node_work *work = &ray_node_area(s)->work;
	struct ray_node_work_state *pool = ray_work_find(RAY_TABLE_POOL, 0);

	ray_clear((char *)work, sizeof(*work));
	ray_word_put(work->kind, ray_work_kind_name(c->kind));
	if (c->kind == RAY_WORK_JOB)
		ray_work_name_job(work, node, c->work - node->at.queue_work);
	else if (c->kind == RAY_WORK_FS)
		ray_work_operation(work->operation, node, ray_user_int(c->work - node->at.fs_work + node->at.fs_type));
	else if (c->kind == RAY_WORK_LOOKUP || c->kind == RAY_WORK_SERVICE)
		ray_work_operation_dns(work->operation, c->kind);
	work->address = c->work;
	work->function = c->function;
	work->request = c->request;
	work->tid = c->tid;
	work->result = c->result == RAY_UNKNOWN_RESULT ? 0 : c->result;
	if (c->submitted && c->started)
		work->wait = c->started - c->submitted;
	if (c->started && event == RAY_EVENT_WORK_DONE)
		work->run = c->now - c->started;
	if (pool) {
		work->queued = pool->queued;
		work->running = pool->running;
	}
	s->args[0] = RAY_AREA_ADDRESS(work);
}

/* ---- submit, start, done: what all works have in common ---- */

static __always_inline void ray_work_submit(struct ray_slot *s, __u32 is_told)
{
	struct ray_work_cursor *c = ray_work_cursor(s);
	struct ray_node_thread *thread = ray_node_thread_known();
	struct ray_node_work_state *pool = ray_pool(s), *blank;

	c->submitted = c->now;
	c->request = ray_work_request(thread);
	blank = ray_work_blank(s);
	blank->submitted = c->now;
	blank->request = c->request;
	blank->function = c->function;
	blank->kind = c->kind;
	blank->is_told = is_told;
	blank->tid = c->tid;
	ray_work_keep(RAY_TABLE_WORK, c->work, blank);
	if (pool)
		__sync_fetch_and_add(&pool->queued, 1);
	ray_work_push(c, RAY_EVENT_WORK_SUBMIT);
}

/* On the thread of the pool. Whether an event has told already that it was asked for. */
static __always_inline __u32 ray_work_start(struct ray_slot *s, struct ray_node_thread *thread)
{
	struct ray_work_cursor *c = ray_work_cursor(s);
	struct ray_node_work_state *pool = ray_pool(s), *state = ray_work_find(RAY_TABLE_WORK, c->work);
	__u32 is_told = 0;

	c->started = c->now;
	if (state) {
		c->submitted = state->submitted;
		c->request = state->request;
		c->tid = state->tid;
		c->function = c->function ? c->function : state->function;
		is_told = state->is_told;
		if (pool && (__s64)pool->queued > 0)
			__sync_fetch_and_add(&pool->queued, -1);
	}
	if (pool)
		__sync_fetch_and_add(&pool->running, 1);
	thread->work = c->work;
	thread->work_start = c->now;
	thread->work_kind = c->kind;
	thread->work_request = c->request;
	thread->work_tid = c->tid;
	return is_told;
}

/* Not 0: this thread did not begin it while we looked. */
static __always_inline int ray_work_done(struct ray_slot *s, struct ray_node_thread *thread)
{
	struct ray_work_cursor *c = ray_work_cursor(s);
	struct ray_node_work_state *pool = ray_pool(s), *state;

	if (!thread->work)
		return -1;
	c->work = thread->work;
	c->kind = thread->work_kind;
	c->started = thread->work_start;
	c->request = thread->work_request;
	c->tid = thread->work_tid;
	thread->work = 0;
	state = ray_work_find(RAY_TABLE_WORK, c->work);
	if (state) {
		c->submitted = state->submitted;
		c->function = state->function;
		ray_work_forget(RAY_TABLE_WORK, c->work);
	}
	if (pool && (__s64)pool->running > 0)
		__sync_fetch_and_add(&pool->running, -1);
	return 0;
}

#endif
