/* thread_names.c - see thread_names.h. SPDX-License-Identifier: MIT */
#include "stack/thread_names.h"

#include <string.h>

#include "base/clock.h"
#include "stack/role.h"

enum { RARELY_NS = 50000000 };

void ray_thread_names_forget(struct ray_thread_names *n)
{
	for (size_t i = 0; i < n->at.n; i++)
		free(n->at.at[i].name);
	ray_vec_free(&n->at);
}

const char *ray_thread_names_find(const struct ray_thread_names *n, int tid)
{
	for (size_t i = 0; i < n->at.n; i++)
		if (n->at.at[i].tid == tid)
			return n->at.at[i].name;
	return NULL;
}

bool ray_thread_names_are_old(const struct ray_thread_names *n)
{
	return ray_clock_ns() - n->asked_ns >= RARELY_NS;
}

static void take(struct ray_thread_names *n, const struct ray_thread *threads, const struct ray_role_info *roles,
		 size_t count)
{
	ray_thread_names_forget(n);
	for (size_t i = 0; i < count; i++) {
		/* A program that is no node has threads of all kinds: they are called what they call themselves. */
		struct ray_thread_name t = { threads[i].tid, strdup(roles ? roles[i].text : threads[i].name) };

		if (!t.name || !ray_vec_push(&n->at, t)) {
			free(t.name);
			return;
		}
	}
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
	if (!err)
		take(n, threads, js->node.module ? roles : NULL, count);
	ray_error_free(err);
}
