/* node_phase.bpf.h - phases of an iteration, and the callbacks in them. SPDX-License-Identifier: MIT
 *
 * Seen at the entries of libuv's functions: a phase or a callback ends when the next one begins, or the loop polls; in between libuv does nothing that takes
 * time, and a second probe at each return would cost more than the first. The order is always timers, pending, idle, prepare, poll, check, closing; newer
 * libuvs begin it elsewhere. pending and closing have no function of their own: they follow on the return of timers and check.
 * Functions run for other loops than the thread's own, too (spawnSync() has one): those are left out. */
#ifndef RAY_KERN_NODE_PHASE_BPF_H
#define RAY_KERN_NODE_PHASE_BPF_H

#include "kern/node_loop_base.bpf.h"

enum ray_loop_phase {
	RAY_PHASE_NONE,
	RAY_PHASE_TIMERS,
	RAY_PHASE_PENDING,
	RAY_PHASE_IDLE,
	RAY_PHASE_PREPARE,
	RAY_PHASE_POLL,
	RAY_PHASE_CHECK,
	RAY_PHASE_CLOSING,
};

/* Kinds of callbacks: libuv's numbers of its kinds of handles, which are part of its ABI, and two more. */
enum ray_uv_kind {
	RAY_UV_NONE = 0,
	RAY_UV_ASYNC = 1,
	RAY_UV_CHECK = 2,
	RAY_UV_FS_EVENT = 3,
	RAY_UV_PIPE = 7,
	RAY_UV_POLL = 8,
	RAY_UV_STREAM = 11,
	RAY_UV_TCP = 12,
	RAY_UV_TIMER = 13,
	RAY_UV_TTY = 14,
	RAY_UV_UDP = 15,
	RAY_UV_SIGNAL = 16,
	RAY_UV_CLOSE = 64,
	RAY_UV_ANY = 65,
};

/* Offsets in libuv's structures that are the same in all of version 1. */
enum {
	RAY_UV_LOOP_FIELDS = 40, /* uv_loop_t.internal_fields; flags come first in what is there */
	RAY_UV_LOOP_FD = 64,	 /* uv_loop_t.backend_fd */
	RAY_UV_METRICS_IDLE_TIME = 1,
	RAY_UV_HANDLE_LOOP = 8,	     /* uv_handle_t.loop */
	RAY_UV_HANDLE_TYPE = 16,     /* uv_handle_t.type */
	RAY_UV_STREAM_WATCHER = 136, /* uv_stream_t.io_watcher */
	RAY_UV_WATCHER_FD = 48,	     /* uv__io_t.fd */
	RAY_UV_TIMER_TIMEOUT = 128,  /* uv_timer_t.timeout, ms */
};

static __always_inline __u64 ray_uv_pointer(__u64 at)
{
	__u64 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (void *)at);
	return value;
}

static __always_inline __s32 ray_uv_int(__u64 at)
{
	__s32 value = -1;

	bpf_probe_read_user(&value, sizeof(value), (void *)at);
	return value;
}

/* ---- what the probes show ---- */

static __always_inline void ray_phase_name(char *to, __u32 phase)
{
	if (phase == RAY_PHASE_TIMERS)
		RAY_NAME(to, "timers");
	else if (phase == RAY_PHASE_PENDING)
		RAY_NAME(to, "pending");
	else if (phase == RAY_PHASE_IDLE)
		RAY_NAME(to, "idle");
	else if (phase == RAY_PHASE_PREPARE)
		RAY_NAME(to, "prepare");
	else if (phase == RAY_PHASE_POLL)
		RAY_NAME(to, "poll");
	else if (phase == RAY_PHASE_CHECK)
		RAY_NAME(to, "check");
	else
		RAY_NAME(to, "closing");
}

static __always_inline void ray_kind_name(char *to, __u32 kind)
{
	if (kind == RAY_UV_ASYNC)
		RAY_NAME(to, "async");
	else if (kind == RAY_UV_CHECK)
		RAY_NAME(to, "check");
	else if (kind == RAY_UV_FS_EVENT)
		RAY_NAME(to, "fs_event");
	else if (kind == RAY_UV_PIPE)
		RAY_NAME(to, "pipe");
	else if (kind == RAY_UV_POLL)
		RAY_NAME(to, "poll");
	else if (kind == RAY_UV_TCP)
		RAY_NAME(to, "tcp");
	else if (kind == RAY_UV_TIMER)
		RAY_NAME(to, "timer");
	else if (kind == RAY_UV_TTY)
		RAY_NAME(to, "tty");
	else if (kind == RAY_UV_UDP)
		RAY_NAME(to, "udp");
	else if (kind == RAY_UV_SIGNAL)
		RAY_NAME(to, "signal");
	else if (kind == RAY_UV_CLOSE)
		RAY_NAME(to, "close");
	else if (kind == RAY_UV_ANY)
		RAY_NAME(to, "any");
	else
		RAY_NAME(to, "stream");
}

static __always_inline __u32 ray_kind_phase(const struct ray_node_thread *t, __u32 kind)
{
	if (kind == RAY_UV_TIMER)
		return RAY_PHASE_TIMERS;
	if (kind == RAY_UV_CHECK)
		return RAY_PHASE_CHECK;
	if (kind == RAY_UV_CLOSE)
		return RAY_PHASE_CLOSING;
	return t->loop_timers ? RAY_PHASE_PENDING : RAY_PHASE_POLL;
}

static __noinline void ray_callback_fill(struct ray_slot *s, const struct ray_node_thread *t, __u64 handle,
					 __u64 kind_fd)
{
	struct ray_node_callback *callback = &ray_node_area(s)->callback;
	__u32 kind = kind_fd;

	callback->handle = handle;
	ray_kind_name(callback->kind, kind & 0xff);
	ray_phase_name(callback->phase, kind >> 8);
	callback->fd = kind_fd >> 32;
	callback->pad = 0;
	callback->duration = 0;
	callback->request = t ? t->request : 0;
	s->args[0] = RAY_AREA_ADDRESS(callback);
}

static __always_inline __u64 ray_callback_tell_start(struct ray_slot *s, const struct ray_node_thread *t)
{
	ray_callback_fill(s, t, t->callback_handle, (__u64)(__u32)t->callback_fd << 32 | t->callback_kind);
	return RAY_EVENT_CALLBACK_START;
}

static __always_inline __u64 ray_callback_tell_done(struct ray_slot *s, const struct ray_node_thread *t)
{
	ray_callback_fill(s, t, s->cursor[RAY_LOOP_HANDLE], s->cursor[RAY_LOOP_KIND]);
	ray_node_area(s)->callback.duration = s->cursor[RAY_LOOP_NOW] - s->cursor[RAY_LOOP_CALLBACK];
	return RAY_EVENT_CALLBACK_DONE;
}

static __always_inline __u64 ray_phase_tell_done(struct ray_slot *s, const struct ray_node_thread *t)
{
	struct ray_node_loop *loop = ray_loop_area(s, t);
	__u32 phase = s->cursor[RAY_LOOP_PHASES];

	ray_phase_name(loop->phase, phase);
	loop->duration = s->cursor[RAY_LOOP_NOW] - s->cursor[RAY_LOOP_PHASE_START];
	loop->busy = loop->duration;
	if (phase == RAY_PHASE_POLL)
		loop->busy = loop->duration > t->loop_idle ? loop->duration - t->loop_idle : 0;
	else
		loop->idle = 0;
	return RAY_EVENT_LOOP_PHASE_DONE;
}

static __always_inline __u64 ray_phase_tell_start(struct ray_slot *s, const struct ray_node_thread *t)
{
	struct ray_node_loop *loop = ray_loop_area(s, t);

	loop->idle = 0;
	ray_phase_name(loop->phase, s->cursor[RAY_LOOP_PHASES] >> 32);
	return RAY_EVENT_LOOP_PHASE_START;
}

/* How late: node asks for milliseconds, and the loop's clock is the kernel's. */
static __always_inline __u64 ray_timer_tell(struct ray_slot *s, const struct ray_node_thread *t)
{
	__u64 due = ray_uv_pointer(t->callback_handle + RAY_UV_TIMER_TIMEOUT) * 1000000;
	__u64 now = s->cursor[RAY_LOOP_NOW];

	s->args[0] = t->callback_handle;
	s->args[1] = now > due ? now - due : 0;
	return RAY_EVENT_TIMER_FIRE;
}

/* ---- beginnings and ends ---- */

static __always_inline void ray_callback_end(struct ray_slot *s, struct ray_node_thread *t)
{
	if (!t->callback_kind)
		return;
	s->cursor[RAY_LOOP_CALLBACK] = t->callback_start;
	s->cursor[RAY_LOOP_HANDLE] = t->callback_handle;
	s->cursor[RAY_LOOP_KIND] = (__u64)(__u32)t->callback_fd << 32 | t->callback_kind;
	t->callback_kind = 0;
	ray_loop_tells(s, RAY_TELL_CALLBACK_DONE);
}

static __always_inline void ray_callback_begin(struct ray_slot *s, struct ray_node_thread *t, __u64 handle, __s32 fd,
					       __u32 kind)
{
	ray_callback_end(s, t);
	t->callback_start = s->cursor[RAY_LOOP_NOW];
	t->callback_handle = handle;
	t->callback_fd = fd;
	t->callback_kind = (kind & 0xff) | ray_kind_phase(t, kind) << 8;
	ray_loop_tells(s, RAY_TELL_CALLBACK_START);
}

/* Where nothing tells which descriptor's callback runs: all of them as one. */
static __always_inline void ray_callback_begin_any(struct ray_slot *s, struct ray_node_thread *t)
{
	const struct ray_watched *w = ray_watched_get();

	if (w && w->flags & RAY_WATCHED_NO_IO)
		ray_callback_begin(s, t, 0, -1, RAY_UV_ANY);
}

static __always_inline void ray_phase_begin(struct ray_slot *s, struct ray_node_thread *t, __u32 phase)
{
	ray_callback_end(s, t);
	if (!RAY_WATCHED(RAY_EVENT_BIT(LOOP_PHASE_START) | RAY_EVENT_BIT(LOOP_PHASE_DONE)))
		return;
	s->cursor[RAY_LOOP_PHASES] = t->phase | (__u64)phase << 32;
	s->cursor[RAY_LOOP_PHASE_START] = t->phase_start;
	if (t->phase)
		ray_loop_tells(s, RAY_TELL_PHASE_DONE);
	ray_loop_tells(s, RAY_TELL_PHASE_START);
	t->phase = phase;
	t->phase_start = s->cursor[RAY_LOOP_NOW];
}

/* A loop whose functions run on this thread: is it one that JavaScript runs on? node has those measure their idle time. */
static __always_inline int ray_loop_recognise(struct ray_node_thread *t, __u64 loop, __u64 now)
{
	const struct ray_watched *w = ray_watched_get();
	__s32 fd, flags;

	if (!w || !w->at.loop_time) /* its libuv is not as it should be */
		return 0;
	fd = ray_uv_int(loop + RAY_UV_LOOP_FD);
	flags = ray_uv_int(ray_uv_pointer(loop + RAY_UV_LOOP_FIELDS));
	if ((flags < 0 || !(flags & RAY_UV_METRICS_IDLE_TIME)) && !(t->loop_flags & RAY_LOOP_PLAIN && t->loop_fd == fd))
		return 0;
	if (!(t->loop_flags & RAY_LOOP_KNOWN) || t->loop_fd != fd)
		ray_loop_adopt(t, fd, 0, now);
	t->loop = loop;
	return 1;
}

/* What every hook here begins with: not 0 if it is about the thread's own loop; and if that was not known to work, it is now. */
static __noinline int ray_loop_enter(struct ray_slot *s, struct ray_node_thread *t, __u64 loop)
{
	__u64 now = bpf_ktime_get_ns();

	if (!t || !loop || (t->loop != loop && !ray_loop_recognise(t, loop, now)))
		return 0;
	s->cursor[RAY_LOOP_BITS] = 0;
	s->cursor[RAY_LOOP_NOW] = now;
	if (t->loop_flags & RAY_LOOP_MAYBE && !(t->loop_flags & RAY_LOOP_AWAKE)) {
		t->loop_flags |= RAY_LOOP_AWAKE;
		ray_loop_tells(s, RAY_TELL_LOOP_START);
	}
	return 1;
}

#endif
