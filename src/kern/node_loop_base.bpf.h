/* node_loop_base.bpf.h - what handlers of event loops share: what is known of a loop, and what one hit has to tell. SPDX-License-Identifier: MIT */
#ifndef RAY_KERN_NODE_LOOP_BASE_BPF_H
#define RAY_KERN_NODE_LOOP_BASE_BPF_H

#include "kern/node.bpf.h"

enum ray_loop_flag {
	RAY_LOOP_KNOWN = 1, /* loop_fd is the loop's */
	RAY_LOOP_AWAKE = 2, /* works: loop-start was told */
	RAY_LOOP_MAYBE = 4, /* has asked, and nothing has come: goes to sleep, or works, since it has immediates */
	RAY_LOOP_PLAIN = 8, /* does not ask before it sleeps */
};

/* What one hit has to tell, in this order: bits of cursor[0]. */
enum ray_loop_told {
	RAY_TELL_LOOP_START = 1,
	RAY_TELL_CALLBACK_DONE = 2,
	RAY_TELL_PHASE_DONE = 4,
	RAY_TELL_LOOP_DONE = 8,
	RAY_TELL_PHASE_START = 16,
	RAY_TELL_CALLBACK_START = 32,
	RAY_TELL_TIMER = 64,
};

/* Words of the cursor. */
enum {
	RAY_LOOP_BITS,
	RAY_LOOP_NOW,
	RAY_LOOP_CALLBACK, /* when the one that has ended began; its handle; its kind and fd */
	RAY_LOOP_HANDLE,
	RAY_LOOP_KIND,
	RAY_LOOP_PHASES, /* the one that has ended, and the one that begins */
	RAY_LOOP_PHASE_START,
};

static __always_inline void ray_loop_tells(struct ray_slot *s, __u64 bit)
{
	s->cursor[RAY_LOOP_BITS] |= bit;
}

/* ---- what the probes show ---- */

static __always_inline struct ray_node_loop *ray_loop_area(struct ray_slot *s, const struct ray_node_thread *t)
{
	struct ray_node_loop *loop = &ray_node_area(s)->loop;

	loop->loop = t->loop;
	loop->iteration = t->loop_iteration;
	loop->busy = loop->duration = loop->timers = loop->poll = loop->check = 0;
	loop->idle = t->loop_idle;
	loop->request = t->request;
	loop->phase[0] = 0;
	s->args[0] = RAY_AREA_ADDRESS(loop);
	return loop;
}

/* From now on this is the loop of the thread. */
static __always_inline void ray_loop_adopt(struct ray_node_thread *t, __s32 fd, __u32 flags, __u64 now)
{
	t->loop_flags = RAY_LOOP_KNOWN | flags;
	t->loop_fd = fd;
	t->loop = 0;
	t->loop_done = now;
	t->loop_idle = t->loop_poll = 0;
	t->loop_check = t->loop_timers = 0;
	t->loop_other_polls = 0;
	t->loop_result = t->loop_room = 0;
	t->callback_kind = 0;
}

#endif
