/* node_callback.bpf.h - hooks on libuv's functions that begin a phase or a callback. See node_phase.bpf.h. SPDX-License-Identifier: MIT */
#ifndef RAY_KERN_NODE_CALLBACK_BPF_H
#define RAY_KERN_NODE_CALLBACK_BPF_H

#include "kern/node_loop.bpf.h"

/* The first function of a loop that is seen makes the thread known. */
static __always_inline struct ray_node_thread *ray_loop_thread(struct ray_slot *s, __u64 step)
{
	return !s ? 0 : step ? ray_node_thread_known() : ray_node_thread(s);
}

/* ---- phases: uv__run_timers(loop), uv__run_idle(loop)... ---- */

static __always_inline __u64 ray_phase_hook(__u64 slot, __u64 step, __u32 phase)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *t = ray_loop_thread(s, step);

	if (!t)
		return 0;
	if (!step) {
		if (!ray_loop_enter(s, t, s->hook_args[0]))
			return 0;
		t->phase_sp = s->user_sp;
		if (phase == RAY_PHASE_CHECK)
			t->loop_check = s->cursor[RAY_LOOP_NOW];
		else if (phase == RAY_PHASE_TIMERS)
			t->loop_timers = s->cursor[RAY_LOOP_NOW];
		ray_phase_begin(s, t, phase);
	}
	return ray_loop_tell(s, t);
}

RAY_RUNTIME __u64 ray_on_timers(__u64 slot, __u64 step)
{
	return ray_phase_hook(slot, step, RAY_PHASE_TIMERS);
}

RAY_RUNTIME __u64 ray_on_idle(__u64 slot, __u64 step)
{
	return ray_phase_hook(slot, step, RAY_PHASE_IDLE);
}

RAY_RUNTIME __u64 ray_on_prepare(__u64 slot, __u64 step)
{
	return ray_phase_hook(slot, step, RAY_PHASE_PREPARE);
}

RAY_RUNTIME __u64 ray_on_io_poll(__u64 slot, __u64 step)
{
	return ray_phase_hook(slot, step, RAY_PHASE_POLL);
}

RAY_RUNTIME __u64 ray_on_check(__u64 slot, __u64 step)
{
	return ray_phase_hook(slot, step, RAY_PHASE_CHECK);
}

/* On return there are no arguments: what returns is the phase that runs, if it is the thread's loop. */
static __always_inline __u64 ray_phase_return(__u64 slot, __u64 step, __u32 from, __u32 to)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *t = ray_loop_thread(s, step);

	if (!t)
		return 0;
	if (!step) {
		if (t->phase != from || s->user_sp < t->phase_sp || !ray_loop_enter(s, t, t->loop))
			return 0;
		ray_phase_begin(s, t, to);
	}
	return ray_loop_tell(s, t);
}

RAY_RUNTIME __u64 ray_on_timers_done(__u64 slot, __u64 step)
{
	return ray_phase_return(slot, step, RAY_PHASE_TIMERS, RAY_PHASE_PENDING);
}

RAY_RUNTIME __u64 ray_on_check_done(__u64 slot, __u64 step)
{
	return ray_phase_return(slot, step, RAY_PHASE_CHECK, RAY_PHASE_CLOSING);
}

/* ---- callbacks of descriptors: uv__stream_io(loop, watcher, events)... ---- */

static __always_inline __u64 ray_io_hook(__u64 slot, __u64 step, __u32 kind)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *t = ray_loop_thread(s, step);
	__u64 watcher, handle = 0;

	if (!t)
		return 0;
	if (!step) {
		if (!ray_loop_enter(s, t, s->hook_args[0]))
			return 0;
		watcher = s->hook_args[1];
		if (kind == RAY_UV_STREAM) {
			handle = watcher - RAY_UV_STREAM_WATCHER;
			kind = ray_uv_int(handle + RAY_UV_HANDLE_TYPE);
		}
		ray_callback_begin(s, t, handle, ray_uv_int(watcher + RAY_UV_WATCHER_FD), kind);
	}
	return ray_loop_tell(s, t);
}

RAY_RUNTIME __u64 ray_on_stream_io(__u64 slot, __u64 step)
{
	return ray_io_hook(slot, step, RAY_UV_STREAM);
}

RAY_RUNTIME __u64 ray_on_udp_io(__u64 slot, __u64 step)
{
	return ray_io_hook(slot, step, RAY_UV_UDP);
}

RAY_RUNTIME __u64 ray_on_poll_io(__u64 slot, __u64 step)
{
	return ray_io_hook(slot, step, RAY_UV_POLL);
}

RAY_RUNTIME __u64 ray_on_async_io(__u64 slot, __u64 step)
{
	return ray_io_hook(slot, step, RAY_UV_ASYNC);
}

RAY_RUNTIME __u64 ray_on_fs_event_io(__u64 slot, __u64 step)
{
	return ray_io_hook(slot, step, RAY_UV_FS_EVENT);
}

RAY_RUNTIME __u64 ray_on_signal_io(__u64 slot, __u64 step)
{
	return ray_io_hook(slot, step, RAY_UV_SIGNAL);
}

/* ---- callbacks of handles: node's own functions that libuv is given ---- */

static __always_inline __u64 ray_handle_hook(__u64 slot, __u64 step, __u32 kind)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *t = ray_loop_thread(s, step);
	__u64 handle;

	if (!t)
		return 0;
	if (!step) {
		handle = s->hook_args[0];
		if (!ray_loop_enter(s, t, ray_uv_pointer(handle + RAY_UV_HANDLE_LOOP)))
			return 0;
		ray_callback_begin(s, t, handle, -1, kind);
		if (kind == RAY_UV_TIMER)
			ray_loop_tells(s, RAY_TELL_TIMER);
	}
	return ray_loop_tell(s, t);
}

/* node::Environment::RunTimers(handle) */
RAY_RUNTIME __u64 ray_on_run_timers(__u64 slot, __u64 step)
{
	return ray_handle_hook(slot, step, RAY_UV_TIMER);
}

/* node::Environment::CheckImmediate(handle) */
RAY_RUNTIME __u64 ray_on_immediate(__u64 slot, __u64 step)
{
	return ray_handle_hook(slot, step, RAY_UV_CHECK);
}

/* node::HandleWrap::OnClose(handle) */
RAY_RUNTIME __u64 ray_on_handle_close(__u64 slot, __u64 step)
{
	return ray_handle_hook(slot, step, RAY_UV_CLOSE);
}

#endif
