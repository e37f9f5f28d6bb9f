/* stacks_threads.c - what the threads of a process are for. SPDX-License-Identifier: MIT
 *
 * Asked of the target that names stacks already. A thread that was not there the last time makes all of them be looked at again, but not more
 * often than RARELY: a program may make threads faster than that. */
#include <string.h>

#include "base/clock.h"
#include "engine/stacks.h"

enum { RARELY_NS = 50000000 };

void ray_stack_threads_forget(struct ray_stack_process *p)
{
	for (size_t i = 0; i < p->threads.n; i++)
		free(p->threads.at[i].name);
	ray_vec_free(&p->threads);
}

static const char *find(const struct ray_stack_process *p, uint32_t tid)
{
	for (size_t i = 0; i < p->threads.n; i++)
		if (p->threads.at[i].tid == (int)tid)
			return p->threads.at[i].name;
	return NULL;
}

static void take(struct ray_stack_process *p, const struct ray_thread *threads, const struct ray_role_info *roles,
		 size_t count)
{
	ray_stack_threads_forget(p);
	for (size_t i = 0; i < count; i++) {
		struct ray_stack_thread t = { threads[i].tid, strdup(roles[i].text) };

		if (!t.name || !ray_vec_push(&p->threads, t)) {
			free(t.name);
			return;
		}
	}
}

static void look(struct ray_stack_process *p)
{
	ray_auto_memory struct ray_role_info *roles = NULL;
	const struct ray_thread *threads;
	struct ray_error *err;
	size_t count;

	p->asked_ns = ray_clock_ns();
	if (!p->js || !ray_stack_process_refresh(p))
		return;
	threads = ray_target_threads(p->target, &count);
	roles = calloc(count + 1, sizeof(*roles));
	if (!roles)
		return;
	if (p->js->node.module) {
		err = ray_role_find(p->target, &p->js->node, NULL, roles);
		if (err) {
			ray_error_free(err);
			return;
		}
	} else {
		for (size_t i = 0; i < count; i++)
			ray_role_unknown(p->target, &threads[i], &roles[i]);
	}
	take(p, threads, roles, count);
}

const char *ray_trace_thread_role(struct ray_trace *trace, uint32_t pid, uint32_t tid)
{
	struct ray_stack_process *p = trace->stacker ? ray_stack_process_find(trace->stacker, pid) : NULL;
	const char *name = p ? find(p, tid) : NULL;

	if (!p || name || ray_clock_ns() - p->asked_ns < RARELY_NS)
		return name;
	look(p);
	ray_stack_process_tell(trace->stacker, p);
	return find(p, tid);
}
