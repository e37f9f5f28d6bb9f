/* stacks_threads.c - what the threads of a process are for. SPDX-License-Identifier: MIT
 *
 * Asked of the target that names stacks already. */
#include "base/clock.h"
#include "engine/stacks.h"

const struct ray_role_info *ray_trace_thread_role(struct ray_trace *trace, uint32_t pid, uint32_t tid)
{
	struct ray_stack_process *p = trace->stacker ? ray_stack_process_find(trace->stacker, pid) : NULL;
	const struct ray_role_info *name = p ? ray_thread_names_find(&p->threads, (int)tid) : NULL;

	if (!p || name || !ray_thread_names_are_old(&p->threads))
		return name;
	p->threads.asked_ns = ray_clock_ns();
	if (p->js && ray_stack_process_refresh(p))
		ray_thread_names_look(&p->threads, p->js);
	ray_stack_process_tell(trace->stacker, p);
	return ray_thread_names_find(&p->threads, (int)tid);
}
