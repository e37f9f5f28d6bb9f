/* thread_names.c - see thread_names.h. SPDX-License-Identifier: MIT */
#include "stack/thread_names.h"

#include <string.h>

#include "base/clock.h"

enum { RARELY_NS = 50000000 };

void ray_thread_names_forget(struct ray_thread_names *n)
{
	ray_vec_free(&n->at);
}

const struct ray_role_info *ray_thread_names_find(const struct ray_thread_names *n, int tid)
{
	for (size_t i = 0; i < n->at.n; i++)
		if (n->at.at[i].tid == tid)
			return &n->at.at[i].role;
	return NULL;
}

bool ray_thread_names_are_old(const struct ray_thread_names *n)
{
	return ray_clock_ns() - n->asked_ns >= RARELY_NS;
}

/* A program that is no node has threads of all kinds: they are called what they call themselves. */
static void name_by_itself(const struct ray_target *t, const struct ray_thread *thread, struct ray_role_info *ret)
{
	*ret = (struct ray_role_info){ .role = thread->tid == ray_target_pid(t) ? RAY_ROLE_MAIN : RAY_ROLE_OTHER,
				       .worker_id = -1 };
	snprintf(ret->text, sizeof(ret->text), "%s", thread->name);
}

static void take(struct ray_thread_names *n, const struct ray_thread *threads, const struct ray_role_info *roles,
		 size_t count)
{
	ray_thread_names_forget(n);
	for (size_t i = 0; i < count; i++)
		if (!ray_vec_push(&n->at, (struct ray_thread_name){ threads[i].tid, roles[i] }))
			return;
}

void ray_thread_names_look(struct ray_thread_names *n, struct ray_js *js)
{
	ray_auto_memory struct ray_role_info *roles = NULL;
	const struct ray_thread *threads;
	struct ray_error *err;
	size_t count;

	n->asked_ns = ray_clock_ns();
	threads = ray_target_threads(js->target, &count);
	roles = calloc(count + 1, sizeof(*roles));
	if (!roles)
		return;
	err = js->node.module ? ray_role_find(js->target, &js->node, NULL, roles) : NULL;
	for (size_t i = 0; i < count && !js->node.module; i++)
		name_by_itself(js->target, &threads[i], &roles[i]);
	if (!err)
		take(n, threads, roles, count);
	ray_error_free(err);
}
