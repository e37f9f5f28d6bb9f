/* node_gc.bpf.h - collections of garbage: gc-start, gc-done. SPDX-License-Identifier: MIT
 *
 * V8 tells its embedder of a collection by CallGCPrologueCallbacks() and CallGCEpilogueCallbacks(); compilers have put these in line here and there.
 * What is around them is hooked too: whoever sees a collection first opens it, whoever sees its end first closes it, the others find nothing left to do.
 * The heap's size is what Heap::SizeOfObjects() returns when V8 itself asks, at both ends of a collection. Each thread collects its own heap. */
#ifndef RAY_KERN_NODE_GC_BPF_H
#define RAY_KERN_NODE_GC_BPF_H

#include "kern/node.bpf.h"

/* Numbers of v8::GCType since node 18. Before, there was no minor mark-sweep, and those above it were half as large. */
enum ray_gc_type {
	RAY_GC_SCAVENGE = 1,
	RAY_GC_MINOR_MARK_SWEEP = 2,
	RAY_GC_MARK_COMPACT = 4,
	RAY_GC_INCREMENTAL = 8,
	RAY_GC_WEAK_CALLBACKS = 16,
};

static __always_inline int ray_gc_is_old(const struct ray_watched *w)
{
	return w->version && w->version < 18000;
}

static __always_inline void ray_gc_name(struct ray_node_gc *gc, __u32 type)
{
	if (type == RAY_GC_SCAVENGE)
		RAY_NAME(gc->type, "scavenge");
	else if (type == RAY_GC_MINOR_MARK_SWEEP)
		RAY_NAME(gc->type, "minor-mark-sweep");
	else if (type == RAY_GC_MARK_COMPACT)
		RAY_NAME(gc->type, "mark-compact");
	else if (type == RAY_GC_INCREMENTAL)
		RAY_NAME(gc->type, "incremental");
	else if (type == RAY_GC_WEAK_CALLBACKS)
		RAY_NAME(gc->type, "weak-callbacks");
	else
		RAY_NAME(gc->type, "unknown");
}

/* What the probe shows: arguments, and the area. arg0 is V8's own number. */
static __noinline void ray_gc_tell(struct ray_slot *s, struct ray_node_thread *t, struct ray_watched *w, __u64 now)
{
	struct ray_node_gc *gc = &ray_node_area(s)->gc;
	__u32 type, number;

	if (!t || !w)
		return;
	type = t->gc.type;
	number = t->gc_reason;
	ray_gc_name(gc, type);
	ray_clear(gc->reason, sizeof(gc->reason));
	if (number < RAY_NODE_REASONS)
		bpf_probe_read_kernel(gc->reason, sizeof(gc->reason), w->reasons[number]);
	gc->before = t->gc_before;
	gc->after = now && t->gc_sizes > 1 ? t->gc_after : 0;
	gc->duration = now ? now - t->gc.start : 0;
	gc->reason_number = number;
	gc->flags = t->gc.flags;
	gc->request = t->request;
	if (ray_gc_is_old(w) && type > RAY_GC_MINOR_MARK_SWEEP)
		type >>= 1;
	s->args[0] = type;
	s->args[1] = t->gc.flags;
	s->args[2] = RAY_AREA_ADDRESS(gc);
}

static __always_inline void ray_gc_forget_sizes(struct ray_node_thread *t)
{
	t->gc_before = t->gc_after = 0;
	t->gc_sizes = 0;
}

/* Whether a collection that is about to be opened is not to be: another hook has seen it already, or V8 tells nobody of it, as it runs inside another.
 * sp tells which is inside which. */
static __always_inline int ray_gc_is_known(const struct ray_node_thread *t, __u32 type, __u64 sp)
{
	if (!t->gc.start || (!t->gc_sp && sp >= t->gc.sp))
		return 0;
	return type == t->gc.type || type <= RAY_GC_MARK_COMPACT;
}

static __noinline __u64 ray_gc_open(struct ray_slot *s, struct ray_node_thread *t, __u32 type, __u32 flags)
{
	struct ray_watched *w = ray_watched_get();

	if (!t || !w || ray_gc_is_known(t, type, s->user_sp))
		return 0;
	if (t->gc.start && (t->gc_sp || s->user_sp < t->gc.sp))
		t->gc_outer = t->gc; /* the weak callbacks of a mark-compact, the marking that a scavenge starts */
	else
		t->gc_outer.start = 0;
	if (!t->gc_sp)
		ray_gc_forget_sizes(t);
	t->gc.start = bpf_ktime_get_ns();
	t->gc.sp = s->user_sp;
	t->gc.type = type;
	t->gc.flags = flags;
	ray_gc_tell(s, t, w, 0);
	return RAY_EVENT_GC_START;
}

/* The collection that runs ends, if it is of this type; 0: of any. */
static __noinline __u64 ray_gc_close(struct ray_slot *s, struct ray_node_thread *t, __u32 type)
{
	struct ray_watched *w = ray_watched_get();

	if (!t || !w || !t->gc.start || (type && type != t->gc.type))
		return 0;
	ray_gc_tell(s, t, w, bpf_ktime_get_ns());
	t->gc = t->gc_outer;
	t->gc_outer.start = 0;
	return RAY_EVENT_GC_DONE;
}

/* V8's number of a type as ours. */
static __always_inline __u32 ray_gc_type_of(__u32 type)
{
	struct ray_watched *w = ray_watched_get();

	return w && ray_gc_is_old(w) && type > 1 ? type << 1 : type;
}

/* ---- hooks ---- */

/* Heap::CollectGarbage(this, space, reason, flags) begins. */
RAY_RUNTIME __u64 ray_on_gc_collect(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *t = s && !step ? ray_node_thread(s) : 0;

	if (!t || (t->gc_sp && s->user_sp < t->gc_sp))
		return 0;
	t->gc_sp = s->user_sp;
	t->gc_entered = bpf_ktime_get_ns();
	t->gc_reason = s->hook_args[2];
	t->gc_flags = s->hook_args[3];
	t->gc.start = t->gc_outer.start = 0;
	ray_gc_forget_sizes(t);
	return 0;
}

/* And returns. */
RAY_RUNTIME __u64 ray_on_gc_collected(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *t = s ? ray_node_thread_known() : 0;

	(void)step;
	if (!t || !t->gc_sp || s->user_sp < t->gc_sp)
		return 0;
	if (t->gc.start)
		return ray_gc_close(s, t, 0); /* and again, if it has interrupted another */
	t->gc_sp = 0;
	return 0;
}

/* Heap::CallGCPrologueCallbacks(this, type, flags) */
RAY_RUNTIME __u64 ray_on_gc_prologue(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);

	return s && !step ? ray_gc_open(s, ray_node_thread(s), ray_gc_type_of(s->hook_args[1]), s->hook_args[2]) : 0;
}

/* Heap::CallGCEpilogueCallbacks(this, type, flags) */
RAY_RUNTIME __u64 ray_on_gc_epilogue(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);

	return s && !step ? ray_gc_close(s, ray_node_thread_known(), ray_gc_type_of(s->hook_args[1])) : 0;
}

/* One that no prologue was seen of: it has begun with CollectGarbage(). */
static __always_inline __u64 ray_gc_found(__u64 slot, __u64 step, __u32 type)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *t = s && !step ? ray_node_thread_known() : 0;
	__u64 event;

	if (!t || !t->gc_sp || t->gc.start)
		return 0;
	event = ray_gc_open(s, t, type, t->gc_flags);
	if (event)
		t->gc.start = t->gc_entered;
	return event;
}

RAY_RUNTIME __u64 ray_on_gc_scavenge(__u64 slot, __u64 step)
{
	return ray_gc_found(slot, step, RAY_GC_SCAVENGE);
}

RAY_RUNTIME __u64 ray_on_gc_mark_compact(__u64 slot, __u64 step)
{
	return ray_gc_found(slot, step, RAY_GC_MARK_COMPACT);
}

RAY_RUNTIME __u64 ray_on_gc_minor(__u64 slot, __u64 step)
{
	return ray_gc_found(slot, step, RAY_GC_MINOR_MARK_SWEEP);
}

/* Heap::InvokeIncrementalMarkingPrologueCallbacks() */
RAY_RUNTIME __u64 ray_on_gc_incremental(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);

	return s && !step ? ray_gc_open(s, ray_node_thread(s), RAY_GC_INCREMENTAL, 0) : 0;
}

/* Heap::InvokeIncrementalMarkingEpilogueCallbacks() */
RAY_RUNTIME __u64 ray_on_gc_incremented(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);

	return s && !step ? ray_gc_close(s, ray_node_thread_known(), RAY_GC_INCREMENTAL) : 0;
}

/* GlobalHandles::InvokeSecondPassPhantomCallbacksFromTask() */
RAY_RUNTIME __u64 ray_on_gc_weak(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *t = s && !step ? ray_node_thread(s) : 0;

	if (!t)
		return 0;
	t->gc_reason = 0;
	return ray_gc_open(s, t, RAY_GC_WEAK_CALLBACKS, 0);
}

/* It returns. */
RAY_RUNTIME __u64 ray_on_gc_weakened(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);

	return s && !step ? ray_gc_close(s, ray_node_thread_known(), RAY_GC_WEAK_CALLBACKS) : 0;
}

static __always_inline __u64 ray_gc_because(__u64 slot, __u64 step, __u32 argument)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *t = s && !step ? ray_node_thread(s) : 0;

	if (t && !t->gc_sp)
		t->gc_reason = s->hook_args[argument & 3];
	return 0;
}

/* IncrementalMarking::Start(this, reason), Heap::FinalizeIncrementalMarkingIncrementally(this, reason) */
RAY_RUNTIME __u64 ray_on_gc_reason(__u64 slot, __u64 step)
{
	return ray_gc_because(slot, step, 1);
}

/* IncrementalMarking::Start(this, collector, reason) */
RAY_RUNTIME __u64 ray_on_gc_start_reason(__u64 slot, __u64 step)
{
	return ray_gc_because(slot, step, 2);
}

/* Heap::SizeOfObjects() returns. */
RAY_RUNTIME __u64 ray_on_gc_size(__u64 slot, __u64 step)
{
	struct ray_slot *s = ray_slot_get(slot);
	struct ray_node_thread *t = s && !step ? ray_node_thread_known() : 0;

	if (!t || (!t->gc_sp && !t->gc.start))
		return 0;
	if (!t->gc_sizes)
		t->gc_before = s->hook_args[RAY_HOOK_RESULT];
	t->gc_after = s->hook_args[RAY_HOOK_RESULT];
	t->gc_sizes++;
	return 0;
}

#endif
