/* node_loop.bpf.h - iterations of event loops: loop-start, loop-done. SPDX-License-Identifier: MIT
 *
 * An iteration goes from poll to poll: the loop sleeps until something happens (idle), then works until it polls again (busy). All of it is seen at
 * epoll_wait(): at the system call, which is there in every binary, or at the C library's function, which spares all other calls a hook. node has libuv measure idle time in its loops (UV_METRICS_IDLE_TIME):
 * they first ask with a timeout of 0, and go to sleep by a second call if nothing has come. So
 *  - a call with timeout 0 begins an iteration, unless the one before filled its whole array: then libuv asks for the rest;
 *  - loops that no JavaScript runs on (of spawnSync(), of the inspector) never do that, and are told from the thread's own by it.
 * Phases and callbacks are in node_phase.bpf.h. */
#ifndef RAY_KERN_NODE_LOOP_BPF_H
#define RAY_KERN_NODE_LOOP_BPF_H

#include "kern/node_phase.bpf.h"

enum {
	RAY_LOOP_PROOFS = 8,	    /* calls with timeout 0 that make a loop the thread's */
	RAY_LOOP_PLAIN_PROOFS = 64, /* calls with others only that make it a plain one; of the first thread only */
};

/* Without these the loop is of no interest, only that the thread is back in it. */
#define RAY_BITS_LOOP                                                                                    \
	(RAY_EVENT_BIT(LOOP_START) | RAY_EVENT_BIT(LOOP_DONE) | RAY_EVENT_BIT(LOOP_PHASE_START) |        \
	 RAY_EVENT_BIT(LOOP_PHASE_DONE) | RAY_EVENT_BIT(CALLBACK_START) | RAY_EVENT_BIT(CALLBACK_DONE) | \
	 RAY_EVENT_BIT(TIMER_FIRE))

static __always_inline __u64 ray_loop_tell_done(struct ray_slot *s, const struct ray_node_thread *t)
{
	struct ray_node_loop *loop = ray_loop_area(s, t);
	__u64 now = s->cursor[RAY_LOOP_NOW];

	loop->busy = now - t->loop_done - t->loop_idle;
	if (t->loop_check && t->loop_timers >= t->loop_check) {
		loop->poll = t->loop_check - t->loop_wake;
		loop->check = t->loop_timers - t->loop_check;
		loop->timers = now - t->loop_timers;
	}
	return RAY_EVENT_LOOP_DONE;
}

/* The next event of this hit. */
static __noinline __u64 ray_loop_tell(struct ray_slot *s, struct ray_node_thread *t)
{
	__u64 bits, next;

	if (!t)
		return 0;
	bits = s->cursor[RAY_LOOP_BITS];
	next = bits & -bits;
	s->cursor[RAY_LOOP_BITS] = bits & ~next;
	if (next == RAY_TELL_LOOP_START) {
		ray_loop_area(s, t);
		return RAY_EVENT_LOOP_START;
	}
	if (next == RAY_TELL_LOOP_DONE)
		return ray_loop_tell_done(s, t);
	if (next == RAY_TELL_CALLBACK_DONE)
		return ray_callback_tell_done(s, t);
	if (next == RAY_TELL_CALLBACK_START)
		return ray_callback_tell_start(s, t);
	if (next == RAY_TELL_PHASE_DONE)
		return ray_phase_tell_done(s, t);
	if (next == RAY_TELL_PHASE_START)
		return ray_phase_tell_start(s, t);
	if (next == RAY_TELL_TIMER)
		return ray_timer_tell(s, t);
	return 0;
}

/* ---- whose loop it is ---- */

/* epoll_wait() of something that is not known to be the thread's loop: is it? */
static __always_inline int ray_loop_is_proven(struct ray_node_thread *t, __s32 fd, __s32 timeout)
{
	__u64 id = bpf_get_current_pid_tgid();
	int is_first = !(t->loop_flags & RAY_LOOP_KNOWN), is_main = id >> 32 == (__u32)id;

	if (t->loop_other_fd != fd) {
		t->loop_other_fd = fd;
		t->loop_other_polls = t->loop_plain_polls = 0;
		if (is_first)
			t->loop_result = -1;
	}
	if (t->loop) /* its own functions have said which it is */
		return 0;
	if (!timeout)
		return (is_first && is_main) || ++t->loop_other_polls >= RAY_LOOP_PROOFS;
	/* Asked first, then slept. */
	return is_first && t->loop_other_polls && !t->loop_result && !t->loop_timeout;
}

/* The first thread of a node whose loop is never asked with a timeout of 0. */
static __always_inline int ray_loop_is_plain(struct ray_node_thread *t, __s32 timeout)
{
	__u64 id = bpf_get_current_pid_tgid();

	if (t->loop_flags & RAY_LOOP_KNOWN || id >> 32 != (__u32)id || !timeout || t->loop_other_polls)
		return 0;
	t->loop_plain_polls++;
	return t->loop_plain_polls >= RAY_LOOP_PLAIN_PROOFS;
}

/* ---- hooks ---- */

/* Whether the loop goes on with an iteration that has polled already. */
static __always_inline int ray_loop_goes_on(const struct ray_node_thread *t, __s32 timeout)
{
	if (t->loop_room > 0 && t->loop_result == t->loop_room)
		return 1;
	return t->loop_flags & RAY_LOOP_PLAIN ? t->loop_result < 0 : timeout != 0;
}

/* The loop polls: what it did until now has ended. 0: it is not the thread's. */
static __noinline int ray_loop_polls(struct ray_slot *s, struct ray_node_thread *t, __u64 now)
{
	__s32 fd = s->hook_args[0], timeout = s->hook_args[3];

	if (!t)
		return 0;
	if (!(t->loop_flags & RAY_LOOP_KNOWN) || t->loop_fd != fd) {
		if (ray_loop_is_proven(t, fd, timeout))
			ray_loop_adopt(t, fd, 0, now);
		else if (ray_loop_is_plain(t, timeout))
			ray_loop_adopt(t, fd, RAY_LOOP_PLAIN, now);
		else
			return 0;
	}
	t->loop_other_polls = 0;
	s->cursor[RAY_LOOP_BITS] = 0;
	s->cursor[RAY_LOOP_NOW] = now;
	ray_callback_end(s, t);
	if (ray_loop_goes_on(t, timeout)) {
		t->loop_flags &= ~RAY_LOOP_MAYBE;
		return 1;
	}
	if (t->loop_flags & RAY_LOOP_AWAKE)
		ray_loop_tells(s, RAY_TELL_LOOP_DONE);
	else if (t->loop_flags & RAY_LOOP_MAYBE)
		ray_loop_tells(s, RAY_TELL_LOOP_START | RAY_TELL_LOOP_DONE);
	return 1;
}

/* Whether the C library's function has told it, in which the system call is. What the function was called with is not all in registers any more when that returns. */
static __always_inline int ray_poll_is_told(const struct ray_slot *s, struct ray_node_thread *t)
{
	if (s->ctx_kind != RAY_CTX_UPROBE)
		return t->loop_by_function;
	t->loop_by_function = 1;
	t->poll_fd = s->hook_args[0];
	t->poll_room = s->hook_args[2];
	t->poll_timeout = s->hook_args[3];
	return 0;
}

/* epoll_wait(fd, events, room, timeout), epoll_pwait() */
RAY_RUNTIME __u64 ray_on_poll(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *t = !s ? 0 : step ? ray_node_thread_known() : ray_node_thread(s);
	__u64 event;

	if (!t)
		return 0;
	if (!RAY_WATCHED(RAY_BITS_LOOP)) {
		ray_node_thread_idle(t);
		return 0;
	}
	if (!step && (ray_poll_is_told(s, t) || !ray_loop_polls(s, t, bpf_ktime_get_ns())))
		return 0;
	event = ray_loop_tell(s, t);
	if (event)
		return event;
	ray_node_thread_idle(t);
	if (!ray_loop_goes_on(t, s->hook_args[3])) {
		t->loop_iteration++;
		t->loop_done = s->cursor[RAY_LOOP_NOW];
		t->loop_idle = 0;
		t->loop_check = t->loop_timers = 0;
		t->loop_flags &= ~(RAY_LOOP_AWAKE | RAY_LOOP_MAYBE);
	}
	t->loop_poll = (__s32)s->hook_args[3] ? s->cursor[RAY_LOOP_NOW] : 0;
	return 0;
}

/* What epoll_wait() has told, and whether the loop works now. */
static __always_inline void ray_loop_wakes(struct ray_slot *s, struct ray_node_thread *t, __u64 now)
{
	__s32 result = s->hook_args[RAY_HOOK_RESULT], timeout = s->hook_args[3];

	s->cursor[RAY_LOOP_BITS] = 0;
	s->cursor[RAY_LOOP_NOW] = now;
	if (t->loop_poll)
		t->loop_idle += now - t->loop_poll;
	t->loop_poll = 0;
	if (t->loop_flags & RAY_LOOP_AWAKE)
		return;
	if (result > 0 || (result == 0 && timeout)) {
		t->loop_flags |= RAY_LOOP_AWAKE;
		t->loop_wake = now;
		ray_loop_tells(s, RAY_TELL_LOOP_START);
		if (RAY_WATCHED(RAY_EVENT_BIT(CALLBACK_START) | RAY_EVENT_BIT(CALLBACK_DONE)) && result > 0)
			ray_callback_begin_any(s, t);
	} else if (!timeout) {
		t->loop_flags |= RAY_LOOP_MAYBE;
		t->loop_wake = now;
	}
}

static __noinline __u64 ray_loop_polled(struct ray_slot *s, struct ray_node_thread *t, __u64 step)
{
	int is_known;

	if (!s || !t)
		return 0;
	is_known = t->loop_flags & RAY_LOOP_KNOWN;
	if (is_known && t->loop_fd != (__s32)s->hook_args[0])
		return 0;
	if (!step) {
		t->loop_result = s->hook_args[RAY_HOOK_RESULT];
		t->loop_room = s->hook_args[2];
		t->loop_timeout = s->hook_args[3];
		if (!is_known)
			return 0;
		ray_loop_wakes(s, t, bpf_ktime_get_ns());
	}
	return ray_loop_tell(s, t);
}

/* They return. */
RAY_RUNTIME __u64 ray_on_polled(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *t = s ? ray_node_thread_known() : 0;

	return t && !t->loop_by_function ? ray_loop_polled(s, t, step) : 0;
}

/* They have returned inside of the functions. */
RAY_RUNTIME __u64 ray_on_poll_return(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *t = s ? ray_node_thread_known() : 0;

	if (!t)
		return 0;
	if (!step) {
		s->hook_args[0] = t->poll_fd;
		s->hook_args[2] = t->poll_room;
		s->hook_args[3] = t->poll_timeout;
	}
	return ray_loop_polled(s, t, step);
}

/* sched_process_exit: the thread ends, and its number may be another's next. */
RAY_RUNTIME __u64 ray_on_thread_exit(__u64 slot, __u64 step)
{
	__u32 tid = bpf_get_current_pid_tgid();

	(void)slot;
	if (!step)
		bpf_map_delete_elem(RAY_MAP(NODE_THREADS), &tid);
	return 0;
}

#endif
