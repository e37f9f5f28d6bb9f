/* node_worker.bpf.h - threads of worker_threads: their beginning, their end, and the code they end with.
 * SPDX-License-Identifier: MIT
 *
 * A worker is one call of node::worker::Worker::Run(). Its code is, in this order: what its own process.exit(), or an error that nobody caught, gave to
 * Environment::Exit(); what its event loop returned when it ran out of things to do; 1 if that was stopped from outside; 0 if it never ran. */
#ifndef RAY_KERN_NODE_WORKER_BPF_H
#define RAY_KERN_NODE_WORKER_BPF_H

#include "kern/node.bpf.h"

enum {
	RAY_WORKER_WORDS = 96, /* of the object, in which its id is looked for */
	RAY_WORKER_MAX_ID = 1 << 30,
	RAY_WORKER_STACK = 256 << 20, /* bytes that a thread's stack may have */
	RAY_WORKER_STOPPED = 1,	      /* the code of one that another thread stopped */
};

/* thread->worker_flags */
enum { RAY_WORKER_HAS_CODE = 1 };

struct ray_worker_loop {
	__u64 object, sp;
	__u64 id;
	__u64 distance;
};

/* The id lies right before an address on the thread's own stack: its lower end. Others' stacks, and whatever else was mapped, are further away. */
static long ray_worker_step(__u64 i, struct ray_worker_loop *c)
{
	__u64 pair[2];

	if (bpf_probe_read_user(pair, sizeof(pair), (void *)(c->object + 8 * i)))
		return 1;
	if (pair[0] && pair[0] < RAY_WORKER_MAX_ID && pair[1] < c->sp && c->sp - pair[1] < c->distance) {
		c->id = pair[0];
		c->distance = c->sp - pair[1];
	}
	return 0;
}

/* threadId; 0 if it cannot be told. */
static __always_inline __u64 ray_worker_id(const struct ray_slot *s, __u64 object)
{
	struct ray_worker_loop c = { .object = object, .sp = s->user_sp, .distance = RAY_WORKER_STACK };

	bpf_loop(RAY_WORKER_WORDS, ray_worker_step, &c, 0);
	return c.id;
}

static __always_inline __u64 ray_worker_tell(struct ray_slot *s, const struct ray_node_thread *thread, __u64 event)
{
	struct ray_node_area *area = ray_node_area(s);

	area->worker.address = thread->worker;
	area->worker.thread_id = thread->worker_id;
	area->worker.code = thread->worker_code;
	s->args[0] = RAY_AREA_ADDRESS(worker);
	return event;
}

/* Worker::Run(this), on the new thread */
RAY_RUNTIME __u64 ray_on_worker_run(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *thread;

	if (!s || step)
		return 0;
	thread = ray_node_thread(s);
	if (!thread)
		return 0;
	thread->worker = s->hook_args[0];
	thread->worker_id = ray_worker_id(s, s->hook_args[0]);
	thread->worker_code = 0;
	thread->worker_flags = 0;
	return ray_worker_tell(s, thread, RAY_EVENT_WORKER_START);
}

/* Environment::Exit(this, code): of the first thread, too, which then ends the process. */
RAY_RUNTIME __u64 ray_on_environment_exit(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *thread = ray_node_thread_known();

	if (!s || step || !thread || !thread->worker)
		return 0;
	thread->worker_code = (__s32)s->hook_args[1];
	thread->worker_flags |= RAY_WORKER_HAS_CODE;
	return 0;
}

/* SpinEventLoop() returns a v8::Maybe: whether there is a code in the first byte, and the code in the upper half. */
RAY_RUNTIME __u64 ray_on_spin_return(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *thread = ray_node_thread_known();
	__u64 result;

	if (!s || step || !thread || !thread->worker || thread->worker_flags & RAY_WORKER_HAS_CODE)
		return 0;
	result = s->hook_args[RAY_HOOK_RESULT];
	thread->worker_code = result & 0xff ? (__s32)(result >> 32) : RAY_WORKER_STOPPED;
	thread->worker_flags |= RAY_WORKER_HAS_CODE;
	return 0;
}

RAY_RUNTIME __u64 ray_on_worker_run_return(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *thread = ray_node_thread_known();

	if (!s || step || !thread || !thread->worker)
		return 0;
	ray_worker_tell(s, thread, RAY_EVENT_WORKER_EXIT);
	thread->worker = 0;
	return RAY_EVENT_WORKER_EXIT;
}

#endif
