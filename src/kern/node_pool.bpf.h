/* node_pool.bpf.h - the hooks of works, files and names: what hangs on which function, and the events that each hit means.
 * SPDX-License-Identifier: MIT */
#ifndef RAY_KERN_NODE_POOL_BPF_H
#define RAY_KERN_NODE_POOL_BPF_H

#include "kern/node_dns.bpf.h"
#include "kern/node_files.bpf.h"

/* The next event of this hit, filled in; 0: that was all. */
RAY_RUNTIME __u64 ray_work_next(__u64 slot)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_watched *node = ray_watched_get();
	struct ray_work_cursor *c;
	__u32 event;

	if (!s || !node)
		return 0;
	c = ray_work_cursor(s);
	event = c->events & 0xff;
	c->events >>= 8;
	if (!event)
		return 0;
	if (RAY_WATCHED(RAY_EVENT_BIT(FS_START) | RAY_EVENT_BIT(FS_DONE)) &&
	    (event == RAY_EVENT_FS_START || event == RAY_EVENT_FS_DONE)) {
		if (c->kind == RAY_WORK_CALL)
			ray_file_fill(s, node, event);
		else
			ray_fs_fill(s, node, event);
	} else if (RAY_WATCHED(RAY_EVENT_BIT(DNS_START) | RAY_EVENT_BIT(DNS_DONE)) &&
		   (event == RAY_EVENT_DNS_START || event == RAY_EVENT_DNS_DONE)) {
		ray_dns_fill(s, node, event);
	} else {
		ray_work_fill(s, node, event);
	}
	return event;
}

/* ---- submitted ---- */

static __always_inline __u32 ray_work_kind(const struct ray_watched *node, __u64 function)
{
	if (!function)
		return RAY_WORK_OTHER;
	if (function == node->code[RAY_CODE_FS_WORK])
		return RAY_WORK_FS;
	if (function == node->code[RAY_CODE_ADDRINFO_WORK])
		return RAY_WORK_LOOKUP;
	if (function == node->code[RAY_CODE_NAMEINFO_WORK])
		return RAY_WORK_SERVICE;
	if (function == node->code[RAY_CODE_RANDOM_WORK])
		return RAY_WORK_RANDOM;
	if (function == node->code[RAY_CODE_QUEUE_WORK])
		return RAY_WORK_QUEUE;
	return RAY_WORK_OTHER;
}

/* uv__work_submit(loop, work, speed, function, done). What came through uv_queue_work() is told there: some builds have this one inlined in it. */
static __noinline void ray_submit(struct ray_slot *s, const struct ray_watched *node)
{
	struct ray_work_cursor *c = ray_work_cursor(s);
	__u32 kind = ray_work_kind(node, s->hook_args[3]);

	ray_work_begin(s, s->hook_args[1], kind);
	if (kind == RAY_WORK_QUEUE || !node->at.fs_work)
		return;
	c->function = s->hook_args[3];
	if (kind == RAY_WORK_FS)
		ray_work_push(c, RAY_EVENT_FS_START);
	else if (kind == RAY_WORK_LOOKUP || kind == RAY_WORK_SERVICE)
		ray_work_push(c, RAY_EVENT_DNS_START);
	ray_work_submit(s, kind != RAY_WORK_OTHER);
}

RAY_RUNTIME __u64 ray_on_work_submit(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_watched *node = ray_watched_get();

	if (!s || !node)
		return 0;
	if (!step)
		ray_submit(s, node);
	return ray_work_next(slot);
}

/* uv_queue_work(loop, request, function, after) */
RAY_RUNTIME __u64 ray_on_queue_work(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_watched *node = ray_watched_get();
	__u64 request;

	if (!s || !node)
		return 0;
	if (step)
		return ray_work_next(slot);
	request = s->hook_args[1];
	if (!s->hook_args[2] || !node->at.queue_work) /* refused */
		return 0;
	ray_work_begin(s, request + node->at.queue_work, RAY_WORK_QUEUE);
	ray_work_queued(ray_work_cursor(s), node, s->hook_args[2]);
	ray_work_submit(s, 1);
	return ray_work_next(slot);
}

/* ---- run ---- */

RAY_RUNTIME __u64 ray_on_fs_work(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_watched *node = ray_watched_get();

	if (!s || !node)
		return 0;
	if (!step)
		ray_fs_enter(s, node);
	return ray_work_next(slot);
}

RAY_RUNTIME __u64 ray_on_fs_work_return(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);

	if (!s)
		return 0;
	if (!step)
		ray_fs_leave(s);
	return ray_work_next(slot);
}

/* A thread of the pool begins one that is no fs operation. */
static __always_inline __u64 ray_work_enter(__u64 slot, __u64 step, __u32 kind)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_watched *node = ray_watched_get();
	struct ray_node_thread *thread;
	__u32 is_told;

	if (!s || !node)
		return 0;
	if (step)
		return ray_work_next(slot);
	thread = ray_node_thread(s);
	if (!thread || !node->at.queue_work)
		return 0;
	ray_work_begin(s, s->hook_args[0], kind);
	if (kind == RAY_WORK_QUEUE)
		ray_work_queued(ray_work_cursor(s), node,
				ray_user_pointer(s->hook_args[0] - node->at.queue_work + RAY_UV_WORK_CB));
	is_told = ray_work_start(s, thread);
	if (!is_told && (kind == RAY_WORK_LOOKUP || kind == RAY_WORK_SERVICE))
		ray_work_push(ray_work_cursor(s), RAY_EVENT_DNS_START);
	ray_work_push(ray_work_cursor(s), RAY_EVENT_WORK_START);
	return ray_work_next(slot);
}

RAY_RUNTIME __u64 ray_on_addrinfo_work(__u64 slot, __u64 step)
{
	return ray_work_enter(slot, step, RAY_WORK_LOOKUP);
}

RAY_RUNTIME __u64 ray_on_nameinfo_work(__u64 slot, __u64 step)
{
	return ray_work_enter(slot, step, RAY_WORK_SERVICE);
}

RAY_RUNTIME __u64 ray_on_queued_work(__u64 slot, __u64 step)
{
	return ray_work_enter(slot, step, RAY_WORK_QUEUE);
}

RAY_RUNTIME __u64 ray_on_random_work(__u64 slot, __u64 step)
{
	return ray_work_enter(slot, step, RAY_WORK_RANDOM);
}

/* What those four end in. */
RAY_RUNTIME __u64 ray_on_work_return(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *thread = ray_node_thread_known();
	struct ray_watched *node = ray_watched_get();
	struct ray_work_cursor *c;

	if (!s || !node)
		return 0;
	if (step)
		return ray_work_next(slot);
	ray_work_begin(s, 0, RAY_WORK_OTHER);
	c = ray_work_cursor(s);
	if (!thread || ray_work_done(s, thread))
		return 0;
	if (c->kind == RAY_WORK_LOOKUP || c->kind == RAY_WORK_SERVICE)
		ray_work_push(c, RAY_EVENT_DNS_DONE);
	if (!c->function && (c->kind == RAY_WORK_QUEUE || c->kind == RAY_WORK_JOB))
		ray_work_queued(c, node, ray_user_pointer(c->work - node->at.queue_work + RAY_UV_WORK_CB));
	ray_work_push(c, RAY_EVENT_WORK_DONE);
	return ray_work_next(slot);
}

/* ---- cancelled: done without having run ---- */

enum { RAY_UV_REQ_FS = 6, RAY_UV_REQ_WORK, RAY_UV_REQ_GETADDRINFO, RAY_UV_REQ_GETNAMEINFO, RAY_UV_REQ_RANDOM };

/* uv_cancel(request) */
RAY_RUNTIME __u64 ray_on_cancel(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *thread;

	if (!s || step)
		return 0;
	thread = ray_node_thread(s);
	if (thread)
		thread->cancel = s->hook_args[0];
	return 0;
}

static __always_inline __u64 ray_cancel_work(const struct ray_watched *node, __u64 request)
{
	switch (ray_user_int(request + node->at.request_type)) {
	case RAY_UV_REQ_FS:
		return request + node->at.fs_work;
	case RAY_UV_REQ_WORK:
		return request + node->at.queue_work;
	case RAY_UV_REQ_GETADDRINFO:
		return request + node->at.addrinfo_work;
	case RAY_UV_REQ_GETNAMEINFO:
		return request + node->at.nameinfo_work;
	case RAY_UV_REQ_RANDOM:
		return request + node->at.random_work;
	default:
		return 0;
	}
}

static __always_inline void ray_cancelled(struct ray_slot *s, const struct ray_watched *node, __u64 request)
{
	struct ray_work_cursor *c = ray_work_cursor(s);
	struct ray_node_work_state *pool = ray_pool(s), *state;
	__u64 work = ray_cancel_work(node, request);

	ray_work_begin(s, work, RAY_WORK_OTHER);
	state = work ? ray_work_find(RAY_TABLE_WORK, work) : (void *)0;
	if (!state)
		return;
	c->kind = state->kind;
	c->submitted = state->submitted;
	c->request = state->request;
	c->tid = state->tid;
	c->function = state->function;
	c->result = -RAY_ECANCELED;
	c->started = c->now; /* it has waited, and never ran */
	ray_work_forget(RAY_TABLE_WORK, work);
	if (pool && (__s64)pool->queued > 0)
		__sync_fetch_and_add(&pool->queued, -1);
	if (c->kind == RAY_WORK_FS)
		ray_work_push(c, RAY_EVENT_FS_DONE);
	else if (c->kind == RAY_WORK_LOOKUP || c->kind == RAY_WORK_SERVICE)
		ray_work_push(c, RAY_EVENT_DNS_DONE);
	ray_work_push(c, RAY_EVENT_WORK_DONE);
}

RAY_RUNTIME __u64 ray_on_cancel_return(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *thread = ray_node_thread_known();
	struct ray_watched *node = ray_watched_get();

	if (!s || !node || !thread)
		return 0;
	if (!step) {
		ray_work_cursor(s)->events = 0;
		if (thread->cancel && !(__s32)s->hook_args[RAY_HOOK_RESULT])
			ray_cancelled(s, node, thread->cancel);
		thread->cancel = 0;
	}
	return ray_work_next(slot);
}

/* ---- io_uring ---- */

RAY_RUNTIME __u64 ray_on_ring(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_watched *node = ray_watched_get();

	if (s && node && !step)
		ray_ring_enter(s, node);
	return 0;
}

RAY_RUNTIME __u64 ray_on_ring_return(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_watched *node = ray_watched_get();

	if (!s || !node)
		return 0;
	if (!step)
		ray_ring_submit(s, node);
	return ray_work_next(slot);
}

RAY_RUNTIME __u64 ray_on_ring_done(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_watched *node = ray_watched_get();

	if (!s || !node)
		return 0;
	if (!step)
		ray_ring_done(s, node);
	return ray_work_next(slot);
}

/* ---- what is not libuv's ---- */

RAY_RUNTIME __u64 ray_on_file_call(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);

	if (!s)
		return 0;
	if (!step)
		ray_file_enter(s);
	return ray_work_cursor(s)->events ? ray_work_next(slot) : 0;
}

RAY_RUNTIME __u64 ray_on_file_call_return(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);

	if (!s)
		return 0;
	if (!step)
		ray_file_leave(s);
	return ray_work_cursor(s)->events ? ray_work_next(slot) : 0;
}

RAY_RUNTIME __u64 ray_on_files(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);

	if (s && !step)
		ray_files_enter(s);
	return 0;
}

RAY_RUNTIME __u64 ray_on_files_return(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);

	if (s && !step)
		ray_files_leave(s);
	return 0;
}

/* ---- c-ares ---- */

RAY_RUNTIME __u64 ray_on_ares_query(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);

	if (!s)
		return 0;
	if (!step)
		ray_ares_ask(s);
	return ray_work_next(slot);
}

RAY_RUNTIME __u64 ray_on_ares_address(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);

	if (!s)
		return 0;
	if (!step)
		ray_ares_ask_address(s);
	return ray_work_next(slot);
}

RAY_RUNTIME __u64 ray_on_ares_return(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);

	if (s && !step)
		ray_ares_asked(s);
	return 0;
}

RAY_RUNTIME __u64 ray_on_ares_answer(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);

	if (!s)
		return 0;
	if (!step)
		ray_ares_answer(s);
	return ray_work_next(slot);
}

#endif
